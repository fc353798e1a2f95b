import numpy as np
import pytest

from keras_pleiades.datasets import NMNIST, DatasetNotFoundError
from keras_pleiades.events import EventFormatError
from tests.datasets import layouts
from tests.datasets.test_base import slow_frames


@pytest.mark.parametrize("packed", [False, True])
def test_digits(tmp_path, packed):
    if packed:
        source, subset = tmp_path / "some.zip", None
        layouts.nmnist_zip(source)
    else:
        source, subset = tmp_path, "test"
        layouts.nmnist_folder(source)
    data = NMNIST(source, subset, dt=30_000, partial=True, context_frames=2)
    for number, clip in enumerate(data.clips):
        assert clip.class_id == number % (10 if packed else 3)
        x, y = data.sample(number)
        expected = slow_frames(layouts.nmnist_events(number), 30_000, -60_000, 12, (34, 34))
        np.testing.assert_array_equal(x, expected)
        assert y.tolist() == [clip.class_id] * 10
    assert len(data.clips) == (10 if packed else 6)


def test_a_zip_of_folders(tmp_path):
    import zipfile

    layouts.nmnist_folder(tmp_path)
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:  # not compressed
        for path in sorted(tmp_path.rglob("*.bin")):
            archive.write(path, path.relative_to(tmp_path))
    packed = NMNIST(tmp_path / "all.zip", "train", dt=30_000, partial=True)
    plain = NMNIST(tmp_path, "train", dt=30_000, partial=True)
    for one, other in zip(packed, plain, strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])


def test_the_split_is_fixed_by_its_seed(tmp_path):
    layouts.nmnist_zip(tmp_path / "some.zip")
    arguments = {"dt": 30_000, "fraction": 0.8}

    def members(**kwargs):
        data = NMNIST(tmp_path / "some.zip", None, **arguments, **kwargs)
        return {clip.member for clip in data.clips}

    train, test = members(seed=5), members(rest=True)
    assert (len(train), len(test)) == (8, 2)
    assert not train & test
    assert members(seed=7) == train
    assert members(split_seed=3) != train


def test_the_cache_tells_members_apart(tmp_path):
    layouts.nmnist_zip(tmp_path / "some.zip")
    plain = list(NMNIST(tmp_path / "some.zip", None, dt=30_000))
    for _ in range(2):
        cached = list(NMNIST(tmp_path / "some.zip", None, dt=30_000, cache=tmp_path / "cache"))
        for one, other in zip(cached, plain, strict=True):
            np.testing.assert_array_equal(one[0], other[0])


def test_damage_is_named(tmp_path):
    path = tmp_path / "some.zip"
    layouts.nmnist_zip(path)
    data = NMNIST(path, None, dt=30_000)
    content = bytearray(path.read_bytes())
    offset = data._places["3.bin"][0]
    content[offset + 60] ^= 255
    path.write_bytes(content)
    with pytest.raises(EventFormatError, match="damaged"):
        data[2]


def test_what_is_missing_is_said(tmp_path):
    with pytest.raises(DatasetNotFoundError, match=r"Train/DIGIT/NUMBER.bin.*garrickorchard"):
        NMNIST(tmp_path, dt=30_000)
    layouts.nmnist_folder(tmp_path)
    with pytest.raises(DatasetNotFoundError, match=r"60000 samples to train. Received: 6"):
        NMNIST(tmp_path, dt=30_000)


def test_real_digits(shared):
    data = {
        rest: NMNIST(
            shared / "data/nmnist_1000.zip",
            None,
            dt=10_000,
            batch_size=20,
            fraction=0.8,
            rest=rest,
        )
        for rest in (False, True)
    }
    assert [len(part.clips) for part in data.values()] == [800, 200]
    assert set(data[True].summary(None).classes) == set("0123456789")
    x, _ = data[True][0]
    assert x.shape == (20, 30, 34, 34, 2)
    assert (x.sum(axis=(1, 2, 3, 4)) > 1000).all()
