"""The three networks at full size, and how weights get into them."""

import keras
import numpy as np
import pytest

import keras_pleiades as kp
from keras_pleiades.zoo._architectures import ARCHITECTURES
from tests.backends import to_numpy

# name: trainable parameters, context, window, output shape of the default input
NETWORKS = {
    "gesture": (191_610, 45, 100_000, (None, None, 10)),
    "eye_tracking": (276_403, 54, 50_000, (None, None, 3, 4, 3)),
    "detector": (574_955, 36, 100_000, (None, None, 40, 80, 11)),
}
SMALL = (None, 32, 32, 2)


def test_every_model_is_listed():
    assert kp.zoo.list_models() == sorted(NETWORKS) == sorted(ARCHITECTURES)


@pytest.mark.parametrize("name", NETWORKS)
def test_sizes_of_the_paper(name):
    model = getattr(kp.zoo, name)()
    trainable = sum(int(np.prod(v.shape)) for v in model.trainable_variables)
    found = (trainable, model.context_frames, model.window_us, model.output_shape)
    assert found == NETWORKS[name]
    assert model.name == name


def test_any_shape_classes_and_bin_size():
    model = kp.zoo.gesture(num_classes=4, input_shape=(None, 40, 33, 2), dt=5_000, name="mine")
    assert (model.name, model.dt, model.context_frames) == ("mine", 5_000, 95)
    assert model.output_shape == (None, None, 4)
    assert kp.zoo.detector(3, (None, 50, 70, 2)).output_shape == (None, None, 13, 18, 7)
    free = kp.zoo.gesture(degree=None, input_shape=SMALL)
    assert tuple(free.get_layer("block_1").temporal_conv.coefficients.shape) == (10, 2, 8)


def test_a_seed_gives_the_same_network():
    def weights(seed):
        keras.utils.set_random_seed(seed)
        return kp.zoo.gesture(input_shape=SMALL).get_weights()

    first, again, other = weights(1), weights(1), weights(2)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[0], other[0])
    # The same on every backend: these two numbers are NumPy's.
    np.testing.assert_allclose(first[0].ravel()[:2], [0.98734444, 0.40092686], atol=1e-6)


def test_unknown_arguments_are_errors():
    with pytest.raises((TypeError, ValueError), match="degrees"):
        kp.zoo.gesture(degrees=3)


@pytest.mark.parametrize("name", ["gesture", "detector"])
def test_weights_with_other_classes_keep_the_body(name, tmp_path):
    build = getattr(kp.zoo, name)
    old = build(num_classes=5, input_shape=SMALL)
    path = tmp_path / "old.weights.h5"
    old.save_weights(path)
    new = build(num_classes=3, input_shape=SMALL, pretrained=path)
    last = {id(v) for v in new.last_layer.variables}
    for a, b in zip(old.variables, new.variables, strict=True):
        if id(b) in last:
            assert a.shape != b.shape
        else:
            np.testing.assert_array_equal(to_numpy(a), to_numpy(b))
    same = build(num_classes=5, input_shape=SMALL, pretrained=str(path))
    for a, b in zip(old.variables, same.variables, strict=True):
        np.testing.assert_array_equal(to_numpy(a), to_numpy(b))


def loss_of(name):
    if name == "gesture":
        return keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    return keras.losses.MeanSquaredError()


@pytest.mark.parametrize("name", NETWORKS)
def test_fit_lowers_the_loss(name):
    model = getattr(kp.zoo, name)(input_shape=SMALL)
    rng = np.random.default_rng(0)
    x = rng.poisson(0.3, (2, model.context_frames + 2, 32, 32, 2)).astype("float32")
    shape = model.compute_output_shape(x.shape)
    y = rng.integers(0, 10, shape[:2]) if name == "gesture" else rng.normal(size=shape)
    model.compile(optimizer=keras.optimizers.AdamW(1e-3), loss=loss_of(name))
    before = [to_numpy(v) for v in model.trainable_variables]
    losses = model.fit(x, y, batch_size=2, epochs=8, verbose=0).history["loss"]
    assert np.isfinite(losses).all()
    assert losses[-1] < 0.8 * losses[0]
    # Every weight takes part.
    for old, variable in zip(before, model.trainable_variables, strict=True):
        assert abs(to_numpy(variable) - old).max() > 0, variable.path
