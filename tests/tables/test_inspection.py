"""Everything to know about a table is said, at once, and in constant memory."""

import weakref

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from granulearn.tables import ColumnOptions, TableFile, inspect_table, table_of
from granulearn.tables.inspection import few_values, first_look, problems_of_names

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
    ("leak", "how"),
    [
        ([label.upper() for label in LABELS], "it holds the labels themselves"),
        ([{"good": "1", "bad": "2"}[label] for label in LABELS], "each of its values stands for"),
        ([NOISE[i % 7] * (label == "bad") for i, label in enumerate(LABELS)], "where it is filled"),
    ],
)
@pytest.mark.parametrize("asked", [False, True])
def test_a_column_that_gives_the_target_away_is_left_out_unless_it_is_asked_for(leak, how, asked):
    options = {"include": ("leak",)} if asked else {}
    report = report_of({"x": NOISE, "leak": leak, "y": LABELS}, **options)
    (said,) = (text for text in report.warnings if "'leak'" in text)
    assert how in said
    assert "right in 100.0 % of its rows" in said
    assert ("ignore=['leak'] leaves it out" if asked else "include=['leak'] uses it") in said
    assert report.schema["leak"].left_out == ("" if asked else "gives the target away")


def test_the_only_column_is_used_even_if_it_gives_the_target_away():
    report = report_of({"leak": LABELS, "y": LABELS})
    assert not report.schema["leak"].left_out
    assert "ignore=['leak'] leaves it out" in report.warnings[0]


def test_a_date_that_gives_the_target_away_is_named_once():
    days = [f"2020-{6 if label == 'bad' else 7:02d}-01" for label in LABELS]
    report = report_of({"x": NOISE, "day": days, "y": LABELS})
    (said,) = (text for text in report.warnings if "'day'" in text)
    assert "'day' alone gives the target away (by 'day: " in said


def test_a_number_whose_values_in_the_classes_do_not_overlap_is_named():
    far = [row + (1000.5 if label == "bad" else 0) for row, label in enumerate(LABELS)]
    report = report_of({"x": NOISE, "far": far, "y": LABELS})
    (said,) = report.warnings
    assert "'far' alone tells all classes apart" in said
    assert "ignore=['far']" in said
    assert not report.schema["far"].left_out


@pytest.mark.parametrize("numbered", [True, False])
def test_rows_sorted_by_their_label_are_said_with_the_row_number(numbered):
    number = {"nr": [str(row) for row in range(1, N + 1)]} if numbered else {}
    report = report_of({**number, "x": NOISE, "y": sorted(LABELS)})
    (said,) = (text for text in report.warnings if "sorted by their label" in text)
    assert ("'nr' numbers them" in said) == numbered
    if numbered:
        assert report.schema["nr"].left_out == "row number"


def test_repeated_rows_and_rows_that_contradict_each_other_are_counted():
    table = pd.DataFrame({"x": NOISE, "y": LABELS})
    other = table.iloc[[5]].assign(y=lambda row: row["y"].map({"good": "bad", "bad": "good"}))
    table = pd.concat([table, table.iloc[:3], other])
    report = report_of(table)
    assert (report.findings.duplicates, report.findings.conflicts) == (3, 2)
    repeats, conflicts = report.warnings[-2:]
    assert repeats.startswith("3 rows repeat an earlier one")
    assert f"(data rows 6 and {N + 4})" in conflicts


def test_labels_in_several_spellings_and_misspelt_ones_are_said():
    labels = ["good", "bad"] * 28 + ["Good", " bad", "godo", ""]
    report = report_of({"x": NOISE, "y": labels})
    said = " ".join(report.warnings)
    assert "'good' = 'good' (28) + 'Good' (1)" in said
    assert "'godo' (1 row) like 'good'" in said
    assert "1 row has no label in 'y'" in said


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
        ("audit", ["row", "line", "given", "reliability", "suggested", "flagged", "age"]),
        ("balls", ["ball", "label", "samples", "purity", "radius", "membership", "first_row"]),
        ("predict", ["age", "prediction", "probability_no", "probability_yes"]),
    ],
)
def test_our_own_outputs_are_no_data_to_learn_from(verb, names):
    (said,) = problems_of_names(names, names[-1], ColumnOptions())
    assert f"`granulearn {verb}` writes" in said
    assert problems_of_names(["prediction", "age"], "age", ColumnOptions()) == ()


