"""What the demonstrations of all networks share."""

import argparse
import dataclasses
from collections.abc import Callable
from typing import Any

from keras_pleiades_cli.demo.drawing import svg
from keras_pleiades_cli.demo.online import Watched
from keras_pleiades_cli.demo.page import Section
from keras_pleiades_cli.demo.recordings import Recording, Settings
from keras_pleiades_cli.network import Network, build
from keras_pleiades_cli.package import quiet


@dataclasses.dataclass(frozen=True)
class Part:
    """A network's part of the demonstration.

    Attributes:
        network: The network.
        recording: What it is shown.
        section: Its part of the page.
        facts: Numbers for `--json`.
        say: Prints a line.
    """

    network: Network
    recording: Recording
    section: Section
    facts: dict[str, Any]
    say: Callable[[str], None]

    @property
    def model(self):
        """The network itself."""
        return self.network.model

    def describe_latency(self, watched: Watched) -> str:
        """Note a network's latency and return it in words."""
        median, late = watched.latency_ms()
        self.facts["latency_ms"] = {"p50": round(median, 2), "p95": round(late, 2)}
        return (
            f"latency: {median:.1f} ms (median), {late:.1f} ms (95 %) from the last event of a "
            f"bin of {watched.dt / 1000:g} ms to the answer"
        )

    def latency_tiles(self) -> list[tuple[str, str]]:
        """Return the latency for the page."""
        found = self.facts["latency_ms"]
        return [
            (f"{found['p50']:.1f} ms", "latency of an answer, median"),
            (f"{found['p95']:.1f} ms", "latency, 95 % of the answers"),
        ]

    def add_kernels(self) -> None:
        """Add what the network has learned."""
        from keras_pleiades import plots

        dt = self.model.native_dt
        first, *_, last = self.model.temporal_layers()
        self.section.heading("What it has learned")
        self.section.text(
            "A temporal kernel is a polynomial: its coefficients were trained, nothing else. The "
            "curve is the kernel itself, the same in each column; the bars are its averages over "
            f"bins of {dt / 2000:g}, {dt / 1000:g} and {dt / 500:g} ms, which is all that "
            "resample() changes."
        )
        with quiet():  # Keras imports TensorFlow, where it is installed, to copy a layer
            drawn = [svg(plots.kernels(layer, dt=dt)) for layer in (first, last)]
        captions = "The strongest kernels of the first layer.", "Those of the last temporal layer."
        self.section.figures(*zip(drawn, captions, strict=True))


def load(name: str, weights: str | None, settings: Settings) -> Network:
    """Return a network with its bundled weights, or those of a file."""
    options = argparse.Namespace(
        dt=None, size=settings.sizes.get(name), preset=None, weights=weights, labels=None
    )
    return build(name, options)


def describe(network: Network) -> str:
    """Return a network in words."""
    import numpy as np

    model = network.model
    size = sum(int(np.prod(one.shape)) for one in model.trainable_variables)
    return (
        f"{size:,} parameters ({network.weights}), bins of {model.dt / 1000:g} ms, looks back "
        f"{model.context_frames * model.dt / 1000:g} ms"
    )
