"""Frame by frame and in parts of any length against the whole clip."""

import hypothesis
import keras
import numpy as np
import pytest
from hypothesis import strategies as st
from keras import ops

import keras_pleiades as kp
from keras_pleiades.layers import xla_kernels
from tests.backends import randomize, to_numpy

FRAMES = 120
ORDERS = {"frames": {}, "projection": {"order": 10}}  # as many as bins: exact
SIZES = {"gesture": (16, 20), "eye_tracking": (32, 32), "detector": (32, 32)}


def small_model(**kwargs):
    blocks = [(4, 8, False), (8, 12, True)]
    arguments = {"input_shape": (None, 8, 9, 2), "features": 8, "name": "small", **kwargs}
    return randomize(kp.models.PleiadesClassifier(3, blocks, **arguments))


def clip(model, batch=1, frames=FRAMES, seed=0):
    shape = (batch, frames, *model.input_shape[2:])
    return np.random.default_rng(seed).poisson(0.3, shape).astype("float32")


def check(found, expected):
    # Sums in another order, in float32.
    assert found.shape == expected.shape
    assert abs(found - expected).max() < 1e-5 * max(1.0, abs(expected).max())


@pytest.fixture(scope="module", params=[(name, ratio) for name in SIZES for ratio in (1, 0.5)])
def network(request):
    """A network of the zoo, its stream, a clip and the clip's answers."""
    name, ratio = request.param
    keras.utils.set_random_seed(1)
    model = getattr(kp.zoo, name)(input_shape=(None, *SIZES[name], 2))
    if ratio != 1:
        model = model.resample(int(model.dt * ratio))
    frames = clip(model)
    return model, model.stream(), frames, model.predict(frames, verbose=0)


@hypothesis.settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture],
)
@hypothesis.given(cuts=st.lists(st.integers(1, FRAMES - 1), max_size=12, unique=True))
def test_every_cutting_gives_the_clip_s_answers(network, cuts):
    model, stream, frames, expected = network
    stream.reset()
    parts = np.split(frames, sorted(cuts), axis=1)
    found = np.concatenate([stream(part) for part in parts], axis=1)
    assert found.shape[1] == FRAMES
    if model.context_frames < FRAMES:
        check(found[:, model.context_frames :], expected)


def test_the_authors_network_online(shared):
    golden = np.load(shared / "reference" / "golden.npz")
    model = kp.zoo.gesture(pretrained=shared / "reference" / "dvs128_ckpt.pt")
    frames = np.zeros(golden["case1_shape"], "float32").reshape(-1)
    frames[golden["case1_index"]] = golden["case1_count"]
    frames = frames.reshape(1, *golden["case1_shape"])
    frames = np.concatenate([np.zeros_like(frames[:, :44]), frames], axis=1)
    stream = model.stream()
    found = np.concatenate([stream(part) for part in np.split(frames, [50, 51], axis=1)], axis=1)
    expected = golden["case1_logits_zero_prefix44"]
    found = found[0, model.context_frames :]
    assert abs(found - expected).max() < 1e-5 * abs(expected).max()
    np.testing.assert_array_equal(found.argmax(-1), expected.argmax(-1))


@pytest.fixture(scope="module")
def small():
    return small_model()


def test_step_is_explicit_and_pure(small):
    frames = clip(small, frames=24)
    expected = small.predict(frames, verbose=0)
    state = small.initial_state()
    before = {name: to_numpy(array).copy() for name, array in state.items()}
    first = state
    for t in range(frames.shape[1]):
        answer, state = small.step(frames[:, t], state)
    check(to_numpy(answer), expected[:, -1])
    for name, array in first.items():  # still what it was
        np.testing.assert_array_equal(to_numpy(array), before[name])


def test_elements_of_a_batch_are_independent(small):
    frames = clip(small, batch=3, frames=30)
    stream = small.stream(batch_size=3)
    stream(frames[:, :7])
    stream.reset(index=1)
    assert not stream.ready.any()
    found = stream(frames[:, 7:])
    assert stream.ready.tolist() == [True, True, True]
    alone = small.stream()
    check(found[1:2], alone(frames[1:2, 7:]))
    alone.reset()
    check(found[2:], alone(frames[2:])[:, 7:])
    with pytest.raises(IndexError, match="Received: 3"):
        stream.reset(index=3)


def test_ready_when_every_layer_has_seen_real_frames(small):
    stream, frames = small.stream(), clip(small, frames=20)
    stream(frames[:, : small.context_frames])
    assert not stream.ready[0]
    answer = stream(frames[:, small.context_frames : small.context_frames + 1])
    assert stream.ready[0]
    check(answer, small.predict(frames[:, : small.context_frames + 1], verbose=0))
    stream.reset()
    assert not stream.ready[0]


def test_state_can_be_saved_and_goes_on_elsewhere(small, tmp_path):
    frames, stream = clip(small, frames=30), small.stream()
    stream(frames[:, :11])
    np.savez(tmp_path / "state.npz", **stream.state)
    expected = stream(frames[:, 11:])
    other = small.stream()
    other(frames[:, 3:9])
    other.state = dict(np.load(tmp_path / "state.npz"))
    np.testing.assert_array_equal(other(frames[:, 11:]), expected)
    with pytest.raises(ValueError, match="belongs to another network"):
        other.state = {"count": np.zeros(())}
    with pytest.raises(ValueError, match="must have shape"):
        other.state = small.stream(batch_size=2).state


