"""A perceptron on MNIST with Keras, one worker. Its own progress lines are on standard output, so that `howmany bench`
reads them; --callback records instead."""
import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import keras

import howmany
from data import mnist

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=512)
parser.add_argument("--callback", action="store_true")
options = parser.parse_args()

images, labels = mnist(12288)
model = keras.Sequential([keras.layers.Input((784,)), keras.layers.Dense(1024, activation="relu"),
                          keras.layers.Dense(1024, activation="relu"), keras.layers.Dense(10)])
model.compile(optimizer="sgd", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
recorder = [howmany.callbacks.Keras(n=1, batch=options.batch, to="-")] if options.callback else []
model.fit(images, labels, batch_size=options.batch, epochs=1, verbose=0 if options.callback else 2, callbacks=recorder)
