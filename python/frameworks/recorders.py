"""Check recorders with the frameworks themselves, on two processes: torchrun --nproc-per-node 2 recorders.py NAME

NAME is fsdp, fsdp2, tensor (tensor and data parallel), accelerate or deepspeed. Rank 0 compares what was recorded with what
was set up. With --lines, DeepSpeed prints the lines that `howmany bench` reads.
"""
import os
import sys
import tempfile

import torch
import torch.distributed as dist

import howmany
from torch_task import loss_of, network

torch.set_num_threads(1)
torch.manual_seed(1)
name, store = sys.argv[1], os.path.join(tempfile.mkdtemp(), "runs.db")
rank, n = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
model = network("two-layers")
whole = sum(parameter.numel() for parameter in model.parameters())
images, labels = torch.rand(64, 784), torch.randint(0, 10, (64,))


def loop(model, **columns):
    """Train a wrapped model with a recorder of its own."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with howmany.callbacks.torch(model, to=store, batch=64 * n, **columns) as run:
        for _ in range(4):
            optimizer.zero_grad()
            loss = loss_of(model(images), labels)
            loss.backward()
            optimizer.step()
            run.step(loss=loss)
    return run


wanted = {"n": n, "parameters": whole, "iterations": 4}
if name in ("fsdp", "fsdp2", "tensor"):
    dist.init_process_group("gloo")
if name == "fsdp":
    from torch.distributed.fsdp import FullyShardedDataParallel
    run = loop(FullyShardedDataParallel(model, device_id=torch.device("cpu")))
    wanted.update(sharding="full", framework="torch")
elif name == "fsdp2":
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    run = loop(fully_shard(model, mesh=init_device_mesh("cpu", (n,), mesh_dim_names=("dp",))))
    wanted.update(sharding="full", data_parallel=n, job="Sequential")
elif name == "tensor":
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
    mesh = init_device_mesh("cpu", (1, n), mesh_dim_names=("dp", "tp"))
    run = loop(parallelize_module(model, mesh["tp"], {"0": ColwiseParallel(), "2": RowwiseParallel()}))
    wanted.update(tensor_parallel=n)
elif name == "accelerate":
    import accelerate
    accelerator = accelerate.Accelerator(cpu=True)
    rows = torch.utils.data.TensorDataset(torch.rand(128, 784), torch.randint(0, 10, (128,)))
    model, optimizer, loader = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.1),
                                                   torch.utils.data.DataLoader(rows, batch_size=16))
    for part, answers in howmany.callbacks.accelerate(accelerator, loader, to=store):
        optimizer.zero_grad()
        accelerator.backward(loss_of(model(part), answers))
        optimizer.step()
    wanted.update(framework="accelerate", batch=16 * n, micro_batch=16)
else:
    import deepspeed
    os.environ.setdefault("LOCAL_RANK", str(rank))
    deepspeed.init_distributed(dist_backend="gloo")
    settings = {"train_micro_batch_size_per_gpu": 64, "optimizer": {"type": "SGD", "params": {"lr": 0.1}},
                "zero_optimization": {"stage": 1}, "zero_allow_untested_optimizer": True, "steps_per_print": 1}
    if "--lines" in sys.argv:
        deepspeed.utils.logging.set_log_level_from_string("info")
    engine, _, _, _ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=settings)
    with howmany.callbacks.deepspeed(engine, to=store) as run:
        for _ in range(4):
            loss = loss_of(engine(images), labels)
            engine.backward(loss)
            engine.step()
            run.step(loss=loss)
    wanted.update(framework="deepspeed", zero_stage=1, micro_batch=64, data_parallel=n)
if rank == 0:
    recorded = next(iter(howmany.Store(store).runs()))
    wrong = {key: (recorded[key], value) for key, value in wanted.items() if recorded[key] != value}
    print(f"{name}: {'recorded' if not wrong else f'wrong (recorded, wanted): {wrong}'}")
    sys.stdout.flush()
    os._exit(1 if wrong else 0)  # do not wait for the other ranks, because nothing is left to do
