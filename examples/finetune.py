"""Fine-tunes the gesture network on 200 digits of N-MNIST, beside the same network from nothing.

    KERAS_BACKEND=torch python examples/finetune.py nmnist_1000.zip [--epochs 10]

Both see the same digits in the same order; 200 other digits say after each epoch how many frames
are right. For recordings of your own take `kp.datasets.RecordingFolder` in place of `NMNIST`.
"""

import argparse

import keras
import matplotlib.pyplot as plt

import keras_pleiades as kp

parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("data", help="nmnist_1000.zip, or a folder of the whole set")
parser.add_argument("--epochs", type=int, default=10)
parser.add_argument("--fraction", type=float, default=0.2, help="of the samples, to train on")
options = parser.parse_args()

curves = {}
for name, pretrained in (("from simulated gestures", True), ("from nothing", False)):
    keras.utils.set_random_seed(0)
    model = kp.zoo.gesture(
        pretrained=pretrained, num_classes=10, input_shape=(None, 34, 34, 2), dt=20_000
    )
    samples = {"source": options.data, "subset": None, "model": model, "batch_size": 8}
    train = kp.datasets.NMNIST(**samples, fraction=options.fraction, shuffle=True)
    test = kp.datasets.NMNIST(**samples, fraction=0.8, rest=True)
    steps = options.epochs * len(train)
    schedule = keras.optimizers.schedules.CosineDecay(
        0.0, steps - steps // 10, warmup_target=2e-3, warmup_steps=steps // 10
    )
    model.compile(
        keras.optimizers.AdamW(schedule),
        kp.losses.FrameCrossentropy(),
        weighted_metrics=[kp.metrics.FrameAccuracy(name="accuracy")],
    )
    print(f"Training {name}:")
    history = model.fit(train, epochs=options.epochs, validation_data=test, shuffle=False)
    curves[name] = history.history["val_accuracy"]
    model.save_weights(f"{name.replace(' ', '_')}.weights.h5")

figure, axes = plt.subplots(figsize=(5, 3.5), layout="constrained")
for name, curve in curves.items():
    axes.plot(range(1, len(curve) + 1), curve, label=name)
axes.set(xlabel="epoch", ylabel="frames right", title="N-MNIST, digits not trained on")
axes.legend()
figure.savefig("finetune.png", dpi=100)
print({name: f"{100 * curve[-1]:.1f} %" for name, curve in curves.items()})
