#!/usr/bin/env python3
"""Measures training steps of common networks on one CUDA device with PyTorch.

usage: gpu-steps.py OUTPUT.csv [KERNELS.csv] [LIMIT_SECONDS] [SET]

One row per network, precision, batch: seconds of the whole step, of forward, backward and update,
seconds the host needs to enqueue the step, peak memory, kernels launched. KERNELS.csv gets the
device time of each kernel of one step, for a few rows. Precisions bf16 and fp16 are autocast over
fp32 weights (without a scaler of the loss); tf32 and fp32 keep fp32 tensors. SET says which rows:
first (SGD with momentum, eager mode; the default), more (fp16, AdamW, networks that the first set
does not have) or compiled (torch.compile).
"""
import csv
import sys
import time

import torch
from torch import nn

from timing import clock, first, median

DEVICE = "cuda"


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10000, 1024)
        self.lstm = nn.LSTM(1024, 1024, 2, batch_first=True)
        self.out = nn.Linear(1024, 10000)

    def forward(self, x):
        return self.out(self.lstm(self.embed(x))[0])


class Unet(nn.Module):
    """The U-Net of 2015 with padded convolutions and batch normalisation."""

    def __init__(self):
        super().__init__()

        def double(i, o):
            return nn.Sequential(
                nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True),
                nn.Conv2d(o, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))
        w = [64, 128, 256, 512, 1024]
        self.down = nn.ModuleList([double(3, 64)] + [double(w[i], w[i + 1]) for i in range(4)])
        self.up = nn.ModuleList([nn.ConvTranspose2d(w[i + 1], w[i], 2, 2) for i in range(4)])
        self.join = nn.ModuleList([double(2 * w[i], w[i]) for i in range(4)])
        self.pool = nn.MaxPool2d(2)
        self.last = nn.Conv2d(64, 2, 1)

    def forward(self, x):
        kept = []
        for i, d in enumerate(self.down):
            x = d(x if i == 0 else self.pool(x))
            kept.append(x)
        for i in (3, 2, 1, 0):
            x = self.join[i](torch.cat([kept[i], self.up[i](x)], 1))
        return self.last(x)