@pytest.mark.parametrize("place", [0, -1])
def test_predictions_of_an_earlier_model_are_warned_of_unless_they_are_ignored(place):
    other = [["good", "bad"][row * 5 % 7 < 3] for row in range(N)]
    names = ["x", "y"]
    names.insert(place % 3, "prediction")
    cells = {"x": NOISE, "y": LABELS, "prediction": other}
    table = {name: cells[name] for name in names}
    (said,) = report_of(table).warnings
    assert "'prediction' looks like what `granulearn predict` wrote" in said
    assert "pass ignore=['prediction']" in said
    assert report_of(table, ignore=("prediction",)).warnings == ()
    assert report_of(table, "prediction").warnings == ()


def test_predictions_that_are_the_labels_are_left_out_and_nothing_else_is_asked():
    (said,) = report_of({"x": NOISE, "prediction": LABELS, "y": LABELS}).warnings
    assert "'prediction' alone gives the target away" in said


def test_a_note_that_names_the_label_is_warned_of_and_used():
    notes = [f"visit {row % 3}: it was {LABELS[row].upper()}." for row in range(N)]
    report = report_of({"x": NOISE, "note": [*notes[:-1], "good or bad"], "y": LABELS})
    (said,) = report.warnings
    assert said.startswith("The cells of column 'note' name the label in 98 % of the rows")
    assert "pass ignore=['note']" in said
    assert not report.schema["note"].left_out


def test_a_code_with_a_few_mistakes_is_warned_of_and_used():
    labels = LABELS * 5
    code = [{"good": "P", "bad": "Q"}[label] for label in labels]
    for row in (1, 60, 120, 180):
        code[row] = "Q" if code[row] == "P" else "P"
    x = [f"{np.sin(row):.5f}" for row in range(5 * N)]
    report = report_of({"x": x, "code": code, "y": labels})
    (said,) = (text for text in report.warnings if "'code'" in text)
    assert said.startswith("Column 'code' (98.7 %) alone tells the class in nearly all rows")
    assert not report.schema["code"].left_out


def test_a_header_alone_is_a_problem():
    report = inspect_table(Watched(0), "y")
    assert report.rows == 0
    assert "has a header but no data rows" in report.problems[0]


def test_only_columns_of_few_values_may_be_codes_of_the_target():
    rng = np.random.default_rng(0)
    table = {
        "few": NOISE * 40,
        "many": [f"{row / 7:.4f}" for row in range(N * 40)],
        "y": rng.choice(["a", "b"], N * 40),
    }
    assert few_values(report_of(table).schema) == {"few"}


def test_a_look_at_no_rows_is_none_and_looks_add_up():
    batches = list(pa.table({"x": NOISE, "y": LABELS}).to_batches(7))
    assert first_look([], "y") is None
    whole = first_look(batches, "y")
    parts = first_look(batches[:4], "y") + first_look(batches[4:], "y", 28)
    assert parts.labels == whole.labels
    assert parts.cells.rows == whole.cells.rows == N


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
        assert "'odd one'" in problem
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
        "Column 'b' holds a text of 10,001 characters at row 8, and a category has at most 10,000; "
        "correct it, or pass ignore=['b']."
    )
    assert report_of(table, include=("b",)).problems == (problem,)
    assert report_of(table, ignore=("b",)).problems == ()
    blank = [*cells[:7], " " * 20_000, *cells[8:]]
    assert report_of({"b": blank, "x": NOISE, "y": LABELS}).problems == ()


def test_free_text_of_any_length_is_left_out_as_such():
    notes = [f"row {row} was seen again and again. " * 500 for row in range(N)]
    report = report_of({"notes": notes, "x": NOISE, "y": LABELS})
    assert (report.schema["notes"].left_out, report.problems) == ("free text", ())
    (problem,) = report_of({"notes": notes, "x": NOISE, "y": LABELS}, include=("notes",)).problems
    assert "Column 'notes' holds a text of 15,999 characters at row 1" in problem
