"""Rows, words and pictures made of answers that were put together by hand."""

import csv
import json

import numpy as np
import pytest

import keras_pleiades as kp
from keras_pleiades.streaming import Bins, Prediction
from keras_pleiades_cli.answers import Boxes, Classes, Points
from keras_pleiades_cli.tables import write_csv, write_json
from keras_pleiades_cli.video import Canvas, pictures


def prediction(output, t_us=10_000, ready=True, segment=0):
    return Prediction(
        t_us, np.asarray(output, np.float32), ready, segment, 0.0, 0.0, 0.0, events=100.0
    )


def test_classes_vote():
    reader = Classes(["a", "b"], dt=10_000, window_us=30_000)
    logits = [[2, 0], [2, 0], [0, 1], [0, 1]]
    rows = [reader.read(prediction(one, 10_000 * (i + 1))) for i, one in enumerate(logits)]
    assert [row["label"] for row in rows] == ["a", "a", "a", "b"]
    probability = [np.exp(one) / np.exp(one).sum() for one in np.array(logits, float)]
    expected = [
        probability[0][0],
        np.mean([p[0] for p in probability[:2]]),
        np.mean([p[0] for p in probability[:3]]),
        np.mean([p[1] for p in probability[1:]]),
    ]
    np.testing.assert_allclose([row["confidence"] for row in rows], expected, atol=1e-4)
    assert [reader.changed(rows[2], row) for row in rows] == [False, False, False, True]
    assert reader.summary()["labels"] == {"a": 0.75, "b": 0.25}
    assert reader.summary_text().startswith("a: 75% of 4 frames")
    # After a restart of the clock nobody has voted.
    assert reader.read(prediction([0, 1], segment=1))["label"] == "b"


def test_frames_of_the_start_count_only_where_there_are_no_others():
    reader = Classes(["a", "b"], dt=10_000, window_us=10_000)
    reader.read(prediction([1, 0], ready=False))
    assert reader.summary()["labels"] == {"a": 1.0}
    reader.read(prediction([0, 1]))
    assert reader.summary()["labels"] == {"b": 1.0}
    assert (reader.frames, reader.ready_frames) == (2, 1)


def test_points_are_in_pixels_of_the_sensor():
    model = kp.models.PleiadesTracker([(4, 4, False)], (4, 4), input_shape=(None, 8, 16, 2))
    reader = Points(model, sensor=(80, 32))
    output = np.full((4, 8, 3), -9.0)
    output[1, 5] = 2.0, 0.5, 0.25  # in frames: x = 5.5 * 2, y = 1.25 * 2
    row = reader.read(prediction(output))
    assert (row["x"], row["y"]) == (22.0, 25.0)
    assert row["confidence"] == pytest.approx(1 / (1 + np.exp(-2)), abs=1e-4)
    assert reader.summary()["x"] == {"mean": 22.0, "range": [22.0, 22.0]}
    assert "x    22.0" in reader.text(row)
    canvas = Canvas((80, 32), reader, start_us=0)
    drawn = canvas.picture(np.zeros((*canvas.shape, 2), np.float32), 10_000, row)
    x, y = (round(n) for n in canvas.place(22, 25))
    assert drawn[y, x].tolist() == [0, 130, 60]
    assert drawn[y + 40, x].tolist() == [255, 255, 255]


@pytest.fixture
def boxes():
    model = kp.zoo.detector(2, input_shape=(None, 32, 64, 2))  # cells of 4 pixels
    reader = Boxes(model, ["walker", "car"], sensor=(64, 64), min_score=0.5)
    output = np.full((8, 16, 6), -9.0)
    output[2, 5] = -9.0, 3.0, 2.0, 3.0, 0.5, 0.25  # center (22, 9), 12 wide, 8 high
    output[6, 12] = -0.5, -9.0, 2.0, 2.0, 0.0, 0.0  # below the score
    return reader, reader.read(prediction(output))


def test_boxes_are_in_pixels_of_the_sensor(boxes):
    reader, row = boxes
    (box,) = row["boxes"]
    assert box["label"] == "car"
    assert [box[name] for name in ("left", "top", "width", "height")] == [16.0, 10.0, 12.0, 16.0]
    assert reader.text(row) == "1 car"
    assert reader.text({"boxes": []}) == "nothing"
    assert reader.summary() == {"boxes": 1, "boxes_per_frame": 1.0, "labels": {"car": 1}}
    canvas = Canvas((64, 64), reader, start_us=0)
    drawn = canvas.picture(np.zeros((*canvas.shape, 2), np.float32), 10_000, row)
    left, top = (round(n) for n in canvas.place(16, 10))
    assert drawn[top, left].tolist() == [200, 110, 0]
    assert drawn[top + 4, left + 4].tolist() == [255, 255, 255]


def test_tables(boxes, tmp_path):
    reader, row = boxes
    empty = {**row, "boxes": []}
    write_csv(str(tmp_path / "a.csv"), [row, empty, row], reader)
    with open(tmp_path / "a.csv") as file:
        found = list(csv.DictReader(file))
    assert len(found) == 2
    assert found[0]["label"] == "car"
    assert float(found[1]["left"]) == 16.0
    write_json(str(tmp_path / "a.json"), [row, empty], {"dt": 5}, reader.summary)
    found = json.loads((tmp_path / "a.json").read_text())
    assert found == {"dt": 5, "answers": [row, empty], "summary": reader.summary()}
    write_json(str(tmp_path / "a.json"), [], {}, dict)
    assert json.loads((tmp_path / "a.json").read_text()) == {"answers": [], "summary": {}}


def test_a_table_is_whole_or_not_there(boxes, tmp_path):
    reader, row = boxes

    def broken():
        yield row
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_csv(str(tmp_path / "a.csv"), broken(), reader)
    assert not list(tmp_path.iterdir())


class Notes:
    """Notes what a canvas would draw."""

    def __init__(self):
        self.remembered = []

    def remember(self, row):
        self.remembered.append(row["t_us"])

    def picture(self, frame, t_us, row):
        return t_us, None if row is None else row["t_us"]


def test_a_picture_shows_the_last_answer_known_at_its_end():
    rows = [{"segment": 0, "t_us": t} for t in (10, 20, 30)]
    rows += [{"segment": 1, "t_us": t} for t in (7, 17)]
    frames = np.zeros((2, 1, 1, 2))
    bins = [Bins(-6, frames, 0), Bins(24, frames[:1], 0), Bins(-12, frames, 1)]
    notes, taken = Notes(), []
    drawn = list(pictures((taken.append(row) or row for row in rows), bins, 15, notes))
    assert drawn == [(9, None), (24, 20), (39, 30), (3, None), (18, 17)]
    assert taken == rows


def test_large_sensors_are_drawn_smaller_and_small_ones_larger():
    assert Canvas((720, 1280), None, 0).shape == (360, 640)
    small = Canvas((34, 34), None, 0)
    assert (small.shape, small.zoom) == ((34, 34), 18)
    assert Canvas((720, 1280), None, 0).place(1280, 720) == (640, 360)
