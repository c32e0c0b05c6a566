"""Everything to know about a table is said, at once, and in constant memory."""

import weakref

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from granulearn.tables import ColumnOptions, TableFile, inspect_table, table_of
from granulearn.tables.inspection import problems_of_names

N = 60
LABELS = [["good", "bad"][row * row % 7 < 3] for row in range(N)]
NOISE = [f"{np.sin(row):.5f}" for row in range(N)]


def report_of(table, target="y", **options):
    return inspect_table(table_of(table), target, ColumnOptions(**options))


def test_a_plain_table_has_nothing_to_warn_of():
    report = report_of({"x": NOISE, "y": LABELS})
    assert (report.problems, report.warnings) == ((), ())
    assert (report.rows, report.target) == (N, "y")
    assert [column.name for column in report.schema.columns] == ["x"]
    assert report.labels.classes == {name: LABELS.count(name) for name in ("bad", "good")}


def test_without_a_target_the_columns_are_told_and_nothing_of_labels():
    report = report_of({"x": NOISE, "y": LABELS}, None)
    assert [column.name for column in report.schema.columns] == ["x", "y"]
    assert (report.labels, report.target, report.problems) == (None, None, ())


@pytest.mark.parametrize(
    ("options", "advice"),
    [({}, "left out unless you pass include"), ({"include": ("leak",)}, "pass ignore")],
)
def test_a_column_that_leaks_the_target_is_left_out_unless_it_is_asked_for(options, advice):
    leak = [label.upper() for label in LABELS]
    report = report_of({"x": NOISE, "leak": leak, "y": LABELS}, **options)
    (said,) = report.warnings
    assert "leak the target (they hold the labels themselves): 'leak'; " in said
    assert f"{advice}=['leak']." in said
    assert bool(report.schema["leak"].dropped) == (not options)


def test_the_only_column_is_used_even_if_it_leaks_the_target():
    report = report_of({"leak": LABELS, "y": LABELS})
    assert not report.schema["leak"].dropped
    assert "if not known before the label, pass ignore=['leak']" in report.warnings[0]


def test_a_date_that_leaks_the_target_is_named_once():
    days = [f"2020-{6 if label == 'bad' else 7:02d}-01" for label in LABELS]
    report = report_of({"x": NOISE, "day": days, "y": LABELS})
    (said,) = (text for text in report.warnings if "'day'" in text)
    assert "'day: month'; left out unless you pass include=['day']" in said


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
    assert "all are left out: 'id' (ID); pass include=['id']" in report.problems[3]


def test_a_target_that_is_not_there_does_not_hide_the_rest():
    report = report_of({"c": ["same"] * N, "y": LABELS}, "yy", ignore=("y",))
    assert report.target == "yy"
    assert "no column 'yy' (target=...); did you mean one of ['y']" in report.problems[0]
    assert "no column to learn from" in report.problems[1]


def test_a_target_to_be_ignored_is_a_contradiction():
    (said,) = problems_of_names(["a", "y"], "y", ColumnOptions(ignore=("y",)))
    assert "both the target and to be ignored" in said


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


def test_a_header_alone_is_a_problem():
    report = inspect_table(Watched(0), "y")
    assert report.rows == 0
    assert "has a header but no data rows" in report.problems[0]


class Watched(TableFile):
    """A table of many batches that knows how many of them are alive."""

    def __init__(self, n_batches: int):
        super().__init__("watched", ["x", "c", "y"], (), 1000 * n_batches)
        self.n_batches = n_batches
        self.alive: list[weakref.ref] = []
        self.most = 0

    def batches(self, columns=None):
        for number in range(self.n_batches):
            rng = np.random.default_rng(number)
            batch = pa.RecordBatch.from_pydict(
                {
                    "x": [f"{value:.4f}" for value in rng.normal(size=1000)],
                    "c": rng.choice(["u", "v"], 1000).tolist(),
                    "y": rng.choice(["a", "b"], 1000).tolist(),
                }
            ).select(columns or self.names)
            self.alive = [one for one in self.alive if one() is not None]
            self.alive.append(weakref.ref(batch))
            self.most = max(self.most, len(self.alive))
            yield batch
            del batch

    def parts(self):
        raise NotImplementedError


def test_batches_are_let_go_once_they_were_looked_at():
    table = Watched(12)
    report = inspect_table(table, "y")
    assert report.rows == 12_000
    assert table.most <= 3


NESTED_CELLS = {
    "lists": pa.array([[1], [2]] * 15),
    "maps": pa.array([[("a", 1)], None] * 15, pa.map_(pa.string(), pa.int64())),
    "structs": pa.array([{"a": 1}, {"a": 2}] * 15),
    "bytes": pa.array([b"a", b"b"] * 15),
}


@pytest.mark.parametrize("kind", NESTED_CELLS)
def test_a_nested_column_is_left_out_loudly_and_refused_where_it_is_asked_for(kind):
    table = pa.table(
        {"size": NOISE[:30], "odd one": NESTED_CELLS[kind], "label": ["a", "b", "b"] * 10}
    )
    report = report_of(table, "label")
    assert report.problems == ()
    assert any("'odd one'" in said and "left out" in said for said in report.warnings)
    for wish in ("include", "categorical"):
        (problem,) = report_of(table, "label", **{wish: ("odd one",)}).problems
        assert f"{wish}=['odd one']" in problem
    quiet = report_of(table, "label", ignore=("odd one",))
    assert quiet.problems == ()
    assert not any("odd one" in said for said in quiet.warnings)


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


def test_free_text_of_any_length_is_left_out_as_such():
    notes = [f"row {row} was seen again and again. " * 500 for row in range(N)]
    report = report_of({"notes": notes, "x": NOISE, "y": LABELS})
    assert (report.schema["notes"].dropped, report.problems) == ("free text", ())
    (problem,) = report_of({"notes": notes, "x": NOISE, "y": LABELS}, include=("notes",)).problems
    assert "Column 'notes' holds a text of more than 10,000 characters at row 1" in problem
