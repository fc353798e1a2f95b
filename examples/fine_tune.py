"""Fine-tunes a network of the zoo for other classes: first its new last layer, then all of it.

    python examples/fine_tune.py [WEIGHTS]

WEIGHTS is a file of `model.save_weights`, or the authors' dvs128_ckpt.pt. The four classes are
directions in which bars drift; your own recordings are `kp.datasets.RecordingFolder`.
"""

import sys

import keras

import keras_pleiades as kp
from keras_pleiades.training.bars import Bars

keras.utils.set_random_seed(0)
model = kp.zoo.gesture(
    num_classes=4,
    input_shape=(None, 16, 16, 2),
    pretrained=sys.argv[1] if len(sys.argv) > 1 else False,
)
train = Bars(split="train", model=model, batch_size=8, shuffle=True, clips=64)
test = Bars(split="test", model=model, batch_size=8, clips=32)

for part, rate, epochs in (("last layer", 1e-2, 2), ("whole network", 3e-3, 12)):
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
