"""Pictures of recordings."""

import makers
import numpy as np
import pytest

from keras_pleiades import plots
from keras_pleiades.events import EVENT_DTYPE

pytest.importorskip("matplotlib", reason="plots need matplotlib")
Image = pytest.importorskip("PIL.Image")  # matplotlib brings it


def test_grid(tmp_path):
    figure = plots.events(makers.random_events(), frames=6, columns=3, title="six")
    assert len(figure.axes) == 6
    figure.savefig(tmp_path / "grid.png")
    with Image.open(tmp_path / "grid.png") as image:
        assert image.size[0] > 100


def test_grid_stops_where_the_recording_ends():
    assert len(plots.events(makers.random_events(), dt=80_000, frames=20).axes) == 3


def test_colours():
    frames = np.zeros((1, 1, 3, 2), np.float32)
    frames[0, 0, 1, 1] = frames[0, 0, 2, 0] = 4
    nothing, on, off = plots.render(frames)[0, 0].astype(int)
    assert nothing.tolist() == [255, 255, 255]
    assert on[0] > on[2] + 100  # red
    assert off[2] > off[0] + 100  # blue


def test_gif(tmp_path):
    path = tmp_path / "a.gif"
    assert plots.animate(makers.random_events(), path, dt=20_000, fps=50, zoom=2) == str(path)
    with Image.open(path) as image:
        assert image.n_frames == 10
        assert image.size == (256, 256)
    assert [p.name for p in tmp_path.iterdir()] == ["a.gif"]


def test_a_gif_plays_at_its_speed(tmp_path):
    # GIF counts in hundredths of a second: 30 a second are not 33 pictures of 30 ms.
    pictures = [np.full((4, 4, 3), i, np.uint8) for i in range(30)]
    plots.write_pictures(tmp_path / "a.gif", pictures, fps=30)
    with Image.open(tmp_path / "a.gif") as image:
        shown = []
        for i in range(image.n_frames):
            image.seek(i)
            shown.append(image.info["duration"])
    assert sum(shown) == 1000
    assert {*shown} == {30, 40}


def test_mp4_with_odd_sides(tmp_path):
    events = makers.random_events(height=33, width=41)
    plots.animate(events, tmp_path / "a.mp4", sensor=(33, 41), dt=20_000, zoom=1)
    data = (tmp_path / "a.mp4").read_bytes()
    assert data[4:8] == b"ftyp"
    assert b"moov" in data
    assert b"avc1" in data
    assert [p.name for p in tmp_path.iterdir()] == ["a.mp4"]


def test_bad_arguments(tmp_path):
    with pytest.raises(ValueError, match=r"\.gif or \.mp4"):
        plots.animate(makers.random_events(), tmp_path / "a.avi")
    with pytest.raises(ValueError, match="nothing to draw"):
        plots.events(np.empty(0, EVENT_DTYPE))
    with pytest.raises(ValueError, match="MICROSECONDS"):
        plots.animate(makers.random_events(), tmp_path / "a.gif", dt=0.03)
    assert list(tmp_path.iterdir()) == []
