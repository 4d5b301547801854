"""A perceptron on MNIST with Ray Train (PyTorch, gloo) on n workers of this machine: ray_train.py --n 2 --to runs.db"""
import argparse
import os

import ray
import ray.train
import ray.train.torch

parser = argparse.ArgumentParser()
parser.add_argument("--n", type=int, default=1)
parser.add_argument("--to", required=True, help="a store or a server: the output of workers is Ray's, not that of this program")
options = parser.parse_args()


def train(settings):
    import torch

    import howmany
    from data import BATCH, mnist
    from torch_task import loss_of, network

    context = ray.train.get_context()
    n, rank = context.get_world_size(), context.get_world_rank()
    torch.set_num_threads(1)
    model = ray.train.torch.prepare_model(network("one-layer"))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    images, labels = (torch.from_numpy(part)[rank::n] for part in mnist(BATCH))
    with howmany.callbacks.torch(model, n=n, rank=rank, to=settings["to"], batch=BATCH) as run:
        for _ in range(10):
            optimizer.zero_grad()
            loss = loss_of(model(images), labels)
            loss.backward()
            optimizer.step()
            run.step(loss=loss)


# Workers inherit the environment of the local Ray that this program starts.
os.environ["PYTHONPATH"] = os.pathsep.join([os.path.dirname(os.path.abspath(__file__)), os.environ.get("PYTHONPATH", "")])
ray.init(num_cpus=options.n + 1, include_dashboard=False)
ray.train.torch.TorchTrainer(
    train, train_loop_config={"to": os.path.abspath(options.to) if "://" not in options.to else options.to},
    scaling_config=ray.train.ScalingConfig(num_workers=options.n), torch_config=ray.train.torch.TorchConfig(backend="gloo")).fit()
