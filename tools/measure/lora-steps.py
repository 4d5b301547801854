#!/usr/bin/env python3
"""Measures training steps of decoders on one CUDA device, trained as a whole or by low-rank adapters.

usage: lora-steps.py OUTPUT.csv [LIMIT_SECONDS]

The decoders are those of Llama 3 in plain PyTorch as Hugging Face writes them: root-mean-square
norms and the loss in fp32, rotary positions, grouped-query attention by
scaled_dot_product_attention, a gated MLP. Weights are in bf16, the optimizer is AdamW (fused).
Adapters of rank 16 stand beside all linear layers of attention and MLP. One row per model, way of
training, recomputation, sequence and micro-batch: the median seconds of a step of one micro-batch
with its update, and the peaks of allocated and reserved memory.
"""
import csv
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

DEVICE, RANK = "cuda", 16
MODELS = {  # layers, hidden, ffn, heads, key-value heads, head size, vocabulary, tied
    "llama-3.2-1b": (16, 2048, 8192, 32, 8, 64, 128256, True),
    "llama-3.2-3b": (28, 3072, 8192, 24, 8, 128, 128256, True),
    "llama-3-8b": (32, 4096, 14336, 32, 8, 128, 128256, False),
}


class Linear(nn.Module):
    """A linear layer without bias, with an adapter if the base is frozen."""

    def __init__(self, inputs, outputs, lora):
        super().__init__()
        kind = {"device": DEVICE, "dtype": torch.bfloat16}
        self.base = nn.Linear(inputs, outputs, bias=False, **kind)
        self.base.weight.requires_grad_(not lora)
        self.down = nn.Linear(inputs, RANK, bias=False, **kind) if lora else None
        self.up = nn.Linear(RANK, outputs, bias=False, **kind) if lora else None

    def forward(self, x):
        y = self.base(x)
        return y if self.down is None else y + 2 * self.up(self.down(x))


class Norm(nn.Module):
    def __init__(self, width, lora):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width, device=DEVICE, dtype=torch.bfloat16), requires_grad=not lora)

    def forward(self, x):
        y = x.float()
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5)
        return self.weight * y.to(x.dtype)


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


class Block(nn.Module):
    def __init__(self, hidden, ffn, heads, kv, size, lora):
        super().__init__()
        self.heads, self.kv, self.size = heads, kv, size
        self.q, self.k = Linear(hidden, heads * size, lora), Linear(hidden, kv * size, lora)
        self.v, self.o = Linear(hidden, kv * size, lora), Linear(heads * size, hidden, lora)
        self.gate, self.up = Linear(hidden, ffn, lora), Linear(hidden, ffn, lora)
        self.down = Linear(ffn, hidden, lora)
        self.before, self.after = Norm(hidden, lora), Norm(hidden, lora)

    def forward(self, x, cos, sin):
        b, s, _ = x.shape
        y = self.before(x)
        q = rotate(self.q(y).view(b, s, self.heads, self.size).transpose(1, 2), cos, sin)
        k = rotate(self.k(y).view(b, s, self.kv, self.size).transpose(1, 2), cos, sin)
        v = self.v(y).view(b, s, self.kv, self.size).transpose(1, 2)
        k, v = (t.repeat_interleave(self.heads // self.kv, 1) for t in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).reshape(b, s, -1))
        y = self.after(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    def __init__(self, shape, lora, recompute):
        super().__init__()
        layers, hidden, ffn, heads, kv, self.size, vocabulary, tied = shape
        kind = {"device": DEVICE, "dtype": torch.bfloat16}
        self.recompute = recompute
        self.embed = nn.Embedding(vocabulary, hidden, **kind)
        self.blocks = nn.ModuleList(Block(hidden, ffn, heads, kv, self.size, lora) for _ in range(layers))
        self.norm = Norm(hidden, lora)
        self.head = nn.Linear(hidden, vocabulary, bias=False, **kind)
        if tied:
            self.head.weight = self.embed.weight
        if lora:
            self.embed.weight.requires_grad_(False)
            self.head.weight.requires_grad_(False)

    def forward(self, tokens):
        s = tokens.shape[1]
        angle = torch.arange(s, device=DEVICE)[:, None] * 500000.0 ** (
            -torch.arange(0, self.size, 2, device=DEVICE) / self.size)
        angle = torch.cat((angle, angle), -1)
        cos, sin = angle.cos().to(torch.bfloat16), angle.sin().to(torch.bfloat16)
        x = self.embed(tokens)
        if self.recompute:
            x.requires_grad_(True)
        for block in self.blocks:
            x = checkpoint(block, x, cos, sin, use_reentrant=False) if self.recompute else block(x, cos, sin)
        logits = self.head(self.norm(x)).float()
        return F.cross_entropy(logits[:, :-1].reshape(-1, logits.shape[-1]), tokens[:, 1:].reshape(-1))


def measure(model, optimizer, sequence, micro):
    tokens = torch.randint(0, 100000, (micro, sequence), device=DEVICE)
    times = []
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    for _ in range(8):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        model(tokens).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return statistics.median(times[3:]), torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()


def main():
    until = time.time() + (float(sys.argv[2]) if len(sys.argv) > 2 else 400)
    sizes = [(512, 4), (2048, 1), (2048, 2), (2048, 4), (2048, 8), (4096, 2), (8192, 1)]
    with open(sys.argv[1], "w", newline="", encoding="utf-8") as out:
        table = csv.writer(out)
        table.writerow(["model", "train", "recompute", "sequence", "micro_batch", "step_s", "allocated", "reserved", "torch"])
        for name, shape in MODELS.items():
            for lora in (True, False):
                for recompute in (False, True):
                    torch.manual_seed(1)
                    model = Decoder(shape, lora, recompute)
                    trained = [p for p in model.parameters() if p.requires_grad]
                    optimizer = torch.optim.AdamW(trained, lr=1e-5, fused=True)
                    for sequence, micro in sizes:
                        if time.time() > until:
                            return
                        try:
                            row = measure(model, optimizer, sequence, micro)
                        except torch.OutOfMemoryError:
                            row = ("", "does not fit", "")
                            optimizer.zero_grad(set_to_none=True)
                        table.writerow([name, "lora" if lora else "all", "full" if recompute else "none", sequence, micro, *row, torch.__version__])
                        out.flush()
                        print(name, lora, recompute, sequence, micro, row, flush=True)
                    del model, optimizer, trained
                    torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