class Mlp(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        layers = []
        for a, b in zip(sizes, sizes[1:]):
            layers += [nn.Linear(a, b), nn.ReLU()]
        self.net = nn.Sequential(*layers[:-1])

    def forward(self, x):
        return self.net(x)


def image_net(make, side=224):
    def build(batch):
        model = make()
        x = torch.randn(batch, 3, side, side, device=DEVICE)
        y = torch.randint(0, 1000, (batch,), device=DEVICE)
        return model, lambda m: nn.functional.cross_entropy(first(m(x)), y)
    return build


def networks():
    import torchvision.models as tv
    import transformers as tr

    def bert(name, seq):
        sizes = {"base": (768, 12, 12), "large": (1024, 24, 16)}[name]

        def build(batch):
            c = tr.BertConfig(hidden_size=sizes[0], num_hidden_layers=sizes[1],
                              num_attention_heads=sizes[2], intermediate_size=4 * sizes[0])
            model = tr.BertForMaskedLM(c)
            x = torch.randint(0, 30000, (batch, seq), device=DEVICE)
            return model, lambda m: m(input_ids=x, labels=x).loss
        return build

    def gpt2(hidden, layers, heads, seq):
        def build(batch):
            c = tr.GPT2Config(n_embd=hidden, n_layer=layers, n_head=heads)
            model = tr.GPT2LMHeadModel(c)
            x = torch.randint(0, 50000, (batch, seq), device=DEVICE)
            return model, lambda m: m(input_ids=x, labels=x).loss
        return build

    def t5(batch):
        c = tr.T5Config(d_model=768, d_ff=3072, num_layers=12, num_heads=12, d_kv=64)
        model = tr.T5ForConditionalGeneration(c)
        x = torch.randint(0, 32000, (batch, 512), device=DEVICE)
        y = torch.randint(0, 32000, (batch, 128), device=DEVICE)
        return model, lambda m: m(input_ids=x, labels=y).loss

    def lstm(batch):
        x = torch.randint(0, 10000, (batch, 128), device=DEVICE)
        return Lstm(), lambda m: nn.functional.cross_entropy(m(x).flatten(0, 1), x.flatten())

    def unet(batch):
        x = torch.randn(batch, 3, 256, 256, device=DEVICE)
        y = torch.randint(0, 2, (batch, 256, 256), device=DEVICE)
        return Unet(), lambda m: nn.functional.cross_entropy(m(x), y)

    def mlp(batch):
        x = torch.randn(batch, 784, device=DEVICE)
        y = torch.randint(0, 10, (batch,), device=DEVICE)
        return (Mlp([784, 2500, 2000, 1500, 1000, 500, 10]),
                lambda m: nn.functional.cross_entropy(m(x), y))

    plain = dict(weights=None)
    return [
        ("resnet-50", image_net(lambda: tv.resnet50(**plain)), [1, 16, 32, 64, 128, 256]),
        ("alexnet", image_net(lambda: tv.alexnet(**plain)), [1, 32, 128, 512]),
        ("vgg-16", image_net(lambda: tv.vgg16(**plain)), [1, 16, 64, 128]),
        ("resnet-18", image_net(lambda: tv.resnet18(**plain)), [1, 32, 128, 256]),
        ("resnet-152", image_net(lambda: tv.resnet152(**plain)), [1, 32, 128]),
        ("mobilenet-v2", image_net(lambda: tv.mobilenet_v2(**plain)), [1, 32, 128, 256]),
        ("mobilenet-v3-large", image_net(lambda: tv.mobilenet_v3_large(**plain)), [32, 256]),
        ("efficientnet-b0", image_net(lambda: tv.efficientnet_b0(**plain)), [1, 32, 128]),
        ("inception-v3", image_net(lambda: tv.inception_v3(aux_logits=False, init_weights=False,
                                                           **plain), 299), [1, 32, 128]),
        ("densenet-121", image_net(lambda: tv.densenet121(**plain)), [1, 32, 128]),
        ("vit-b-16", image_net(lambda: tv.vit_b_16(**plain)), [1, 32, 128]),
        ("bert-base-128", bert("base", 128), [1, 32, 128]),
        ("bert-base-512", bert("base", 512), [8, 32]),
        ("bert-large-128", bert("large", 128), [1, 32, 128]),
        ("bert-large-512", bert("large", 512), [4, 16]),
        ("gpt-2", gpt2(768, 12, 12, 1024), [1, 4, 16]),
        ("gpt-2-355m", gpt2(1024, 24, 16, 1024), [1, 4, 16]),
        ("t5-base", t5, [1, 8, 32]),
        ("lstm", lstm, [1, 32, 128, 256]),
        ("unet", unet, [1, 4, 16, 32]),
        ("mlp", mlp, [16, 128, 1024, 8192]),
    ]


def set_precision(precision):
    tf32 = precision != "fp32"
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32


def measure(build, precision, batch, software="eager", update="momentum", kernels_to=None):
    torch.manual_seed(1)
    set_precision(precision)
    model, loss_of = build(batch)
    model = model.to(DEVICE).train()
    if software == "compiled":
        torch._dynamo.reset()
        model = torch.compile(model)
    if update == "adamw":
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    else:
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9)

    def loss():
        if precision in ("bf16", "fp16"):
            dtype = torch.bfloat16 if precision == "bf16" else torch.float16
            with torch.autocast("cuda", dtype=dtype):
                return loss_of(model)
        return loss_of(model)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss().backward()
        optimizer.step()

    for _ in range(3):
        step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    rows = []
    began = time.perf_counter()
    while len(rows) < 12 and (len(rows) < 4 or time.perf_counter() - began < 1.5):
        t0 = clock()
        optimizer.zero_grad(set_to_none=True)
        value = loss()
        t1 = clock()
        value.backward()
        t2 = clock()
        optimizer.step()
        t3 = clock()
        step()
        t4 = time.perf_counter()
        t5 = clock()
        rows.append((t1 - t0, t2 - t1, t3 - t2, t4 - t3, t5 - t3))
    peak = torch.cuda.max_memory_allocated()
    # Time several steps without a wait between them, as a training loop runs them.
    count = max(3, min(20, int(1.0 / median([r[4] for r in rows]))))
    t0 = clock()
    for _ in range(count):
        step()
    free = (clock() - t0) / count
    launches = device_s = 0
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CUDA]) as trace:
        step()
        torch.cuda.synchronize()
    for event in trace.key_averages():
        took = event.self_device_time_total * 1e-6
        launches += event.count if took > 0 else 0
        device_s += took
        if kernels_to is not None and took > 0:
            kernels_to.append((event.key, event.count, took))
    parameters = sum(p.numel() for p in model.parameters())
    tensors = sum(1 for _ in model.parameters())
    result = dict(parameters=parameters, tensors=tensors, step_s=free, launches=launches,
                  device_s=device_s, peak_bytes=peak)
    for i, name in enumerate(("forward_s", "backward_s", "update_s", "enqueue_s", "alone_s")):
        result[name] = median([r[i] for r in rows])
    return result


