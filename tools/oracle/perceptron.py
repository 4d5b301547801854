#!/usr/bin/python3
"""Losses and gradients of small perceptrons, in numpy's float64.

    case name activation features hidden outputs rows scale
    loss ...        sum over the rows of the cross-entropy
    norm ...        Euclidean norm of its gradient
    along ...       the gradient's product with the direction cos(0.3 + 0.9 k)
    right ...       rows predicted right

Row i has the values sin(0.7 + 1.3 i + 2.1 j + 0.05 i j) and the label (7 i + i^2) mod outputs; weight k is
scale * sin(0.4 + 1.7 k + 0.01 k^1.5). Weights are, layer after layer, in x out (row-major) and the biases.

The gradient is not made by going backwards but by complex steps, Im L(w + 1e-30 i e_k) / 1e-30, which has no
rounding of differences (Squire and Trapp 1998). No z of a hidden ReLU is within 1e-5 of its kink and no two
outputs of a row are that close, so that single precision takes the same side.
"""
import numpy as np

CASES = [
    ("regression", "relu", 5, [], 3, 11, 0.5),
    ("one-sigmoid", "sigmoid", 6, [5], 3, 16, 0.6),
    ("one-relu", "relu", 6, [5], 3, 16, 0.6),
    ("two-sigmoid", "sigmoid", 4, [7, 3], 4, 20, 0.9),
    ("two-relu", "relu", 4, [7, 6], 4, 20, 0.7),
    ("three-sigmoid", "sigmoid", 3, [4, 5, 6], 2, 12, 1.1),
    ("three-relu", "relu", 3, [4, 5, 6], 2, 12, 0.8),
    ("one-feature", "sigmoid", 1, [3], 2, 9, 2.0),
    ("narrow", "sigmoid", 8, [1], 5, 14, 1.5),
    ("steep-sigmoid", "sigmoid", 5, [6], 3, 10, 40.0),
    ("steep-relu", "relu", 5, [6], 3, 10, 20.0),
    ("more-than-a-block", "relu", 7, [9], 3, 1300, 0.5),
]


def forward(w, x, shape, activation):
    """z of the last layer, and the least |z| at a ReLU; w may be complex."""
    at, nearest = 0, np.inf
    for l, (a, b) in enumerate(shape):
        z = x @ w[at:at + a * b].reshape(a, b) + w[at + a * b:at + (a + 1) * b]
        at += (a + 1) * b
        if l + 1 == len(shape):
            return z, nearest
        if activation == "relu":
            nearest = min(nearest, np.abs(z.real).min())
            x = np.where(z.real > 0, z, 0)
        else:
            x = 1 / (1 + np.exp(-z))


def loss(w, x, y, shape, activation):
    z, _ = forward(w, x, shape, activation)
    top = z.real.max(axis=1, keepdims=True)
    return (np.log(np.exp(z - top).sum(axis=1)) + top[:, 0] - z[np.arange(len(y)), y]).sum()


def main():
    print("# made by perceptron.py")
    for name, activation, features, hidden, outputs, rows, scale in CASES:
        widths = [features, *hidden, outputs]
        shape = list(zip(widths, widths[1:]))
        i, j = np.arange(rows)[:, None], np.arange(features)[None, :]
        x = np.sin(0.7 + 1.3 * i + 2.1 * j + 0.05 * i * j)
        y = (7 * np.arange(rows) + np.arange(rows) ** 2) % outputs
        k = np.arange(sum((a + 1) * b for a, b in shape))
        w = scale * np.sin(0.4 + 1.7 * k + 0.01 * k ** 1.5)
        z, nearest = forward(w, x, shape, activation)
        ordered = np.sort(z, axis=1)
        assert nearest > 1e-5 and (ordered[:, -1] - ordered[:, -2]).min() > 1e-5, (name, nearest)
        step = 1e-30
        gradient = np.array([loss(w + 1j * step * (k == e), x, y, shape, activation).imag / step for e in k])
        print("case", name, activation, features, ",".join(map(str, hidden)) or "-", outputs, rows, scale)
        print(f"loss {loss(w, x, y, shape, activation):.17g}")
        print(f"norm {np.sqrt((gradient ** 2).sum()):.17g}")
        print(f"along {gradient @ np.cos(0.3 + 0.9 * k):.17g}")
        print(f"right {(z.argmax(axis=1) == y).sum()}")


main()
