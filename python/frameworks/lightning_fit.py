"""A perceptron on MNIST with Lightning (DDP over gloo). The Trainer starts its own processes, or launch.py does."""
import argparse
import os

import lightning
import torch

import howmany
from data import BATCH, TASKS, limit, mnist, widths


class Perceptron(lightning.LightningModule):
    def __init__(self, task):
        super().__init__()
        sizes = widths(task)
        layers = [layer for i, o in zip(sizes, sizes[1:]) for layer in (torch.nn.Linear(i, o), torch.nn.ReLU())]
        self.layers = torch.nn.Sequential(*layers[:-1])

    def training_step(self, batch, batch_idx):
        images, labels = batch
        if batch_idx == 3:
            limit(self.global_rank)
        return torch.nn.functional.cross_entropy(self.layers(images), labels)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


class Batches(torch.utils.data.IterableDataset):
    """Whole batches: a loader that collects single rows would take longer than the training itself."""

    def __init__(self, rows, share, steps):
        super().__init__()
        self.rows, self.share, self.steps = rows, share, steps

    def __iter__(self):
        images, labels = (torch.from_numpy(part) for part in mnist(self.rows))
        for i in range(self.steps):
            start = i * self.share % (len(images) - self.share)
            yield images[start:start + self.share], labels[start:start + self.share]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=int(os.environ.get("WORLD_SIZE", "1")))
    parser.add_argument("--task", choices=TASKS, default="one-layer")
    parser.add_argument("--batch", type=int, default=BATCH)
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--to", default="-")
    parser.add_argument("--bar", action="store_true", help="show Lightning's progress bar instead of recording")
    options = parser.parse_args()
    torch.set_num_threads(1)
    outside = "RANK" in os.environ  # launch.py started a process on each node
    loader = torch.utils.data.DataLoader(Batches(12288, options.batch // options.n, options.steps), batch_size=None)
    trainer = lightning.Trainer(
        accelerator="cpu", devices=1 if outside else options.n, num_nodes=options.n if outside else 1,
        strategy="ddp" if options.n > 1 else "auto", max_steps=options.steps, logger=False, enable_checkpointing=False,
        enable_progress_bar=options.bar, enable_model_summary=False,
        callbacks=[] if options.bar else [howmany.callbacks.Lightning(to=options.to, batch=options.batch)])
    trainer.fit(Perceptron(options.task), loader)
