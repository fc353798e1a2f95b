"""What the examples of exported streams share, in NumPy alone: events to frames, and a loop.

An export has a JSON file beside it that says all one must know: the bin size, the frame's size, how
events are binned, the names of the states, of the classes.
"""

import argparse
import itertools
import json
import time

import numpy as np


def run(load, description: str) -> None:
    """Feed a recording to the network that `load(path)` returns, and print what it says."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("network", help="an export with streaming=True")
    parser.add_argument("events", nargs="?", help=".npy of an array with fields t (us), x, y, p")
    parser.add_argument("--out", help="where all answers go, as .npy")
    arguments = parser.parse_args()
    with open(f"{arguments.network}.json") as file:
        facts = json.load(file)
    events = np.load(arguments.events) if arguments.events else random_events(facts)
    advance = load(arguments.network)
    state = {s["input"]: np.zeros(s["shape"], "float32") for s in facts["state"]}
    answers, seconds = [], []
    for number, frame in enumerate(frames_of(events, facts)):
        start = time.perf_counter()
        found = advance({facts["input"]["name"]: frame[None], **state})
        # What comes out as the next state goes in with the next frame.
        state = {s["input"]: found[s["output"]] for s in facts["state"]}
        seconds.append(time.perf_counter() - start)
        answers.append(found[facts["output"]["name"]][0])
        if number % 20 == 0:
            # Before, layers still see the zeros of the start.
            ready = number >= facts["context_frames"]
            t = (number + 1) * facts["dt"] / 1e6
            print(f"{t:7.3f} s  {describe(answers[-1], facts)}{'' if ready else '  (warming up)'}")
    print(f"{len(answers)} frames, {1e3 * np.median(seconds):.2f} ms each")
    if arguments.out:
        np.save(arguments.out, np.stack(answers))


def frames_of(events: np.ndarray, facts: dict):
    """Yield frames `(height, width, 2)` of counted events: OFF, ON."""
    size = facts["frame"]
    sensor = facts["sensor"] or [size["height"], size["width"]]
    factor = sensor[0] // size["height"]
    if facts["binning"]["method"] != "count" or sensor != [
        size["height"] * factor,
        size["width"] * factor,
    ]:
        raise SystemExit(
            "This example counts events on a grid of whole pixels. For other ways of binning see "
            f"keras_pleiades.events.to_frames. The network wants {facts['binning']} of sensor "
            f"{sensor} as {size}."
        )
    bins = (events["t"] - events["t"].min()) // facts["dt"]
    edges = np.searchsorted(bins, np.arange(bins[-1] + 2))
    for start, stop in itertools.pairwise(edges):
        part = events[start:stop]
        frame = np.zeros((size["height"], size["width"], 2), "float32")
        index = (part["y"] // factor, part["x"] // factor, part["p"].astype(int))
        np.add.at(frame, index, 1)
        yield frame


def describe(answer: np.ndarray, facts: dict) -> str:
    """Say what an answer means: the class, or the cell where something is."""
    if answer.ndim == 1:
        best = int(answer.argmax())
        return facts["labels"][best] if facts["labels"] else f"class {best}"
    heatmap = answer[..., 0]
    row, column = np.unravel_index(heatmap.argmax(), heatmap.shape)
    return f"cell {row}, {column}"


def random_events(facts: dict, frames: int = 200) -> np.ndarray:
    """Return noise, for trying it out."""
    rng = np.random.default_rng(0)
    height, width = facts["sensor"] or (facts["frame"]["height"], facts["frame"]["width"])
    t = np.arange(0, frames * facts["dt"], 20)
    events = np.zeros(len(t), [("t", "i8"), ("x", "u2"), ("y", "u2"), ("p", "?")])
    events["t"], events["p"] = t, rng.integers(0, 2, len(t))
    events["x"], events["y"] = rng.integers(0, width, len(t)), rng.integers(0, height, len(t))
    return events
