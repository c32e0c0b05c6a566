"""Figures of a report: readable on light and on dark, and what they show is what was measured."""

import re
import xml.etree.ElementTree as ET
from collections import Counter
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from granulearn.bench.figures import (
    INK,
    NOISE_WORDS,
    SECTIONS,
    SERIES,
    THEME,
    make_figures,
    plot_bars,
    plot_lines,
    plot_surface,
    score_label,
    write_figures,
)
from granulearn.bench.study import Noise
from tests.bench.small_studies import full_summary, table1_summary

PAGES = ("#ffffff", "#161a22")


def luminance(color: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(first: str, second: str) -> float:
    low, high = sorted([luminance(first), luminance(second)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", THEME)
def test_colours_stand_out_from_their_page(name):
    wanted = {"ink": 7, "muted": 4.5, "grid": 1.2}.get(name, 2.5)
    for color, page in zip(THEME[name], PAGES, strict=True):
        assert contrast(color, page) >= wanted


def test_colours_of_methods_differ():
    assert len(set(SERIES)) == 16


@pytest.fixture
def axes():
    return Figure().subplots()


def test_squares_hold_the_values_and_a_missing_one_is_blank(axes):
    table = pd.DataFrame([[70.0, 80.0], [np.nan, 90.0]], index=[3, 23], columns=["1e-1", "1e1"])
    plot_surface(axes, table, "accuracy")
    values = axes.collections[0].get_array()
    assert values.filled(-1).tolist() == [[70, 80], [-1, 90]]
    assert [text.get_text() for text in axes.texts] == ["70", "80", "90"]
    assert [text.get_color() for text in axes.texts] == ["white", "black", "black"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["3", "23"]


def test_lines_hold_the_means_and_bars_the_errors_and_no_point_hides_another(axes):
    lines = {
        "b": {"at": [0.0, 0.2], "means": [90, 80], "errors": [1.0, 2.0]},
        "a": {"at": [0.0, 0.2], "means": [90, 70], "errors": [None, None]},
    }
    plot_lines(axes, lines, ["a", "none", "b"], 100, 0.3)
    first, second = axes.containers
    assert [first.get_label(), second.get_label()] == ["a", "b"]
    assert (first.has_yerr, second.has_yerr) == (False, True)
    (segments,) = second[2]
    assert [float(np.ptp(points[:, 1])) for points in segments.get_segments()] == [2.0, 4.0]
    assert first[0].get_xdata()[0] != second[0].get_xdata()[0]
    assert second[0].get_color() == SERIES[2]  # by its place in the study


def test_bars_are_as_high_as_the_scores_and_inside_the_axis_with_their_errors(axes):
    heights = pd.DataFrame({"a": [80.0, 90.0], "b": [85.0, np.nan]}, index=["relu", "sine"])
    plot_bars(axes, heights, pd.DataFrame({"a": [3.0, 1.0], "b": [np.nan, np.nan]}, heights.index))
    found = {bar.get_height() for bar in axes.patches}
    assert {80, 85, 90} <= found
    low, high = axes.get_ylim()
    assert low < 77
    assert high > 91
    assert [label.get_text() for label in axes.get_xticklabels()] == ["relu", "sine"]


@pytest.fixture(scope="module")
def figures():
    return make_figures(full_summary())


def test_a_summary_with_everything_has_every_figure(figures):
    # Curves: the mean and three sets; layers: one per condition; bars and surfaces: one per set;
    # balls: two sets.
    wanted = {"ranks": 1, "curves": 4, "layers": 2, "activations": 3, "surfaces": 3, "balls": 2}
    assert Counter(figure.section for figure in figures) == wanted
    assert set(wanted) <= set(SECTIONS)
    assert len({figure.name for figure in figures}) == len(figures)
    assert all(figure.caption.endswith(".") for figure in figures)


def test_a_figure_is_well_formed_described_and_takes_the_colours_of_the_page(figures):
    for figure in figures:
        root = ET.fromstring(figure.svg)
        assert root.attrib["aria-label"] == figure.caption
        assert "var(--ink)" in figure.svg
        assert INK not in figure.svg
        assert not any(color in figure.svg for color in SERIES)
        assert "<text" in figure.svg  # and no outlines of letters
        assert "2026-" not in figure.svg


def test_two_figures_on_a_page_share_no_id(figures):
    ids = [name for figure in figures for name in re.findall(r'\bid="([^"]+)"', figure.svg)]
    assert len(ids) == len(set(ids))


def test_the_axes_of_balls_are_numbered_components(figures):
    for figure in figures:
        if figure.section == "balls":
            assert "principal component 1 (" in figure.svg
            assert "principal component 2 (" in figure.svg


def test_table_1_is_set_against_the_paper():
    sections = [figure.section for figure in make_figures(table1_summary())]
    assert sections == ["ranks", "paper"]


EMPTY = {"comparisons": [], "curves": [], "layers": [], "activations": [], "surfaces": [],
         "paper": None, "drawings": []}  # fmt: skip


def test_nothing_run_is_nothing_drawn():
    assert make_figures({**full_summary(), **EMPTY}) == []


def test_the_same_numbers_make_the_same_files(tmp_path):
    summary = {**full_summary(), **EMPTY, "curves": full_summary()["curves"][:1]}
    first, second = (write_figures(summary, tmp_path / name) for name in ("a", "b"))
    assert [path.name for path in first] == ["curve-0.svg", "curve-0.pdf"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_the_label_of_a_share_has_its_unit():
    assert score_label({"score": "macro_f1", "in_percent": True}) == "macro f1 (%)"
    assert score_label({"score": "log_loss", "in_percent": False}) == "log loss"


def test_every_kind_of_noise_with_rates_has_words_for_its_axis():
    kinds = set(get_args(Noise.__annotations__["kind"])) or set(NOISE_WORDS) | {"given"}
    assert kinds - {"given"} == set(NOISE_WORDS)
