"""What the programs in this folder share to time the steps of networks on a device."""
import time

import torch


def first(out):
    """Returns the first tensor of what a network returns."""
    return out.logits if hasattr(out, "logits") else out[0] if isinstance(out, tuple) else out


def median(values):
    values = sorted(values)
    return values[len(values) // 2]


def clock():
    """Returns the time in seconds after all work on the device has ended."""
    torch.cuda.synchronize()
    return time.perf_counter()
