"""A matplotlib figure as SVG that takes the colours of the page around it."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from html import escape

import matplotlib as mpl
from matplotlib.figure import Figure

from granulearn.bench.plots.palette import THEME


def themed_svg(
    figure: Figure, name: str, description: str, stand_ins: Mapping[str, str] | None = None
) -> str:
    """Return the figure as an ``<svg>`` element for a page.

    Parameters
    ----------
    figure : Figure
        Drawn with the stand-in colours of `granulearn.bench.plots.palette`.
    name : str
        Differs between the figures of a page, so that their ids do.
    description : str
        What a reader who cannot see it is told.
    stand_ins : mapping of str to str, default=None
        Other colours in the figure, and the stand-in each is replaced by first.

    Returns
    -------
    str
        Always the same for the same figure.
    """
    buffer = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    width, height = figure.get_size_inches() * 72
    opening = (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="{escape(description, quote=True)}" xmlns="http://www.w3.org/2000/svg" '
        'xmlns:xlink="http://www.w3.org/1999/xlink">'
    )
    text = opening + text[text.index(">") + 1 :]
    # Ids must differ between the figures of a page, and matplotlib counts anew in each.
    text = re.sub(r'<g id="([\w.]+)"', lambda found: f'<g id="{name}-{found[1]}"', text)
    for color, stand_in in (stand_ins or {}).items():
        text = text.replace(color, stand_in)
    for stand_in, (variable, _, _) in THEME.items():
        text = text.replace(stand_in, f"var(--{variable})")
    return text
