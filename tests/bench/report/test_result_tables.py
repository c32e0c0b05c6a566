"""Result tables: the numbers of the summary, the paper's beside them."""

import copy
import csv
import re
from pathlib import Path

import pandas as pd
import pytest

from granulearn.bench import paper_accuracy_table, write_tables
from granulearn.bench.report.result_tables import gaps_in_words, score_frame
from granulearn.datasets.catalogue import collections
from tests.bench.report.summaries import full_summary, table1_summary

COMMITTED = Path(__file__).resolve().parents[3] / "docs" / "results"


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


def test_the_page_names_the_command_and_holds_the_means(written):
    text = written[1].read_text(encoding="utf-8")
    assert "granulearn bench table1" in text
    for line in table1_summary()["ranking"]:
        row = next(row for row in text.splitlines() if row.startswith(f"| {line['method']} |"))
        assert f"{line['scores']['accuracy']:.2f}" in row


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


def test_conditions_have_a_table_of_means(tmp_path):
    text = write_tables(full_summary(), tmp_path)[1].read_text(encoding="utf-8")
    frame = score_frame(full_summary())
    mean = frame[frame["condition"] == "uniform 20 %"]["RVFL"].mean()
    row = next(row for row in text.splitlines() if row.startswith("| uniform 20 %"))
    assert f"{mean:.2f}" in row


def test_a_method_that_lacks_a_set_has_no_mean_over_the_others(tmp_path):
    text = write_tables(full_summary(), tmp_path)[1].read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line[:1] == "|"]
    (head,) = [row for row in rows if row[0] == "condition"]
    clean = dict(zip(head, next(row for row in rows if row[0] == "clean"), strict=True))
    assert clean["tree"] == "–"
    assert "–" not in (clean["RVFL"], clean["GB-RVFL"])


def test_what_is_missing_is_said_with_reasons_and_means_with_their_cells(tmp_path):
    text = write_tables(full_summary(), tmp_path)[1].read_text(encoding="utf-8")
    assert "## What is missing" in text
    reason = "ValueError: <b>a reason</b> & more (4)"
    assert f"| crossplane | tree | 0 of 4 | 4 of 4 | {reason} |" in text
    (head,) = [line for line in text.splitlines() if line.startswith("| method |")]
    assert head.endswith("| cells |")
    assert re.search(r"^\| tree \|.*\| 8 \|$", text, re.MULTILINE)
    assert re.search(r"^\| RVFL \|.*\| 12 \|$", text, re.MULTILINE)


def test_a_whole_run_lacks_nothing_and_counts_no_cells(written):
    text = written[1].read_text(encoding="utf-8")
    assert "What is missing" not in text
    assert "| cells |" not in text


def test_many_names_and_long_reasons_are_cut():
    summary = copy.deepcopy(full_summary())
    sets = [f"set {number}" for number in range(9)]
    gap = {"datasets": sets, "methods": summary["methods"], "cells": 4, "missing": 4, "failed": 0}
    reasons = [{"reason": "no " * 200, "cells": 2}, {"reason": "", "cells": 5}]
    summary["progress"]["gaps"] = [{**gap, "reasons": reasons}]
    ((datasets, methods, missing, _, why),) = gaps_in_words(summary)
    assert datasets == "set 0, set 1, set 2, set 3, set 4, set 5, 3 more"
    assert (methods, missing) == (f"all {len(summary['methods'])} methods", "4 of 4")
    assert len(why) < 190
    assert why.endswith("… (2); others (5)")


def test_a_failed_cell_is_an_empty_one(tmp_path):
    with write_tables(full_summary(), tmp_path)[0].open(newline="") as file:
        lines = [row for row in csv.DictReader(file) if row["dataset"] == "crossplane"]
    assert {row["tree"] for row in lines} == {""}
    assert all(row["RVFL"] for row in lines)


@pytest.mark.parametrize(("name", "lines"), [("table1", 35), ("noise", 5 * 6)])
def test_the_committed_results_are_whole_and_their_page_states_their_means(name, lines):
    table = pd.read_csv(COMMITTED / f"{name}.csv")
    rerun = table[table["source"] == "rerun"].set_index(["dataset", "condition"])
    assert len(rerun) == lines
    assert rerun.drop(columns="source").notna().all().all()
    assert set(table["dataset"]) <= set(collections()["paper37"].sets)
    page = (COMMITTED / f"{name}.md").read_text(encoding="utf-8")
    assert re.search(r"(\d+) of \1 cells computed, 0 failed", page)
    for method, mean in rerun.drop(columns="source").mean().items():
        row = next(row for row in page.splitlines() if row.startswith(f"| {method} |"))
        assert float(row.split("|")[2]) == pytest.approx(mean, abs=0.01)


@pytest.mark.parametrize("source", ["directory", "directory:large/adult.parquet"])
def test_the_command_names_the_data_directory_where_sets_came_from_one(source, tmp_path):
    summary = copy.deepcopy(full_summary())
    command = "GRANULEARN_DATA=DIRECTORY granulearn bench"
    assert command not in write_tables(summary, tmp_path)[1].read_text(encoding="utf-8")
    summary["cells"][0]["splits"][0]["source"] = source
    assert command in write_tables(summary, tmp_path)[1].read_text(encoding="utf-8")


def test_tables_by_another_score_have_names_of_their_own(tmp_path):
    summary = full_summary()
    names = [path.name for path in write_tables(summary | {"score": "log_loss"}, tmp_path)]
    study = summary["study"]["name"]
    assert names == [f"{study}-log_loss.csv", f"{study}-log_loss.md"]
