import numpy as np
import opt_einsum
import pytest

from keras_pleiades import contraction


def work(equation, *shapes):
    """Multiply-adds of one einsum by opt_einsum's count, which has two operations in each."""
    _, info = opt_einsum.contract_path(equation, *shapes, shapes=True)
    return int(info.opt_cost) // 2


CASES = [
    # channels, filters, kernel_size, degree, frames, height, width
    (2, 8, 10, 4, 7, 3, 5),
    (16, 32, 10, 4, 6, 4, 4),
    (24, 2, 5, 2, 4, 3, 2),
]


@pytest.mark.parametrize("case", CASES)
def test_full_costs_equal_opt_einsum(case):
    c, d, q, degree, t, y, x = case
    n = degree + 1
    # A temporal convolution is a contraction with the q frames that each output frame sees.
    coefficients = work("cxyt,dnc->dnxyt", (c, x, y, t), (d, n, c))
    coefficients += work("dnxytq,nq->dxyt", (d, n, x, y, t, q), (n, q))
    basis = work("cxytq,nq->ncxyt", (c, x, y, t, q), (n, q))
    basis += work("ncxyt,dnc->dxyt", (n, c, x, y, t), (d, n, c))
    kernel = work("dnc,nq->dcq", (d, n, c), (n, q))
    kernel += work("cxytq,dcq->dxyt", (c, x, y, t, q), (d, c, q))
    plan = contraction.plan(*case)
    assert [o.multiply_adds for o in plan.orders] == [coefficients, basis, kernel]
    sizes = {"c": c, "d": d, "n": n, "t": t, "y": y, "x": x}
    # Extra memory is the intermediate of the first step; the paper counts the input for the third.
    intermediates = ("dnxyt", "ncxyt", "cxyt")
    expected = [int(np.prod([sizes[i] for i in index])) for index in intermediates]
    assert [o.memory for o in plan.orders] == expected


def test_depthwise_costs_equal_opt_einsum():
    c, q, n, t, y, x = 12, 10, 5, 6, 4, 3
    # opt_einsum counts two operations only where something is summed, one for a plain product.
    coefficients = c * x * y * t * n + work("ncxytq,nq->cxyt", (n, c, x, y, t, q), (n, q))
    basis = work("cxytq,nq->ncxyt", (c, x, y, t, q), (n, q))
    basis += work("ncxyt,nc->cxyt", (n, c, x, y, t), (n, c))
    kernel = work("nc,nq->cq", (n, c), (n, q)) + work("cxytq,cq->cxyt", (c, x, y, t, q), (c, q))
    plan = contraction.plan(c, None, q, n - 1, t, y, x)
    assert [o.multiply_adds for o in plan.orders] == [coefficients, basis, kernel]


def test_choices_of_the_specification():
    second = contraction.plan(16, 32, frames=1000, height=64, width=64)
    per_pixel = [o.multiply_adds / (1000 * 64 * 64) for o in second.orders]
    np.testing.assert_allclose(per_pixel, [4160, 3360, 5120], rtol=1e-4)
    assert second.choose("auto").name == "basis_first"
    assert second.choose("memory").name == "kernel_first"
    first = contraction.plan(2, 8, frames=1000, height=128, width=128)
    assert first.choose("auto").name == "kernel_first"
    narrowing = contraction.plan(256, 4, degree=1, frames=100, height=8, width=8)
    assert narrowing.choose("memory").name == "coefficients_first"
    assert first.choose("basis_first").name == "basis_first"


def test_prints_a_table():
    table = str(contraction.plan(16, 32, frames=132, height=64, width=64))
    for order in contraction.ORDERS:
        assert order in table
    assert "Least work:     basis_first" in table


def test_errors_name_what_was_received():
    with pytest.raises(ValueError, match="order='fastest'"):
        contraction.plan(2, 8).choose("fastest")
    with pytest.raises(ValueError, match="channels=0"):
        contraction.plan(0, 8)
    with pytest.raises(ValueError, match="filters=0"):
        contraction.plan(2, 0)
