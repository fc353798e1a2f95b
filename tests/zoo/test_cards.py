"""What a reader wants beside a model is there: a card, a recipe, results, a manifest entry."""

import json
import pathlib

import pytest

import keras_pleiades as kp
from keras_pleiades.zoo._presets import DEFAULT, read_manifest

ZOO = pathlib.Path(__file__).parents[2] / "zoo"
MANIFEST = read_manifest()
MODELS = kp.zoo.list_models()


def test_every_folder_is_a_model_and_has_a_recipe():
    assert sorted(path.name for path in ZOO.iterdir()) == sorted(kp.zoo.list_models())
    for model in kp.zoo.list_models():
        recipe = kp.training.load_recipe(ZOO / model / "recipe.toml")
        assert recipe.model["name"] == model


@pytest.mark.parametrize("model", MODELS)
def test_bundled_weights_have_a_card_and_results(model):
    entry = MANIFEST[model][DEFAULT]
    card = (ZOO / model / "README.md").read_text()
    assert (ZOO.parent / entry["recipe"]).is_file()
    assert f"{entry['parameters']:,}" in card
    assert entry["licence"] in card
    results = json.loads((ZOO / model / "results.json").read_text())
    assert results["command"] in card
    # A number of the manifest is one of the results.
    flat = json.dumps(results)
    assert all(json.dumps(value) in flat for value in entry["results"].values())


@pytest.mark.parametrize("model", MODELS)
def test_what_the_card_says_can_be_evaluated(model):
    recipe = kp.training.load_recipe(ZOO / model / "card.toml")
    assert recipe.model == {"name": model, "pretrained": True}
    assert recipe.data["test"]["split"] == "test"  # no training saw it
    seen = json.loads((ZOO / model / "results.json").read_text())
    assert recipe.data["test"]["recordings"] == seen.get("clips", seen.get("recordings"))
    assert (
        f"keras-pleiades evaluate zoo/{model}/card.toml" in (ZOO / model / "README.md").read_text()
    )


@pytest.mark.parametrize("model", MODELS)
def test_bundled_weights_load(model):
    network = getattr(kp.zoo, model)(pretrained=True)
    assert network.native_dt == MANIFEST[model][DEFAULT]["dt"]
