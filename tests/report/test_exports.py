"""LaTeX, Markdown, CSV and figures of a study, and of the whole paper."""

import pandas as pd
import pytest

from granulearn.report.exports import (
    is_of_the_paper,
    write_all_figures,
    write_csv,
    write_latex,
    write_markdown,
)
from tests.report.summaries import full_summary, paper_summary, table1_summary


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
