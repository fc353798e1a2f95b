"""What a run leaves behind, and what happens when something goes wrong in it."""

import csv
import dataclasses
import json
import os
import pathlib
import random
import signal
import subprocess
import sys

import keras
import numpy as np
import pytest

import keras_pleiades as kp
from keras_pleiades import cli, training
from keras_pleiades.training import checkpoint, load_recipe, progress
from tests.training import tiny

ROOT = pathlib.Path(__file__).parents[2]
# XLA takes longer to compile these networks than TensorFlow to run them; the killed run has it.
QUICK = {"jit_compile": False} if keras.backend.backend() == "tensorflow" else {}


def child(*arguments):
    command = [sys.executable, "-m", "tests.training.child", *map(str, arguments)]
    environment = {**os.environ, "KERAS_BACKEND": keras.backend.backend()}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    out = tmp_path_factory.mktemp("unbroken") / "run"
    return out, training.train(tiny.recipe(), out=out)


def test_what_a_run_leaves_behind(unbroken):
    out, results = unbroken
    names = sorted(path.name for path in out.iterdir())
    assert names == ["best.weights.h5", "last.weights.h5", "log.csv", "results.json", "state.npz"]
    with open(out / "log.csv") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["epoch"]) for row in rows] == [1, 2, 3]
    assert json.loads((out / "results.json").read_text())["last"] == results["last"]
    assert float(rows[-1]["val_accuracy"]) == results["last"]["val_accuracy"]
    assert float(rows[-1]["loss"]) < float(rows[0]["loss"])
    assert 0 < float(rows[0]["cpu_seconds"]) <= results["cpu_seconds"]
    assert results["best"]["accuracy"] == max(float(row["val_accuracy"]) for row in rows)

    found = training.evaluate(tiny.recipe(), out / "last.weights.h5")
    assert found["loss"] == pytest.approx(results["last"]["val_loss"], rel=1e-5)
    assert found["accuracy"] == pytest.approx(results["last"]["val_accuracy"])


def test_a_run_may_begin_with_another(tmp_path, unbroken):
    """What was trained before is trained first, once, and its last weights are the beginning."""
    out, _ = unbroken
    recipe = tiny.recipe(epochs=1, learning_rate=0.0, weight_decay=0.0, **QUICK)
    recipe.training["begin_with"] = dataclasses.asdict(tiny.recipe())
    training.train(recipe, out=tmp_path / "run")
    tiny.assert_same_state(tmp_path / "run" / "begin", out)
    one, other = (training.build_model(recipe.model) for _ in range(2))
    one.load_weights(tmp_path / "run" / "last.weights.h5")
    other.load_weights(out / "last.weights.h5")
    for mine, theirs in zip(one.trainable_variables, other.trainable_variables, strict=True):
        np.testing.assert_array_equal(mine.numpy(), theirs.numpy())


def test_a_recipe_file_names_the_one_it_begins_with(tmp_path):
    (tmp_path / "small.toml").write_text('model = {name = "gesture"}\ndata = {name = "bars"}')
    (tmp_path / "large.toml").write_text(
        'model = {name = "gesture"}\ndata = {name = "bars"}\ntraining = {begin_with = "small.toml"}'
    )
    begin = load_recipe(tmp_path / "large.toml").training["begin_with"]
    assert begin == {"model": {"name": "gesture"}, "data": {"name": "bars"}}


def test_evaluation_equals_keras_own(unbroken):
    out, results = unbroken
    recipe = tiny.recipe()
    model = training.build_model(recipe.model)
    model.load_weights(out / "last.weights.h5")
    data = training.make_dataset(recipe.data, "test", None, model, 8, 0)
    logits = np.concatenate([model.predict_on_batch(data[i][0]) for i in range(len(data))])
    labels = np.concatenate([data[i][1] for i in range(len(data))])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    expected = float(loss(np.repeat(labels[:, None], logits.shape[1], 1), logits))
    assert results["last"]["val_loss"] == pytest.approx(expected, rel=1e-5)
    right = (logits.argmax(-1) == labels[:, None]).mean()
    assert results["last"]["val_accuracy"] == pytest.approx(right)


