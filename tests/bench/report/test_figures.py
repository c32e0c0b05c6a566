"""Which figures a page has: those whose numbers there are."""

import re
from collections import Counter
from typing import get_args

import pytest

from granulearn.bench.report.figures import NOISE_WORDS, SECTIONS, make_figures, score_label
from granulearn.bench.studies.spec import Noise
from tests.bench.report.summaries import full_summary, table1_summary


@pytest.fixture(scope="module")
def figures():
    return make_figures(full_summary())


def test_a_summary_with_everything_has_every_figure(figures):
    counts = Counter(figure.section for figure in figures)
    # Curves: the mean and three sets; layers: one per condition; bars and surfaces: one per set;
    # balls: two sets.
    assert counts == {
        "ranks": 1,
        "curves": 4,
        "layers": 2,
        "activations": 3,
        "surfaces": 3,
        "balls": 2,
    }
    assert set(counts) <= set(SECTIONS)


def test_names_differ_and_captions_speak(figures):
    assert len({figure.name for figure in figures}) == len(figures)
    assert all(figure.caption.endswith(".") for figure in figures)


def test_the_axes_of_balls_are_numbered_components(figures):
    for figure in figures:
        if figure.section == "balls":
            assert "principal component 1 (" in figure.svg
            assert "principal component 2 (" in figure.svg


def test_the_axis_of_ranks_has_its_line(figures):
    (ranks,) = [figure.svg for figure in figures if figure.section == "ranks"]
    level_line = r'patch_\d+">\s*<path d="M [\d.]+ ([\d.]+)\s+L [\d.]+ \1\s+" style="[^"]*stroke: '
    assert re.search(level_line, ranks)


def test_table_1_is_set_against_the_paper():
    sections = [figure.section for figure in make_figures(table1_summary())]
    assert sections == ["ranks", "paper"]


def test_nothing_run_is_nothing_drawn():
    empty = {
        **full_summary(),
        "comparisons": [],
        "curves": [],
        "layers": [],
        "activations": [],
        "surfaces": [],
        "paper": None,
        "drawings": [],
    }
    assert make_figures(empty) == []


def test_the_label_of_a_share_has_its_unit():
    assert score_label({"score": "balanced_accuracy", "in_percent": True}) == (
        "balanced accuracy (%)"
    )
    assert score_label({"score": "log_loss", "in_percent": False}) == "log loss"


def test_every_kind_of_noise_with_rates_has_words_for_its_axis():
    kinds = set(get_args(Noise.model_fields["kind"].annotation))
    assert kinds - {"given"} == set(NOISE_WORDS)
