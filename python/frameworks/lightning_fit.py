"""A perceptron on MNIST with Lightning (DDP over gloo). The Trainer starts its own processes, or launch.py does."""
import os

import lightning
import torch

import howmany
from data import limit, shares, task_parser, task_rows
from torch_task import loss_of, network


class Perceptron(lightning.LightningModule):
    def __init__(self, task):
        super().__init__()
        self.layers = network(task)

    def training_step(self, batch, batch_idx):
        images, labels = batch
        if batch_idx == 3:
            limit(self.global_rank)
        return loss_of(self.layers(images), labels)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


class Batches(torch.utils.data.IterableDataset):
    """Whole batches: a loader that collects single rows would take longer than the training itself."""

    def __init__(self, task, share, steps):
        super().__init__()
        self.task, self.share, self.steps = task, share, steps

    def __iter__(self):
        images, labels = (torch.from_numpy(part) for part in task_rows(self.task))
        for i in range(self.steps):
            start = i * self.share % (len(images) - self.share + 1)
            yield images[start:start + self.share], labels[start:start + self.share]


if __name__ == "__main__":
    parser = task_parser()
    parser.add_argument("--n", type=int, default=int(os.environ.get("WORLD_SIZE", "1")))
    parser.add_argument("--bar", action="store_true", help="show Lightning's progress bar instead of recording")
    options = parser.parse_args()
    torch.set_num_threads(1)
    outside = "RANK" in os.environ  # launch.py started a process on each node
    share, batch = shares(options, options.n)
    loader = torch.utils.data.DataLoader(Batches(options.task, share, options.steps), batch_size=None)
    trainer = lightning.Trainer(
        accelerator="cpu", devices=1 if outside else options.n, num_nodes=options.n if outside else 1,
        strategy="ddp" if options.n > 1 else "auto", max_steps=options.steps, logger=False, enable_checkpointing=False,
        enable_progress_bar=options.bar, enable_model_summary=False,
        callbacks=[] if options.bar else [howmany.callbacks.Lightning(to=options.to, batch=batch)])
    trainer.fit(Perceptron(options.task), loader)
