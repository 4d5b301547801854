"""A perceptron on MNIST with PyTorch's DistributedDataParallel, or FSDP, over gloo; torchrun or launch.py starts one
process a worker.

The batch of the whole job is fixed, so that n workers have a share of it each (strong scaling); with --weak the batch is
that of each worker.
"""
import argparse

import torch
import torch.distributed as dist

import howmany
from data import BATCH, TASKS, limit, mnist, widths

parser = argparse.ArgumentParser()
parser.add_argument("--task", choices=TASKS, default="one-layer")
parser.add_argument("--batch", type=int, default=BATCH)
parser.add_argument("--weak", action="store_true")
parser.add_argument("--iterations", type=int, default=25)
parser.add_argument("--wrap", choices=["ddp", "fsdp", "fsdp2"], default="ddp")
parser.add_argument("--to", default="-")
options = parser.parse_args()

torch.set_num_threads(1)
torch.manual_seed(1)
dist.init_process_group("gloo")
n, rank = dist.get_world_size(), dist.get_rank()
share = options.batch if options.weak else options.batch // n
images, labels = (torch.from_numpy(part) for part in mnist(12288))
sizes = widths(options.task)
layers = [layer for i, o in zip(sizes, sizes[1:]) for layer in (torch.nn.Linear(i, o), torch.nn.ReLU())]
model = torch.nn.Sequential(*layers[:-1])
if options.wrap == "ddp":
    model = torch.nn.parallel.DistributedDataParallel(model)
elif options.wrap == "fsdp":
    from torch.distributed.fsdp import FullyShardedDataParallel
    model = FullyShardedDataParallel(model, device_id=torch.device("cpu"))
else:
    from torch.distributed.fsdp import fully_shard
    model = fully_shard(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


def step(i):
    start = (i * share * n + rank * share) % (len(images) - share)
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(images[start:start + share]), labels[start:start + share])
    loss.backward()
    optimizer.step()
    return loss


for i in range(3):
    step(i)
limit(rank)
dist.barrier()
with howmany.callbacks.torch(model, to=options.to, batch=share * n) as run:
    for i in range(options.iterations):
        run.step(loss=step(i))
dist.barrier()
dist.destroy_process_group()
