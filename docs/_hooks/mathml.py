"""Formulas as MathML, which browsers draw by themselves: no script from elsewhere in the pages."""

import re
from html import unescape

from latex2mathml.converter import convert

# What pymdownx.arithmatex leaves, inline and on a line of its own.
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)


def on_page_content(html, **kwargs):
    """Replace each formula of a page. MkDocs passes `html` by name."""
    return FORMULA.sub(_mathml, html)


def _mathml(match):
    return convert(unescape(match[2]), display="block" if match[1] == "div" else "inline")