def test_state_is_the_paper_s_buffers(small):
    # kernel - 1 = 9 frames of 8 x 9 x 2, and of 4 x 5 x 8; count and seen.
    assert small.stream().state_bytes == 4 * 9 * (8 * 9 * 2 + 4 * 5 * 8) + 8
    assert small.stream().state_bytes == sum(a.nbytes for a in small.stream().state.values())


def test_follows_the_weights(small):
    model = small.resample(small.dt)
    stream, frames = model.stream(), clip(model, frames=24)
    stream(frames)
    randomize(model, seed=5)
    stream.reset()
    check(stream(frames)[:, model.context_frames :], model.predict(frames, verbose=0))


def frame_by_frame(stream, frames):
    return np.concatenate([stream(frames[:, t : t + 1]) for t in range(frames.shape[1])], axis=1)


@pytest.mark.parametrize("memory", ["frames", "projection"])
def test_follows_training_between_two_frames(small, memory):
    model = small.resample(small.dt)
    stream, frames = model.stream(memory=memory, **ORDERS[memory]), clip(model, frames=24)
    before = frame_by_frame(stream, frames)
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(frames, np.ones((1, 6), "int32"), epochs=3, verbose=0)  # BatchNorm's statistics too
    stream.reset()
    after = frame_by_frame(stream, frames)[:, model.context_frames :]
    assert abs(after - before[:, model.context_frames :]).max() > 1e-3
    check(after, model.predict(frames, verbose=0))


def test_follows_each_weight(small):
    model = small.resample(small.dt)
    stream, frames = model.stream(), clip(model, frames=20)
    for weight in model.weights:  # one after the other: what is kept of each must be made anew
        weight.assign(1.1 * weight + 0.05)
        stream.reset()
        found = frame_by_frame(stream, frames)[:, model.context_frames :]
        check(found, model.predict(frames, verbose=0))


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_mixed_precision(policy):
    model = small_model(dtype=policy)
    frames, stream = clip(model, frames=24), model.stream()
    found = np.concatenate([stream(frames[:, t : t + 1]) for t in range(24)], axis=1)
    expected = np.asarray(model.predict(frames, verbose=0), "float32")
    found = np.asarray(found, "float32")[:, model.context_frames :]
    # Three digits of bfloat16, through four layers.
    assert abs(found - expected).max() < 0.05 * abs(expected).max()
    ring = stream.spec["block_1/temporal_conv"]
    assert ring[1] == policy.removeprefix("mixed_")


def test_free_frame_size(small):
    free = small_model(input_shape=(None, None, None, 2))
    free.set_weights(small.get_weights())
    frames = clip(small, frames=20)
    check(free.stream(shape=(8, 9))(frames), small.stream()(frames))
    with pytest.raises(ValueError, match="shape=\\(height, width\\)"):
        free.stream()


def test_kernels_of_one_bin_remember_nothing(small):
    slow = small.resample(dt=small.window_us)
    assert slow.context_frames == 0
    frames, stream = clip(slow, frames=5), slow.stream()
    assert set(stream.state) == {"count", "seen"}
    check(stream(frames), slow.predict(frames, verbose=0))


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((2, 1, 8, 9, 2), r"\(1, n, 8, 9, 2\).*Received: \(2, 1, 8, 9, 2\)"),
        ((1, 1, 9, 8, 2), "Received"),
        ((1, 8, 9, 2), "Received"),
        ((1, 0, 8, 9, 2), "one or more frames"),
    ],
)
def test_errors_name_what_was_received(small, shape, message):
    with pytest.raises(ValueError, match=message):
        small.stream()(np.zeros(shape, "float32"))
    with pytest.raises(ValueError, match="batch_size=0"):
        small.stream(batch_size=0)


def test_ends_as_a_fresh_stream_bit_for_bit(small):
    frames = clip(small, frames=small.context_frames + 1)
    stream = small.stream()
    # Rings stand the same every nine frames; the sums are then made in the same order.
    for _ in range(9 * 4):
        stream(frames[:, :1])
    fresh = small.stream()
    for t in range(frames.shape[1]):
        late, early = stream(frames[:, t : t + 1]), fresh(frames[:, t : t + 1])
    np.testing.assert_array_equal(late, early)


def test_what_is_computed_once_is_what_it_was():
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=(2, 3, 4)).astype("float32") for _ in range(2))
    for count in (0, 7):  # both are at least 0: the other branch is never taken
        found = xla_kernels.compute_once(
            lambda a, b: 2 * a * b + 1, *map(ops.convert_to_tensor, (a, b)), count=ops.array(count)
        )
        np.testing.assert_allclose(to_numpy(found), 2 * a * b + 1, rtol=1e-6)


@pytest.mark.skipif(keras.backend.backend() != "jax", reason="jax.jit")
def test_a_step_within_another_program(small):
    import jax

    network = small.resample(dt=small.dt)  # of which nothing is kept yet
    frame, state = clip(small, frames=1)[:, 0], network.initial_state()
    inside, _ = jax.jit(network.step)(frame, state)
    outside, _ = network.step(frame, state)
    np.testing.assert_allclose(inside, outside, rtol=1e-5, atol=1e-5)
