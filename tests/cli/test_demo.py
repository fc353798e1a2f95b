"""The demonstration with small, untrained networks, and the page in a real browser."""

import base64
import html.parser
import io
import json
import pathlib
import re
import shutil
import subprocess

import keras
import numpy as np
import pytest

import keras_pleiades as kp
from keras_pleiades.datasets.synthetic import gestures
from keras_pleiades_cli.commands import demo
from keras_pleiades_cli.demo import detector, recordings
from keras_pleiades_cli.demo import make as making
from keras_pleiades_cli.demo.online import deliver, watch
from keras_pleiades_cli.main import main

Image = pytest.importorskip("PIL.Image")
pytest.importorskip("matplotlib", reason="plots need matplotlib")
pytestmark = pytest.mark.skipif(
    keras.backend.backend() != "torch", reason="the same on every backend"
)

SIZES = {"gesture": (16, 16), "eye_tracking": (32, 32), "detector": (32, 64)}
SETTINGS = recordings.Settings(2, 300_000, 320_000, 380_000, SIZES)
SEED = 3


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("weights")
    keras.utils.set_random_seed(0)
    for name, size in SIZES.items():
        model = getattr(kp.zoo, name)(input_shape=(None, *size, 2))
        model.save_weights(folder / f"{name}.weights.h5")
    return {name: str(folder / f"{name}.weights.h5") for name in SIZES}


@pytest.fixture(scope="module")
def made(files, tmp_path_factory):
    """The page's path, what was measured, and what was printed."""
    out, lines = tmp_path_factory.mktemp("page") / "page.html", []
    found = making.make(str(out), seed=SEED, weights=files, settings=SETTINGS, say=lines.append)
    return out, found, "\n".join(lines)


