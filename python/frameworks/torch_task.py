"""What the programs with PyTorch share: the network of a task and its loss."""
import torch

from data import TASKS


def network(task):
    """A perceptron with the layers of a task, with ReLU between them."""
    sizes = TASKS[task]
    layers = [layer for i, o in zip(sizes, sizes[1:]) for layer in (torch.nn.Linear(i, o), torch.nn.ReLU())]
    return torch.nn.Sequential(*layers[:-1])


def loss_of(values, labels):
    """Cross entropy of the outputs of a network; one output means two classes."""
    if values.shape[1] == 1:
        return torch.nn.functional.binary_cross_entropy_with_logits(values[:, 0], labels.float())
    return torch.nn.functional.cross_entropy(values, labels)
