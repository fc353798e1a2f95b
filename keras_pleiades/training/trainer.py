"""Trains a network by a recipe, so that a run that was killed ends as if it had not been."""

import contextlib
import dataclasses
import json
import math
import os
import pathlib
import threading
import time

import keras
import numpy as np
from keras import ops

from keras_pleiades._version import __version__
from keras_pleiades.regularizers import penalize_activity
from keras_pleiades.training import checkpoint
from keras_pleiades.training.data import make_dataset
from keras_pleiades.training.devices import default_precision, use_devices
from keras_pleiades.training.epoch import AfterStep, RestOfEpoch
from keras_pleiades.training.network import build_model
from keras_pleiades.training.optimizer import make_optimizer
from keras_pleiades.training.progress import ProgressLine, tensorboard_writer, write_csv
from keras_pleiades.training.recipe import Recipe
from keras_pleiades.training.stopping import Interrupted, stop_requests
from keras_pleiades.training.tasks import evaluate_task, task_of

RESULTS = "results.json"
BEGIN = "begin"  # the run that this one begins with, in a folder of its own


def train(
    recipe: Recipe,
    folder: str | os.PathLike | None = None,
    out: str | os.PathLike = "out/run",
    resume: bool = False,
    devices: int = 1,
) -> dict:
    """Train by a recipe and return the results.

    Into `out` go `state.npz` (all that continuing needs), `last.weights.h5` and `best.weights.h5`
    (for the zoo's `pretrained=`), `log.csv` (a row an epoch) and, at the end, `results.json`. A run
    that the recipe begins with goes to `out/begin`, and is not repeated when it is complete.

    Args:
        recipe: See `load_recipe`.
        folder: Where the recordings are.
        out: Where results go.
        resume: Whether to continue the run in `out`, from its last checkpoint. The same backend
            then ends at the same weights, bit for bit, as if it had not been stopped.
        devices: How many devices share each batch.

    Raises:
        Interrupted: After ctrl-C; the state is saved.
        FloatingPointError: When the loss is not a number; the message names the batch.

    Example:
        ```python
        recipe = kp.training.load_recipe("zoo/gesture/dvs128.toml", ["training.epochs=5"])
        results = kp.training.train(recipe, "DVSGesture", out="out/gesture")
        ```
    """
    out = pathlib.Path(out)
    begin = recipe.training["begin_with"]
    if begin is not None and not (out / BEGIN / RESULTS).exists():
        train(Recipe.of(begin), folder, out / BEGIN, resume, devices)
    with use_devices(devices):
        run = _Run(recipe, folder, out, resume, devices)
        try:
            with stop_requests() as run.stop_requested:
                return run.train()
        finally:
            run.close()


def evaluate(
    recipe: Recipe,
    weights: str | os.PathLike | None = None,
    folder: str | os.PathLike | None = None,
) -> dict:
    """Return loss and metrics of a recipe's network on the recipe's test data.

    Args:
        recipe: See `load_recipe`.
        weights: A weights file; by default those that the recipe's [model] names.
        folder: Where the recordings are.

    Example:
        ```python
        recipe = kp.training.load_recipe("zoo/gesture/dvs128.toml", ["model.dt=5_000"])
        kp.training.evaluate(recipe, "out/gesture/best.weights.h5", "DVSGesture")
        ```
    """
    options = dict(recipe.model)
    if weights is not None and "name" in options:
        options["pretrained"] = os.fspath(weights)
    model = build_model(options, _precision(recipe))
    if weights is not None and "name" not in options:
        model.load_weights(weights)
    size, seed = recipe.training["batch_size"], recipe.training["seed"]
    data = make_dataset(recipe.data, "test", folder, model, size, seed)
    task = task_of(model, recipe.loss, recipe.evaluation)
    return evaluate_task(task, data, _predictor(model))


