#!/usr/bin/env python3
"""Measures what the host needs for the operations of eager PyTorch, and the device time of kernels.

usage: host-costs.py OPERATIONS.csv STEPS.csv KERNELS.csv

OPERATIONS.csv: microseconds of the host for one module forward and backward, from chains of two lengths of small tensors
(the difference of their times), in fp32 and with autocast to bf16; and for the update of one tensor by an optimizer.
STEPS.csv: whole steps of common networks with a batch so small that the host decides: forward, backward, update and the
whole step. KERNELS.csv: device time of each kernel of one step at a large batch, with the names of the kernels.
"""
import csv
import sys

import torch
from torch import nn

from timing import clock, first, median

DEVICE = "cuda"
torch.backends.cuda.matmul.allow_tf32 = True
torch.backends.cudnn.allow_tf32 = True


class Add(nn.Module):
    def forward(self, x):
        return x + x


class Heads(nn.Module):
    """The core of attention: split into heads, scaled product, join."""

    def forward(self, x):
        b, s, w = x.shape
        q = x.view(b, s, 4, w // 4).transpose(1, 2)
        x = nn.functional.scaled_dot_product_attention(q, q, q)
        return x.transpose(1, 2).reshape(b, s, w)


class Scale(nn.Module):
    def forward(self, x):
        return x * x.mean((2, 3), keepdim=True)


class Join(nn.Module):
    def forward(self, x):
        a, b = x.chunk(2, 1)
        return torch.cat([b, a], 1)


def modules():
    image, sequence, flat = (2, 16, 8, 8), (2, 16, 64), (8, 64)
    return [
        ("conv", image, lambda: nn.Conv2d(16, 16, 3, padding=1, bias=False)),
        ("conv-bias", image, lambda: nn.Conv2d(16, 16, 3, padding=1)),
        ("conv-pointwise", image, lambda: nn.Conv2d(16, 16, 1, bias=False)),
        ("conv-depthwise", image, lambda: nn.Conv2d(16, 16, 3, padding=1, groups=16, bias=False)),
        ("batch-norm", image, lambda: nn.BatchNorm2d(16)),
        ("relu", image, nn.ReLU),
        ("silu", image, lambda: nn.SiLU()),
        ("max-pool", image, lambda: nn.MaxPool2d(3, 1, 1)),
        ("add", image, Add),
        ("scale", image, Scale),
        ("join", image, Join),
        ("linear", flat, lambda: nn.Linear(64, 64)),
        ("linear-sequence", sequence, lambda: nn.Linear(64, 64)),
        ("layer-norm", sequence, lambda: nn.LayerNorm(64)),
        ("gelu", sequence, nn.GELU),
        ("dropout", sequence, lambda: nn.Dropout(0.1)),
        ("heads", sequence, Heads),
        ("multi-head", sequence, lambda: None),
    ]


class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.MultiheadAttention(64, 4, batch_first=True)

    def forward(self, x):
        return self.inner(x, x, x, need_weights=False)[0]


def chain_times(make, shape, length, mixed):
    """Returns the seconds of the forward and of the backward pass of a chain, the least of several."""
    torch.manual_seed(1)
    net = nn.Sequential(*[(make() or SelfAttention()) for _ in range(length)]).to(DEVICE).train()
    x = torch.randn(shape, device=DEVICE, requires_grad=True)
    times = []
    for i in range(12):
        net.zero_grad(set_to_none=True)
        x.grad = None
        t0 = clock()
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=mixed):
            y = net(x.clone() * 0.5)
        t1 = clock()
        y.float().sum().backward()
        times.append((t1 - t0, clock() - t1))
    times = times[3:]
    return median([t[0] for t in times]), median([t[1] for t in times])


def update_times(kind, count):
    parameters = [nn.Parameter(torch.randn(64, device=DEVICE)) for _ in range(count)]
    for p in parameters:
        p.grad = torch.randn_like(p)
    if kind == "adamw":
        optimizer = torch.optim.AdamW(parameters, lr=1e-4)
    elif kind == "adamw-fused":
        optimizer = torch.optim.AdamW(parameters, lr=1e-4, fused=True)
    else:
        optimizer = torch.optim.SGD(parameters, lr=1e-4, momentum=0.9 if kind == "momentum" else 0)
    times = []
    for _ in range(12):
        t0 = clock()
        optimizer.step()
        times.append(clock() - t0)
    return median(times[3:])


def operations(path):
    with open(path, "w", newline="") as out:
        table = csv.writer(out)
        table.writerow(["operation", "precision", "forward_us", "backward_us"])
        for name, shape, make in modules():
            for precision in ("fp32", "bf16"):
                short = chain_times(make, shape, 20, precision == "bf16")
                long = chain_times(make, shape, 120, precision == "bf16")
                row = [(b - a) / 100 * 1e6 for a, b in zip(short, long)]
                table.writerow([name, precision] + ["%.1f" % r for r in row])
                print(name, precision, "forward %.1f us backward %.1f us" % tuple(row), flush=True)
        for kind in ("sgd", "momentum", "adamw", "adamw-fused"):
            a, b = update_times(kind, 20), update_times(kind, 220)
            table.writerow(["update-" + kind, "fp32", "%.2f" % ((b - a) / 200 * 1e6), "%.1f" % (a * 1e6)])
            print("update", kind, "%.2f us a tensor, %.1f us for 20" % ((b - a) / 200 * 1e6, a * 1e6), flush=True)


