#!/usr/bin/env python3
"""Exports networks of torchvision as ONNX models, and measures their training steps on one CUDA device.

usage: exported-steps.py export FOLDER      writes NETWORK.onnx for training, without weights; needs no device
       exported-steps.py measure OUTPUT.csv

Steps are eager, with SGD with momentum; bf16 is autocast over fp32 weights, tf32 keeps fp32 tensors. step_s is the
smaller of the median of single steps and the mean of steps in a loop.
"""
import gc
import os
import sys
import tempfile
import time

import torch
import torchvision

NETWORKS = {"resnet50": 224, "convnext_tiny": 224, "swin_t": 224, "regnet_y_8gf": 224, "regnet_x_3_2gf": 224,
            "shufflenet_v2_x1_0": 224, "squeezenet1_1": 224, "googlenet": 224, "mnasnet1_0": 224, "vgg19_bn": 224,
            "wide_resnet50_2": 224, "densenet201": 224, "efficientnet_v2_s": 300, "efficientnet_b4": 380}


def build(name):
    more = {"aux_logits": False, "init_weights": True} if name == "googlenet" else {}
    return torchvision.models.get_model(name, weights=None, **more).train()


def export(folder):
    import onnx
    for name, side in NETWORKS.items():
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, name + ".onnx")
            torch.onnx.export(build(name), (torch.randn(1, 3, side, side),), path, dynamo=False, opset_version=17,
                              training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False)
            model = onnx.load(path)
            onnx.save_model(model, os.path.join(folder, name + ".onnx"), save_as_external_data=True,
                            location=name + ".weights", size_threshold=256)
            os.remove(os.path.join(folder, name + ".weights"))


def timed(step):
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    times, start = [], time.perf_counter()
    while len(times) < 5 or (time.perf_counter() - start < 1.2 and len(times) < 40):
        begin = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    single = sorted(times)[len(times) // 2]
    count = max(3, min(30, int(1 / single)))
    begin = time.perf_counter()
    for _ in range(count):
        step()
    torch.cuda.synchronize()
    return min(single, (time.perf_counter() - begin) / count), torch.cuda.max_memory_allocated()


def measure_one(name, side, precision, batch):
    model = build(name).cuda()
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)
    images = torch.randn(batch, 3, side, side, device="cuda")
    labels = torch.randint(0, 1000, (batch,), device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=precision == "bf16"):
            loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
    return timed(step)


def measure(path):
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    with open(path, "w", encoding="utf-8") as out:
        out.write("network,side,precision,batch,step_s,memory_bytes\n")
        for name, side in NETWORKS.items():
            for precision in ("bf16", "tf32"):
                for batch in (16, 64, 192) if side == 224 else (16, 64):
                    seconds, memory = measure_one(name, side, precision, batch)
                    out.write(f"{name},{side},{precision},{batch},{seconds:.6g},{memory}\n")
                    out.flush()
                    gc.collect()
                    torch.cuda.empty_cache()


if len(sys.argv) != 3 or sys.argv[1] not in ("export", "measure"):
    sys.exit(__doc__)
(export if sys.argv[1] == "export" else measure)(sys.argv[2])
