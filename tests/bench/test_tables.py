"""Score tables as LaTeX.

No LaTeX source of the paper is at hand: its tables are compared by what they show. Bold and
underlined cells follow from its figures, averages and ranks are those that it prints.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from granulearn.bench import (
    Store,
    StudyError,
    latex_table,
    load_study,
    paper_accuracy_table,
    paper_noise_table,
    summarize,
    write_csv,
    write_figures,
    write_latex,
    write_markdown,
    write_tables,
)
from granulearn.datasets.catalogue import collections
from tests.bench.small_studies import (
    SMALL,
    fill_store,
    full_summary,
    paper_summary,
    small_study,
    table1_summary,
    write_study,
)

# As printed in the paper.
PRINTED_AVERAGES = ["81.55", "80.81", "79.62", "78.17", "75.86", "76.62", "82.29", "84.46"]
PRINTED_RANKS = ["4.51", "5.22", "4.86", "5.16", "5.72", "5.26", "3.20", "2.07"]
PRINTED_NOISE_AVERAGES = {"RVFL": "75.92", "F-GBRVFL": "78.23", "SDAP-GBRVFL": "79.72"}


def rows_of(latex: str) -> list[list[str]]:
    lines = [line for line in latex.splitlines() if line.endswith(r"\\")]
    return [line.removesuffix(r" \\").split(" & ") for line in lines]


def bare(run: str) -> str:
    return re.sub(r"\\(textbf|underline)\{(.*)\}", r"\2", run)


def marks(runs: list[str], mark: str) -> list[bool]:
    return [run.startswith(rf"\{mark}{{") for run in runs]


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
    for (name, values), (shown_name, *runs) in zip(
        table.T.to_dict("list").items(), body, strict=True
    ):
        assert shown_name == name.replace("_", r"\_")
        assert [bare(run) for run in runs] == [f"{value:.2f}" for value in values]
        best, second = expected_marks(values)
        assert marks(runs, "textbf") == best
        assert marks(runs, "underline") == second
    assert [bare(run) for run in averages[1:]] == PRINTED_AVERAGES
    assert [bare(run) for run in ranks[1:]] == PRINTED_RANKS
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
    found = dict(zip(table.columns, (bare(run) for run in overall[2:]), strict=True))
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
    assert long.count(r"\caption{") == bool(caption)


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


def test_lower_can_be_better_and_caption_and_label_are_set():
    table = pd.DataFrame({"a_1": [1.0, 3.0], "b": [2.0, 4.0]})
    latex = latex_table(table, higher_is_better=False, caption="50 % & more", label="tab:x")
    assert marks(rows_of(latex)[1][1:], "textbf") == [True, False]
    assert r"\caption{50 \% \& more}" in latex
    assert r"\label{tab:x}" in latex
    assert r"a\_1" in latex


def test_no_sign_is_left_that_latex_would_read():
    table = pd.DataFrame({"x^2~": [1.0, 2.0], "a&b": [2.0, 1.0]}, index=["50 %", "#1 {$}"])
    head, first, second = rows_of(latex_table(table))[:3]
    assert head[1:] == [r"x\textasciicircum{}2\textasciitilde{}", r"a\&b"]
    assert (first[0], second[0]) == (r"50 \%", r"\#1 \{\$\}")


COMMITTED = Path(__file__).resolve().parents[2] / "docs" / "results"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return write_tables(table1_summary(), tmp_path_factory.mktemp("tables"))


def test_the_csv_has_both_sources_of_every_set(written):
    table = pd.read_csv(written[0])
    assert len(table) == 2 * 35
    theirs = (
        table[table["source"] == "paper"].set_index("dataset").drop(columns=["condition", "source"])
    )
    pd.testing.assert_frame_equal(
        theirs, paper_accuracy_table().loc[theirs.index], check_dtype=False
    )


def test_a_study_of_ones_own_has_no_source_and_names_no_option_that_was_not_used(tmp_path):
    table, page = write_tables(full_summary(), tmp_path)
    assert list(pd.read_csv(table).columns[:3]) == ["dataset", "condition", "RVFL"]
    text = page.read_text(encoding="utf-8")
    assert "rerun" not in text
    assert "granulearn bench FOLDER/full.toml\ngranulearn report results/full.db\n" in text
    assert "docs/results" not in text


def test_every_row_of_a_markdown_table_has_the_columns_of_its_head(written):
    text = written[1].read_text(encoding="utf-8")
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({line.count("|") for line in block.splitlines()}) == 1


def test_a_method_that_lacks_a_set_has_no_mean_over_the_others(tmp_path):
    text = write_tables(full_summary(), tmp_path)[1].read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line[:1] == "|"]
    (head,) = [row for row in rows if row[0] == "condition"]
    clean = dict(zip(head, next(row for row in rows if row[0] == "clean"), strict=True))
    assert clean["tree"] == "–"
    assert "–" not in (clean["RVFL"], clean["GB-RVFL"])


def test_what_is_missing_is_said_with_reasons_and_means_with_their_runs(tmp_path):
    text = write_tables(full_summary(), tmp_path)[1].read_text(encoding="utf-8")
    assert "## What is missing" in text
    reason = "ValueError: <b>a reason</b> & more"
    assert f"| crossplane | tree | 4 | {reason} |" in text
    (head,) = [line for line in text.splitlines() if line.startswith("| method |")]
    assert head.endswith("| runs |")
    assert re.search(r"^\| tree \|.*\| 8 \|$", text, re.MULTILINE)
    assert re.search(r"^\| RVFL \|.*\| 12 \|$", text, re.MULTILINE)


@pytest.mark.parametrize(("name", "lines"), [("table1", 35), ("noise", 5 * 6)])
def test_the_committed_results_are_whole_and_their_page_states_their_means(name, lines):
    table = pd.read_csv(COMMITTED / f"{name}.csv")
    rerun = table[table["source"] == "rerun"].set_index(["dataset", "condition"])
    assert len(rerun) == lines
    assert rerun.drop(columns="source").notna().all().all()
    assert set(table["dataset"]) <= set(collections()["paper37"])
    page = (COMMITTED / f"{name}.md").read_text(encoding="utf-8")
    assert re.search(r"(\d+) of \1 runs computed, 0 failed", page)
    for method, mean in rerun.drop(columns="source").mean().items():
        row = next(row for row in page.splitlines() if row.startswith(f"| {method} |"))
        assert float(row.split("|")[2]) == pytest.approx(mean, abs=0.01)


def cells_of(text: str, head: str) -> list[str]:
    """Return the figures of the line of a LaTeX table that begins so, without their marks."""
    (line,) = [line for line in text.splitlines() if line.startswith(f"{head} &")]
    runs = line.removesuffix(r" \\").split(" & ")[1:]
    return [re.sub(r"\\(textbf|underline)\{(.*)\}", r"\2", run) for run in runs if run]


def test_a_study_is_one_table_with_the_ranks_of_its_comparison(tmp_path):
    summary = table1_summary()
    text = write_latex(summary, tmp_path / "t.tex").read_text("utf-8")
    assert text.count(r"\begin{table}") == 1
    assert r"\label{tab:table1}" in text
    (line,) = [line for line in text.splitlines() if line.startswith("Average rank")]
    ranks = summary["comparisons"][0]["result"].ranks
    for method, run in zip(summary["methods"], line.split(" & ")[1:], strict=True):
        assert f"{ranks[method]:.2f}" in run


def test_many_variants_are_left_out_and_a_study_of_nothing_else_is_refused(tmp_path):
    text = (
        SMALL
        + """