def networks():
    import torchvision.models as tv
    import transformers as tr

    def image(name, side=224, **more):
        def build(batch):
            x = torch.randn(batch, 3, side, side, device=DEVICE)
            y = torch.randint(0, 1000, (batch,), device=DEVICE)
            return getattr(tv, name)(weights=None, **more), lambda m: nn.functional.cross_entropy(first(m(x)), y)
        return build

    def text(make, length, vocabulary):
        def build(batch):
            x = torch.randint(0, vocabulary, (batch, length), device=DEVICE)
            return make(), lambda m: m(input_ids=x, labels=x).loss
        return build

    found = [(n, image(n)) for n in (
        "alexnet", "resnet18", "resnet50", "resnet152", "vgg16", "vgg16_bn", "mobilenet_v2", "mobilenet_v3_large", "mnasnet1_0",
        "efficientnet_b0", "efficientnet_v2_s", "densenet121", "googlenet", "shufflenet_v2_x1_0", "squeezenet1_1",
        "regnet_x_3_2gf", "regnet_y_8gf", "resnext50_32x4d", "vit_b_16", "swin_t", "convnext_tiny")]
    found.append(("inception_v3", image("inception_v3", 299, aux_logits=False, init_weights=False)))
    found.append(("bert-base-128", text(lambda: tr.BertForMaskedLM(tr.BertConfig()), 128, 30000)))
    found.append(("gpt-2", text(lambda: tr.GPT2LMHeadModel(tr.GPT2Config()), 1024, 50000)))
    found.append(("gpt-2-medium", text(
        lambda: tr.GPT2LMHeadModel(tr.GPT2Config(n_embd=1024, n_layer=24, n_head=16)), 1024, 50000)))
    return found


def make_step(build, precision, batch):
    torch.manual_seed(1)
    model, loss_of = build(batch)
    model = model.to(DEVICE).train()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9)

    def loss():
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=precision == "bf16"):
            return loss_of(model)

    return model, optimizer, loss


def steps(path):
    with open(path, "w", newline="") as out:
        table = csv.writer(out)
        table.writerow(["network", "precision", "batch", "tensors", "forward_s", "backward_s", "update_s", "step_s"])
        for name, build in networks():
            for precision in ("tf32", "bf16"):
                batch = 1 if name.startswith(("gpt", "bert")) else 4
                model, optimizer, loss = make_step(build, precision, batch)
                rows = []
                for i in range(11):
                    t0 = clock()
                    optimizer.zero_grad(set_to_none=True)
                    value = loss()
                    t1 = clock()
                    value.backward()
                    t2 = clock()
                    optimizer.step()
                    rows.append((t1 - t0, t2 - t1, clock() - t2))
                t0 = clock()
                for _ in range(8):
                    optimizer.zero_grad(set_to_none=True)
                    loss().backward()
                    optimizer.step()
                free = (clock() - t0) / 8
                parts = [median([r[i] for r in rows[3:]]) for i in range(3)]
                tensors = sum(1 for _ in model.parameters())
                table.writerow([name, precision, batch, tensors] + ["%.6g" % t for t in parts + [free]])
                out.flush()
                print(name, precision, tensors, " ".join("%.2f" % (1e3 * t) for t in parts + [free]), flush=True)
                del model, optimizer, loss, value
                torch.cuda.empty_cache()


def kernels(path):
    from torch.profiler import ProfilerActivity, profile
    wanted = {"resnet50": 128, "vgg16": 64, "vgg16_bn": 64, "alexnet": 512, "mobilenet_v2": 128, "regnet_x_3_2gf": 64, "resnext50_32x4d": 64,
              "efficientnet_b0": 64, "densenet121": 64, "swin_t": 64, "convnext_tiny": 64, "vit_b_16": 64, "resnet18": 128,
              "mnasnet1_0": 128, "googlenet": 128, "inception_v3": 64, "squeezenet1_1": 192,
              "gpt-2": 8, "bert-base-128": 64}
    with open(path, "w", newline="") as out:
        table = csv.writer(out)
        table.writerow(["network", "precision", "batch", "kernel", "count", "seconds"])
        for name, build in networks():
            for precision in ("tf32", "bf16"):
                if name not in wanted:
                    continue
                model, optimizer, loss = make_step(build, precision, wanted[name])

                def step():
                    optimizer.zero_grad(set_to_none=True)
                    loss().backward()
                    optimizer.step()
                for _ in range(3):
                    step()
                torch.cuda.synchronize()
                with profile(activities=[ProfilerActivity.CUDA]) as trace:
                    step()
                    torch.cuda.synchronize()
                total = 0
                for e in trace.key_averages():
                    if e.self_device_time_total > 0:
                        table.writerow([name, precision, wanted[name], e.key[:200], e.count, "%.6g" % (e.self_device_time_total * 1e-6)])
                        total += e.self_device_time_total * 1e-3
                out.flush()
                print(name, precision, "device %.2f ms" % total, flush=True)
                del model, optimizer, loss, step
                torch.cuda.empty_cache()


if __name__ == "__main__":
    operations(sys.argv[1])
    steps(sys.argv[2])
    kernels(sys.argv[3])
