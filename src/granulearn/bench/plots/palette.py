"""Colours that a page can change: stand-ins, and what they mean in print.

A figure made for a page is drawn with stand-in colours; the page replaces each
by one of its own, for light and for dark. A figure for print is drawn with the
light ones from the start.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

INK, MUTED, GRID = "#010203", "#040506", "#070809"
SERIES = tuple(f"#a1b2{number:02x}" for number in range(1, 17))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h", "d", "8", "H", "|")

# The name of each stand-in on the page, and its colours there: light, dark.
THEME = {
    INK: ("ink", "#1d2433", "#e8ebf2"),
    MUTED: ("muted", "#5c6579", "#a3acbf"),
    GRID: ("grid", "#d9dde6", "#3a4254"),
    SERIES[0]: ("series-1", "#1f5fa8", "#6aa9ee"),
    SERIES[1]: ("series-2", "#c0392b", "#f0857a"),
    SERIES[2]: ("series-3", "#2a7d4f", "#68c592"),
    SERIES[3]: ("series-4", "#7b4fb0", "#b894ea"),
    SERIES[4]: ("series-5", "#b7770d", "#e9b44c"),
    SERIES[5]: ("series-6", "#0f8390", "#56c4cf"),
    SERIES[6]: ("series-7", "#b33f8a", "#ea8cc6"),
    SERIES[7]: ("series-8", "#4a5568", "#b9c2d3"),
    SERIES[8]: ("series-9", "#6b7d1e", "#b5c95b"),
    SERIES[9]: ("series-10", "#8c4a2f", "#d79a7c"),
    SERIES[10]: ("series-11", "#3b4cc0", "#98a6ff"),
    SERIES[11]: ("series-12", "#a8a21a", "#ded76a"),
    SERIES[12]: ("series-13", "#1b9e77", "#7be0bf"),
    SERIES[13]: ("series-14", "#d95f6a", "#ffb0b6"),
    SERIES[14]: ("series-15", "#5e3c2c", "#c7a48f"),
    SERIES[15]: ("series-16", "#7d7f86", "#d5d7dc"),
}

_for_print = ContextVar("for_print", default=False)

_STYLE: dict[Any, Any] = {
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.edgecolor": MUTED,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": GRID,
    "axes.grid": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10.5,
    "axes.labelsize": 9.5,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "svg.fonttype": "none",
}


@contextmanager
def for_print() -> Iterator[None]:
    """Draw with colours of print, not with stand-ins that a page replaces."""
    token = _for_print.set(True)
    try:
        yield
    finally:
        _for_print.reset(token)


def shade(stand_in: str) -> str:
    """Return the colour to draw with: the stand-in itself, or its colour in print.

    Parameters
    ----------
    stand_in : str
        `INK`, `MUTED`, `GRID` or one of `SERIES`.

    Returns
    -------
    str
        A colour for matplotlib.
    """
    return THEME[stand_in][1] if _for_print.get() else stand_in


def page_style() -> dict[Any, Any]:
    """Return the settings of matplotlib for figures of a page, or of print."""
    return {key: shade(value) if value in THEME else value for key, value in _STYLE.items()}


def series_color(position: int) -> str:
    """Return the colour of the method at a position of the study.

    Parameters
    ----------
    position : int
        From 0; colours repeat after sixteen.

    Returns
    -------
    str
        A colour for matplotlib.
    """
    return shade(SERIES[position % len(SERIES)])
