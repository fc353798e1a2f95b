"""Presets: from the manifest to a network that has their weights."""

import json
import pathlib
import re
import socket

import h5py
import keras
import numpy as np
import pytest

import keras_pleiades as kp
from keras_pleiades import _fetch
from keras_pleiades.zoo import _add_weights, _presets
from tests.backends import randomize, to_numpy
from tests.zoo.bad_server import serve

ROOT = pathlib.Path(__file__).parents[2]
SMALL = (None, 32, 32, 2)
MODELS = kp.zoo.list_models()
COMMIT = "0" * 40


@pytest.fixture
def weights(tmp_path, monkeypatch):
    """An empty folder in place of the package's, and a cache of its own."""
    folder = tmp_path / "weights"
    folder.mkdir()
    (folder / "manifest.json").write_text("{}")
    monkeypatch.setattr(_presets, "WEIGHTS", folder)
    monkeypatch.setenv("KERAS_PLEIADES_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("KERAS_PLEIADES_MIRROR", raising=False)
    monkeypatch.setenv("no_proxy", "*")
    return folder


def trained(model, path, **kwargs):
    """Save a network as training does, and return it."""
    network = randomize(getattr(kp.zoo, model)(input_shape=SMALL, **kwargs))
    network.compile("adamw", "mse")
    network.optimizer.build(network.trainable_variables)
    network.save_weights(path)
    return network


def add(model, path, **kwargs):
    recipe = f"zoo/{model}/recipe.toml"
    return _add_weights.add_weights(model, path, recipe, {"score": 0.5}, COMMIT, **kwargs)


def check_same(a, b, but=()):
    but = {id(variable) for variable in but}
    for one, other in zip(a.variables, b.variables, strict=True):
        if id(other) not in but:
            np.testing.assert_array_equal(to_numpy(one), to_numpy(other))


@pytest.mark.parametrize("model", MODELS)
def test_bundled_weights(model, weights, tmp_path):
    build = getattr(kp.zoo, model)
    with pytest.raises(ValueError, match=f"{model} has no bundled weights yet"):
        build(pretrained=True)
    assert kp.zoo.list_presets(model) == []
    path = tmp_path / "best.weights.h5"
    network = trained(model, path)
    bundled = add(model, path)
    assert kp.zoo.list_presets(model) == ["synthetic"]
    loaded = build(input_shape=SMALL, pretrained=True)
    check_same(network, loaded)
    check_same(network, build(input_shape=SMALL, pretrained="synthetic", dt=network.dt // 2))
    # The optimizer's variables are not in the package.
    assert bundled.stat().st_size < path.stat().st_size / 2
    with h5py.File(bundled) as file:
        assert "optimizer" not in file
    preset = _presets.read_presets(model)["synthetic"]
    assert preset.parameters == sum(int(np.prod(v.shape)) for v in network.trainable_variables)
    assert (preset.dt, preset.interval) == (network.native_dt, (-1.0, 1.0))
    assert (preset.results, preset.commit) == ({"score": 0.5}, COMMIT)
    if model != "eye_tracking":
        assert preset.num_classes == network.num_classes
        other = build(num_classes=3, input_shape=SMALL, pretrained=True)
        assert other.output_shape[-1] == network.output_shape[-1] - network.num_classes + 3
        check_same(network, other, but=other.last_layer.variables)


class TestFilesOfOtherBases:
    def test_the_network_is_built_with_the_files_basis(self, weights, tmp_path):
        arguments = {"interval": (0.0, 1.0), "degree": 3, "alpha": 0.0, "kernel_size": 8}
        path = tmp_path / "a.weights.h5"
        network = trained("eye_tracking", path, **arguments)
        loaded = kp.zoo.eye_tracking(input_shape=SMALL, pretrained=path)
        assert loaded.temporal == {**arguments, "beta": -0.25}
        assert loaded.context_frames == network.context_frames == 42
        check_same(network, loaded)
        add("eye_tracking", path)
        assert _presets.read_presets("eye_tracking")["synthetic"].interval == (0.0, 1.0)
        check_same(network, kp.zoo.eye_tracking(input_shape=SMALL, pretrained=True))

    def test_free_kernels(self, tmp_path):
        path = tmp_path / "a.weights.h5"
        network = trained("gesture", path, degree=None)
        check_same(network, kp.zoo.gesture(input_shape=SMALL, pretrained=path))

    def test_asking_for_another_is_an_error(self, tmp_path):
        path = tmp_path / "a.weights.h5"
        trained("gesture", path, interval=(0.0, 1.0))
        with pytest.raises(ValueError, match=r"a\.weights\.h5 does not fit(?s:.*)another basis"):
            kp.zoo.gesture(input_shape=SMALL, pretrained=path, interval=(-1.0, 1.0))


class TestFilesThatDoNotFit:
    def test_not_there(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"nowhere\.weights\.h5"):
            kp.zoo.gesture(pretrained=tmp_path / "nowhere.weights.h5")
        with pytest.raises(FileNotFoundError, match=r"'dvs128'.*save_weights"):
            kp.zoo.gesture(pretrained="dvs129")

    @pytest.mark.parametrize("content", [b"", b"hello", None], ids=["empty", "text", "cut off"])
    def test_broken(self, content, tmp_path):
        path = tmp_path / "a.weights.h5"
        if content is None:
            kp.zoo.gesture(input_shape=SMALL).save_weights(path)
            content = path.read_bytes()[:100_000]
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"a\.weights\.h5 is no HDF5 file, or damaged"):
            kp.zoo.gesture(input_shape=SMALL, pretrained=path)

    def test_of_another_kind(self, tmp_path):
        text = tmp_path / "notes.txt"
        text.write_text("hello")
        with pytest.raises(ValueError, match=r"save_weights.*notes\.txt"):
            kp.zoo.gesture(input_shape=SMALL, pretrained=text)

    @pytest.mark.parametrize("model", MODELS)
    def test_of_another_network(self, model, tmp_path):
        for other in MODELS:
            path = tmp_path / f"{other}.weights.h5"
            if other != model:
                getattr(kp.zoo, other)(input_shape=SMALL).save_weights(path)
                with pytest.raises(ValueError, match=rf"{path.name} does not fit {model}"):
                    getattr(kp.zoo, model)(input_shape=SMALL, pretrained=path)

    def test_of_damaged_numbers(self, tmp_path):
        # An HDF5 file that opens: its beginning and end are whole, its middle is not.
        path = tmp_path / "a.weights.h5"
        kp.zoo.gesture(input_shape=SMALL).save_weights(path)
        content = bytearray(path.read_bytes())
        content[3_000:-3_000] = bytes(len(content) - 6_000)
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"a\.weights\.h5 is no HDF5 file, or damaged"):
            kp.zoo.gesture(input_shape=SMALL, pretrained=path)

    @pytest.mark.parametrize("pretrained", [None, 1, 0.5])
    def test_no_file_at_all(self, pretrained):
        with pytest.raises(ValueError, match=f"pretrained={pretrained}"):
            kp.zoo.gesture(pretrained=pretrained)


def test_unknown_networks_have_no_presets():
    with pytest.raises(ValueError, match="Received: 'gestures'"):
        kp.zoo.list_presets("gestures")


def test_a_damaged_bundled_file_is_not_read(weights, tmp_path):
    trained("gesture", tmp_path / "a.weights.h5")
    bundled = add("gesture", tmp_path / "a.weights.h5")
    content = bytearray(bundled.read_bytes())
    content[5_000] ^= 1  # still an HDF5 file
    bundled.write_bytes(content)
    with pytest.raises(ValueError, match=r"'synthetic' of gesture are damaged.*sha256.*again"):
        kp.zoo.gesture(pretrained=True)
    bundled.unlink()
    with pytest.raises(ValueError, match=r"damaged.*no such file"):
        kp.zoo.gesture(pretrained=True)


def test_a_presets_name_means_the_preset(weights, tmp_path, monkeypatch):
    network = trained("gesture", tmp_path / "a.weights.h5")
    add("gesture", tmp_path / "a.weights.h5")
    monkeypatch.chdir(tmp_path)
    pathlib.Path("synthetic").write_text("a file of the same name")
    check_same(network, kp.zoo.gesture(input_shape=SMALL, pretrained="synthetic"))
    for path in ("./synthetic", pathlib.Path("synthetic")):
        with pytest.raises(ValueError, match="save_weights"):
            kp.zoo.gesture(input_shape=SMALL, pretrained=path)


def online(folder, preset, url):
    """Make a bundled preset one that is to be fetched."""
    manifest = json.loads((folder / "manifest.json").read_text())
    entry = manifest["gesture"]["synthetic"]
    manifest["gesture"][preset] = {**entry, "file": None, "url": url}
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_a_preset_that_is_fetched(weights, tmp_path):
    network = trained("gesture", tmp_path / "a.weights.h5")
    content = add("gesture", tmp_path / "a.weights.h5").read_bytes()
    with serve(content) as server:
        online(weights, "other", server.url("good", "a.weights.h5"))
        assert kp.zoo.list_presets("gesture") == ["other", "synthetic"]
        check_same(network, kp.zoo.gesture(input_shape=SMALL, pretrained="other"))
        assert server.requests == ["good"]
    # Once it is in the cache no network is needed.
    check_same(network, kp.zoo.gesture(input_shape=SMALL, pretrained="other"))
    # Without it, the error says everything that helps.
    preset = _presets.read_presets("gesture")["other"]
    path = _fetch.cached_path(preset.url, preset.sha256)
    path.unlink()
    with pytest.raises(_fetch.FetchError) as error:
        kp.zoo.gesture(pretrained="other")
    for part in ("gesture's preset 'other'", preset.url, str(path), "pretrained='synthetic'"):
        assert part in str(error.value)


class TestAuthorsCheckpoint:
    @pytest.fixture
    def checkpoint(self, shared):
        return shared / "reference" / "dvs128_ckpt.pt"

    def test_the_manifest_has_its_size_and_hash(self, checkpoint):
        preset = _presets.read_presets("gesture")["dvs128"]
        assert _fetch.whats_wrong(checkpoint, preset.bytes, preset.sha256) is None

    def test_is_fetched_and_converted(self, checkpoint, tmp_path, monkeypatch):
        # The package's own manifest; only the server is another.
        monkeypatch.setenv("KERAS_PLEIADES_HOME", str(tmp_path))
        monkeypatch.setenv("no_proxy", "*")
        expected = kp.zoo.gesture(input_shape=SMALL, pretrained=checkpoint)
        with serve(checkpoint.read_bytes()) as server:
            monkeypatch.setenv("KERAS_PLEIADES_MIRROR", server.url("slow", ""))
            model = kp.zoo.gesture(input_shape=SMALL, pretrained="dvs128")
            assert server.requests == ["slow"]
        assert model.temporal["interval"] == (0.0, 1.0)
        check_same(expected, model)
        # From the cache, for other classes and another bin size.
        small = kp.zoo.gesture(num_classes=4, input_shape=SMALL, pretrained="dvs128", dt=5_000)
        check_same(expected, small, but=small.last_layer.variables)


class TestAddingWeights:
    def test_names_are_a_promise(self, weights, tmp_path):
        path = tmp_path / "a.weights.h5"
        trained("gesture", path)
        add("gesture", path)
        with pytest.raises(ValueError, match="has a preset 'synthetic' already"):
            add("gesture", path)
        network = randomize(kp.zoo.gesture(input_shape=SMALL), seed=1)
        network.save_weights(path)
        add("gesture", path, replace=True)
        check_same(network, kp.zoo.gesture(input_shape=SMALL, pretrained=True))

    def test_other_classes_are_refused(self, weights, tmp_path):
        path = tmp_path / "a.weights.h5"
        trained("gesture", path, num_classes=4)
        with pytest.raises(ValueError, match=r"10 classes.*with 4"):
            add("gesture", path)
        assert [one.name for one in weights.iterdir()] == ["manifest.json"]

    def test_numbers_that_are_none_are_refused(self, weights, tmp_path):
        path = tmp_path / "a.weights.h5"
        network = kp.zoo.gesture(input_shape=SMALL)
        network.get_layer("features").bias.assign(np.full(256, np.nan, "float32"))
        network.save_weights(path)
        with pytest.raises(ValueError, match="features/bias is not finite"):
            add("gesture", path)

    def test_command(self, weights, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        network = trained("gesture", tmp_path / "a.weights.h5")
        pathlib.Path("recipe.toml").touch()
        pathlib.Path("results.json").write_text('{"best": {"accuracy": 0.9}, "last": {}}')
        arguments = ["gesture", "a.weights.h5", "--results", "results.json", "--commit", COMMIT]
        assert _add_weights.main([*arguments, "--recipe", "/dev/null"]) == 1
        assert "--recipe must be a file below this folder" in capsys.readouterr().err
        assert _add_weights.main([*arguments, "--recipe", str(tmp_path / "recipe.toml")]) == 0
        preset = _presets.read_presets("gesture")["synthetic"]
        assert preset.sha256 in capsys.readouterr().out
        assert (preset.recipe, preset.results) == ("recipe.toml", {"accuracy": 0.9})
        check_same(network, kp.zoo.gesture(input_shape=SMALL, pretrained=True))


# What the package really holds.
ENTRIES = [preset for model in MODELS for preset in _presets.read_presets(model).values()]


@pytest.mark.parametrize("preset", ENTRIES, ids=lambda preset: f"{preset.model}-{preset.name}")
class TestManifest:
    def test_entry(self, preset):
        assert (preset.file is None) != (preset.url is None)
        assert re.fullmatch("[0-9a-f]{64}", preset.sha256)
        assert preset.licence
        assert preset.about.endswith(".")
        assert preset.results
        assert "://" in preset.recipe or (ROOT / preset.recipe).is_file()
        assert re.search("[0-9a-f]{40}", preset.commit)
        if preset.url is not None:
            assert preset.url.startswith("https://")

    def test_network(self, preset, request, monkeypatch):
        pretrained = preset.name
        if preset.url is not None:
            pretrained = request.getfixturevalue("shared") / "reference" / "dvs128_ckpt.pt"
        monkeypatch.setattr(socket.socket, "connect", None)  # offline
        # With its usual arguments, so with the classes it was trained for.
        network = getattr(kp.zoo, preset.model)(pretrained=pretrained)
        assert preset.parameters == sum(int(np.prod(v.shape)) for v in network.trainable_variables)
        assert (preset.dt, preset.interval) == (network.native_dt, network.temporal["interval"])
        assert preset.num_classes == getattr(network, "num_classes", None)
        if keras.backend.backend() != "torch":
            return  # XLA would compile for long, and other tests hold the backends together
        frames = np.random.default_rng(0).poisson(0.1, (1, network.context_frames + 2, 32, 32, 2))
        small = getattr(kp.zoo, preset.model)(pretrained=pretrained, input_shape=SMALL)
        answer = small.predict(frames.astype("float32"), verbose=0)
        assert np.isfinite(answer).all()
        assert np.ptp(answer) > 0


def test_no_weights_file_is_without_an_entry():
    files = {path.name for path in _presets.WEIGHTS.glob("*.h5")}
    assert files == {preset.file for preset in ENTRIES if preset.file}
