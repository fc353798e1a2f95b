r"""The three orders of one contraction: what each costs, which one to take.

A temporal layer computes $y_{dxyt'} = u_{cxyt}\, \gamma_{dnc}\, M_{nt't}(P)$: input $u$,
coefficients $\gamma$, and $M$, the convolution operator of the discretised polynomials $P$. Three
tensors can be contracted in three orders. The result is the same, memory and work are not.
NumPy only: no Keras in this file.
"""

import dataclasses

import numpy as np

from keras_pleiades._checks import check_choice

ORDERS = ("coefficients_first", "basis_first", "kernel_first")


@dataclasses.dataclass(frozen=True)
class Order:
    """One order: its name, its two steps as einsums, and what it costs.

    `memory` is the size of the largest intermediate in numbers, `multiply_adds` the work; both
    count a temporal convolution by the length of its kernel, as the paper does.

    Example:
        >>> plan(channels=2, filters=8).orders[2].path
        ("dnc,nt't->dct't", "cxyt,dct't->dxyt'")
    """

    name: str
    path: tuple[str, str]
    memory: int
    multiply_adds: int


@dataclasses.dataclass(frozen=True)
class Plan:
    """The three orders of a layer. Printed, it is a table: see `plan`.

    Example:
        >>> plan(channels=2, filters=8, frames=100).choose("auto").name
        'kernel_first'
    """

    orders: tuple[Order, ...]
    sizes: str

    def choose(self, order: str = "auto") -> Order:
        """Return the order named, or the cheapest by work (`"auto"`) or by memory (`"memory"`)."""
        check_order(order)
        if order == "auto":
            return min(self.orders, key=lambda o: o.multiply_adds)
        if order == "memory":
            return min(self.orders, key=lambda o: o.memory)
        return next(o for o in self.orders if o.name == order)

    def __str__(self):
        auto, memory = self.choose("auto"), self.choose("memory")
        lines = [
            f"  Sizes:          {self.sizes}",
            f"  Least work:     {auto.name}",
            f"  Least memory:   {memory.name}",
            "-" * 88,
            f"{'order':<20}{'path':<40}{'memory':>12}{'multiply-adds':>16}",
            "-" * 88,
        ]
        for o in self.orders:
            path = " -> ".join(o.path)
            lines.append(f"{o.name:<20}{path:<40}{o.memory:>12.3e}{o.multiply_adds:>16.3e}")
        return "\n".join(lines)


def check_order(order: str) -> str:
    """Return `order` if it is an order or a way to choose one, or name them all in the error.

    Example:
        >>> check_order("memory")
        'memory'
    """
    return check_choice(order, ("auto", "memory", *ORDERS), "order")


def plan(
    channels: int,
    filters: int | None,
    kernel_size: int = 10,
    degree: int = 4,
    frames: int = 1,
    height: int = 1,
    width: int = 1,
) -> Plan:
    """Count memory and multiply-adds of the three orders of a temporal layer.

    Args:
        channels: Input channels, c.
        filters: Output channels, d. `None` for a depthwise layer, which mixes no channels.
        kernel_size: Frames that the kernel spans, tau.
        degree: Highest polynomial degree: there are n = `degree + 1` coefficients.
        frames: Output frames, t.
        height: Rows, y.
        width: Columns, x.

    Returns:
        A `Plan`: `print` it, or ask it to `choose`.

    Example:
        The second layer of the gesture network. Basis first saves a third of the work:

        >>> print(plan(channels=16, filters=32, frames=132, height=64, width=64))
          Sizes:          c=16 d=32 n=5 tau=10 t=132 y=64 x=64
          Least work:     basis_first
          Least memory:   kernel_first
        ----------------------------------------------------------------------------------------
        order               path                                          memory   multiply-adds
        ----------------------------------------------------------------------------------------
        coefficients_first  cxyt,dnc->dnxyt -> dnxyt,nt't->dxyt'       8.651e+07       2.249e+09
        basis_first         cxyt,nt't->ncxyt' -> ncxyt',dnc->dxyt'     4.325e+07       1.817e+09
        kernel_first        dnc,nt't->dct't -> cxyt,dct't->dxyt'       8.651e+06       2.768e+09
    """
    sizes = {"channels": channels, "kernel_size": kernel_size, "frames": frames}
    sizes |= {"height": height, "width": width, "degree + 1": degree + 1}
    sizes |= {} if filters is None else {"filters": filters}
    for name, value in sizes.items():
        if not value >= 1:
            raise ValueError(f"`{name}` must be at least 1. Received: {name}={value!r}")
    c, n, tau, xyt = channels, degree + 1, kernel_size, frames * height * width
    if filters is None:
        # One channel index: what is c * d in a full layer is c here.
        pairs, d, size = c, c, ""
        paths = (
            ("cxyt,nc->ncxyt", "ncxyt,nt't->cxyt'"),
            ("cxyt,nt't->ncxyt'", "ncxyt',nc->cxyt'"),
            ("nc,nt't->ct't", "cxyt,ct't->cxyt'"),
        )
    else:
        pairs, d, size = c * filters, filters, f"d={filters} "
        paths = (
            ("cxyt,dnc->dnxyt", "dnxyt,nt't->dxyt'"),
            ("cxyt,nt't->ncxyt'", "ncxyt',dnc->dxyt'"),
            ("dnc,nt't->dct't", "cxyt,dct't->dxyt'"),
        )
    costs = (
        (d * n * xyt, n * xyt * (pairs + d * tau)),
        (n * c * xyt, n * xyt * (c * tau + pairs)),
        (c * xyt, n * pairs * tau + pairs * xyt * tau),
    )
    orders = tuple(
        Order(name, path, *cost) for name, path, cost in zip(ORDERS, paths, costs, strict=True)
    )
    return Plan(orders, f"c={c} {size}n={n} tau={tau} t={frames} y={height} x={width}")


def toeplitz(basis: np.ndarray, block: int) -> np.ndarray:
    """Return the operator M that convolves one block of frames with every basis function.

    Applied as a cross-correlation: the first bin of the basis meets the oldest frame.

    Args:
        basis: `(n, tau)`.
        block: Output frames in a block; it reads `block + tau - 1` input frames.

    Returns:
        `(n, block + tau - 1, block)`: a band of the basis along the diagonal, zero elsewhere.

    Example:
        >>> toeplitz(np.array([[1.0, 2.0]]), block=3)[0]
        array([[1., 0., 0.],
               [2., 1., 0.],
               [0., 2., 1.],
               [0., 0., 2.]])
    """
    n, tau = basis.shape
    matrix = np.zeros((n, block + tau - 1, block), basis.dtype)
    for j in range(block):
        matrix[:, j : j + tau, j] = basis
    return matrix