class _Run:
    """One run: what it is made of, and how far it is."""

    stop_requested: threading.Event

    def __init__(self, recipe, folder, out, resume, devices):
        self.recipe, self.out, self.devices = recipe, out, devices
        settings = recipe.training
        self.epochs = settings["epochs"]
        keras.utils.set_random_seed(settings["seed"])
        self.model = build_model(recipe.model, _precision(recipe))
        if settings["begin_with"] is not None:
            self.model.load_weights(out / BEGIN / checkpoint.LAST)
        self.data, self.test = (
            make_dataset(
                recipe.data, split, folder, self.model, settings["batch_size"], settings["seed"]
            )
            for split in ("train", "test")
        )
        self.steps = len(self.data)
        self.task = task_of(self.model, recipe.loss, recipe.evaluation)
        self._compile(settings)
        # How far the run is: `step` steps of `epoch` are done; `logs` are their means.
        self.epoch, self.step, self.logs, self.history, self.best = 0, 0, {}, [], None
        self.saved = 0  # steps of this epoch that the state file has
        self._prepare(resume)
        self.line = ProgressLine(self.epochs, self.steps, self.epoch * self.steps + self.step)

    def _compile(self, settings):
        optimizer = make_optimizer(settings, self.epochs * self.steps)
        if settings["activity"]:
            penalize_activity(self.model, settings["activity"])
        jit_compile = settings["jit_compile"]
        if self.devices > 1 and keras.backend.backend() == "tensorflow":
            jit_compile = False  # XLA does not compile what tf.distribute does between devices
        self.model.compile(
            optimizer,
            self.task.loss,
            weighted_metrics=self.task.metrics,
            jit_compile=jit_compile,
        )
        self.model.optimizer.build(self.model.trainable_variables)

    def _prepare(self, resume):
        """Make the folder, or take up the run that is in it."""
        state = self.out / checkpoint.STATE
        if not state.exists():
            self.out.mkdir(parents=True, exist_ok=True)
            if resume:
                print(f"There is no state in {self.out} yet: starting at the beginning.")
            return
        if not resume:
            raise FileExistsError(
                f"{self.out} holds a run already. Continue it with --resume, or choose another "
                "folder with --out."
            )
        progress = checkpoint.load_progress(state)
        now = json.loads(json.dumps(self._identity()))
        different = Recipe(**now.pop("recipe")).differences(Recipe(**progress["recipe"]))
        different += [
            f"{name}: {value!r} != {progress[name]!r}"
            for name, value in now.items()
            if value != progress[name]
        ]
        if different:
            raise ValueError(
                f"The run in {self.out} was begun differently and cannot be continued: "
                f"{'; '.join(different)}. Restore that, or choose another folder with --out."
            )
        checkpoint.restore_state(self.model, state)
        for name in ("epoch", "step", "logs", "history", "best"):
            setattr(self, name, progress[name])
        self.saved = self.step
        print(f"Continuing at epoch {self.epoch + 1}, step {self.step} of {self.steps}.")

    def train(self):
        """Go through all epochs that are left."""
        board = None
        if self.recipe.training["tensorboard"]:
            board = tensorboard_writer(self.out / "tensorboard")
        while self.epoch < self.epochs:
            started, worked = time.monotonic(), time.process_time()
            self._fit_epoch()
            self.save()
            row = {"epoch": self.epoch + 1, **self.logs, **self._evaluate()}
            row["seconds"] = round(time.monotonic() - started, 1)
            row["cpu_seconds"] = round(time.process_time() - worked, 1)  # of all threads
            self.history.append(row)
            write_csv(self.history, self.out / "log.csv")
            if board is not None:
                board(self.epoch + 1, {k: v for k, v in row.items() if k != "epoch"})
            shown = {k: v for k, v in row.items() if k not in ("epoch", "seconds", "cpu_seconds")}
            self.line.epoch(self.epoch, shown)
            self.epoch, self.step, self.logs = self.epoch + 1, 0, {}
            self.save()
        return self._results()

    def _fit_epoch(self):
        """Take the steps of this epoch that are left."""
        start, before = self.step, self.logs
        if start == self.steps:
            return

        def after_step(batch, logs, save):
            self.step = start + batch + 1
            if not math.isfinite(logs["loss"]):
                raise FloatingPointError(self._not_finite(f"The loss became {logs['loss']}"))
            self.logs = _mean(before, start, logs, self.step - start)
            self.line.step(self.epoch, self.step, self.logs)
            if self.stop_requested.is_set():
                save()
                raise Interrupted(
                    f"Stopped in epoch {self.epoch + 1} after step {self.step} of {self.steps}. "
                    f"The state is saved in {self.out}."
                )
            if self.step % self.recipe.training["checkpoint_steps"] == 0:
                save()

        self.data.epoch = self.epoch
        self.model.fit(
            RestOfEpoch(self.data, start, self.devices),
            initial_epoch=self.epoch,
            epochs=self.epoch + 1,
            shuffle=False,  # the data set has its own order, a function of seed and epoch
            verbose=0,
            callbacks=[AfterStep(after_step, self.save)],
        )

    def _evaluate(self):
        """Return the metrics on the test data, and keep the weights if they are the best."""

        def on_batch():
            if self.stop_requested.is_set():
                raise Interrupted(
                    f"Stopped while evaluating epoch {self.epoch + 1}. "
                    f"The state is saved in {self.out}."
                )

        self.test.epoch = 0
        with self._averaged_weights():
            predict = _predictor(self.model, self.devices)
            found = evaluate_task(self.task, self.test, predict, self.devices, on_batch)
            score = found[self.task.score] * (1 if self.task.higher_is_better else -1)
            if math.isfinite(score) and (self.best is None or score > self.best["score"]):
                checkpoint.save_weights(self.model, self.out / checkpoint.BEST)
                self.best = {"epoch": self.epoch + 1, "score": score, **found}
            checkpoint.save_weights(self.model, self.out / checkpoint.LAST)
        return {f"val_{name}": value for name, value in found.items()}

    @contextlib.contextmanager
    def _averaged_weights(self):
        """Put the moving averages in place of the weights for a while, if there are any."""
        if not self.recipe.training["ema"]:
            yield
            return
        variables = self.model.trainable_variables
        own = [checkpoint.copy_of(variable) for variable in variables]
        optimizer = self.model.optimizer
        getattr(optimizer, "inner_optimizer", optimizer).take_averages(variables)
        try:
            yield
        finally:
            for variable, value in zip(variables, own, strict=True):
                variable.assign(value)

    def save(self):
        """Write all that continuing needs."""
        progress = {
            "epoch": self.epoch,
            "step": self.step,
            "logs": self.logs,
            "history": self.history,
            "best": self.best,
            **self._identity(),
        }
        try:
            checkpoint.save_state(self.model, self.out / checkpoint.STATE, progress)
        except FloatingPointError as error:
            # XLA's ReLU on a CPU may turn NaN into 0, so that the loss does not show it.
            text = self._not_finite("The network's variables became infinite or NaN")
            raise FloatingPointError(text) from error
        self.saved = self.step

    def _identity(self):
        """Return what must be the same for a run to be continued."""
        return {
            "recipe": dataclasses.asdict(self.recipe),
            "backend": keras.backend.backend(),
            "devices": self.devices,
            "batches_in_an_epoch": self.steps,
        }

    def close(self):
        """End the workers of data sets that have some."""
        for data in (self.data, self.test):
            if hasattr(data, "close"):
                data.close()

    def _results(self):
        best = {k: v for k, v in (self.best or {}).items() if k != "score"}
        results = {
            "last": self.history[-1] if self.history else {},
            "best": best,
            **{
                name: round(sum(row.get(name, 0.0) for row in self.history), 1)
                for name in ("seconds", "cpu_seconds")
            },
            "backend": keras.backend.backend(),
            "devices": self.devices,
            "versions": {"keras_pleiades": __version__, "keras": keras.__version__},
            "recipe": dataclasses.asdict(self.recipe),
        }
        text = json.dumps(results, indent=2) + "\n"
        checkpoint.write_atomically(self.out / RESULTS, lambda path: path.write_text(text))
        return results

    def _not_finite(self, what):
        """Return what happened, with which batch, and what is wrong with that or an earlier one."""
        text = (
            f"{what} in epoch {self.epoch + 1} (counted from 1) with batch {self.step - 1} "
            f"(counted from 0) of {self.steps}{_clips(self.data, self.epoch, self.step - 1)}."
        )
        for index in range(self.saved, self.step):
            parts = zip(("frames", "labels", "weights"), self.data[index], strict=False)
            bad = [name for name, part in parts if not np.isfinite(np.asarray(part, float)).all()]
            if bad:
                where = f"batch {index}{_clips(self.data, self.epoch, index)}"
                text += f" The {' and '.join(bad)} of {where} are not finite."
                break
        else:
            text += " Its frames and labels are finite: try a lower training.learning_rate."
        return f"{text} {self.out} holds the state after step {self.saved}."


def _clips(data, epoch, index):
    """Return ", clips ..." for a data set that can tell which clips are in a batch."""
    if not (hasattr(data, "clips") and hasattr(data, "order") and hasattr(data, "batch_size")):
        return ""
    numbers = data.order(epoch)[index * data.batch_size : (index + 1) * data.batch_size]
    return f", clips {', '.join(str(data.clips[int(number)]) for number in numbers[:8])}"


def _mean(before, steps_before, logs, steps):
    """Return the mean over an epoch's steps, of which the first may be from an earlier process."""
    if not before:
        return dict(logs)
    total = steps_before + steps
    return {k: (before[k] * steps_before + v * steps) / total for k, v in logs.items()}


def _precision(recipe):
    precision = recipe.training["precision"]
    return default_precision() if precision == "auto" else precision


def _predictor(model, devices=1):
    if devices > 1 and keras.backend.backend() == "tensorflow":
        # `predict_on_batch` would give every device the whole batch.
        return lambda x: model.predict(x, batch_size=len(x), verbose=0)
    return lambda x: ops.convert_to_numpy(model.predict_on_batch(x))
