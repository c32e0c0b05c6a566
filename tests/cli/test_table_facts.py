"""The facts about a table are JSON, say what its report says, and name options of the verbs."""

import json

import numpy as np
import pandas as pd

from granulearn.cli.table_facts import as_facts
from granulearn.tables import inspect_table, open_table, table_of

N = 60
LABELS = [["good", "bad"][row * row % 7 < 3] for row in range(N)]
NOISE = [f"{np.sin(row):.5f}" for row in range(N)]


def test_facts_are_json_and_say_what_the_report_says(tmp_path):
    cells = [f"{row},5 kg" for row in range(N - 1)] + ["heavy"]
    table = pd.DataFrame({"w": cells * 2, "c": "same", "y": LABELS * 2, "d": NOISE * 2})
    table.to_csv(tmp_path / "t.csv", index=False)
    with open_table(tmp_path / "t.csv") as file:
        report = inspect_table(file, "y")
        facts = json.loads(json.dumps(as_facts(report, file.place)))
    assert facts["rows"] == 2 * N
    assert facts["problems"] == list(report.problems)
    assert len(facts["warnings"]) == len(report.warnings)
    columns = {column["name"]: column for column in facts["columns"]}
    assert list(columns) == ["w", "c", "d"]
    assert columns["c"]["left_out"] == "constant"
    assert columns["w"]["distinct"] == N
    assert facts["target"]["classes"] == report.labels.classes
    assert facts["duplicates"] == report.findings.duplicates


def test_misfits_of_a_column_are_facts_with_their_lines(tmp_path):
    cells = [f"{row % 50} kg" for row in range(299)] + ["heavy"]
    table = pd.DataFrame({"w": cells, "y": (LABELS * 5)[:300]})
    table.to_csv(tmp_path / "t.csv", index=False)
    with open_table(tmp_path / "t.csv") as file:
        facts = as_facts(inspect_table(file, "y"), file.place)
    (column,) = facts["columns"]
    assert (column["is"], column["unit"], column["n_misfits"]) == ("number", "kg", 1)
    assert column["misfits"] == [{"row": 300, "place": "line 301", "cell": "heavy"}]
    assert "'heavy' at line 301" in column["odd"][-1]


def test_what_could_be_set_is_an_option_in_the_facts():
    dates = [f"{1 + row % 12:02d}/{1 + row % 11:02d}/2021" for row in range(N)]
    table = {"my leak": LABELS, "either": dates, "y": [f"{label} " for label in LABELS]}
    with table_of(table) as file:
        facts = as_facts(inspect_table(file, "y"), file.place)
    flags = {column["name"]: column["flag"] for column in facts["columns"]}
    assert flags == {"my leak": "--ignore 'my leak'", "either": "--day-first or --month-first"}
    assert any("pass --ignore 'my leak'" in warning for warning in facts["warnings"])
