"""Exports on one backend, or runs what all backends exported; `test_export.py` runs it.

python -m tests.across_backends.exported FOLDER
python exported.py FOLDER check      # without keras_pleiades
"""

import json
import pathlib
import sys

import numpy as np

FRAMES = 200


def export(folder):
    import keras_pleiades as kp
    from tests.across_backends.exchange import SHAPE
    from tests.backends import randomize

    models = [
        kp.zoo.gesture(input_shape=SHAPE),
        kp.zoo.gesture(input_shape=SHAPE, name="gesture_resampled").resample(7_000),
        kp.zoo.detector(input_shape=SHAPE),
    ]
    for seed, model in enumerate(models):
        randomize(model, seed)
        frames = np.random.default_rng(0).poisson(0.5, (1, FRAMES, *SHAPE[1:])).astype("float32")
        np.savez(folder / f"{model.name}.npz", x=frames, y=model.predict(frames, verbose=0))
        model.export(folder / model.name / "clip")
        model.export(folder / model.name / "stream", streaming=True)


def check(folder):
    for name in ("keras", "keras_pleiades", "jax", "torch"):
        sys.modules[name] = None  # importing it fails, as if it were not installed
    import tensorflow as tf

    compared = 0
    for file in sorted(folder.glob("*/*.npz")):
        data = np.load(file)
        x, y = data["x"], data["y"]
        where = file.with_suffix("")
        clip = tf.saved_model.load(str(where / "clip"))
        stream = tf.saved_model.load(str(where / "stream"))
        facts = json.loads((where / "stream" / "keras_pleiades.json").read_text())
        answers = [stream.step(x[:, t])["outputs"] for t in range(FRAMES)]
        online = np.stack(answers, axis=1)[:, facts["context_frames"] :]
        for form, found in (("clip", clip.serve(x)["outputs"].numpy()), ("stream", online)):
            assert found.shape == y.shape
            error, scale = abs(found - y).max(), max(1.0, abs(y).max())
            print(f"{file.parent.name} {where.name} {form}: {error:.1e} of {scale:.1e}")
            assert error < 1e-4 * scale
            compared += 1
    print(f"compared {compared}")


if __name__ == "__main__":
    {"check": check, "export": export}[(*sys.argv, "export")[2]](pathlib.Path(sys.argv[1]))
