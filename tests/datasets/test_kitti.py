import numpy as np
import pytest

pytest.importorskip("PIL", reason="needs the extra [images]")

from keras_pleiades.datasets import DatasetNotFoundError, Kitti, RandomFlip
from tests.datasets import layouts


def test_pictures_and_boxes(tmp_path):
    import PIL.Image

    layouts.kitti(tmp_path)
    data = Kitti(tmp_path, "all", partial=True, shape=(37, 124), context_frames=2, batch_size=3)
    x, y, w = data[0]
    assert x.shape == data.x_shape == (3, 3, 37, 124, 3)
    for n in range(3):
        with PIL.Image.open(tmp_path / f"training/image_2/{n:06}.png") as picture:
            for frame in x[n]:
                np.testing.assert_allclose(frame, np.asarray(picture) / 255, atol=1e-6)
        expected = [[12.5, 25.25 + n, 15, 30.5, 0], [20, 75, 20, 10, 3]]
        np.testing.assert_allclose(y[n, 0, :2], expected, atol=1e-4)
        assert (y[n, 0, 2:, 4] == -1).all()  # DontCare is no box
    assert w.tolist() == [[1], [1], [1]]


def test_boxes_scale_with_the_picture(tmp_path):
    layouts.kitti(tmp_path, 1)
    _, y, _ = Kitti(tmp_path, "all", partial=True, shape=(74, 62))[0]
    np.testing.assert_allclose(y[0, 0, 0], [25, 12.625, 30, 15.25, 0], atol=1e-4)


def test_clips_of_frames(tmp_path):
    layouts.kitti(tmp_path, 1)
    arguments = {"partial": True, "shape": (8, 8), "context_frames": 3, "clip_frames": 2}
    x, y, w = Kitti(tmp_path, "all", **arguments, fill="zeros", channels=2)[0]
    assert x.shape == (1, 5, 8, 8, 2)
    assert not x[:, :3].any()
    assert (x[0, 3] == x[0, 4]).all()
    assert (x[..., 0] == x[..., 1]).all()
    assert y.shape == (1, 2, 64, 5)
    np.testing.assert_array_equal(y[:, 0], y[:, 1])
    assert w.tolist() == [[1, 1]]
    repeated = Kitti(tmp_path, "all", **arguments)[0][0]
    assert (repeated == repeated[:, :1]).all()


def test_classes_and_splits(tmp_path):
    layouts.kitti(tmp_path, 10)
    arguments = {"partial": True, "shape": (8, 8)}
    data = Kitti(tmp_path, "all", **arguments, classes={"Pedestrian": 0, "Cyclist": 1})
    assert data[0][1][0, 0, :2, 4].tolist() == [0, -1]
    train, val = (Kitti(tmp_path, split, **arguments) for split in ("train", "val"))
    paths = [{clip.path for clip in part.clips} for part in (train, val)]
    assert [len(part) for part in paths] == [8, 2]
    assert not paths[0] & paths[1]
    with pytest.raises(ValueError, match="Pictures have no events"):
        Kitti(tmp_path, "all", **arguments, augment=RandomFlip())


def test_the_cache(tmp_path):
    layouts.kitti(tmp_path, 2)
    arguments = {"partial": True, "shape": (8, 8)}
    expected = Kitti(tmp_path, "all", **arguments)[1]
    for _ in range(2):
        found = Kitti(tmp_path, "all", **arguments, cache=tmp_path / "cache")[1]
        np.testing.assert_array_equal(found[0], expected[0])
    grey = Kitti(tmp_path, "all", **arguments, cache=tmp_path / "cache", channels=1)[1][0]
    assert grey.shape[-1] == 1


def test_what_is_missing_is_said(tmp_path):
    with pytest.raises(DatasetNotFoundError, match=r"training/image_2/NUMBER.png.*cvlibs.net"):
        Kitti(tmp_path)
    layouts.kitti(tmp_path)
    with pytest.raises(DatasetNotFoundError, match="expected 7481 pictures with labels"):
        Kitti(tmp_path)
    (tmp_path / "training/label_2/000001.txt").write_text("Cat 0 0 0 1 2 3 4\n")
    with pytest.raises(ValueError, match=r"000001.txt, line 1: expected a class"):
        Kitti(tmp_path, "all", partial=True)


def test_real_pictures(shared):
    data = Kitti(shared / "data/kitti", "all", partial=True, shape=(96, 320), batch_size=3)
    x, y, _ = data[0]
    assert 0.2 < x.mean() < 0.6
    assert [(row[..., 4] >= 0).sum() for row in y] == [1, 3, 2]
    # 000000.txt: Pedestrian 712.40 143.00 810.73 307.92 in a picture of 1224x370
    expected = [(143 + 307.92) / 2 * 96 / 370, (712.4 + 810.73) / 2 * 320 / 1224]
    np.testing.assert_allclose(y[0, 0, 0, :2], expected, rtol=1e-5)
    assert y[0, 0, 0, 4] == 3
