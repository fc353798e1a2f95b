"""The memory of projections: what it keeps, where it is exact, and how large its state is."""

import numpy as np
import pytest

import keras_pleiades as kp
from keras_pleiades.layers.projected_context import recurrence
from tests.streaming.test_stream import check, clip, small_model


def remembered(window, frames, bins, order):
    """A slow, obvious version: project the window, shift it, project it again."""
    _, _, basis = recurrence(bins, order)
    for frame in frames:
        window = basis.T @ (basis @ window)
        window = np.append(window[1:], frame)
    return basis @ window


@pytest.mark.parametrize(("bins", "order"), [(10, 5), (10, 10), (100, 9), (7, 3)])
def test_recurrence_equals_the_slow_version(bins, order):
    rng = np.random.default_rng(0)
    frames = rng.normal(size=30)
    shift, entry, basis = recurrence(bins, order)
    np.testing.assert_allclose(basis @ basis.T, np.eye(order), atol=1e-12)
    memory = np.zeros(order)
    for frame in frames:
        memory = shift @ memory + frame * entry
    expected = remembered(np.zeros(bins), frames, bins, order)
    np.testing.assert_allclose(memory, expected, atol=1e-12)


@pytest.mark.parametrize("bins", [10, 50, 100])
def test_nothing_builds_up(bins):
    shift, _, _ = recurrence(bins, 9)
    assert np.linalg.norm(shift, 2) <= 1 + 1e-12
    assert max(abs(np.linalg.eigvals(shift))) < 1


@pytest.mark.parametrize("degree", [0, 2, 4])
def test_exact_for_polynomials_of_time(degree):
    bins, order = 100, 5
    shift, entry, basis = recurrence(bins, order)
    t = np.linspace(-1, 1, 3 * bins)
    signal = t**degree
    memory = basis @ signal[:bins]
    for i in range(bins, len(t)):
        memory = shift @ memory + signal[i] * entry
    np.testing.assert_allclose(memory, basis @ signal[-bins:], atol=1e-9)


def test_exact_with_as_many_polynomials_as_bins():
    model = small_model()
    frames = clip(model, frames=30)
    stream = model.stream(memory="projection", order=10)
    check(stream(frames), model.stream()(frames))


def test_state_does_not_grow_when_bins_shrink():
    model = small_model(dtype="mixed_float16")
    sizes = {}
    for dt in (10_000, 5_000, 2_000, 1_000):
        resampled = model.resample(dt)
        sizes[dt] = resampled.stream(memory="projection").state_bytes
        stream = resampled.stream(memory="projection")
        frames = clip(resampled, frames=3)
        assert stream(frames).shape == (1, 3, 3)
        assert sizes[dt] == sum(array.nbytes for array in stream.state.values())
    assert len(set(sizes.values())) == 1
    ring = {dt: kp.streaming.state_bytes(model.resample(dt)) for dt in (10_000, 1_000)}
    assert ring[1_000] > 10 * ring[10_000]


def test_error_falls_with_the_order():
    bins = 50
    rng = np.random.default_rng(0)
    signal = rng.normal(size=1_000)  # the worst a window can hold
    kernel = rng.normal(size=5) @ kp.basis.jacobi_basis(4, bins)
    exact = np.convolve(signal, kernel[::-1], "valid")
    errors = []
    for order in (5, 10, 20, 50):
        shift, entry, basis = recurrence(bins, order)
        memory, found = np.zeros(order), []
        for frame in signal:
            memory = shift @ memory + frame * entry
            found.append(kernel @ (basis.T @ memory))
        errors.append(np.sqrt(np.mean((found[bins - 1 :] - exact) ** 2) / np.mean(exact**2)))
    assert errors[0] > errors[1] > errors[2] > errors[3]
    assert errors[3] < 1e-9  # as many as bins


def test_errors_say_what_to_do():
    model = small_model()
    with pytest.raises(ValueError, match="order=5, memory='frames'"):
        model.stream(order=5)
    with pytest.raises(ValueError, match="order=0"):
        model.stream(memory="projection", order=0)
    with pytest.raises(ValueError, match="memory='ring'"):
        model.stream(memory="ring")
