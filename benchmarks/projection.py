"""Measures the error of `memory="projection"` over bin size, order and degree.

KERAS_BACKEND=torch python -m benchmarks.projection [--checkpoint dvs128_ckpt.pt]

Of one layer: the largest difference to the exact stream over the largest exact answer, on frames of
white noise, the worst a window can hold. Of the gesture network: the same of its logits, and how
often its decision is the same, on simulated gestures.
"""

import argparse

import numpy as np

import keras_pleiades as kp
from keras_pleiades.datasets.synthetic import gestures

DTS = (10_000, 5_000, 2_000, 1_000)
ORDERS = (5, 7, 9, 12, 16)


def error(found, expected) -> float:
    return float(abs(found - expected).max() / abs(expected).max())


def one_layer() -> None:
    print("one layer (degree, dt): largest relative error by order", *ORDERS)
    rng = np.random.default_rng(0)
    for degree in (2, 4, 8, None):
        for dt in DTS:
            bins = 100_000 // dt
            kernel_size = 10 if degree != 8 else 20  # at least as many taps as coefficients
            basis = (
                kp.basis.box_basis(kernel_size, bins)
                if degree is None
                else kp.basis.jacobi_basis(degree, bins)
            )
            kernels = rng.normal(size=(200, len(basis))) @ basis
            windows = rng.normal(size=(400 + bins,))
            exact = np.stack([kernels @ windows[i : i + bins] for i in range(400)])
            row = []
            for order in ORDERS:
                shift, entry, projection = kp.layers.projected_context.recurrence(bins, order)
                memory, found = np.zeros(len(entry)), []
                for i, frame in enumerate(windows[:-1]):
                    memory = shift @ memory + frame * entry
                    if i >= bins - 1:
                        found.append(kernels @ (projection.T @ memory))
                row.append(error(np.stack(found), exact))
            print(f"  {degree!s:>4} {dt:6}  " + "  ".join(f"{e:7.4f}" for e in row), flush=True)


def network(checkpoint, clips: int, dts) -> None:
    print("gesture network: relative error of the logits / same decision, by order", *ORDERS)
    model = kp.zoo.gesture(pretrained=checkpoint) if checkpoint else kp.zoo.gesture()
    recordings = [gestures.clip(seed, "test")[0] for seed in range(clips)]
    for dt in dts:
        resampled = model.resample(dt)
        row = []
        context = resampled.context_frames
        frames = [resampled.to_frames(r, (128, 128))[: context + 200_000 // dt] for r in recordings]
        exact = [resampled.stream()(f[None])[0, context:] for f in frames]
        for order in ORDERS:
            if dt == DTS[0] and order > 10:
                continue
            stream = resampled.stream(memory="projection", order=order)
            errors, same = [], []
            for clip, expected in zip(frames, exact, strict=True):
                stream.reset()
                found = stream(clip[None])[0, context:]
                errors.append(error(found, expected))
                same.append((found.argmax(-1) == expected.argmax(-1)).mean())
            row.append(f"{max(errors):.3f} / {100 * np.mean(same):5.1f} %")
        size = resampled.stream(memory="projection").state_bytes
        print(
            f"  {dt:6} us  {size / 1e6:.1f} MB at order 9, exact "
            f"{resampled.stream().state_bytes / 1e6:.1f} MB   " + "  ".join(row),
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--checkpoint", help="the authors' weights; random ones without")
    parser.add_argument("--clips", type=int, default=2)
    parser.add_argument("--dt", type=int, nargs="+", default=DTS, help="bins of the network")
    parser.add_argument("--skip-network", action="store_true")
    arguments = parser.parse_args()
    one_layer()
    if not arguments.skip_network:
        network(arguments.checkpoint, arguments.clips, arguments.dt)


if __name__ == "__main__":
    main()
