"""Result tables: the numbers of the summary, the paper's beside them."""

import copy
import csv
import re
from pathlib import Path

import pandas as pd
import pytest

from granulearn.datasets.catalogue import collections
from granulearn.report import write_tables
from granulearn.report.result_tables import score_frame
from granulearn.statistics import paper_accuracy_table
from tests.report.summaries import full_summary, table1_summary

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


def test_the_page_names_the_command_and_holds_the_means(written):
    text = written[1].read_text(encoding="utf-8")
    assert "granulearn bench table1" in text
    for line in table1_summary()["ranking"]:
        row = next(row for row in text.splitlines() if row.startswith(f"| {line['method']} |"))
        assert f"{line['scores']['accuracy']:.2f}" in row


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
