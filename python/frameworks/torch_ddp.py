"""A perceptron on MNIST with PyTorch's DistributedDataParallel over gloo; torchrun starts one process a worker.

The batch of the whole job is fixed, so that n workers have a share of it each (strong scaling).
"""
import argparse

import torch
import torch.distributed as dist

import howmany
from data import mnist

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=1536)
parser.add_argument("--iterations", type=int, default=30)
parser.add_argument("--hidden", type=int, default=1024)
options = parser.parse_args()

torch.set_num_threads(1)
torch.manual_seed(1)
dist.init_process_group("gloo")
n, rank = dist.get_world_size(), dist.get_rank()
images, labels = (torch.from_numpy(part) for part in mnist(12288))
model = torch.nn.Sequential(torch.nn.Linear(784, options.hidden), torch.nn.ReLU(),
                            torch.nn.Linear(options.hidden, options.hidden), torch.nn.ReLU(),
                            torch.nn.Linear(options.hidden, 10))
model = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
share = options.batch // n
dist.barrier()
with howmany.callbacks.torch(model, to="-", batch=share * n) as run:
    for step in range(options.iterations):
        start = (step * options.batch + rank * share) % (len(images) - share)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images[start:start + share]), labels[start:start + share])
        loss.backward()
        optimizer.step()
        run.step(loss=loss)
dist.destroy_process_group()
