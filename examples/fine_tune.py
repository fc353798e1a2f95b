"""Fine-tunes a network of the zoo for other classes: first its new last layer, then all of it.

    python examples/fine_tune.py [WEIGHTS] [--epochs 12]

WEIGHTS is a file of `model.save_weights`, or the authors' dvs128_ckpt.pt. The four classes are
directions in which bars drift; your own recordings are `kp.datasets.RecordingFolder`.
"""

import argparse

import keras

import keras_pleiades as kp
from keras_pleiades.training.bars import Bars

parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("weights", nargs="?", default=False, help="where to begin; else from nothing")
parser.add_argument("--epochs", type=int, default=12, help="of the whole network")
parser.add_argument("--clips", type=int, default=64, help="recordings to train on")
options = parser.parse_args()

keras.utils.set_random_seed(0)
model = kp.zoo.gesture(
    num_classes=4,
    input_shape=(None, 16, 16, 2),
    pretrained=options.weights,
)
train = Bars(split="train", model=model, batch_size=8, shuffle=True, clips=options.clips)
test = Bars(split="test", model=model, batch_size=8, clips=options.clips // 2)

for part, rate, epochs in (("last layer", 1e-2, 2), ("whole network", 3e-3, options.epochs)):
    for layer in model.layers:
        layer.trainable = part == "whole network" or layer is model.last_layer
    model.compile(
        keras.optimizers.AdamW(rate),
        kp.losses.FrameCrossentropy(),
        weighted_metrics=[kp.metrics.FrameAccuracy()],
    )
    print(f"Training the {part}:")
    model.fit(train, epochs=epochs, validation_data=test, shuffle=False, verbose=2)
model.save_weights("fine_tuned.weights.h5")
