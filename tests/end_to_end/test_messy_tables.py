"""Every messy table gets in on the first run, and what is odd about it is said."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.commands import succeeds
from tests.end_to_end.messy_records import unsaid
from tests.end_to_end.messy_tables import SHARED, TABLES, Planted
from tests.shared_data import shared_data_dir

pytestmark = pytest.mark.slow

every_table = pytest.mark.parametrize("name", TABLES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Return the folder of all tables of this file."""
    return tmp_path_factory.mktemp("messy")


@cache
def planted(folder: Path, name: str) -> Planted:
    """Make a table in a folder of its own, once."""
    place = folder / name
    place.mkdir()
    return TABLES[name].make(place)


@cache
def checked(folder: Path, name: str) -> dict:
    """Return what `check` says about a table, with no flag but the target."""
    table = planted(folder, name)
    return succeeds("check", table.path, "--target", table.target, "--json").json


@cache
def predicted(path: Path, target: str) -> np.ndarray:
    """Return the probabilities that a model fitted on a table gives its own rows."""
    model = path.with_name(f"{path.name}.granulearn")
    succeeds("fit", path, "--target", target, "--model", "rvfl", "-o", model)
    predictions = path.with_name(f"{path.name}.predicted.csv")
    succeeds("predict", model, path, "--proba", "-o", predictions)
    probabilities = pd.read_csv(predictions).filter(regex="^probability_")
    assert probabilities.shape[1] > 1
    return probabilities.to_numpy()


def column_facts(folder: Path, name: str) -> dict[str, dict]:
    return {column["name"]: column for column in checked(folder, name)["columns"]}


def all_said(report: dict) -> str:
    """Return all sentences of a report, joined."""
    sentences = [*report["notes"], *report["warnings"], *report["problems"]]
    for column in report["columns"]:
        sentences += [f"{column['name']}: {odd}" for odd in column["warnings"]]
    return "\n".join(sentences)


@every_table
def test_columns_become_what_they_are_and_what_means_nothing_is_left_out(name, folder):
    table, facts = planted(folder, name), column_facts(folder, name)
    assert checked(folder, name)["rows"] == len(table.clean)
    assert set(facts) >= {*table.clean.columns, *table.left_out} - {table.target}
    for fact, known in (("type", table.kinds), ("unit", table.units), ("missing", table.missing)):
        assert {column: facts[column][fact] for column in known} == known
    judged = set(table.left_out) | set(table.clean.columns) - {table.target}
    left_out = {column: facts[column]["dropped"] for column in judged}
    assert {column: why for column, why in left_out.items() if why} == table.left_out


@every_table
def test_labels_are_joined_and_counted(name, folder):
    table, report = planted(folder, name), checked(folder, name)
    target = report["target"]
    assert target["name"] == table.target
    assert target["joined"] == table.joined
    assert {tuple(pair) for pair in target["misspelt"]} == set(table.misspelt)
    assert target["unlabelled"] == table.unlabelled
    assert set(table.small) <= set(target["small"])
    assert target["classes"] == table.clean[table.target].value_counts().to_dict()
    # What is found must be there: rows of which only the cells count that are learnt from.
    inputs = [column for column in table.clean if column != table.target]
    found = table.clean.duplicated(inputs).sum()
    assert table.duplicates <= report["duplicates"] <= found
    assert report["conflicts"] >= table.conflicts


@every_table
def test_everything_odd_is_said_and_every_row_is_rated(name, folder):
    table = planted(folder, name)
    assert unsaid(table.said, all_said(checked(folder, name))) == []
    suspects = folder / name / "suspects.csv"
    done = succeeds("audit", table.path, "--target", table.target, "-o", suspects)
    missing = unsaid(table.oddities, done.out + done.err)
    if name == "wide":
        # Of many columns with one fault some are named, and the others counted.
        assert len(missing) < len(table.left_out)
    else:
        assert missing == []
    assert sorted(pd.read_csv(suspects)["row"]) == list(range(1, len(table.clean) + 1))


@every_table
def test_a_messy_table_gives_the_model_of_its_clean_copy(name, folder):
    """The oracle of every parsed cell: a model of plain numbers, ISO dates and one spelling."""
    table = planted(folder, name)
    copy = folder / f"{name} clean.csv"
    # Random features depend on the order of columns.
    order = [column["name"] for column in checked(folder, name)["columns"]]
    table.clean[[*filter(table.clean.columns.__contains__, order), table.target]].to_csv(
        copy, index=False
    )
    if name in UNDECIDED:
        assert len(predicted(table.path, table.target)) == len(table.clean)
    else:
        np.testing.assert_allclose(
            predicted(table.path, table.target), predicted(copy, table.target), atol=1e-6
        )


# Columns of which it is said that they cannot be parsed: what is learnt from them is open.
UNDECIDED = ("two_units", "stray_texts")


@pytest.mark.parametrize("file", SHARED)
def test_the_shared_tables_get_in_and_their_oddities_are_said(file, tmp_path):
    target, _, odd = SHARED[file]
    path = shared_data_dir() / file
    report = succeeds("check", path, "--target", target, "--json").json
    named = json.dumps(report, ensure_ascii=False)
    assert len(report["target"]["classes"]) == 2
    assert unsaid(odd, named) == []
    left_out = {column["name"] for column in report["columns"] if column["dropped"]}
    columns = {column["name"] for column in report["columns"]}
    assert set(odd) & columns <= left_out
    audit = succeeds("audit", path, "--target", target)
    assert unsaid(odd, audit.out + audit.err) == []
    succeeds("fit", path, "--target", target, "--model", "rvfl", "-o", tmp_path / "m.granulearn")
