"""An empty figure, or a word on how to install what makes one."""


def new_figure(width: float, height: float):
    """Return an empty `matplotlib.figure.Figure` of a size in inches.

    No pyplot: nothing global, nothing to close.

    Example:
        >>> new_figure(6.0, 4.0).get_size_inches().tolist()
        [6.0, 4.0]
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("Plots need matplotlib: pip install 'keras-pleiades[plots]'") from error
    return Figure(figsize=(width, height), layout="constrained")
