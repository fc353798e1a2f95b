"""One HTML file that holds all it shows: no script, and nothing is loaded from anywhere."""

import dataclasses
import html
import re
from collections.abc import Iterable, Sequence

# Says to the browser what is true anyway: nothing may be fetched.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_STYLE = """
:root { color-scheme: light dark; --paper: #fbfbf9; --card: #fff; --ink: #1d2126; --pale: #5c6570;
  --line: #e2e3df; --accent: #1f6feb; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171a; --card: #1c2024; --ink: #e7e9ec;
  --pale: #9aa4af; --line: #31373d; --accent: #6cb0ff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
main { max-width: 64rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 2.1rem; line-height: 1.2; margin: 0 0 .5rem; letter-spacing: -.02em; }
h2 { font-size: 1.5rem; margin: 3.5rem 0 .4rem; padding-top: 1.5rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 2rem 0 .3rem; }
p { margin: .5rem 0; max-width: 46rem; }
.pale, figcaption, footer { color: var(--pale); font-size: .9rem; }
.tiles { display: grid; gap: .75rem; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr));
  margin: 1rem 0; }
.tiles div { background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  padding: .7rem .9rem; }
.tiles b { display: block; font-size: 1.5rem; line-height: 1.25; color: var(--accent);
  font-variant-numeric: tabular-nums; }
.tiles span { color: var(--pale); font-size: .85rem; }
.beside { display: grid; gap: 1rem; align-items: start;
  grid-template-columns: repeat(auto-fit, minmax(min(24rem, 100%), 1fr)); }
figure { margin: 1rem 0; background: var(--card); border: 1px solid var(--line);
  border-radius: .6rem; padding: .75rem; overflow-x: auto; }
figure svg { display: block; width: 100%; height: auto; max-height: 26rem; }
@media (max-width: 40rem) { figure svg { min-width: 28rem; } }  /* scrolls: letters stay readable */
svg text { fill: currentColor; }
figure img { display: block; max-width: 100%; margin: 0 auto; border-radius: .3rem;
  background: #fff; image-rendering: pixelated; }
figcaption { margin-top: .5rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .92rem; margin: 1rem 0; width: 100%;
  font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .35rem .7rem .35rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { color: var(--pale); font-weight: 600; }
code { font: .88em ui-monospace, "DejaVu Sans Mono", monospace; }
footer { margin-top: 3.5rem; border-top: 1px solid var(--line); padding-top: 1rem; }
"""


@dataclasses.dataclass
class Section:
    r"""A part of the page with a heading: what is added to it, in its order.

    Example:
        >>> section = Section("Eyes")
        >>> section.text("one < two")
        >>> str(section)
        '<h2>Eyes</h2>\n<p>one &lt; two</p>'
    """

    title: str
    parts: list[str] = dataclasses.field(default_factory=list)

    def __str__(self):
        return "\n".join([f"<h2>{html.escape(self.title)}</h2>", *self.parts])

    def heading(self, text: str) -> None:
        """Add a smaller heading."""
        self.parts.append(f"<h3>{html.escape(text)}</h3>")

    def text(self, text: str) -> None:
        """Add a paragraph."""
        self.parts.append(f"<p>{html.escape(text)}</p>")

    def tiles(self, tiles: Iterable[tuple[str, str]]) -> None:
        """Add numbers, each with what it is."""
        cells = (
            f"<div><b>{html.escape(value)}</b><span>{html.escape(name)}</span></div>"
            for value, name in tiles
        )
        self.parts.append(f'<div class="tiles">{"".join(cells)}</div>')

    def table(self, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Add a table."""
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
        body = "".join(
            "<tr>" + "".join(f"<td>{_cell(cell)}</td>" for cell in row) + "</tr>\n" for row in rows
        )
        table = f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"
        self.parts.append(f'<div class="scroll">{table}</div>')

    def figures(self, *figures: tuple[str, str]) -> None:
        """Add drawings side by side, each SVG or the `data:` address of one, with its caption."""
        shown = []
        for drawing, caption in figures:
            said = html.escape(caption, quote=True)
            if drawing.startswith("data:"):
                drawing = f'<img src="{drawing}" alt="{said}">'
            shown.append(f"<figure>{drawing}<figcaption>{said}</figcaption></figure>")
        beside = '<div class="beside">{}</div>' if len(shown) > 1 else "{}"
        self.parts.append(beside.format("\n".join(shown)))


def _cell(text):
    """Return a table's cell, whose numbers keep their units on a narrow screen.

    Example:
        >>> _cell("230 ms")
        '230&nbsp;ms'
    """
    return re.sub(r"(?<=\d) (?=(ms|s|%)\b)", "&nbsp;", html.escape(text))


def page(title: str, lead: str, sections: Iterable[Section], footer: str) -> str:
    """Return the page.

    Example:
        >>> page("Demo", "What it is.", [], "Made today.").count("<h1>Demo</h1>")
        1
    """
    body = "\n".join(map(str, sections))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
<h1>{html.escape(title)}</h1>
<p>{html.escape(lead)}</p>
{body}
<footer>{html.escape(footer)}</footer>
</main>
</body>
</html>
"""
