#!/usr/bin/env python3
"""Texts that torchinfo and torch.fx print for real networks, with the values that importing them must give.

usage: torch_texts.py FOLDER (tests/data/torch). It needs torch, torchvision, torchinfo and tabulate. The parameters are
the elements of the tensors of each network, the layers are the calls of modules that call no other module, and the
multiply-adds are half of the operations that torch.utils.flop_counter counts while the network runs.
"""
import os
import re
import sys

sys.path.pop(0)  # This folder has a queue.py, which torch must not import.

import torch  # noqa: E402
import torchinfo  # noqa: E402
import torchvision  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402


class Transformer(nn.Module):
    """An encoder of two blocks between an embedding and a linear layer."""

    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(1000, 64)
        self.enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 256, batch_first=True), 2)
        self.head = nn.Linear(64, 1000)

    def forward(self, x):
        return self.head(self.enc(self.emb(x)))


def count_calls(model, inputs):
    """The number of calls of modules during which no other module is called."""
    open_calls, leaves = [], [0]

    def enter(*_):
        if open_calls:
            open_calls[-1] = False
        open_calls.append(True)

    def leave(*_):
        leaves[0] += open_calls.pop()

    hooks = [h for m in model.modules() for h in (m.register_forward_pre_hook(enter), m.register_forward_hook(leave))]
    model(inputs)
    for hook in hooks:
        hook.remove()
    return leaves[0]


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    networks = {
        "resnet18": (torchvision.models.resnet18(), torch.zeros(2, 3, 224, 224)),
        "vit_b_16": (torchvision.models.vit_b_16(), torch.zeros(1, 3, 224, 224)),
        "transformer": (Transformer(), torch.zeros(2, 16, dtype=torch.long)),
    }
    columns = ("input_size", "output_size", "num_params", "params_percent", "kernel_size", "mult_adds", "trainable")
    rows = []
    for name, (model, inputs) in networks.items():
        model.eval()
        parameters = sum(p.numel() for p in model.parameters())
        layers = count_calls(model, inputs)
        exported = torch.export.export(model, (inputs,))
        with FlopCounterMode(display=False) as counter:
            exported.module()(inputs)
        macs = counter.get_total_flops() // 2

        def write(kind, text, wanted_layers, wanted_parameters, wanted_macs):
            text = re.sub(r"# File: \S*site-packages/", "# File: ", text)
            with open(f"{folder}/{name}-{kind}.txt", "w", encoding="utf-8") as file:
                file.write("\n".join(line.rstrip() for line in text.split("\n")).rstrip("\n") + "\n")
            rows.append((f"{name}-{kind}.txt", wanted_layers, wanted_parameters, wanted_macs))

        def summary(**options):
            return str(torchinfo.summary(model, input_data=inputs, verbose=0, **options))

        write("torchinfo", summary(depth=10), layers, parameters, macs)
        operations = [n for n in exported.graph.nodes if n.op == "call_function" and "getitem" not in str(n.target)]
        write("export", exported.graph_module.print_readable(print_output=False), len(operations), parameters, macs)
        if name == "resnet18":
            table = summary(depth=10, col_names=columns, row_settings=("var_names", "depth"))
            write("columns", table, layers, parameters, macs)
            graph = torch.fx.symbolic_trace(model)
            write("graph", str(graph.graph), len(graph.graph.nodes), "", "")
            write("module", str(graph), len(graph.graph.nodes) - 2, "", "")
        if name == "transformer":
            # The default depth hides the layers of the blocks, so their multiply-adds are unknown.
            write("hidden", summary(), 4, parameters, "")
    with open(f"{folder}/expected.tsv", "w", encoding="utf-8") as file:
        file.write("file\tlayers\tparameters\tmacs\n")
        for row in sorted(rows):
            file.write("\t".join(str(value) for value in row) + "\n")


main()
