"""LaTeX, Markdown, CSV and figures of a study, and of the whole paper."""

import re

import pandas as pd
import pytest

from granulearn.bench import Store, StudyError, load_study, summarize
from granulearn.bench.report.exports import (
    is_of_the_paper,
    write_all_figures,
    write_csv,
    write_latex,
    write_markdown,
)
from tests.bench.report.summaries import full_summary, paper_summary, table1_summary
from tests.bench.studies.made_up_results import fill_store
from tests.bench.studies.small_studies import SMALL, small_study, write_study


def cells_of(text: str, head: str) -> list[str]:
    """Return the figures of the line of a LaTeX table that begins so, without their marks."""
    (line,) = [line for line in text.splitlines() if line.startswith(f"{head} &")]
    cells = line.removesuffix(r" \\").split(" & ")[1:]
    return [re.sub(r"\\(textbf|underline)\{(.*)\}", r"\2", cell) for cell in cells if cell]


def test_a_study_is_one_table_with_the_ranks_of_its_comparison(tmp_path):
    summary = table1_summary()
    text = write_latex(summary, tmp_path / "t.tex").read_text("utf-8")
    assert text.count(r"\begin{table}") == 1
    assert r"\label{tab:table1}" in text
    (line,) = [line for line in text.splitlines() if line.startswith("Average rank")]
    ranks = summary["comparisons"][0]["ranks"]
    for method, cell in zip(summary["methods"], line.split(" & ")[1:], strict=True):
        assert f"{ranks[method]:.2f}" in cell


def test_a_study_of_several_conditions_has_them_as_lines(tmp_path):
    text = write_latex(full_summary(), tmp_path / "t.tex").read_text("utf-8")
    assert "two\\_moons & clean & " in text
    assert " & uniform 20 \\% & " in text
    assert "cells are missing" in text  # those that failed


def test_ranks_are_those_of_the_page_also_over_conditions_and_beside_variants(tmp_path):
    summary = full_summary()
    text = write_latex(summary, tmp_path / "t.tex").read_text("utf-8")
    ranks = summary["comparisons"][0]["ranks"]
    expected = [f"{ranks[name]:.2f}" if name in ranks else "--" for name in summary["methods"]]
    assert "--" in expected
    assert cells_of(text, "Average rank") == expected


def test_one_method_on_two_sets_is_a_table(tmp_path):
    first = SMALL.partition('\n[[method]]\nname = "GB-RVFL"')[0]
    study = load_study(write_study(tmp_path, first))
    path = fill_store(tmp_path / "a.db", study, lambda cell: 0.75)
    with Store(path, readonly=True) as store:
        text = write_latex(summarize(store), tmp_path / "t.tex").read_text("utf-8")
    assert cells_of(text, "Overall average") == ["75.00"]
    assert "rank" not in text


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
        fill_store(path, study, lambda cell: 0.75, leave_out=lambda cell: True)
    with Store(empty[0]) as store:
        latex = write_latex(summarize(store), tmp_path / "t.tex").read_text("utf-8")
    assert "varied" not in latex
    assert "Variants are left out." in latex
    with Store(empty[1]) as store, pytest.raises(StudyError, match="242 variants of 2 method"):
        write_latex(summarize(store), tmp_path / "t.tex")


def test_the_papers_noise_table_has_no_clean_labels_and_the_averages_of_its_page(tmp_path):
    summary = paper_summary()
    text = write_latex(summary, tmp_path / "t.tex").read_text("utf-8")
    assert " & clean & " not in text
    overall = summary["noise_means"][-1]["ours"]
    assert cells_of(text, "Overall average") == [f"{value:.2f}" for value in overall]
    assert text.count("Average rank") == 1  # of table 1


def test_the_paper_is_two_tables_in_latex_and_one_in_csv(tmp_path):
    summary = paper_summary()
    assert is_of_the_paper(summary)
    text = write_latex(summary, tmp_path / "t.tex").read_text("utf-8")
    assert text.count(r"\begin{table}") == 2
    assert r"\label{tab:table1}" in text
    assert r"\label{tab:noise}" in text
    table = pd.read_csv(write_csv(summary, tmp_path / "t.csv"))
    assert set(table["study"]) == {"table1", "noise"}
    assert (table["source"] == "paper").sum() == 35 + 25


def test_markdown_of_a_study_says_what_its_statistics_say(tmp_path):
    text = write_markdown(table1_summary(), tmp_path / "t.md").read_text("utf-8")
    assert text.startswith("# table1\n")
    assert "average rank" in text


def test_markdown_of_the_paper_says_what_is_found_again_and_what_is_missing(tmp_path):
    summary = paper_summary()
    text = write_markdown(summary, tmp_path / "t.md").read_text("utf-8")
    for verdict, count in summary["verdicts"].items():
        said = f"{verdict[0].upper()}{verdict[1:]}"
        assert f"**{said}** ({count} of {len(summary['claims'])} claims)" in text
    for claim in summary["claims"]:
        assert f"| {claim['paper']} | {claim['ours']} | {claim['verdict']} |" in text
    missing = summary["progress"]["missing"]
    assert f"**Not run yet: sensitivity-C-h {missing}.**" in text


def test_every_figure_is_written_as_svg_and_as_pdf_in_print_colours(tmp_path):
    written = write_all_figures(table1_summary(), tmp_path / "figures")
    assert {path.name for path in written} == {
        f"{name}.{ending}" for name in ("ranks", "paper") for ending in ("svg", "pdf")
    }
    for path in written:
        content = path.read_bytes()
        assert content.startswith(b"%PDF" if path.suffix == ".pdf" else b"<?xml")
    svg = (tmp_path / "figures" / "paper.svg").read_text("utf-8")
    assert "#1f5fa8" in svg
    assert "#a1b2" not in svg  # no stand-in is left
    assert "var(--" not in svg


def test_the_same_summary_makes_the_same_files(tmp_path):
    first, second = (
        [path.read_bytes() for path in write_all_figures(table1_summary(), tmp_path / name)]
        for name in ("a", "b")
    )
    assert first == second


@pytest.mark.slow
def test_figures_of_the_paper_carry_the_name_of_their_study(tmp_path):
    names = {path.stem for path in write_all_figures(paper_summary(), tmp_path)}
    assert {"table1-ranks", "noise-curve-0", "sensitivity-activation-activation-0"} <= names
    assert all(name.startswith(("table1-", "noise-", "sensitivity-")) for name in names)


def times_summary(tmp_path, score):
    """Return a summary by another score of a study in which GB-RVFL is best, RVFL worst."""
    right = {"RVFL": 0.7, "GB-RVFL": 0.91234, "tree": 0.8}
    path = fill_store(
        tmp_path / "a.db", small_study(tmp_path), lambda cell: right[cell.method.name]
    )
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


def test_times_can_be_the_table_too(tmp_path):
    frame = pd.read_csv(write_csv(times_summary(tmp_path, "fit_seconds"), tmp_path / "t.csv"))
    assert (frame[["RVFL", "GB-RVFL", "tree"]] == 0.5).all(axis=None)
