import keras
import numpy as np
import pytest

import keras_pleiades as kp

pytest.importorskip("matplotlib", reason="plots need matplotlib")


def test_zeros_of_what_enters_each_block():
    model = kp.models.PleiadesClassifier(
        3, blocks=[(4, 8, False), (8, 8, True)], features=6, input_shape=(None, 8, 8, 2)
    )
    frames = np.random.default_rng(0).poisson(0.2, (24, 8, 8, 2)).astype("float32")
    axes = kp.plots.sparsity(model, frames, "few events").axes[0]
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["block_1", "block_2", "features", "logits"]
    x = frames[None]
    entering = [x]
    for block in ("block_1", "block_2"):
        x = keras.ops.convert_to_numpy(model.get_layer(block)(x, training=False))
        entering.append(x)
    zeros = [100 * (one == 0).mean() for one in entering[:2]]
    found = [bar.get_width() for bar in axes.patches]
    np.testing.assert_allclose(found[:2], zeros, rtol=1e-6)
    assert 75 < found[0] < 90  # e^-0.2 of the pixels have no event
    assert 20 < found[1] < 80  # ReLU
    # The mean over space is zero only where all of it is.
    np.testing.assert_allclose(found[2], 100 * (entering[2].mean((2, 3)) == 0).mean(), rtol=1e-6)
    assert axes.get_title() == "few events"


@pytest.mark.parametrize("name", ["eye_tracking", "detector"])
def test_all_networks(name):
    model = getattr(kp.zoo, name)(input_shape=(None, 32, 64, 2))
    frames = np.ones((1, model.context_frames + 1, 32, 64, 2), "float32")
    bars = kp.plots.sparsity(model, frames).axes[0].patches
    assert len(bars) > 5
    assert bars[0].get_width() == 0
    assert all(0 <= bar.get_width() <= 100 for bar in bars)
