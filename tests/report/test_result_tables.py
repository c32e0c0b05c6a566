"""Result tables: the numbers of the summary, the paper's beside them."""

import csv
import re

import pandas as pd
import pytest

from granulearn.report import write_tables
from granulearn.report.result_tables import score_frame
from granulearn.statistics import paper_accuracy_table
from tests.report.summaries import full_summary, table1_summary


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
