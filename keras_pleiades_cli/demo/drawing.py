"""Figures and animations as text that an HTML page can hold."""

import base64
import io
import re
from collections.abc import Iterable

import numpy as np


def svg(figure) -> str:
    """Return a matplotlib figure as inline SVG, in the colours of the page around it.

    What is black takes the colour of the page's text, and the background is left out: so a figure
    can be read on a light page and on a dark one.

    Example:
        >>> from matplotlib.figure import Figure
        >>> text = svg(Figure(figsize=(2, 1)))
        >>> text.startswith("<svg viewBox="), "http" in text
        (True, False)
    """
    import matplotlib

    figure.patch.set_alpha(0)
    for axes in figure.axes:
        axes.patch.set_alpha(0)
        if axes.get_legend() is not None:
            axes.get_legend().get_frame().set_alpha(0)
    file = io.StringIO()
    # Letters stay letters: smaller, and crisp. The same figure gives the same text.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "keras_pleiades"}):
        figure.savefig(file, format="svg", metadata={"Date": None})
    text = file.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    # HTML knows the name spaces; the size is the page's to choose.
    text = re.sub(r"<svg [^>]*?(viewBox=\"[^\"]*\")[^>]*>", r"<svg \1>", text, count=1)
    return re.sub(r"(stroke|fill): (#000000|black)\b", r"\1: currentColor", text).strip()


def animation(pictures: Iterable[np.ndarray], fps: float) -> str:
    """Return pictures `(height, width, 3)` uint8 as a `data:` address of an animated WebP.

    Example:
        >>> animation(np.zeros((2, 8, 8, 3), np.uint8), fps=10)[:23]
        'data:image/webp;base64,'
    """
    from PIL import Image

    first, *others = (Image.fromarray(picture) for picture in pictures)
    file = io.BytesIO()
    first.save(
        file,
        format="WEBP",
        save_all=True,
        append_images=others,
        duration=round(1000 / fps),
        loop=0,
        lossless=True,  # events are dots: smaller so than lossy, and a third of a GIF
        method=2,
    )
    return "data:image/webp;base64," + base64.b64encode(file.getvalue()).decode("ascii")
