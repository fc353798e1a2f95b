"""The authors' checkpoint: read safely, and answering as their own code does."""

import os
import pickle
import struct
import sys
import zipfile

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keras_pleiades as kp
from keras_pleiades.zoo._torch_checkpoint import is_torch_checkpoint, read_torch_checkpoint
from tests.backends import to_numpy

ANY_SIZE = (None, None, None, 2)


@pytest.fixture(scope="session")
def checkpoint(shared):
    return shared / "reference" / "dvs128_ckpt.pt"


@pytest.fixture(scope="session")
def golden(shared):
    return dict(np.load(shared / "reference" / "golden.npz"))


@pytest.fixture(scope="session")
def model(checkpoint):
    return kp.zoo.gesture(pretrained=checkpoint, input_shape=ANY_SIZE)


def counts(golden, name):
    shape = golden[f"{name}_shape"]
    x = np.zeros(np.prod(shape), "float32")
    x[golden[f"{name}_index"]] = golden[f"{name}_count"]
    return x.reshape(1, *shape)


def check(found, expected, tolerance):
    assert found.shape == expected.shape
    assert abs(found - expected).max() < tolerance
    np.testing.assert_array_equal(found.argmax(-1), expected.argmax(-1))


@pytest.mark.parametrize("case", ["case1", "case2"])
class TestAnswersOfTheAuthorsCode:
    # Logits reach 57; 2e-3 is the bound of the issue, float32 gives up to 4e-4.
    def test_clip(self, model, golden, case):
        logits = model.predict(counts(golden, case), verbose=0)[0]
        check(logits, golden[f"{case}_logits"], 2e-3)

    def test_zeros_in_front(self, model, golden, case):
        x = np.pad(counts(golden, case), [(0, 0), (44, 0), (0, 0), (0, 0), (0, 0)])
        logits = model.predict(x, verbose=0)[0]
        check(logits, golden[f"{case}_logits_zero_prefix44"], 2e-3)

    def test_odd_size(self, model, golden, case):
        logits = model.predict(counts(golden, f"{case}_odd"), verbose=0)[0]
        check(logits, golden[f"{case}_logits_odd"], 2e-3)

    # The authors' rule leaves levels twice as large at half the bin size. A norm follows every
    # temporal layer and takes the factor out again, all but for its epsilon: the differences
    # found are 3e-4 at 5 ms and 2.5e-3 at 20 ms.
    def test_resampled_to_5_ms(self, model, golden, case):
        logits = model.resample(5_000).predict(counts(golden, f"{case}_k20"), verbose=0)[0]
        check(logits, golden[f"{case}_logits_k20"], 2e-3)

    def test_resampled_to_20_ms(self, model, golden, case):
        logits = model.resample(20_000).predict(counts(golden, case), verbose=0)[0]
        check(logits, golden[f"{case}_logits_k5"], 5e-3)


def test_reads_what_torch_reads(checkpoint):
    torch = pytest.importorskip("torch")
    expected = torch.load(checkpoint, map_location="cpu", weights_only=True)
    found = read_torch_checkpoint(checkpoint)
    assert list(found) == list(expected)
    for name, tensor in expected.items():
        np.testing.assert_array_equal(found[name], tensor.numpy())


def test_another_bin_size_and_other_classes(checkpoint, model):
    small = kp.zoo.gesture(
        num_classes=3, input_shape=(None, 16, 16, 2), dt=5_000, pretrained=str(checkpoint)
    )
    assert (small.dt, small.context_frames) == (5_000, 95)
    for name in ("block_1", "block_5", "features"):
        for a, b in zip(
            small.get_layer(name).get_weights(), model.get_layer(name).get_weights(), strict=True
        ):
            np.testing.assert_array_equal(a, b)


def test_saved_as_keras_weights(checkpoint, model, tmp_path):
    path = tmp_path / "dvs128.weights.h5"
    model.save_weights(path)
    again = kp.zoo.gesture(input_shape=ANY_SIZE, interval=(0, 1), pretrained=path)
    for a, b in zip(model.variables, again.variables, strict=True):
        np.testing.assert_array_equal(to_numpy(a), to_numpy(b))


@pytest.mark.skipif(keras.backend.backend() == "torch", reason="torch is the backend here")
def test_torch_is_not_needed(checkpoint, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)  # makes `import torch` fail
    kp.zoo.gesture(input_shape=ANY_SIZE, pretrained=checkpoint)


def test_only_for_the_gesture_network(checkpoint):
    with pytest.raises(ValueError, match="of 'gesture' only"):
        kp.zoo.eye_tracking(pretrained=checkpoint)


def test_another_architecture_is_an_error(checkpoint):
    with pytest.raises(ValueError, match=r"degree=4"):
        kp.zoo.gesture(pretrained=checkpoint, degree=3, input_shape=ANY_SIZE)
    with pytest.raises(ValueError, match=r"polynomials of conv_blocks\.0"):
        kp.zoo.gesture(pretrained=checkpoint, interval=(-1.0, 1.0), input_shape=ANY_SIZE)


