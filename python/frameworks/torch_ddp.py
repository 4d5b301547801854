"""A perceptron on MNIST with PyTorch's DistributedDataParallel, or FSDP, over gloo; torchrun, launch.py or Slurm's srun starts
one process a worker.

The batch of the whole job is fixed, so that n workers have a share of it each (strong scaling); with --weak the batch is
that of each worker.
"""
import os

import torch
import torch.distributed as dist

import howmany
from data import limit, shares, task_parser, task_rows
from torch_task import loss_of, network

parser = task_parser()
parser.add_argument("--wrap", choices=["ddp", "fsdp", "fsdp2"], default="ddp")
options = parser.parse_args()

torch.set_num_threads(1)
torch.manual_seed(1)
if "RANK" in os.environ:
    dist.init_process_group("gloo")
else:  # srun has other names for these numbers; the batch script sets MASTER_ADDR and MASTER_PORT
    dist.init_process_group("gloo", rank=int(os.environ["SLURM_PROCID"]), world_size=int(os.environ["SLURM_NTASKS"]))
n, rank = dist.get_world_size(), dist.get_rank()
share, batch = shares(options, n)
images, labels = (torch.from_numpy(part) for part in task_rows(options.task))
model = network(options.task)
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
    start = (i * batch + rank * share) % (len(images) - share + 1)
    optimizer.zero_grad()
    loss = loss_of(model(images[start:start + share]), labels[start:start + share])
    loss.backward()
    optimizer.step()
    return loss


for i in range(3):
    step(i)
limit(rank)
dist.barrier()
with howmany.callbacks.torch(model, to=options.to, batch=batch) as run:
    for i in range(options.steps):
        run.step(loss=step(i))
dist.barrier()
dist.destroy_process_group()
