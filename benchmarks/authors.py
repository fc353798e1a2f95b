"""Times the authors' gesture network from a local clone: run by `python -m benchmarks`.

python -m benchmarks.authors FOLDER forward --frames 150 [--compile]
"""

import argparse
import json
import sys

import numpy as np

from benchmarks.measure import peak_megabytes, reset_peak, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", help="a clone of Brainchip-Inc/TENNs-Pleiades")
    parser.add_argument("what", choices=["forward", "train"])
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--frames", type=int, required=True)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--compile", action="store_true")
    arguments = parser.parse_args()
    sys.path.insert(0, arguments.folder)
    import torch
    from model import PleiadesClassifier

    network = PleiadesClassifier(
        in_channels=2,
        num_classes=10,
        channels=[8, 16, 32, 48, 64, 80, 96, 112, 128, 256],
        features=256,
        depthwises=[False, False, True, True, True],
        kernel_size=[3, 3, 10],
        stride=[2, 2, 1],
        padding=[1, 1, 0],
    )
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.05, (arguments.batch, 2, 128, 128, arguments.frames))
    x = torch.tensor(counts.astype("float32"))
    reset_peak()
    before = peak_megabytes()
    run = torch.compile(network) if arguments.compile else network
    if arguments.what == "forward":
        network.eval()

        def step():
            with torch.no_grad():
                run(x)

    else:
        parameters = [p for p in network.parameters() if p.requires_grad]
        optimizer = torch.optim.AdamW(parameters, 1e-3, weight_decay=1e-3)
        labels = torch.zeros(arguments.batch, arguments.frames - 45, dtype=torch.long)

        def step():
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(run(x), labels).backward()
            optimizer.step()

    times = seconds(step, arguments.repeats, warm_up=2)
    peak = peak_megabytes()
    print(json.dumps({**times, "peak_mb": peak, "used_mb": peak - before}))


if __name__ == "__main__":
    main()
