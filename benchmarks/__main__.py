"""Measures forward and training passes in one run and prints ratios; see README.md.

python -m benchmarks [--reference FOLDER] [--backends jax torch] [--out results.csv]
"""

import argparse
import csv
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys

from benchmarks import machine

BACKENDS = ("tensorflow", "jax", "torch")
# network, what, batch, frames
CASES = [
    ("gesture", "forward", 1, 150),
    ("gesture", "train", 1, 66),
    ("gesture", "train", 8, 66),
    ("eye_tracking", "forward", 1, 150),
    ("eye_tracking", "train", 1, 66),
    ("detector", "forward", 1, 45),
    ("detector", "train", 1, 40),
]
# A training step does three times the work of a forward pass.
PASSES = {"forward": 1, "train": 3}
SIZES = ("network", "what", "batch", "frames", "subject")
TIMES = ("best_s", "median_s", "first_s", "used_mb", "authors_ratio", "sgemm_ratio")


def worker(module: str, *arguments: str, backend: str | None = None) -> list[dict]:
    """Run a measuring module in a process of its own and return the rows that it prints."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    if backend:
        environment["KERAS_BACKEND"] = backend
    command = [sys.executable, "-m", f"benchmarks.{module}", *arguments]
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    if result.returncode:
        last = result.stderr.strip().splitlines()[-1:]
        print(f"  {module} {' '.join(arguments)} on {backend}: failed: {last}", file=sys.stderr)
        return []
    lines = (line for line in result.stdout.splitlines() if line.startswith("{"))
    return [json.loads(line) for line in lines]


def networks(arguments, limits) -> list[dict]:
    """Time every network, what is asked of it, and the authors' code beside it."""
    rows = []
    for network, what, batch, frames in CASES:
        if arguments.only and network not in arguments.only:
            continue
        sizes = [
            "--batch",
            str(batch),
            "--frames",
            str(frames),
            "--repeats",
            str(arguments.repeats),
        ]
        found = {}
        if arguments.reference and network == "gesture":
            for subject, more in (("authors", []), ("authors compiled", ["--compile"])):
                found[subject] = worker("authors", arguments.reference, what, *sizes, *more)
        for backend in arguments.backends:
            found[backend] = worker("networks", network, what, *sizes, backend=backend)
        authors = found["authors"][0]["best"] if found.get("authors") else None
        for subject, (row, *_) in ((s, f) for s, f in found.items() if f):
            ratio = {"authors_ratio": authors / row["best"]} if authors else {}
            if "multiply_adds" in row:
                least = PASSES[what] * row["multiply_adds"] / limits["multiply_adds"]
                ratio["sgemm_ratio"] = row["best"] / least
            rows.append(
                {
                    "network": network,
                    "what": what,
                    "batch": batch,
                    "frames": frames,
                    "subject": subject,
                    "best_s": row["best"],
                    "median_s": row["median"],
                    "first_s": row["first"],
                    "used_mb": row["used_mb"],
                    **ratio,
                }
            )
            print_row(rows[-1])
    return rows


def print_row(row: dict) -> None:
    """Print one row as it is measured."""
    times = f"{row['best_s']:8.3f} s {row['used_mb']:7.0f} MB"
    authors, sgemm = row.get("authors_ratio"), row.get("sgemm_ratio")
    against = f"  {authors:5.2f} x the authors' speed" if authors else ""
    against += f"  {sgemm:5.2f} x the sgemm time" if sgemm else ""
    what = f"{row['network']} {row['what']} {row['batch']}x{row['frames']}"
    print(f"{what:<28}{row['subject']:<18}{times}{against}", flush=True)


def parts(arguments) -> None:
    """Print the norm against a copy, and the orders of contraction against each other."""
    for backend in arguments.backends:
        for row in worker("norm", backend=backend):
            ratio = row["norm"] / row["copy"]
            print(f"norm + ReLU {row['shape']} {backend:<12}{ratio:5.2f} x the copy time")
    for backend in arguments.backends:
        for row in worker("orders", backend=backend):
            orders = (row[name] for name in ("coefficients_first", "basis_first", "kernel_first"))
            shape = f"{row['channels']}->{row['filters']} at {row['size']}"
            times = "".join(f"{1e3 * order:8.1f}" for order in orders)
            auto = f"auto, {row['auto']}: {row['ratio']:.2f} x best"
            print(f"orders {shape:<14}{backend:<12}{times} ms; {auto}")


def save(path: pathlib.Path, rows: list[dict], limits: dict) -> None:
    """Write the rows as CSV under a header that says how they came to be."""
    versions = {
        name: importlib.metadata.version(name)
        for name in ("keras", "tensorflow", "jax", "torch", "numpy")
    }
    temporary = path.with_suffix(".tmp")
    with temporary.open("w", newline="") as file:
        file.write(f"# python -m benchmarks {' '.join(sys.argv[1:])}\n# {machine.describe()}\n")
        file.write(f"# {json.dumps(versions)}\n# {json.dumps(limits)}\n")
        writer = csv.DictWriter(file, (*SIZES, *TIMES))
        writer.writeheader()
        writer.writerows(rows)
    temporary.replace(path)


def plot(path: pathlib.Path, rows: list[dict]) -> None:
    """Draw the times of each case, ours beside the authors', and the matrix product's."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    cases = list(dict.fromkeys(tuple(row[key] for key in SIZES[:4]) for row in rows))
    figure, axes = plt.subplots(1, len(cases), figsize=(3 * len(cases), 3.2), squeeze=False)
    for axis, case in zip(axes[0], cases, strict=True):
        found = [row for row in rows if tuple(row[key] for key in SIZES[:4]) == case]
        axis.barh([row["subject"] for row in found], [row["best_s"] for row in found])
        least = [row["best_s"] / row["sgemm_ratio"] for row in found if "sgemm_ratio" in row]
        if least:
            axis.axvline(least[0], color="k", linestyle=":", label="matrix product")
            axis.legend(fontsize=7)
        network, what, batch, frames = case
        axis.set_title(f"{network}, {what}\n{batch} x {frames} frames", fontsize=9)
        axis.set_xlabel("seconds", fontsize=8)
        axis.tick_params(labelsize=7)
        axis.invert_yaxis()
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reference", help="a clone of Brainchip-Inc/TENNs-Pleiades")
    parser.add_argument("--backends", nargs="+", default=BACKENDS, choices=BACKENDS)
    parser.add_argument("--only", nargs="+", help="networks to measure; all by default")
    parser.add_argument("--skip-parts", action="store_true", help="leave out norm and orders")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument(
        "--out", type=pathlib.Path, help="CSV for the results; a plot goes beside it"
    )
    arguments = parser.parse_args()
    limits = machine.limits()
    print(machine.describe())
    print(
        f"sgemm {limits['multiply_adds'] / 1e9:.0f} G multiply-adds a second, "
        f"copy {limits['copied_bytes'] / 1e9:.1f} GB a second\n"
    )
    rows = networks(arguments, limits)
    if not arguments.skip_parts:
        parts(arguments)
    if arguments.out:
        save(arguments.out, rows, limits)
        plot(arguments.out.with_suffix(".png"), rows)


if __name__ == "__main__":
    main()
