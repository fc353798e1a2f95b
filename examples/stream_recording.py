"""From the events of a recording to filtered answers, online and at another bin size.

    python examples/stream_recording.py [RECORDING] [--weights FILE_OR_PRESET] [--dt 5_000]

Without a recording it simulates somebody waving. `--weights dvs128` is the authors' network, which
is fetched; without weights the network is new and its answers mean nothing.
"""

import argparse

import numpy as np

import keras_pleiades as kp

parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("recording", nargs="?", help="any format that kp.events reads")
parser.add_argument("--weights", default=False, help="a preset's name, or a weights file")
parser.add_argument("--dt", type=int, default=5_000, help="bin size in microseconds")
parser.add_argument("--size", type=int, default=128, help="height and width of the frames")
options = parser.parse_args()

# Trained with bins of 10 ms; the same filters in bins of another size, without fine-tuning.
model = kp.zoo.gesture(
    pretrained=options.weights, input_shape=(None, options.size, options.size, 2)
)
fast = model.resample(options.dt)
print(f"{model.dt} us and {model.context_frames} frames of context become ", end="")
print(f"{fast.dt} us and {fast.context_frames} frames: {fast.window_us} us each.")

if options.recording:
    source, sensor = options.recording, None  # the file says it
else:
    wave = kp.datasets.synthetic.record("gestures", seed=1, label=1)
    # As a camera driver would hand them over: in packets, here of 500 events.
    source, sensor = np.split(wave.events, range(500, len(wave.events), 500)), wave.sensor

names = kp.datasets.DVS128Gesture.class_names
majority = kp.decode.MajorityFilter(window_us=150_000, dt=fast.dt)
shown, latencies = None, []
for answer in kp.streaming.run(fast, source, sensor):
    label = majority.update(answer.output)
    latencies.append(answer.latency_s)
    if answer.ready and label != shown:  # before, layers still see the zeros of the start
        print(f"{answer.t_us / 1e6:8.3f} s  {names[label]}")
        shown = label
print(f"{len(latencies)} answers, each {1e3 * np.median(latencies):.1f} ms after its last event")