# Files made here: no shared data needed from now on.


class Global:
    """Pickles as a call of any function, by name."""

    def __init__(self, function, *arguments):
        self.function, self.arguments = function, arguments

    def __reduce__(self):
        return self.function, self.arguments


def write(path, pickled, storages=(), compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("x/data.pkl", pickled)
        archive.writestr("x/byteorder", "little")
        for key, data in storages:
            archive.writestr(f"x/data/{key}", data)
    return path


def tensor_pickle(storage="FloatStorage", count=4, offset=0, size=(2, 2), stride=(2, 1)):
    """The pickle of {"w": tensor}, opcode by opcode as torch writes it."""

    def text(string):
        return b"X" + struct.pack("<I", len(string)) + string.encode()

    def number(n):
        return b"J" + struct.pack("<i", n)

    def tuple_of(numbers):
        return b"(" + b"".join(map(number, numbers)) + b"t"

    pid = b"(" + text("storage") + f"ctorch\n{storage}\n".encode() + text("0") + text("cpu")
    pid += number(count) + b"tQ"
    arguments = b"(" + pid + number(offset) + tuple_of(size) + tuple_of(stride)
    arguments += b"\x89" + b"ccollections\nOrderedDict\n)R" + b"t"
    tensor = b"ctorch._utils\n_rebuild_tensor_v2\n" + arguments + b"R"
    return b"\x80\x02}" + text("w") + tensor + b"s."


NUMBERS = np.arange(4, dtype="<f4").tobytes()


def test_reads_a_file_made_by_hand(tmp_path):
    path = write(tmp_path / "a.pt", tensor_pickle(stride=(1, 2)), [("0", NUMBERS)])
    assert is_torch_checkpoint(path)
    np.testing.assert_array_equal(read_torch_checkpoint(path)["w"], [[0, 2], [1, 3]])


@pytest.mark.parametrize(
    "function",
    [os.system, eval, exec, __import__, open, getattr, np.load, pickle.loads],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_no_code_in_the_file_is_ever_run(tmp_path, function, protocol):
    victim = tmp_path / "victim"
    bomb = Global(function, f"touch {victim}")
    path = write(tmp_path / "bad.pt", pickle.dumps({"w": bomb}, protocol))
    with pytest.raises(ValueError, match=rf"{path.name}: not read.*may be harmful"):
        kp.zoo.gesture(pretrained=path, input_shape=(None, 16, 16, 2))
    assert not victim.exists()


def test_a_nested_allowed_name_opens_no_way_out(tmp_path):
    # STACK_GLOBAL takes dotted names: collections.OrderedDict.__init__.__globals__ and the like.
    dotted = b"\x80\x04\x8c\x0bcollections\x8c\x14OrderedDict.fromkeys\x93."
    with pytest.raises(ValueError, match=r"OrderedDict\.fromkeys"):
        read_torch_checkpoint(write(tmp_path / "bad.pt", dotted))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"count": 5}, "has 4 numbers, not 5"),
        ({"offset": 1}, "reaches outside"),
        ({"offset": -1}, "reaches outside"),
        ({"size": (2, 3)}, "reaches outside"),
        ({"stride": (-2, 1)}, "reaches outside"),
        ({"size": (2**30, 2**30), "stride": (1, 1)}, "reaches outside"),
        ({"storage": "QInt8Storage"}, "torch.QInt8Storage"),
    ],
)
def test_tensors_that_lie_are_refused(tmp_path, arguments, message):
    path = write(tmp_path / "bad.pt", tensor_pickle(**arguments), [("0", NUMBERS)])
    with pytest.raises(ValueError, match=message):
        read_torch_checkpoint(path)


def test_a_zip_bomb_is_refused(tmp_path):
    path = write(tmp_path / "b.pt", tensor_pickle(), [("0", bytes(10**6))], zipfile.ZIP_DEFLATED)
    with pytest.raises(ValueError, match="compressed"):
        read_torch_checkpoint(path)


@pytest.mark.parametrize("content", [b"", b"hello", b"\x80\x02}.", b"PK\x03\x04"])
def test_other_files_are_no_checkpoints(tmp_path, content):
    path = tmp_path / "a.pt"
    path.write_bytes(content)
    assert not is_torch_checkpoint(path)
    with pytest.raises(ValueError, match=r"a\.pt: not a PyTorch state dict"):
        read_torch_checkpoint(path)


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_damaged_files_are_refused_or_read(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("damaged")
    whole = write(folder / "a.pt", tensor_pickle(), [("0", NUMBERS)]).read_bytes()
    damaged = bytearray(whole[: data.draw(st.integers(0, len(whole)))])
    for _ in range(data.draw(st.integers(0, 4))):
        if damaged:
            damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    (folder / "a.pt").write_bytes(damaged)
    try:
        tensors = read_torch_checkpoint(folder / "a.pt")
    except ValueError as error:
        assert "a.pt" in str(error)  # noqa: PT017 (either outcome is right)
    else:
        assert all(isinstance(tensor, np.ndarray) for tensor in tensors.values())
