"""Say what a network costs and remembers, or what a recording holds.

The target is a network, one of its presets (`gesture/dvs128`, or `dvs128` where only one network
has it), or a file.
"""

import argparse
import dataclasses
import json

from keras_pleiades_cli import catalogue
from keras_pleiades_cli.errors import GOOD, UserError
from keras_pleiades_cli.files import check_file
from keras_pleiades_cli.network import add_size_options, arguments_of
from keras_pleiades_cli.package import load_package, quiet

NAME, NEEDS_KERAS = "info", True
EXAMPLES = (
    "keras-pleiades info gesture",
    "keras-pleiades info detector --dt 5_000 --verbose",
    "keras-pleiades info gesture/dvs128 --json",
    "keras-pleiades info recording.raw",
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the target and the sizes that a network's cost depends on."""
    parser.add_argument(
        "target",
        metavar="MODEL|PRESET|RECORDING",
        help="a network, a preset such as gesture/dvs128, or a file (./NAME for one named so)",
    )
    add_size_options(parser)
    parser.add_argument("--verbose", action="store_true", help="a line for each buffer of state")


def run(options: argparse.Namespace) -> int:
    """Print the facts."""
    named = find(options.target, catalogue.presets())
    if named is None:
        if options.dt is not None or options.size is not None:
            raise UserError(f"--dt and --size are for networks; {options.target} is none")
        return _recording(options)
    with quiet():
        facts = network_facts(*named, **arguments_of(options))
    if options.json:
        print(json.dumps(facts, indent=2))
    else:
        print("\n".join(lines(facts, options.verbose)))
    return GOOD


def find(target: str, presets: dict) -> tuple[str, str | None] | None:
    """Return the network and the preset that a target names; None if it is a file's name.

    Example:
        >>> presets = {"gesture": {"dvs128": {}, "own": {}}, "detector": {"own": {}}}
        >>> find("gesture", presets), find("dvs128", presets), find("./gesture", presets)
        (('gesture', None), ('gesture', 'dvs128'), None)
    """
    if target in presets:
        return target, None
    model, slash, preset = target.partition("/")
    if slash and model in presets:
        if preset not in presets[model]:
            known = ", ".join(presets[model]) or "none yet"
            raise UserError(f"{model} has no preset {preset!r}. Its presets: {known}")
        return model, preset
    having = [name for name, found in presets.items() if target in found]
    if len(having) > 1:
        choices = ", ".join(f"{name}/{target}" for name in having)
        raise UserError(f"Several networks have a preset {target!r}. Say which: {choices}")
    return (having[0], target) if having else None


def network_facts(name: str, preset: str | None, **arguments) -> dict:
    """Return what a network costs, remembers and has been measured to do; nothing is fetched."""
    import math

    kp = load_package()
    from keras_pleiades.streaming.state import spec_bytes

    presets = catalogue.presets()[name]
    about = presets.get(preset, {})
    if about:
        arguments.setdefault("dt", about["dt"])
        arguments["interval"] = tuple(about["interval"])
        if about.get("num_classes"):
            arguments["num_classes"] = about["num_classes"]
    model = getattr(kp.zoo, name)(**arguments)
    multiply_adds = kp.cost.multiply_adds(model)
    # What a stream would hold, without making one: at small bins it may not fit the machine.
    arrays = {
        name: {"shape": list(shape), "dtype": dtype, "bytes": spec_bytes({name: (shape, dtype)})}
        for name, (shape, dtype) in kp.streaming.state_spec(model).items()
    }
    return {
        "model": name,
        "about": catalogue.MODELS[name],
        "parameters": sum(math.prod(weight.shape) for weight in model.trainable_variables),
        "multiply_adds_per_frame": multiply_adds,
        "multiply_adds_per_second": round(multiply_adds * 1e6 / model.dt),
        "frame": list(model.input_shape[2:4]),
        "dt": model.dt,
        "window_us": model.window_us,
        "context_frames": model.context_frames,
        "latency_us": model.context_frames * model.dt,
        "state_bytes": sum(array["bytes"] for array in arrays.values()),
        "state": arrays,
        "presets": presets if preset is None else {preset: about},
    }


def lines(facts: dict, verbose: bool) -> list[str]:
    """Return the facts as text."""
    height, width = facts["frame"]
    cost = facts["multiply_adds_per_frame"] / 1e6, facts["multiply_adds_per_second"] / 1e9
    text = [
        f"{facts['model']}: {facts['about']}",
        f"  parameters     {facts['parameters']:,}",
        f"  multiply-adds  {cost[0]:,.1f} M a frame, {cost[1]:,.2f} G a second",
        f"  frames         {height} rows x {width} columns, bins of {facts['dt'] / 1000:g} ms",
        f"  window         {facts['window_us'] / 1000:g} ms a temporal kernel",
        f"  context        {facts['context_frames']} frames before the first full answer",
        f"  latency        {facts['latency_us'] / 1000:g} ms until then",
        f"  state          {facts['state_bytes']:,} bytes between frames",
    ]
    if verbose:
        text += [
            f"    {array['bytes']:>11,}  {name}  {tuple(array['shape'])} {array['dtype']}"
            for name, array in facts["state"].items()
        ]
    for name, preset in facts["presets"].items():
        measured = ", ".join(f"{key} {short(value)}" for key, value in preset["results"].items())
        text += [
            f"  preset {name}: {preset['about']}",
            f"    file         {catalogue.where(preset)}",
            f"    licence      {preset['licence']}",
            f"    measured     {measured or 'nothing yet'}",
            f"    recipe       {preset['recipe']}",
        ]
    return text if facts["presets"] else [*text, "  presets        none yet"]


def short(value: object) -> str:
    """Return a measured value with as many digits as a reader wants.

    Example:
        >>> short(0.9703968253968254), short(92.13167744130656), short("DVS128 Gesture")
        ('0.9704', '92.13', 'DVS128 Gesture')
    """
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _recording(options):
    known = f"a network ({', '.join(catalogue.MODELS)}), a preset or a recording"
    path = check_file(options.target, known)
    kp = load_package()

    found = kp.events.info(path)
    if options.json:
        rate = {"duration_us": found.duration_us, "rate_hz": found.rate_hz}
        print(json.dumps({**dataclasses.asdict(found), **rate}, indent=2))
    else:
        print(found)
    return GOOD
