"""What all data sets share: order, context, cache, workers."""

import multiprocessing
import os
import pickle
import subprocess
import sys

import keras
import numpy as np
import pytest

import keras_pleiades as kp
from keras_pleiades.datasets import Clip, EventDataset, FrameSpec
from keras_pleiades.datasets.augmentations import MaskPrefix, RandomAffine, RandomFlip
from tests.backends import to_numpy
from tests.events import makers

DT = 10_000
SPEC = FrameSpec(dt=DT, shape=(16, 16), context_frames=3)


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("recording") / "rec.npz"
    kp.events.write(path, makers.random_events(3000, height=16, width=16, end_us=300_000))
    return path


def dataset(recording, clips=10, spec=SPEC, **kwargs):
    clips = [Clip(str(recording), 20_000 * n, 4, class_id=n) for n in range(clips)]
    return EventDataset(clips, (16, 16), spec, **kwargs)


def batches(data):
    return [data[i] for i in range(len(data))]


def assert_same(a, b):
    assert len(a) == len(b)
    for ours, theirs in zip(a, b, strict=True):
        assert len(ours) == len(theirs)
        for x, y in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(x, y)


def slow_frames(events, dt, start, frames, shape=(16, 16)):
    out = np.zeros((frames, *shape, 2), np.float32)
    for t, x, y, p in makers.rows(events):
        k = (t - start) // dt
        if 0 <= k < frames:
            out[k, y, x, p] += 1
    return out


def test_frames_and_context_are_those_of_the_recording(recording):
    events = kp.events.read(recording)
    for n, clip in enumerate(dataset(recording).clips):
        x, y = dataset(recording).sample(n)
        expected = slow_frames(events, DT, clip.start_us - 3 * DT, 7)
        np.testing.assert_array_equal(x, expected)
        np.testing.assert_array_equal(y, [n] * 4)
    assert not dataset(recording).sample(0)[0][:3].any()  # before the recording: zeros
    assert dataset(recording).sample(5)[0][:3].any()


def test_volume_frames_are_those_of_the_whole_recording(recording):
    spec = FrameSpec(dt=DT, shape=(8, 8), method="volume", context_frames=3)
    events = kp.events.read(recording)
    whole = kp.events.to_frames(
        events, DT, (16, 16), (8, 8), "volume", start_us=-40_000, frames=40, causal=True
    )
    data = dataset(recording, spec=spec)
    for n, clip in enumerate(data.clips):
        first = clip.start_us // DT - 3 + 4
        np.testing.assert_allclose(data.sample(n)[0], whole[first : first + 7], atol=1e-5)


def test_events_end_where_the_clip_says(recording):
    events = kp.events.read(recording)
    clip = Clip(str(recording), 40_000, 4, end_us=55_000, class_id=0)
    x = EventDataset([clip], (16, 16), SPEC)[0][0][0]
    np.testing.assert_array_equal(x, slow_frames(events[events["t"] < 55_000], DT, 10_000, 7))


def test_order_depends_on_seed_and_epoch_only(recording):
    def classes(data):
        return [y[:, 0].tolist() for _, y in batches(data)]

    data = dataset(recording, batch_size=3, shuffle=True, seed=4)
    first = classes(data)
    assert sorted(np.concatenate(first)) == list(range(10))
    assert [len(batch) for batch in first] == [3, 3, 3, 1]
    data.on_epoch_end()
    assert data.epoch == 0  # looked at, but not in an epoch of `fit`
    data.epoch = 1
    second = classes(data)
    assert second != first
    resumed = dataset(recording, batch_size=3, shuffle=True, seed=4)
    resumed.epoch = 1
    assert classes(resumed) == second
    assert classes(dataset(recording, batch_size=3, shuffle=True, seed=5)) != first
    assert len(dataset(recording, batch_size=3, drop_last=True)) == 3


AUGMENT = (RandomAffine(), RandomFlip(swap_classes={0: 9, 9: 0}), MaskPrefix())