def test_killed_and_resumed_equals_the_unbroken_run(unbroken, tmp_path):
    at = random.SystemRandom().randint(3, 3 * tiny.STEPS - 1)
    killed = child(tmp_path, "--kill-after", at)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    left = checkpoint.load_progress(tmp_path / "state.npz")
    done = left["epoch"] * tiny.STEPS + left["step"]
    assert 0 < done < 3 * tiny.STEPS, f"killed after step {at}"
    resumed = child(tmp_path, "--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert "Continuing at epoch" in resumed.stdout
    tiny.assert_same_state(unbroken[0], tmp_path)
    finished = checkpoint.load_progress(tmp_path / "state.npz")["history"]
    for row, expected in zip(finished, _history(unbroken), strict=True):
        for name in ("val_loss", "val_accuracy"):
            assert row[name] == expected[name], f"killed after step {at}"
        # A mean over an epoch's steps, the last of which is of a smaller batch.
        assert row["loss"] == pytest.approx(expected["loss"], rel=0.1)


def _history(unbroken):
    return checkpoint.load_progress(unbroken[0] / "state.npz")["history"]


def test_interrupted_and_resumed_equals_the_unbroken_run(tmp_path, monkeypatch, capsys):
    # All that has a state of its own: averages, and the scale of a half-precision loss.
    settings = {"ema": 0.9, "precision": "mixed_float16", "activity": 0.01, "epochs": 2, **QUICK}
    recipe = tiny.recipe(**settings)
    recipe.data["workers"] = 2  # Keras' own would change the order
    training.train(recipe, out=tmp_path / "unbroken")
    undo = tiny.disturb(8, tiny.interrupt)
    try:
        with pytest.raises(training.Interrupted, match=r"Stopped .* saved in .*broken"):
            training.train(recipe, out=tmp_path / "broken")
    finally:
        undo()
    left = checkpoint.load_progress(tmp_path / "broken" / "state.npz")
    assert 0 < left["epoch"] * tiny.STEPS + left["step"] < 2 * tiny.STEPS
    training.train(recipe, out=tmp_path / "broken", resume=True)
    tiny.assert_same_state(tmp_path / "unbroken", tmp_path / "broken")
    assert "Continuing at epoch" in capsys.readouterr().out
    # What is kept are the averages, which are not the weights.
    model = training.build_model(recipe.model)
    model.load_weights(tmp_path / "broken" / "last.weights.h5")
    kept = model.trainable_variables[0]
    raw = tiny.state(tmp_path / "broken")["model_0"]
    assert abs(keras.ops.convert_to_numpy(kept.value) - raw).max() > 1e-6
    with pytest.raises(FileExistsError, match="--resume"):
        training.train(recipe, out=tmp_path / "broken")
    with pytest.raises(ValueError, match=r"training\.ema: 0\.5 != 0\.9"):
        training.train(
            tiny.recipe(**{**settings, "ema": 0.5}), out=tmp_path / "broken", resume=True
        )


def test_what_is_not_a_number_names_its_batch(tmp_path):
    undo = tiny.disturb((1, 2), tiny.spoil)
    try:
        with pytest.raises(FloatingPointError, match=r"nan|NaN") as caught:
            training.train(tiny.recipe(), out=tmp_path / "run")
    finally:
        undo()
    # The loss shows it at once, or, where XLA's ReLU hides it, the next checkpoint's variables do.
    assert "in epoch 2" in str(caught.value)
    assert "The frames of batch 2 are not finite" in str(caught.value)
    # The state is that of before, and can be continued.
    left = checkpoint.load_progress(tmp_path / "run" / "state.npz")
    assert (left["epoch"], left["step"]) == (1, 2)
    assert all(np.isfinite(value).all() for value in tiny.state(tmp_path / "run").values())


def test_a_loss_that_is_not_a_number_stops_at_its_step(tmp_path):
    recipe = tiny.recipe(learning_rate=1e30, warmup=0.0)
    with pytest.raises(
        FloatingPointError, match=r"in epoch 1 .* try a lower training.learning_rat"
    ):
        training.train(recipe, out=tmp_path)


RECIPE = """
[model]
family = "PleiadesClassifier"
num_classes = 4
blocks = [[4, 8, false]]
features = 8
size = [16, 16]
temporal = {kernel_size = 5}

[data]
name = "bars"
clips = 16
clip_frames = 4

[training]
epochs = 2
batch_size = 8
"""


def test_command_line(tmp_path, capsys):
    path, out = tmp_path / "recipe.toml", tmp_path / "run"
    path.write_text(RECIPE)
    command = ["train", str(path), "--out", str(out), "--set", "training.epochs=1"]
    for name in QUICK:
        command += ["--set", f"training.{name}=false"]
    undo = tiny.disturb(2, tiny.interrupt)
    try:
        assert cli.main(command) == 130
    finally:
        undo()
    said = capsys.readouterr()
    assert f"Continue with: keras-pleiades train {path} --out {out}" in said.err
    assert said.err.rstrip().endswith("--resume")
    assert cli.main([*command, "--resume", "--json"]) == 0
    weights = str(out / "best.weights.h5")
    assert cli.main(["evaluate", str(path), "--weights", weights, "--json"]) == 0
    *_, trained, evaluated = capsys.readouterr().out.strip().splitlines()
    best, found = json.loads(trained)["best"], json.loads(evaluated)
    assert found["loss"] == pytest.approx(best["loss"], rel=1e-5)
    assert cli.main(command) == 2
    assert "holds a run already" in capsys.readouterr().err
    assert cli.main(["train", str(tmp_path / "none.toml")]) == 2
    assert cli.main(["evaluate", str(path), "--set", "epochs=1"]) == 2
    assert "section.key=value" in capsys.readouterr().err


def test_files_are_whole_or_not_there(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def half(temporary):
        temporary.write_text("ha")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        checkpoint.write_atomically(path, half)
    assert path.read_text() == "old"
    checkpoint.write_atomically(path, lambda temporary: temporary.write_text("new"))
    assert path.read_text() == "new"
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_progress_has_loss_metric_and_time_left(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    clock = iter(range(0, 1000, 10))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(clock)))
    line = progress.ProgressLine(epochs=2, steps=4)
    for step in (1, 2, 3):
        line.step(0, step, {"loss": 1.5, "accuracy": 0.25})
    said = capsys.readouterr().out.split("\r\033[K")[-1]
    # 10 s a step, five of eight left; the first, which compiles, is not counted.
    assert said == ("epoch 1/2 [===============.....] 3/4  loss 1.5  accuracy 0.25  left 0:00:50")


def test_tensorboard(tmp_path):
    pytest.importorskip("tensorflow", reason="TensorFlow writes the files here")
    write = progress.tensorboard_writer(tmp_path)
    write(1, {"loss": 0.5})
    (file,) = tmp_path.iterdir()
    assert b"loss" in file.read_bytes()


class Labels(keras.utils.PyDataset):
    """Frames of noise with labels in the shape that a head wants."""

    def __init__(self, folder, split, model, batch_size, shuffle, seed, kind):
        super().__init__()
        rng, self.epoch = np.random.default_rng(0), 0
        frames = 3
        x = rng.poisson(0.3, (4, model.context_frames + frames, 16, 16, 2)).astype("float32")
        weight = np.ones((4, frames), "float32")
        weight[:, 0] = 0
        y = rng.uniform(2, 14, (4, frames, 3)).astype("float32") * np.float32([1, 1, 0])
        if kind == "boxes":
            y = np.full((4, frames, 2, 5), -1, "float32")
            y[:, :, 0, :4] = rng.uniform(2, 14, (4, frames, 4))
            y[:, :, 0, 4] = rng.integers(0, 2, (4, frames))
        self.batch = x, y, weight

    def __len__(self):
        return 2

    def __getitem__(self, index):
        return self.batch


@pytest.mark.parametrize("kind", ["points", "boxes"])
def test_networks_with_heads_train(kind, tmp_path, monkeypatch):
    model = {"family": "PleiadesTracker", "blocks": [[4, 4, False]], "head_filters": [4, 4]}
    if kind == "boxes":
        model = {
            "family": "PleiadesDetector",
            "num_classes": 2,
            "encoder": [[4, 4, False, False]],
            "spatial_filters": [4],
            "decoder_filters": 4,
            "decoder_stages": 1,
            "head_filters": [4, 4],
        }
    model |= {"size": [16, 16], "temporal": {"kernel_size": 3, "degree": 2}}
    monkeypatch.setitem(training.DATASETS, "labels", training.Source(Labels, needs_folder=False))
    recipe = training.Recipe.of(
        {
            "model": model,
            "data": {"name": "labels", "kind": kind},
            "training": {
                "epochs": 8,
                "batch_size": 4,
                "learning_rate": 2e-2,
                **QUICK,
            },
        }
    )
    training.train(recipe, out=tmp_path)
    rows = checkpoint.load_progress(tmp_path / "state.npz")["history"]
    assert rows[-1]["loss"] < 0.8 * rows[0]["loss"]
    expected = {"val_distance", "val_p10"} if kind == "points" else {"val_mAP_paper"}
    assert expected <= set(rows[-1])
    assert all(np.isfinite(value) for value in rows[-1].values())


def test_bad_recipes(tmp_path):
    path = tmp_path / "recipe.toml"
    for text, message in (
        ("[model", "recipe.toml: "),
        ("[modell]", "Unknown section: modell"),
        ("[training]\nepoch = 3", r"Unknown key of \[training\]: epoch"),
        ("[data]\nname = 'bars'", r"\[model\] needs `name`"),
        ("[model]\nname = 'gesture'", r"\[data\] needs `name`"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            load_recipe(path)
    path.write_text(RECIPE)
    with pytest.raises(ValueError, match=r"section\.key=value"):
        load_recipe(path, ["epochs=3"])
    recipe = load_recipe(path, ["data.name=cats"])
    with pytest.raises(ValueError, match=r"one of bars, .*'cats'"):
        training.train(recipe, out=tmp_path / "run")
    with pytest.raises(ValueError, match="--data DIR"):
        training.train(load_recipe(path, ["data.name=nmnist"]), out=tmp_path / "run")
    for setting in ("model.cats=1", "data.cats=1"):
        with pytest.raises(ValueError, match=r"\[(model|data)\]: .*cats"):
            training.train(load_recipe(path, [setting]), out=tmp_path / "run")
    with pytest.raises(ValueError, match="cats"):
        training.build_model({"name": "gesture", "cats": 1})
    with pytest.raises(ValueError, match="'Cats'"):
        training.train(load_recipe(path, ["model.family=Cats"]), out=tmp_path / "run")


PAPERS = {"gesture": "dvs128", "eye_tracking": "eye_3et", "detector": "gen4"}


@pytest.mark.parametrize("name", kp.zoo.list_models())
def test_every_network_has_a_recipe_for_its_weights(name):
    recipe = load_recipe(ROOT / "zoo" / name / "recipe.toml")
    assert recipe.data["name"].startswith("synthetic_")
    assert not training.DATASETS[recipe.data["name"]].needs_folder
    model = training.build_model(recipe.model)
    assert model.get_config() == getattr(kp.zoo, name)().get_config()


@pytest.mark.parametrize("name", kp.zoo.list_models())
def test_recipes_of_the_zoo_are_the_papers(name):
    recipe = load_recipe(ROOT / "zoo" / name / f"{PAPERS[name]}.toml")
    assert recipe.model["name"] == name
    assert recipe.data["name"] in training.DATASETS
    settings = recipe.training
    assert (settings["learning_rate"], settings["weight_decay"]) == (1e-3, 1e-3)
    assert settings["warmup"] == 0.01
    assert settings["precision"] == "auto"
    expected = (25, 4) if name == "detector" else (100, 64)
    assert (settings["epochs"], settings["batch_size"]) == expected
    model = training.build_model(recipe.model)
    assert model.get_config() == getattr(kp.zoo, name)().get_config()
    task = training.tasks.task_of(model, recipe.loss, recipe.evaluation)
    assert task.score in ("accuracy", "distance", "mAP_paper")


def test_learning_rate_warms_up_and_falls(tmp_path):
    run = training.trainer._Run(tiny.recipe(warmup=0.2), None, tmp_path, False, 1)
    rate = run.model.optimizer._learning_rate
    found = [float(rate(step)) for step in range(16)]
    expected = [1e-2 * step / 3 for step in range(3)]
    expected += [1e-2 * (1 + np.cos(np.pi * step / 12)) / 2 for step in range(13)]
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_several_devices(tmp_path, unbroken):
    if keras.backend.backend() == "torch":
        with pytest.raises(ValueError, match=r"devices=2\. Set KERAS_BACKEND=jax"):
            training.train(tiny.recipe(), out=tmp_path, devices=2)
        return
    ran = child(tmp_path, "--devices", 2)
    assert ran.returncode == 0, ran.stderr
    assert "devices 2" in ran.stdout
    found = checkpoint.load_progress(tmp_path / "state.npz")["history"]
    expected = _history(unbroken)
    if keras.backend.backend() == "jax":
        # One program over both: sums in another order, and Adam divides by small numbers.
        for row, other in zip(found, expected, strict=True):
            assert row["loss"] == pytest.approx(other["loss"], rel=1e-2)
            assert row["val_loss"] == pytest.approx(other["val_loss"], rel=1e-2)
    else:
        # Each device normalizes its own half of a batch, so it is not quite the same training.
        assert found[-1]["loss"] < found[0]["loss"]
        assert found[-1]["loss"] == pytest.approx(expected[-1]["loss"], rel=0.2)
