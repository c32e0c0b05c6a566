"""Everything to know about a table is said, at once, and in constant memory."""

import numpy as np
import pandas as pd
import pytest

from granulearn.tables import ColumnOptions, inspect_table, table_of
from granulearn.tables.inspection import problems_of_names

N = 60
LABELS = [["good", "bad"][row * row % 7 < 3] for row in range(N)]
NOISE = [f"{np.sin(row):.5f}" for row in range(N)]


def report_of(table, target="y", **options):
    return inspect_table(table_of(table), target, ColumnOptions(**options))


@pytest.mark.parametrize(
    ("options", "advice"),
    [({}, "dropped unless you pass include"), ({"include": ("leak",)}, "pass ignore")],
)
def test_a_column_that_leaks_the_target_is_left_out_unless_it_is_asked_for(options, advice):
    leak = [label.upper() for label in LABELS]
    report = report_of({"x": NOISE, "leak": leak, "y": LABELS}, **options)
    (said,) = report.warnings
    assert "leak the target (they hold the labels themselves): 'leak'; " in said
    assert f"{advice}=['leak']." in said
    assert bool(report.schema["leak"].dropped) == (not options)


def test_duplicates_and_conflicts_are_counted_and_shown():
    table = pd.DataFrame({"x": NOISE, "y": LABELS})
    other = table.iloc[[5]].assign(y=lambda row: row["y"].map({"good": "bad", "bad": "good"}))
    table = pd.concat([table, table.iloc[:3], other])
    report = report_of(table)
    assert (report.findings.duplicates, report.findings.conflicts) == (3, 2)
    duplicates, conflicts = report.warnings
    assert duplicates.startswith("3 rows repeat an earlier one, label included")
    assert f"(data rows 6 and {N + 4})" in conflicts
    (duplicates,) = report_of(table.iloc[:-1], None).warnings
    assert duplicates.startswith("3 rows repeat an earlier one, in all columns that are used")


def test_all_problems_are_said_at_once():
    table = {"id": [f"k{row}" for row in range(N)], "y": np.arange(N) / 7}
    report = report_of(table, "y", ignore=("nothing",), include=("none",))
    assert len(report.problems) == 4
    assert "'nothing' (ignore=...)" in report.problems[0]
    assert "'none' (include=...)" in report.problems[1]
    assert "holds 60 different numbers with decimals" in report.problems[2]
    assert "all are dropped: 'id' (ID); pass include=['id']" in report.problems[3]


@pytest.mark.parametrize(
    ("verb", "names"),
    [
        (
            "audit",
            [
                "row",
                "line",
                "given_label",
                "label_quality",
                "predicted_label",
                "is_label_issue",
                "age",
            ],
        ),
        ("balls", ["ball", "label", "samples", "purity", "radius", "membership", "first_row"]),
        ("predict", ["age", "prediction", "probability_no", "probability_yes"]),
    ],
)
def test_our_own_outputs_are_no_data_to_learn_from(verb, names):
    (said,) = problems_of_names(names, names[-1], ColumnOptions())
    assert f"output of `granulearn {verb}`" in said
    assert problems_of_names(["prediction", "age"], "age", ColumnOptions()) == ()


@pytest.mark.parametrize("sign", ["x", "ü"])
def test_a_text_too_long_for_a_category_is_refused_by_its_column_and_row(sign):
    cells = ["a", "b", "c"] * (N // 3)
    at_most = [*cells[:7], sign * 10_000, *cells[8:]]
    assert report_of({"b": at_most, "x": NOISE, "y": LABELS}).problems == ()
    longer = [*cells[:7], " " + sign * 10_001 + " ", *cells[8:]]
    table = {"b": longer, "x": NOISE, "y": LABELS}
    (problem,) = report_of(table).problems
    assert problem == (
        "Column 'b' holds a text of more than 10,000 characters at row 8, the most that a category "
        "has; correct it, or pass ignore=['b']."
    )
    assert report_of(table, include=("b",)).problems == (problem,)
    assert report_of(table, ignore=("b",)).problems == ()
    blank = [*cells[:7], " " * 20_000, *cells[8:]]
    assert report_of({"b": blank, "x": NOISE, "y": LABELS}).problems == ()