@pytest.mark.parametrize("processes", [False, True])
def test_batches_are_the_same_whatever_the_workers(recording, tmp_path, processes):
    arguments = {"batch_size": 2, "shuffle": True, "augment": AUGMENT, "seed": 3}
    one = dataset(recording, **arguments)
    many = dataset(
        recording,
        **arguments,
        workers=2,
        use_multiprocessing=processes,
        max_queue_size=3,
        cache=tmp_path,
    )
    expected = batches(one)
    assert_same(batches(many), expected)
    assert_same([many[i] for i in (3, 0, 4)], [expected[i] for i in (3, 0, 4)])  # in any order
    one.epoch = many.epoch = 2
    second = batches(one)
    assert_same(batches(many), second)
    assert any((a[0] != b[0]).any() for a, b in zip(expected, second, strict=True))
    many.close()


def test_augmentation_changes_events_and_classes(recording):
    plain, always = dataset(recording), dataset(recording, augment=RandomFlip(1.0, {0: 5}))
    np.testing.assert_array_equal(always[0][0], plain[0][0][:, :, :, ::-1])
    assert always[0][1].tolist() == [[5] * 4]
    masked = dataset(recording, augment=MaskPrefix(1.0))[5][0]
    assert not masked[0, 0].any()
    np.testing.assert_array_equal(masked[0, 3:], plain[5][0][0, 3:])  # half of seven frames


def test_an_error_in_a_worker_reaches_the_caller(recording, tmp_path):
    gone = tmp_path / "gone.npz"
    gone.write_bytes(recording.read_bytes())
    data = EventDataset([Clip(str(gone), 0, 4, class_id=0)] * 4, (16, 16), SPEC, workers=2)
    data[0]
    gone.unlink()
    data.epoch = 1
    with pytest.raises(FileNotFoundError):
        batches(data)


class Tiny(keras.Model):
    """The mean over space of the frames behind the context, and a dense layer."""

    def __init__(self, outputs, context, **kwargs):
        super().__init__(**kwargs)
        self.context, self.outputs_shape = context, outputs
        self.dense = keras.layers.Dense(int(np.prod(outputs)))

    def call(self, x):
        x = keras.ops.mean(x[:, self.context :], axis=(2, 3))
        return keras.ops.reshape(self.dense(x), (-1, x.shape[1], *self.outputs_shape))


def fit(data, outputs=(10,), loss="mse", epochs=1, callbacks=(), run_eagerly=False, **kwargs):
    model = Tiny(outputs, data.spec.context_frames)
    model.compile("sgd", loss, run_eagerly=run_eagerly)
    found = model.fit(
        data, epochs=epochs, shuffle=False, verbose=0, callbacks=list(callbacks), **kwargs
    )
    assert all(np.isfinite(found.history["loss"]))
    return model


class Seen(EventDataset):
    """Gives the number of each batch and its epoch as its frames, to see what arrives in `fit`."""

    def make_batch(self, epoch, index):
        numbers = [100 * epoch + index]
        return np.full((1, 1, 1, 1, 1), numbers, np.float32), np.array([numbers], np.float32)


class Recorder(keras.Model):
    def __init__(self):
        super().__init__()
        self.scale = self.add_weight(shape=(), initializer="ones")
        self.seen = []

    def train_step(self, *arguments):
        self.seen.append(int(to_numpy(arguments[-1][0]).ravel()[0]))  # data comes last
        return super().train_step(*arguments)

    def call(self, x):
        return keras.ops.convert_to_tensor(x)[:, :, 0, 0, 0] * self.scale


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("tied", [False, True])
def test_fit_gets_every_batch_of_every_epoch_in_order(recording, workers, tied):
    clips = [Clip(str(recording), 0, 1)] * 13
    spec = FrameSpec(dt=DT, shape=(1, 1))
    data = Seen(clips, (16, 16), spec, workers=workers, max_queue_size=5)
    model = Recorder()
    model.compile("sgd", "mse", run_eagerly=True, jit_compile=False)
    tie = keras.callbacks.LambdaCallback(on_epoch_begin=lambda epoch, logs: data.set_epoch(epoch))
    start = 4 if tied else 0  # a run taken up again
    model.fit(
        data,
        initial_epoch=start,
        epochs=start + 3,
        shuffle=False,
        verbose=0,
        callbacks=[tie] if tied else [],
    )
    expected = [100 * (start + epoch) + index for epoch in range(3) for index in range(13)]
    assert model.seen == expected
    data.close()


