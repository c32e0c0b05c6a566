r"""Score tables as LaTeX.

No LaTeX source of the paper is at hand: its tables are compared by what they show. Bold and
underlined cells follow from its figures, averages and ranks are those that it prints.
"""

import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from granulearn.bench import paper_accuracy_table, paper_noise_table
from granulearn.bench.report.latex import escaped, latex_table

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


@pytest.mark.parametrize("caption", ["", "All sets"])
def test_a_table_longer_than_a_page_goes_on_with_its_head_on_the_next(caption):
    scores = pd.DataFrame({"a": np.arange(100.0), "b": 50.0}, index=[f"s{i}" for i in range(100)])
    short, long = (latex_table(rows, caption=caption) for rows in (scores[:36], scores))
    assert "longtable" not in short
    lines = long.splitlines()
    assert (lines[0], lines[-1]) == (r"\begin{longtable}{lrr}", r"\end{longtable}")
    assert lines.count(r"Data set & a & b \\") == 2
    assert lines.index(r"\endfirsthead") < lines.index(r"\endhead") < lines.index(r"\endfoot")
    # The lines of the table themselves are those of a short one.
    body = [row for row in rows_of(long) if row[0].startswith("s")]
    assert body[:36] == [row for row in rows_of(short) if row[0].startswith("s")]
    assert len(body) == 100
    assert long.count(r"\caption") == bool(caption)


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


def test_one_method_has_an_average_and_no_rank():
    latex = latex_table(pd.DataFrame({"a": [1.0, 3.0]}, index=["x", "y"]))
    assert rows_of(latex)[-1] == ["Average accuracy", r"\textbf{2.00}"]
    assert "rank" not in latex


def test_ranks_of_a_comparison_are_shown_as_they_are_and_none_where_it_has_none():
    table = pd.DataFrame({"a": [1.0, 3.0], "b": [2.0, 4.0], "c": [0.0, 0.0]})
    latex = latex_table(table, ranks={"a": 1.25, "b": 1.75})
    assert rows_of(latex)[-1] == ["Average rank", r"\textbf{1.25}", r"\underline{1.75}", "--"]
    assert "rank" not in latex_table(table, ranks={})


def test_a_wide_table_is_made_to_fit_the_text_and_a_narrow_one_left_alone():
    scores = pd.DataFrame([[1.0] * 6] * 2, columns=list("abcdef"))
    wide = latex_table(scores).splitlines()
    assert wide[wide.index(r"\begin{tabular}{lrrrrrr}") - 1].startswith(r"\resizebox")
    assert wide[-2] == r"\end{tabular}}"
    few = scores[list("abcd")]
    assert "resizebox" not in latex_table(few)
    assert "resizebox" in latex_table(few.rename(columns="a method with a long name {}".format))
    long = latex_table(pd.concat([scores] * 30)).splitlines()
    assert r"\begin{longtable}{lrrrrrr}" in long
    assert (long[0].startswith(r"{\scriptsize"), long[-1]) == (True, "}")


def made_up(n_sets: int, n_methods: int) -> pd.DataFrame:
    scores = np.random.default_rng(0).uniform(50, 99, (n_sets, n_methods))
    return pd.DataFrame(scores, [f"data_set_{k}" for k in range(n_sets)]).add_prefix("M")


def test_a_table_that_is_long_and_too_wide_is_one_table_for_each_page():
    table = made_up(100, 18)
    latex = latex_table(table, caption="Many", label="tab:x")
    pages = latex.split(r"\end{table}")[:-1]
    assert len(pages) == 3
    assert r"\caption{Many}" in pages[0]
    assert latex.count(r"\label{tab:x}") == 1
    assert [r"\caption[]{(continued)}" in page for page in pages] == [False, True, True]
    heads = [rows_of(page)[0] for page in pages]
    assert heads == [["Data set", *table.columns]] * 3
    shown = [row[0] for page in pages for row in rows_of(page)[1:]]
    assert shown == [*(name.replace("_", r"\_") for name in table.index), "Average accuracy",
                     "Average rank"]  # fmt: skip


def test_pages_end_where_a_data_set_does():
    index = pd.MultiIndex.from_product([[f"set {k}" for k in range(12)], ["a", "b", "c", "d"]])
    table = pd.DataFrame(np.ones((48, 18)), index).add_prefix("M")
    pages = latex_table(table).split(r"\end{table}")[:-1]
    assert len(pages) == 2
    assert [rows_of(page)[1][0] for page in pages] == ["set 0", "set 6"]
    assert all(page.count(r"\resizebox") == 1 for page in pages)
    assert all("caption" not in page for page in pages)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX here")
@pytest.mark.parametrize(
    "table",
    [
        paper_accuracy_table(),
        paper_noise_table(),
        made_up(37, 4),
        made_up(38, 6),
        made_up(130, 4),
        made_up(130, 9),
        made_up(130, 18),
    ],
    ids=lambda table: "{} by {}".format(*table.shape),
)
def test_tables_of_any_length_and_width_fit_a_plain_article(table, tmp_path):
    latex = latex_table(table, caption="As printed", label="tab:x")
    head = r"\documentclass{article}\usepackage{booktabs,graphicx,longtable}\begin{document}"
    (tmp_path / "t.tex").write_text(f"{head}\n{latex}\n\\end{{document}}\n")
    command = ["pdflatex", "-interaction=batchmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0
    log = (tmp_path / "t.log").read_text("latin-1")
    assert "Overfull" not in log
    assert "too large" not in log


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
