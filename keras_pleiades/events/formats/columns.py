"""The names under which t, x, y and p are found in tables, archives and HDF5 groups."""

NAMES = ("t", "x", "y", "p")
ALIASES = {
    "t": ("t", "ts", "time", "timestamp", "timestamps", "t_us"),
    "x": ("x", "xs", "x_addr", "col", "column"),
    "y": ("y", "ys", "y_addr", "row"),
    "p": ("p", "ps", "pol", "polarity", "polarities", "on"),
}


def order_of(names) -> tuple[int, int, int, int] | None:
    """Returns the places of t, x, y and p among `names`, or None when one is missing.

    Example:
        >>> order_of(["x", "y", "polarity", "timestamp"])
        (3, 0, 1, 2)
    """
    names = [str(name).strip().lower() for name in names]
    order = []
    for column in NAMES:
        found = [names.index(alias) for alias in ALIASES[column] if alias in names]
        if not found:
            return None
        order.append(found[0])
    return tuple(order)