def more_networks():
    import torchvision.models as tv
    import transformers as tr

    def gpt2_large(batch):
        model = tr.GPT2LMHeadModel(tr.GPT2Config(n_embd=1280, n_layer=36, n_head=20))
        x = torch.randint(0, 50000, (batch, 1024), device=DEVICE)
        return model, lambda m: m(input_ids=x, labels=x).loss

    plain = dict(weights=None)
    return [
        ("resnet-34", image_net(lambda: tv.resnet34(**plain)), [32, 256]),
        ("resnet-101", image_net(lambda: tv.resnet101(**plain)), [32, 128]),
        ("resnext-50-32x4d", image_net(lambda: tv.resnext50_32x4d(**plain)), [32, 128]),
        ("vit-large-16", image_net(lambda: tv.vit_l_16(**plain)), [16, 64]),
        ("gpt-2-large", gpt2_large, [1, 8]),
    ]


def rows_of(which):
    """Returns (name, build, precision, batch, software, optimizer) of each row of a set."""
    first, more = networks(), more_networks()
    named = {n: (build, b) for n, build, b in first + more}
    if which == "first":
        rows = [(n, build, p, b, "eager", "momentum")
                for n, build, batches in first for p in ("bf16", "tf32") for b in batches]
        return rows + [(n, build, "fp32", b[-2], "eager", "momentum")
                       for n, build, b in first[:3] + first[11:12]]
    if which == "more":
        rows = [(n, build, "fp16", b, "eager", "momentum")
                for n, build, batches in first + more for b in batches[-2:]]
        rows += [(n, build, p, b, "eager", "momentum")
                 for n, build, batches in more for p in ("bf16", "tf32") for b in batches]
        return rows + [(n, named[n][0], p, b, "eager", "adamw") for n, b in (
            ("resnet-50", 128), ("vit-b-16", 64), ("bert-base-128", 64), ("bert-large-128", 64),
            ("gpt-2", 8), ("gpt-2-355m", 8), ("t5-base", 16), ("unet", 8))
            for p in ("bf16", "tf32")]
    return [(n, named[n][0], p, b, "compiled", "momentum") for n, p, b in (
        ("gpt-2-355m", "bf16", 8), ("bert-base-512", "bf16", 32), ("resnet-101", "bf16", 128),
        ("unet", "bf16", 16), ("vit-large-16", "bf16", 64), ("resnet-34", "bf16", 256),
        ("t5-base", "bf16", 16), ("inception-v3", "bf16", 128), ("efficientnet-b0", "bf16", 128),
        ("resnext-50-32x4d", "bf16", 128), ("gpt-2", "tf32", 8), ("resnet-18", "tf32", 256),
        ("vit-b-16", "fp16", 64), ("resnet-50", "fp16", 256), ("mobilenet-v3-large", "bf16", 256),
        ("densenet-121", "bf16", 128), ("gpt-2-large", "bf16", 8), ("resnet-152", "bf16", 64))]


def main():
    out = open(sys.argv[1], "w", newline="")
    kernels = csv.writer(open(sys.argv[2], "w", newline="")) if len(sys.argv) > 2 else None
    limit = float(sys.argv[3]) if len(sys.argv) > 3 else 540
    names = ["network", "precision", "batch", "software", "optimizer", "parameters", "tensors",
             "step_s", "alone_s", "forward_s", "backward_s", "update_s", "enqueue_s", "device_s",
             "launches", "peak_bytes"]
    table = csv.DictWriter(out, names)
    table.writeheader()
    began = time.time()
    which = sys.argv[4] if len(sys.argv) > 4 else "first"
    for name, build, precision, batch, software, update in rows_of(which):
        if time.time() - began > limit:
            print("stopped: out of time", flush=True)
            break
        kept = []
        try:
            row = measure(build, precision, batch, software, update, kept)
        except Exception as error:  # noqa: BLE001 - one failing network must not stop the rest
            print(name, precision, batch, "failed:", str(error)[:200], flush=True)
            torch.cuda.empty_cache()
            continue
        row.update(network=name, precision=precision, batch=batch, software=software,
                   optimizer=update)
        table.writerow({k: "%.6g" % v if isinstance(v, float) else v for k, v in row.items()})
        out.flush()
        print(name, precision, batch, "step %.3f ms enqueue %.3f device %.3f launches %d" % (
            row["step_s"] * 1e3, row["enqueue_s"] * 1e3, row["device_s"] * 1e3, row["launches"]),
            flush=True)
        if kernels:
            for key, count, took in sorted(kept, key=lambda k: -k[2])[:60]:
                kernels.writerow([name, precision, batch, key[:160], count, "%.4g" % took])
        torch.cuda.empty_cache()


main()
