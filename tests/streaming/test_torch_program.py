"""The torch step as a program: what is kept, what is followed, what is fused."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from keras_pleiades.streaming.torch_program import Program  # noqa: E402


def numbers(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape).astype("float32"))


def targets(program):
    return [str(node.target) for node in program._run.__self__.graph.nodes]


@pytest.fixture(autouse=True)
def _no_grad():
    with torch.no_grad():
        yield


def affine(x, mean, scale, shift):
    return torch.relu((x - mean) * scale + shift)


@pytest.mark.parametrize("rows", [8, 3000])  # MKL, oneDNN
@pytest.mark.parametrize("relu", [True, False])
def test_linear_takes_in_what_follows(rows, relu):
    weights = torch.nn.Parameter(numbers(16, 24))
    mean, scale, shift = (torch.nn.Parameter(numbers(24, seed=i)) for i in range(3))

    def function(x, count):
        y = ((x.reshape(rows, 16) @ weights).reshape(1, rows, 24) - mean) * scale + shift
        return ((torch.relu(y) if relu else y), count + 1)

    x, count = numbers(1, rows, 16), torch.tensor(0)
    program = Program(function, [x, count], count=1)
    torch.testing.assert_close(program(x, count)[0], function(x, count)[0], atol=1e-4, rtol=1e-4)
    assert not {"aten.sub.Tensor", "aten.mul.Tensor", "aten.relu.default"} & {*targets(program)}
    for weight in (weights, mean, scale, shift):
        weight.mul_(0.7).add_(0.2)
        found, expected = program(x, count)[0], function(x, count)[0]
        torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("groups", [1, 8])
def test_convolution_takes_in_what_follows(groups):
    weights = torch.nn.Parameter(numbers(16, 8 // groups, 3, 3))
    mean, scale, shift = (torch.nn.Parameter(numbers(16, seed=i)) for i in range(3))

    def function(x, count):
        y = torch.conv2d(x.permute(0, 3, 1, 2), weights, None, 2, 1, 1, groups)
        y = y.permute(0, 2, 3, 1).reshape(1, 1, 8, 8, 16)
        return affine(y, mean, scale, shift), count + 1

    x, count = numbers(1, 16, 16, 8), torch.tensor(0)
    program = Program(function, [x, count], count=1)
    torch.testing.assert_close(program(x, count)[0], function(x, count)[0], atol=1e-4, rtol=1e-4)
    weights.mul_(2.0)
    torch.testing.assert_close(program(x, count)[0], function(x, count)[0], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("rows", [8, 3000])
def test_sums_of_products_and_of_a_product_with_itself(rows):
    first, second = (torch.nn.Parameter(numbers(16, 16, seed=i)) for i in range(2))

    def function(x, y, count):
        doubled = x @ first
        return torch.relu(x @ first + y @ second), doubled + doubled, y + (x @ second), count

    arguments = numbers(rows, 16), numbers(rows, 16, seed=3), torch.tensor(0)
    program = Program(function, arguments, count=2)
    for found, expected in zip(program(*arguments), function(*arguments), strict=True):
        torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)


def test_constants_that_widen_a_product_are_not_taken_in():
    weights, wide = torch.nn.Parameter(numbers(16, 24)), torch.nn.Parameter(numbers(1, 1, 24))

    def function(x, count):
        return x @ weights + wide, count

    x, count = numbers(8, 16), torch.tensor(0)
    found = Program(function, [x, count], count=1)(x, count)[0]
    assert found.shape == (1, 8, 24)
    torch.testing.assert_close(found, function(x, count)[0], atol=1e-5, rtol=1e-5)


def test_each_count_has_its_constants_and_nobody_can_change_them():
    weight = torch.nn.Parameter(numbers(4))

    def function(x, count):
        return x * weight**count, (count + 1) % 3

    x, count = numbers(4, seed=1), torch.tensor(0)
    program = Program(function, [x, count], count=1)
    for _ in range(7):
        expected = function(x, count)
        found, following = program(x, count)
        torch.testing.assert_close(found, expected[0])
        assert int(following) == int(expected[1])
        count.fill_(-1)  # the caller's own
        count = following


def test_sees_weights_that_moved_to_other_memory():
    weight = torch.nn.Parameter(torch.ones(3))
    x, count = torch.ones(3), torch.tensor(0)
    program = Program(lambda x, count: (x * weight.exp().log(), count), [x, count], count=1)
    program(x, count)
    weight.data = torch.full((3,), 2.0)
    torch.testing.assert_close(program(x, count)[0], torch.full((3,), 2.0))