def test_a_look_at_the_first_batch_is_no_epoch(recording):
    data = dataset(recording, batch_size=4)
    data.on_epoch_begin()
    data[0]
    data.on_epoch_end()
    assert data.epoch == 0
    data.on_epoch_begin()
    batches(data)
    data.on_epoch_end()
    assert data.epoch == 1


# === The cache ===


def cache_files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_frames_come_from_the_cache_and_are_the_same(recording, tmp_path):
    expected = batches(dataset(recording))
    data = dataset(recording, cache=tmp_path)
    assert_same(batches(data), expected)
    files = cache_files(tmp_path)
    assert len(files) == 10
    data.read_events = None  # nothing is read any more
    assert_same(batches(data), expected)
    assert cache_files(tmp_path) == files


def test_augmented_clips_keep_their_events(recording, tmp_path):
    expected = batches(dataset(recording, augment=RandomAffine()))
    data = dataset(recording, augment=RandomAffine(), cache=tmp_path)
    assert_same(batches(data), expected)
    data.read_events = None
    assert_same(batches(data), expected)


@pytest.mark.parametrize("damage", ["cut", "empty", "changed", "other"])
def test_a_damaged_cache_file_is_made_anew(recording, tmp_path, damage):
    data = dataset(recording, cache=tmp_path)
    expected = batches(data)
    files = cache_files(tmp_path)
    for file in files:
        content = file.read_bytes()
        middle = len(content) // 2
        file.write_bytes(
            {
                "cut": content[:middle],
                "empty": b"",
                "changed": content[:middle]
                + bytes([content[middle] ^ 255])
                + content[middle + 1 :],
                "other": files[0].read_bytes(),
            }[damage]
        )
    assert_same(batches(data), expected)
    assert cache_files(tmp_path) == files
    data.read_events = None
    assert_same(batches(data), expected)


