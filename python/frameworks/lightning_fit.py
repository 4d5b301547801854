"""A perceptron on MNIST with Lightning; the Trainer starts its own processes (DDP over gloo, CPU)."""
import argparse

import lightning
import torch

import howmany
from data import mnist


class Perceptron(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(784, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 1024),
                                          torch.nn.ReLU(), torch.nn.Linear(1024, 10))

    def training_step(self, batch, batch_idx):
        images, labels = batch
        return torch.nn.functional.cross_entropy(self.layers(images), labels)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=1)
    parser.add_argument("--batch", type=int, default=1536)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--bar", action="store_true", help="show Lightning's progress bar instead of recording")
    options = parser.parse_args()
    torch.set_num_threads(1)
    images, labels = (torch.from_numpy(part) for part in mnist(12288))
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(images, labels), batch_size=options.batch // options.n)
    trainer = lightning.Trainer(
        accelerator="cpu", devices=options.n, strategy="ddp" if options.n > 1 else "auto", max_steps=options.steps, logger=False,
        enable_checkpointing=False, enable_progress_bar=options.bar, enable_model_summary=False,
        callbacks=[] if options.bar else [howmany.callbacks.Lightning(to="-")])
    trainer.fit(Perceptron(), loader)