class Reader(html.parser.HTMLParser):
    """Notes tags, and all that a browser would load."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.loads, self.text = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.loads += [value for name, value in attributes if name in ("src", "xlink:href", "href")]

    handle_startendtag = handle_starttag

    def handle_data(self, data):
        self.text += data


def test_the_page_holds_all_it_shows(made):
    path, found, _ = made
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"https?://|@import", text)
    assert not re.search(r"url\((?!#)", text)
    page = Reader(text)
    assert not {"script", "link", "iframe", "object", "video"} & {*page.tags}
    # "#..." is a part of the same drawing.
    assert {load.split(",")[0] for load in page.loads if not load.startswith("#")} == {
        "data:image/webp;base64",
        "data:image/png;base64",
    }
    assert page.tags.count("h2") == len(found) == 3
    assert path.stat().st_size < 5e6
    assert [one.name for one in path.parent.iterdir()] == [path.name]  # nothing half-written


def test_animations_move(made):
    page = Reader(made[0].read_text(encoding="utf-8"))
    shown = [load for load in page.loads if load.startswith("data:image/webp")]
    assert len(shown) == 3
    for address, (sensor, speed, duration) in zip(
        shown,
        [((128, 128), 1, 600_000), ((480, 640), 0.5, 320_000), ((180, 320), 1 / 3, 380_000)],
        strict=True,
    ):
        with Image.open(io.BytesIO(base64.b64decode(address.split(",")[1]))) as image:
            assert image.n_frames == -(-duration // round(speed * 1e6 / 12)), sensor
            first = np.asarray(image.convert("RGB"))
            image.seek(image.n_frames - 1)
            assert (np.asarray(image.convert("RGB")) != first).any()
            assert image.width * sensor[0] >= (image.height - 80) * sensor[1]


def test_drawings_follow_the_pages_colours(made):
    text = made[0].read_text(encoding="utf-8")
    assert text.count("<svg viewBox") >= 10
    assert "#000000" not in text
    assert "currentColor" in text
    assert "prefers-color-scheme: dark" in text


def test_what_is_printed_and_measured_is_on_the_page(made):
    path, found, said = made
    text = Reader(path.read_text(encoding="utf-8")).text
    order = recordings.gestures(SEED, SETTINGS).truth
    for name in (kp.datasets.class_names.GESTURES[label] for label in order):
        assert name in said
        assert name in text
    assert [one["truth"] for one in found["gesture"]["gestures"]] == [
        kp.datasets.class_names.GESTURES[label] for label in order
    ]
    for one in found.values():
        assert one["latency_ms"]["p95"] >= one["latency_ms"]["p50"] > 0
        assert f"{one['latency_ms']['p50']:.1f} ms" in text
        assert f"{one['events']:,} events" in said
        assert f"{one['events']:,} events" in text
    for words in ("bins of 5 ms", "truth: ", "pixels off on average", "mAP"):
        assert words in said, words
    for words in ("5 ms", "10 ms", "20 ms", "Accuracy against latency", "What it has learned"):
        assert words in text, words
    json.dumps(found)


def test_accuracy_is_the_clips(made, files):
    _, found, _ = made
    recording = recordings.gestures(SEED, SETTINGS)
    model = kp.zoo.gesture(input_shape=(None, 16, 16, 2), pretrained=files["gesture"])
    for dt in (5_000, 10_000, 20_000):
        other = model.resample(dt)
        frames = other.to_frames(recording.events, recording.sensor, start_us=0)
        frames = frames[: recording.duration_us // dt]
        zeros = np.zeros((other.context_frames, *frames.shape[1:]), "float32")
        logits = other.predict_clip(np.concatenate([zeros, frames])[None])[0]
        labels = logits.argmax(-1).reshape(2, -1)
        after = 150_000 // dt  # half a gesture, which here is less than the context
        expected = (labels == recording.truth[:, None])[:, after:].mean()
        assert found["gesture"]["bin_sizes"][dt]["accuracy"] == pytest.approx(expected)
    assert found["gesture"]["accuracy"] == found["gesture"]["bin_sizes"][10_000]["accuracy"]


def test_distances_are_those_of_the_truth(made, files):
    _, found, _ = made
    recording = recordings.eye(SEED, SETTINGS)
    model = kp.zoo.eye_tracking(input_shape=(None, 32, 32, 2), pretrained=files["eye_tracking"])
    frames = model.to_frames(recording.events, recording.sensor, start_us=0, frames=64)
    logits = model.predict_clip(frames[None])[0]  # the first answer has its whole context
    xy, _ = kp.decode.points(logits, kp.decode.output_strides(model))
    labels = recording.truth
    t = 5_000 * np.arange(55, 65)
    true = np.stack([np.interp(t, labels.points_t, column) for column in labels.points.T], axis=1)
    seen = ~np.isnan(true).any(axis=1)
    apart = (xy / 32 - true / (640, 480))[seen] * (80, 60)
    assert found["eye_tracking"]["distance"] == pytest.approx(np.hypot(*apart.T).mean(), abs=0.02)


def test_a_recording_of_several_gestures():
    recording = recordings.gestures(SEED, SETTINGS)
    assert len({*recording.truth.tolist()}) == 2
    assert (np.diff(recording.events["t"]) >= 0).all()
    for number, label in enumerate(recording.truth):
        seed = 10 * (recordings.FIRST + SEED) + label
        alone, labels = gestures.clip(int(seed), "test", duration_us=300_000)
        assert labels.class_id == label
        t = recording.events["t"] - number * 300_000
        part = recording.events[(t >= 0) & (t < 300_000)]
        np.testing.assert_array_equal(part["x"], alone["x"])
        np.testing.assert_array_equal(part["t"] - number * 300_000, alone["t"])
    assert recordings.gestures(SEED + 1, SETTINGS).events.shape != recording.events.shape


def test_a_bin_is_delivered_when_it_is_over():
    t = np.array([0, 9_999, 10_000, 35_000, 39_999])
    events = kp.events.make_events(t, x=t * 0, y=t * 0, p=t % 2)
    recording = recordings.Recording(events, (16, 16), 50_000, None)
    parts = list(deliver(recording, 10_000))
    assert [(now, part["t"].tolist()) for part, now in parts] == [
        (10_000, [0, 9_999]),
        (20_000, [10_000]),
        (30_000, []),
        (40_000, [35_000, 39_999]),
        (50_000, []),
    ]
    watched = watch(kp.zoo.gesture(3, input_shape=(None, 16, 16, 2)), recording)
    assert watched.times_us.tolist() == [10_000, 20_000, 30_000, 40_000, 50_000]
    assert watched.outputs.shape == (5, 3)


def test_boxes_are_counted_once():
    car, other = [10.0, 10, 8, 8, 2], [50.0, 50, 8, 8, 2]
    walker = [30.0, 30, 8, 4, 0]
    found = np.array([[*car, 0.9], [*car, 0.8], [*other[:4], 0, 0.7], [*walker, 0.6]])
    counts = detector.count([np.array([car, other, walker])], [found], min_iou=0.5)
    # Of cars two, one found by one of two boxes; of pedestrians one, found, and one that is a car.
    assert {label: one.tolist() for label, one in counts.items()} == {0: [1, 2, 1], 2: [2, 2, 1]}


def test_the_command(files, tmp_path, monkeypatch, capsys):
    calls = []

    def make(out, networks, seed, weights, say):
        calls.append((out, networks, seed, weights))
        say("what they see")
        return {"gesture": {"accuracy": 1.0}}

    monkeypatch.setattr(making, "make", make)
    out = str(tmp_path / "a.html")
    weights = f"gesture={files['gesture']}"
    command = ["demo", "--networks", "gesture", "--out", out, "--weights", weights, "--seed", "7"]
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "what they see" in said
    assert pathlib.Path(out).as_uri() in said
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "page": out,
        "seed": 7,
        "networks": {"gesture": {"accuracy": 1.0}},
    }
    assert calls == 2 * [(out, ["gesture"], 7, {"gesture": files["gesture"]})]


def test_networks_without_weights(monkeypatch, capsys):
    from keras_pleiades.zoo._presets import DEFAULT

    assert demo.BUNDLED == DEFAULT
    bundled = {"gesture": {DEFAULT: {}}, "eye_tracking": {}, "detector": {}}
    monkeypatch.setattr(demo, "presets", lambda: bundled)
    assert demo.with_weights([]) == ["gesture"]  # what the page shows where nothing is asked for
    assert demo.with_weights(["eye_tracking=a.h5"]) == ["gesture", "eye_tracking"]
    assert main(["demo", "--networks", "gesture,eye_tracking"]) == 2
    error = capsys.readouterr().err
    assert "eye_tracking has no bundled weights" in error
    assert "--networks gesture" in error
    assert "--weights eye_tracking=FILE" in error
    assert error.count("\n") == 1
    monkeypatch.setattr(
        demo, "presets", lambda: {"gesture": {}, "eye_tracking": {}, "detector": {}}
    )
    assert main(["demo"]) == 2
    assert "no network has bundled weights" in capsys.readouterr().err


def test_the_page_in_a_browser(made, tmp_path):
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    browser = next(filter(None, map(shutil.which, names)), None)
    if browser is None:
        pytest.skip(f"no browser here: none of {', '.join(names)} is on PATH")
    pictures = {}
    for mode, more in (("light", []), ("dark", ["--force-dark-mode"])):
        shot = tmp_path / f"{mode}.png"
        subprocess.run(
            [
                *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
                *("--disable-background-networking", "--disable-dev-shm-usage", "--disable-quic"),
                *("--no-first-run", "--disable-component-update", "--disable-sync"),
                *(f"--user-data-dir={tmp_path / mode}", "--window-size=1000,2400", *more),
                *(f"--screenshot={shot}", made[0].as_uri()),
            ],
            check=True,
            capture_output=True,
            timeout=240,
        )
        with Image.open(shot) as image:
            assert image.size == (1000, 2400)
            pictures[mode] = np.asarray(image.convert("RGB")).astype(int)
    light, dark = pictures["light"], pictures["dark"]
    assert light[5, 5].tolist() == [0xFB, 0xFB, 0xF9]
    assert dark[5, 5].tolist() == [0x14, 0x17, 0x1A]
    # A page and not its source: below the text there are animations with events, red and blue.
    for picture in (light, dark):
        drawn = picture[400:]
        red = (drawn[..., 0] - drawn[..., 2] > 80) & (drawn[..., 0] - drawn[..., 1] > 80)
        blue = (drawn[..., 2] - drawn[..., 0] > 80) & (drawn[..., 2] > 150)
        assert red.sum() > 300
        assert blue.sum() > 300
