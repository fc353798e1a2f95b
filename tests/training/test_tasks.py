"""What training and evaluation mean for each family."""

import numpy as np
import pytest

import keras_pleiades as kp
from keras_pleiades import training
from keras_pleiades.training.recipe import EVALUATION
from keras_pleiades.training.tasks import ClassifierTask, DetectorTask, TrackerTask
from tests.training import tiny


@pytest.fixture(scope="module")
def model():
    return training.build_model(tiny.recipe().model)


def scores(model, decisions, labels, weight=None, **evaluation):
    task = ClassifierTask(model, {}, {**EVALUATION, "window_us": 10_000, **evaluation})
    outputs = np.eye(4, dtype="float32")[decisions]
    weight = np.ones(outputs.shape[:2]) if weight is None else weight
    task.update(np.asarray(labels), outputs, weight)
    return task.result()


def test_a_clip_s_answer_is_the_mode_of_its_frames(model):
    decisions = np.array([[0, 1, 1, 1], [2, 2, 3, 3], [3, 0, 0, 1]])
    found = scores(model, decisions, [1, 3, 0])
    assert found["accuracy"] == pytest.approx(7 / 12)
    # Of two as frequent the smaller class is taken: the second clip is wrong.
    assert found["clip_accuracy"] == pytest.approx(2 / 3)


def test_frames_without_weight_do_not_vote(model):
    decisions = np.array([[0, 0, 0, 1]])
    found = scores(model, decisions, [1], weight=np.array([[0, 0, 0, 1]]))
    assert found == {"accuracy": 1.0, "filtered_accuracy": 1.0, "clip_accuracy": 1.0}


def test_the_beginning_may_be_left_out(model):
    decisions = np.array([[0, 0, 0, 1]])
    assert scores(model, decisions, [1])["accuracy"] == 0.25
    assert scores(model, decisions, [1], skip_us=3 * model.dt)["accuracy"] == 1.0


def test_the_beginning_of_a_track_may_be_left_out():
    tracker = kp.zoo.eye_tracking(input_shape=(None, 96, 128, 2))
    outputs = np.full((1, 3, 3, 4, 3), -9.0, "float32")
    outputs[:, :, 1, 2] = 9.0, 0.5, 0.25  # x = 80, y = 40
    points = np.array([[[80.0, 40.0, 0.0], [96.0, 40.0, 0.0], [80.0, 40.0, 0.0]]])
    for skipped, distance in ((0, 10 / 3), (2, 0.0)):
        task = TrackerTask(tracker, {}, {**EVALUATION, "skip_us": skipped * tracker.dt})
        task.update(points, outputs, np.ones((1, 3)), np.ones((1, 3)))
        assert task.result()["distance"] == pytest.approx(distance)


def test_the_beginning_of_a_drive_may_be_left_out():
    detector = kp.zoo.detector(input_shape=(None, 32, 32, 2))
    outputs = np.full((1, 3, 8, 8, 11), -9.0, "float32")
    outputs[:, :, 2, 5] = *[-9.0] * 6, 9.0, 2.0, 3.0, 0.5, 0.25
    boxes = np.array(
        [[[[9.0, 22.0, 8.0, 12.0, 6]], [[25.0, 6.0, 8.0, 12.0, 6]], [[9.0, 22.0, 8.0, 12.0, 6]]]]
    )
    for skipped, perfect in ((0, False), (2, True)):
        task = DetectorTask(
            detector, {}, {**EVALUATION, "skip_us": skipped * detector.dt, "classes": [6]}
        )
        task.update(boxes, outputs, np.ones((1, 3)))
        assert (task.result()["mAP_paper"] > 0.99) == perfect
