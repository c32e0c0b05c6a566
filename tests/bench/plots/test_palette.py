"""Colours that a page replaces: readable on light and on dark."""

import pytest
from matplotlib.colors import to_rgb

from granulearn.bench.plots.palette import (
    GRID,
    INK,
    MARKERS,
    MUTED,
    SERIES,
    THEME,
    for_print,
    page_style,
    series_color,
)

PAGES = {"light": "#ffffff", "dark": "#161a22"}


def luminance(color: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(first: str, second: str) -> float:
    low, high = sorted([luminance(first), luminance(second)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(("name", "light", "dark"), THEME.values(), ids=lambda value: value)
def test_colours_stand_out_from_their_page(name, light, dark):
    wanted = {"ink": 7, "muted": 4.5, "grid": 1.2}.get(name, 2.5)
    assert contrast(light, PAGES["light"]) >= wanted
    assert contrast(dark, PAGES["dark"]) >= wanted


def test_stand_ins_and_names_differ():
    assert len({name for name, _, _ in THEME.values()}) == len(THEME)
    assert len(set(SERIES)) == len(SERIES) == len(set(MARKERS)) == len(MARKERS)


def test_colours_repeat_when_there_are_more_methods():
    assert series_color(len(SERIES)) == series_color(0)


def test_print_has_the_light_colours_and_only_there():
    assert series_color(0) == SERIES[0]
    with for_print():
        assert series_color(0) == THEME[SERIES[0]][1]
        assert not set(page_style().values()) & {INK, MUTED, GRID}
    assert page_style()["text.color"] == INK
