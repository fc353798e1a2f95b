"""The demonstration from its seed to its page."""

import datetime
import os
import platform
import time
from collections.abc import Callable, Sequence

from keras_pleiades_cli.demo import detector, eye_tracking, gesture, recordings
from keras_pleiades_cli.demo.page import Section, page
from keras_pleiades_cli.demo.part import Part, describe, load
from keras_pleiades_cli.demo.recordings import Settings
from keras_pleiades_cli.files import replacing
from keras_pleiades_cli.package import load_package, quiet

PARTS = {
    "gesture": (gesture, recordings.gestures),
    "eye_tracking": (eye_tracking, recordings.eye),
    "detector": (detector, recordings.road),
}
LEAD = (
    "Event cameras report changes of light, pixel by pixel, as they happen. PLEIADES networks "
    "answer such a stream online: their temporal kernels are sums of orthogonal polynomials, "
    "continuous functions of time that fit bins of any size. Every recording below was simulated "
    "for this page, and every answer was given while it ran, frame by frame, on this machine."
)


def make(
    out: str,
    networks: Sequence[str] = tuple(PARTS),
    seed: int = 0,
    weights: dict[str, str] | None = None,
    settings: Settings | None = None,
    say: Callable[[str], None] = print,
) -> dict:
    """Run networks over fresh recordings, write the page, and return what was measured.

    Args:
        out: Where the page goes.
        networks: Names of networks.
        seed: Of the recordings.
        weights: Files in place of bundled weights, by the network's name.
        settings: Lengths and sizes.
        say: Prints a line.

    Returns:
        By the network's name: its weights, its latency, how right it was.
    """
    kp = load_package()
    import keras

    began = time.monotonic()
    settings = settings or Settings()
    sections, found = [], {}
    for name in networks:
        module, record = PARTS[name]
        with quiet():
            network = load(name, (weights or {}).get(name), settings)
        recording = record(seed, settings)
        say(f"\n{name}: {describe(network)}")
        say(f"  fresh recording: {recording}")
        facts = {"weights": network.weights, "events": len(recording.events)}
        part = Part(network, recording, Section(module.TITLE), facts, say)
        part.section.parts.append(f'<p class="pale">{name}: {describe(network)}</p>')
        module.show(part)
        sections.append(part.section)
        found[name] = facts
    seconds = time.monotonic() - began
    footer = (
        f"keras_pleiades {kp.__version__}, Keras {keras.__version__} on {keras.backend.backend()}, "
        f"{os.cpu_count()} cores, {platform.machine()}. Seed {seed}. Made in {seconds:.0f} s on "
        f"{datetime.datetime.now():%Y-%m-%d at %H:%M}. Recordings are simulated; simulated scores "
        "say little about real cameras."
    )
    with replacing(out) as file:
        file.write(page("keras_pleiades: what the networks see", LEAD, sections, footer))
    say(f"\n{seconds:.0f} s in all")
    return found
