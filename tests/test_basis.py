import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import eval_jacobi, jacobi

from keras_pleiades.basis import box_basis, jacobi_basis

PARAMETERS = [(-0.25, -0.25), (0.0, 0.0), (-0.5, -0.5), (0.25, -0.25), (1.5, 0.5)]
INTERVALS = [(-1.0, 1.0), (0.0, 1.0)]


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize(("alpha", "beta"), PARAMETERS)
@pytest.mark.parametrize("bins", [1, 5, 10, 10 / 0.7, 0.5])
def test_equals_numerical_quadrature(bins, alpha, beta, interval):
    basis = jacobi_basis(6, bins, alpha, beta, interval)
    start, stop = interval
    width = (stop - start) / bins
    columns = basis.shape[1]
    assert columns == int(np.ceil(bins))
    for n in range(7):
        for j in range(columns):
            low = max(start, stop - (columns - j) * width)
            high = stop - (columns - j - 1) * width
            integral, _ = quad(lambda tau, n=n: eval_jacobi(n, alpha, beta, tau), low, high)
            assert abs(basis[n, j] - integral / width) < 1e-12


@pytest.mark.parametrize(("alpha", "beta"), PARAMETERS)
def test_equals_exact_antiderivative(alpha, beta):
    edges = np.linspace(-1, 1, 11)
    expected = [np.diff(jacobi(n, alpha, beta).integ()(edges)) / 0.2 for n in range(5)]
    np.testing.assert_allclose(jacobi_basis(4, 10, alpha, beta), expected, atol=1e-13)


@pytest.mark.parametrize(("alpha", "beta"), PARAMETERS)
def test_orthogonal_under_the_weight(alpha, beta):
    # As ever more bins the basis is the polynomial itself; the weight is integrated exactly by
    # Gauss-Jacobi quadrature on the polynomial that the fine basis interpolates.
    from scipy.special import roots_jacobi

    nodes, weights = roots_jacobi(8, alpha, beta)
    fine = jacobi_basis(5, 4000, alpha, beta)
    values = np.stack([np.interp(nodes, np.linspace(-1, 1, 8001)[1::2], row) for row in fine])
    gram = values * weights @ values.T
    off_diagonal = gram - np.diag(np.diag(gram))
    # Interpolating between 4000 bins is exact to about 1e-6 of the polynomials' curvature.
    assert abs(off_diagonal).max() < 2e-4 * abs(gram).max()
    assert (np.diag(gram) > 0).all()
    # On (0, 1), as the authors' code has it, P0 and P1 are nearly parallel.
    half = jacobi_basis(1, 4000, -0.25, -0.25, (0.0, 1.0))
    assert np.dot(*half) / np.linalg.norm(half[0]) / np.linalg.norm(half[1]) > 0.8


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize(("fine", "coarse"), [(20, 10), (10, 5), (40, 20)])
def test_pairs_of_bins_average_exactly(fine, coarse, interval):
    fine, coarse = (jacobi_basis(4, bins, interval=interval) for bins in (fine, coarse))
    np.testing.assert_allclose((fine[:, ::2] + fine[:, 1::2]) / 2, coarse, rtol=0, atol=1e-15)


def test_box_basis_is_the_identity_at_the_trained_size():
    np.testing.assert_array_equal(box_basis(10, 10), np.eye(10))


@pytest.mark.parametrize("bins", [20, 5, 10 / 0.7, 10 / 3])
def test_bases_keep_the_integral(bins):
    # Columns are averages over bins of width 1 / bins, so their sum over bins is the integral.
    np.testing.assert_allclose(box_basis(10, bins).sum(1) / bins, 0.1, atol=1e-15)
    whole = jacobi_basis(4, 1)[:, 0]
    np.testing.assert_allclose(jacobi_basis(4, bins).sum(1) / bins, whole, atol=1e-15)


def test_whole_numbers_of_bins_survive_rounding():
    assert jacobi_basis(4, 10 / (1 / 3)).shape == (5, 30)
    np.testing.assert_array_equal(jacobi_basis(4, 10 / (1 / 3)), jacobi_basis(4, 30))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"degree": -1, "bins": 10}, "degree=-1"),
        ({"degree": 1.5, "bins": 10}, "degree=1.5"),
        ({"degree": 4, "bins": 0}, "bins=0"),
        ({"degree": 4, "bins": float("nan")}, "bins=nan"),
        ({"degree": 4, "bins": 10, "alpha": -1.0}, "alpha=-1.0"),
        ({"degree": 4, "bins": 10, "interval": (1.0, -1.0)}, r"interval=\(1.0, -1.0\)"),
    ],
)
def test_errors_name_what_was_received(arguments, message):
    with pytest.raises(ValueError, match=message):
        jacobi_basis(**arguments)