[[method]]
name = "varied"
estimator = "RVFLClassifier"
vary = { n_hidden = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18] }
"""
    )
    empty = tmp_path / "a.db", tmp_path / "b.db"
    some = load_study(write_study(tmp_path, text))
    only = load_study("sensitivity-C-h")
    for path, study in zip(empty, (some, only), strict=True):
        fill_store(path, study, lambda run: 0.75, leave_out=lambda run: True)
    with Store(empty[0]) as store:
        latex = write_latex(summarize(store), tmp_path / "t.tex").read_text("utf-8")
    assert "varied" not in latex
    assert "Variants are left out." in latex
    with Store(empty[1]) as store, pytest.raises(StudyError, match="242 variants of 2 method"):
        write_latex(summarize(store), tmp_path / "t.tex")


def test_the_paper_is_two_tables_in_latex_and_one_in_csv(tmp_path):
    summary = paper_summary()
    text = write_latex(summary, tmp_path / "t.tex").read_text("utf-8")
    assert text.count(r"\begin{table}") == 2
    assert r"\label{tab:table1}" in text
    assert r"\label{tab:noise}" in text
    table = pd.read_csv(write_csv(summary, tmp_path / "t.csv"))
    assert set(table["study"]) == {"table1", "noise"}
    assert (table["source"] == "paper").sum() == 35 + 25


def test_markdown_of_the_paper_says_what_is_found_again_and_what_is_missing(tmp_path):
    summary = paper_summary()
    text = write_markdown(summary, tmp_path / "t.md").read_text("utf-8")
    for verdict, count in summary["verdicts"].items():
        said = f"{verdict[0].upper()}{verdict[1:]}"
        assert f"**{said}** ({count} of {len(summary['claims'])} claims)" in text
    for claim in summary["claims"]:
        assert f"| {claim.paper} | {claim.ours} | {claim.verdict} |" in text
    missing = summary["progress"]["missing"]
    assert f"**Not run yet: sensitivity-C-h {missing}.**" in text


def test_every_figure_is_written_as_svg_and_as_pdf_in_print_colours(tmp_path):
    written = write_figures(table1_summary(), tmp_path / "figures")
    assert {path.name for path in written} == {
        f"{name}.{ending}" for name in ("ranks", "paper") for ending in ("svg", "pdf")
    }
    for path in written:
        content = path.read_bytes()
        assert content.startswith(b"%PDF" if path.suffix == ".pdf" else b"<?xml")
    svg = (tmp_path / "figures" / "paper.svg").read_text("utf-8")
    assert "#1f5fa8" in svg


def times_summary(tmp_path, score):
    """Return a summary by another score of a study in which GB-RVFL is best, RVFL worst."""
    right = {"RVFL": 0.7, "GB-RVFL": 0.91234, "tree": 0.8}
    path = fill_store(tmp_path / "a.db", small_study(tmp_path), lambda run: right[run.method.name])
    with Store(path, readonly=True) as store:
        return summarize(store, score=score)


def test_of_a_loss_the_smallest_is_bold_and_digits_suffice(tmp_path):
    summary = times_summary(tmp_path, "log_loss")
    text = write_latex(summary, tmp_path / "t.tex").read_text("utf-8")
    assert r"two\_moons & clean & 0.3000 & \textbf{0.0877} & \underline{0.2000} \\" in text
    assert r"\label{tab:small-log_loss}" in text
    assert "Log loss, mean over splits." in text
    frame = pd.read_csv(write_csv(summary, tmp_path / "t.csv"))
    assert frame["GB-RVFL"].tolist() == [0.0877] * len(frame)
    markdown = write_markdown(summary, tmp_path / "t.md").read_text("utf-8")
    assert "| GB-RVFL | 0.0877 | 1.00 |" in markdown
    assert "granulearn report results/small.db --score log_loss" in markdown