def test_the_cache_tells_apart_what_differs(recording, tmp_path):
    variants = [
        dataset(recording),
        dataset(recording, spec=FrameSpec(DT // 2, (16, 16), context_frames=3)),
        dataset(recording, spec=FrameSpec(DT, (8, 8), context_frames=3)),
        dataset(recording, spec=FrameSpec(DT, (16, 16), "volume", context_frames=3)),
        dataset(recording, spec=FrameSpec(DT, (16, 16))),
    ]
    for data in variants:
        expected = batches(data)
        data.cache = kp.datasets.ArrayCache(tmp_path)
        assert_same(batches(data), expected)
        assert_same(batches(data), expected)
    assert len(cache_files(tmp_path)) == 50


def test_the_cache_notices_a_changed_recording(tmp_path):
    path = tmp_path / "rec.npz"
    for seed in range(2):
        kp.events.write(path, makers.random_events(2000 + seed, seed, 16, 16, end_us=300_000))
        expected = batches(dataset(path))
        assert_same(batches(dataset(path, cache=tmp_path / "cache")), expected)


def _in_another_process(path, folder, out):
    data = dataset(path, cache=folder)
    for _ in range(5):
        for file in cache_files(folder)[::3]:
            if file.suffix == ".npz":  # what the other is writing is its own
                file.unlink(missing_ok=True)  # so that both write and read all the time
        result = batches(data)
    out.put(pickle.dumps(result))


@pytest.mark.skipif(keras.backend.backend() != "torch", reason="the same on every backend")
def test_two_processes_share_a_cache(recording, tmp_path):
    context = multiprocessing.get_context("spawn")
    out = context.Queue()
    both = [
        context.Process(target=_in_another_process, args=(recording, tmp_path, out))
        for _ in range(2)
    ]
    for process in both:
        process.start()
    expected = batches(dataset(recording))
    for _ in both:
        assert_same(pickle.loads(out.get(timeout=300)), expected)
    for process in both:
        process.join()
        assert process.exitcode == 0
    assert all(file.suffix == ".npz" for file in cache_files(tmp_path))


def test_an_interrupted_write_leaves_nothing(recording, tmp_path, monkeypatch):
    def interrupted(file, **arrays):
        file.write(b"half")
        raise KeyboardInterrupt

    data = dataset(recording, cache=tmp_path)
    monkeypatch.setattr(np, "savez", interrupted)
    with pytest.raises(KeyboardInterrupt):
        data[0]
    assert cache_files(tmp_path) == []


def test_the_cache_needs_a_folder(recording, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="cache folder cannot be made"):
        dataset(recording, cache=tmp_path / "file" / "cache")


# === Arguments ===


def test_facts_come_from_the_model():
    model = kp.models.PleiadesClassifier(3, [(4, 8, False)], 8, (None, 12, 10, 2), dt=7_000)
    spec = FrameSpec.of((128, 128), model)
    assert spec == FrameSpec(7_000, (12, 10), "count", model.context_frames)
    assert FrameSpec.of((128, 128), model, dt=7_000) == spec
    with pytest.raises(ValueError, match=r"`dt` must be that of `model`, 7000. Received: dt=5000"):
        FrameSpec.of((128, 128), model, dt=5_000)
    with pytest.raises(ValueError, match="Give `model=`"):
        FrameSpec.of((128, 128))
    free = kp.models.PleiadesClassifier(3, [(4, 8, False)], 8, (None, None, None, 2))
    assert FrameSpec.of((128, 128), free).shape == (128, 128)
    assert FrameSpec.of((128, 128), free, shape=(32, 32)).shape == (32, 32)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batch_size": 0}, "`batch_size` must be at least 1. Received: batch_size=0"),
        ({"seed": -1}, "`seed` must be at least 0"),
        ({"workers": -1}, "`workers` must be at least 0"),
        ({"batch_size": 11, "drop_last": True}, "do not fill a batch"),
    ],
)
def test_wrong_arguments_are_named(recording, arguments, message):
    with pytest.raises(ValueError, match=message):
        dataset(recording, **arguments)


def test_clips_must_be_alike(recording):
    with pytest.raises(ValueError, match=r"same number of frames.*\[4, 5\]"):
        EventDataset([Clip("a", 0, 4), Clip("a", 0, 5)], (16, 16), SPEC)
    with pytest.raises(ValueError, match="no clips"):
        EventDataset([], (16, 16), SPEC)
    with pytest.raises(IndexError, match="There are 10 batches"):
        dataset(recording)[10]


def test_summary(recording):
    printed = []
    data = dataset(recording, batch_size=4)
    summary = data.summary(printed.append)
    assert (summary.files, summary.clips, summary.batches) == (1, 10, 3)
    assert summary.x_shape == data[0][0].shape
    assert summary.duration_us == 400_000
    assert summary.classes == {str(n): 1 for n in range(10)}
    assert printed == [str(summary)]


def test_cut_counts_every_frame_once():
    for total in range(1, 30):
        counts = np.zeros(40, int)
        for first, counted in kp.datasets.cut(total, 7):
            assert first >= 0
            counts[first + counted : first + 7] += 1
        assert (counts[:total] == 1).all()


def test_importing_the_package_imports_no_extra():
    code = (
        "import sys, keras_pleiades.datasets\n"
        "print([n for n in ('tensorflow_datasets', 'apache_beam') if n in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"
