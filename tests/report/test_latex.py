r"""Score tables as LaTeX.

No LaTeX source of the paper is at hand: its tables are compared by what they show. Bold and
underlined cells follow from its figures, averages and ranks are those that it prints.
"""

import re

import numpy as np
import pandas as pd
import pytest

from granulearn.report.latex import escaped, latex_table
from granulearn.statistics import paper_accuracy_table, paper_noise_table

# As printed in the paper.
PRINTED_AVERAGES = ["81.55", "80.81", "79.62", "78.17", "75.86", "76.62", "82.29", "84.46"]
PRINTED_RANKS = ["4.51", "5.22", "4.86", "5.16", "5.72", "5.26", "3.20", "2.07"]
PRINTED_NOISE_AVERAGES = {"RVFL": "75.92", "F-GBRVFL": "78.23", "SDAP-GBRVFL": "79.72"}


def rows_of(latex: str) -> list[list[str]]:
    lines = [line for line in latex.splitlines() if line.endswith(r"\\")]
    return [line.removesuffix(r" \\").split(" & ") for line in lines]


def bare(cell: str) -> str:
    return re.sub(r"\\(textbf|underline)\{(.*)\}", r"\2", cell)


def marks(cells: list[str], mark: str) -> list[bool]:
    return [cell.startswith(rf"\{mark}{{") for cell in cells]


def expected_marks(values: list[float], *, lowest: bool = False):
    """Best and second best of a row, found by sorting: an oracle without numpy."""
    ordered = sorted(set(values), reverse=not lowest)
    second = ordered[1] if len(ordered) > 1 else None
    return [value == ordered[0] for value in values], [value == second for value in values]


def test_the_papers_table_1_has_its_figures_marks_averages_and_ranks():
    table = paper_accuracy_table()
    head, *body, averages, ranks = rows_of(latex_table(table))
    assert head == ["Data set", *table.columns]
    assert len(body) == len(table) == 37
    for (name, values), (shown_name, *cells) in zip(
        table.T.to_dict("list").items(), body, strict=True
    ):
        assert shown_name == name.replace("_", r"\_")
        assert [bare(cell) for cell in cells] == [f"{value:.2f}" for value in values]
        best, second = expected_marks(values)
        assert marks(cells, "textbf") == best
        assert marks(cells, "underline") == second
    assert [bare(cell) for cell in averages[1:]] == PRINTED_AVERAGES
    assert [bare(cell) for cell in ranks[1:]] == PRINTED_RANKS
    # The paper's own models lead both lines.
    for line in (averages, ranks):
        assert line[-1].startswith(r"\textbf")
        assert line[-2].startswith(r"\underline")


def test_the_papers_noise_table_has_an_average_for_each_set_and_the_printed_ones_in_all():
    table = paper_noise_table()
    _, *body, overall, _ranks = rows_of(latex_table(table, average="Overall average"))
    assert len(body) == 25 + 5
    assert sum(row[1] == "Average" for row in body) == 5
    assert [row[0] for row in body if row[0]] == [
        name.replace("_", r"\_") for name in dict.fromkeys(table.index.get_level_values(0))
    ]
    found = dict(zip(table.columns, (bare(cell) for cell in overall[2:]), strict=True))
    assert {name: found[name] for name in PRINTED_NOISE_AVERAGES} == PRINTED_NOISE_AVERAGES
    assert overall[-1].startswith(r"\textbf")


def test_equal_figures_are_marked_alike_and_all_equal_are_all_best():
    table = pd.DataFrame([[1.001, 1.0, 0.5], [2.0, 2.0, 2.0]], columns=list("abc"))
    first, second = rows_of(latex_table(table))[1:3]
    assert marks(first[1:], "textbf") == [True, True, False]
    assert marks(first[1:], "underline") == [False, False, True]
    assert marks(second[1:], "textbf") == [True] * 3


def test_what_is_missing_is_a_dash_and_in_no_average():
    table = pd.DataFrame({"a": [1.0, 3.0, 5.0], "b": [2.0, np.nan, 1.0]}, index=list("xyz"))
    latex = latex_table(table)
    assert r"y & \textbf{3.00} & --" in latex
    assert rows_of(latex)[-2][1:] == [r"\textbf{3.00}", r"\underline{1.50}"]


def test_one_complete_set_has_no_average():
    assert "Average" not in latex_table(pd.DataFrame({"a": [1.0, np.nan], "b": [2.0, 1.0]}))


def test_lower_can_be_better_and_caption_and_label_are_set():
    table = pd.DataFrame({"a_1": [1.0, 3.0], "b": [2.0, 4.0]})
    latex = latex_table(table, higher_is_better=False, caption="50 % & more", label="tab:x")
    assert marks(rows_of(latex)[1][1:], "textbf") == [True, False]
    assert r"\caption{50 \% \& more}" in latex
    assert r"\label{tab:x}" in latex
    assert r"a\_1" in latex


@pytest.mark.parametrize("text", ["a_b", "50 %", r"\x", "{}", "a&b", "x^2", "~", "#1", "$"])
def test_no_sign_is_left_that_latex_would_read(text):
    without_commands = re.sub(r"\\(textbackslash|textasciitilde|textasciicircum)\{\}", "", text)
    left = re.sub(r"\\([&%$#_{}])|\\(textbackslash|textasciitilde|textasciicircum)\{\}", "",
                  escaped(without_commands))  # fmt: skip
    assert not set(left) & set("&%$#_{}~^\\")
