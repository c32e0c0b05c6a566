"""Laws of the checks: leakage is found, honest inputs are not, duplicates are those of pandas."""

from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables import Column, Schema, inspect_table, table_of
from granulearn.tables import checks as module
from granulearn.tables.checks import check_rows, find, majority_classes
from granulearn.tables.schema import TypedRows
from tests.shared_data import load_shared, shared_names

CLASSES = ["no", "yes"]
KINDS = ("number", "number", "category")
ROW = st.tuples(
    st.sampled_from([0.0, -0.0, 1.0, 2.5, np.nan]),
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from(["a", "b", None]),
    st.sampled_from(["yes", "no", None]),
)


def checked(rows, cuts=(), distinct=5):
    """Return the statistics of rows with the features x, z, s and a label, part by part."""
    schema = Schema(
        tuple(
            Column(name, kind, distinct=distinct) for name, kind in zip("xzs", KINDS, strict=True)
        )
    )
    parts = []
    for start, end in pairwise([0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]):
        x, z, s, y = zip(*rows[start:end], strict=True) if end > start else ((),) * 4
        cells = {"x": np.array(x, float), "z": np.array(z, float), "s": pa.array(s, pa.string())}
        labels = pa.array(y, pa.string())
        parts.append(check_rows(TypedRows(cells, {}), labels, schema, CLASSES, start))
    return find(reduce(add, parts), schema, CLASSES, ())


def of_column(cells, labels):
    """Return the warnings about a column, and whether it is left out."""
    table = {"noise": [f"{np.sin(row):.9f}" for row in range(len(labels))], "c": cells, "y": labels}
    report = inspect_table(table_of(table), "y")
    assert not report.problems
    return [said for said in report.warnings if "'c'" in said], "c" in report.findings.leaks


def pairs(counts):
    """Return the cells and labels of a contingency table, in an order that tells nothing."""
    rows = [pair for pair, n in counts.items() for _ in range(n)]
    order = np.random.default_rng(0).permutation(len(rows))
    return [rows[row][0] for row in order], [rows[row][1] for row in order]


def how(counts):
    """Return how a column of these counts leaks the target; '' if it does not."""
    said, left_out = of_column(*pairs(counts))
    kinds = [kind for kind in module._LEAKS if any(module._KINDS[kind] in one for one in said)]
    assert left_out == bool(kinds)
    return "".join(kinds)


@given(st.lists(ROW, max_size=30), st.lists(st.integers(0, 30), max_size=5), st.booleans())
def test_batches_do_not_matter(rows, cuts, few):
    distinct = 5 if few else 5000
    assert checked(rows, cuts, distinct) == checked(rows, (), distinct)


@given(st.lists(ROW, max_size=40), st.lists(st.integers(0, 40), max_size=3))
def test_duplicates_and_conflicts_are_those_of_pandas(rows, cuts):
    frame = pd.DataFrame(rows, columns=["x", "z", "s", "y"]).astype({"x": float, "z": float})
    frame[["x", "z"]] += 0.0
    found = checked(rows, cuts)
    assert found.duplicates == frame.duplicated().sum()
    labelled = frame[frame["y"].notna()]
    several = labelled.groupby(["x", "z", "s"], dropna=False)["y"].transform("nunique") > 1
    assert found.conflicts == several.sum()
    if several.any():
        first = labelled.index[several].min() + 1
        assert f"(data rows {first} and " in found.warnings[-1]


@given(st.lists(st.integers(0, 30), max_size=6))
def test_beyond_the_limit_duplicates_are_estimated_whatever_the_batches(cuts):
    rng = np.random.default_rng(0)
    keys = rng.permutation(np.r_[np.arange(600), np.arange(300), np.arange(150)])
    rows = [
        (float(key), 0.0, "a", CLASSES[int(key % 7 == place % 5)]) for place, key in enumerate(keys)
    ]
    exact = checked(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MAX_ROWS", 200)
        found = checked(rows, [40 * cut for cut in cuts])
    assert found.duplicates == pytest.approx(exact.duplicates, rel=0.3)
    assert found.conflicts == pytest.approx(exact.conflicts, rel=0.3)
    assert all(text.startswith("About ") for text in found.warnings[-2:])


def test_a_copy_is_one_in_any_spelling_and_a_code_has_other_words():
    assert how({("Good", "good"): 30, ("BAD ", "bad"): 70}) == "copy"
    assert how({("1", "1"): 30, ("0", "0"): 70}) == "copy"
    assert how({("A", "no"): 70, ("D", "yes"): 30}) == "code"
    assert how({(str(n), "yes" if n else "no"): 50 for n in range(6)}) == "code"
    assert how({("yes", "no"): 30, ("no", "yes"): 70}) == "code"


def test_whether_a_cell_is_filled_may_tell_the_class():
    assert how({("", "stays"): 80, ("price", "leaves"): 10, ("service", "leaves"): 10}) == "filled"
    assert how({("", "no"): 50, ("a", "no"): 5, ("b", "no"): 5, ("b", "yes"): 50}) == ""


def test_missing_cells_do_not_hide_a_leak():
    counts = {("A", "no"): 20, ("D", "yes"): 10, ("", "no"): 60, ("", "yes"): 30}
    assert how(counts) == "code"
    assert how(counts | {("", "no"): 120}) == ""


@pytest.mark.parametrize(("wrong", "share"), [(5, 0.995), (6, 0.994), (30, 0.97), (31, 0)])
def test_half_a_percent_may_be_wrong_and_up_to_three_are_warned_of(wrong, share):
    first = wrong // 2
    counts = {("A", "no"): 500 - first, ("B", "no"): first}
    counts |= {("B", "yes"): 500 - wrong + first, ("A", "yes"): wrong - first}
    said, left_out = of_column(*pairs(counts))
    assert left_out == (share == 0.995)
    assert len(said) == bool(share)
    assert all(f"'c' ({100 * share:.1f} % of the rows)" in one for one in said)


def test_values_that_only_seem_to_tell_the_class_are_no_leak():
    # Always naming the frequent class is right in 99.9 % of the rows.
    assert how({("A", "no"): 9980, ("A", "yes"): 5, ("B", "yes"): 5}) == ""
    assert how({("A", "no"): 10, ("D", "yes"): 9}) == ""
    assert not majority_classes(np.array([[100, 1]]))[0]
    # Names of customers that came once, or twice.
    assert not majority_classes(np.eye(2, dtype=int)[np.arange(100) % 2])[0]
    assert not majority_classes(2 * np.eye(2, dtype=int)[np.arange(300) % 2])[0]
    # Values that occur once are left aside where they are few.
    share, classes = majority_classes(np.array([[500, 0], [0, 480], *[[0, 1]] * 20]))
    assert (share, classes.tolist()) == (1.0, [0, 1] + [-1] * 20)


@pytest.mark.parametrize(
    ("shift", "missing", "n_rows", "apart"),
    [(1.5, 0.0, 40, True), (0.5, 0.0, 40, False), (1.5, 0.5, 200, True), (1.5, 0.9, 400, False)],
    ids=["apart", "overlapping", "half missing", "nearly all missing"],
)
def test_numbers_whose_ranges_do_not_overlap_are_warned_of(shift, missing, n_rows, apart):
    rng = np.random.default_rng(0)
    second = rng.permutation(np.arange(n_rows) % 2 == 1)
    values = rng.random(n_rows) + shift * second
    values[rng.random(n_rows) < missing] = np.nan
    labels = np.where(second, "b", "a").tolist()
    said, left_out = of_column([*values, *values], [*labels, *labels])
    assert ["do not overlap between classes): 'c'; if not" in one for one in said] == [True] * apart
    assert not left_out


@pytest.mark.parametrize(
    ("text", "labels", "named"),
    [
        ("(VISIT {1}) it was {0}!", ("approved", "refused"), True),
        ("{1}: {0}", ("good", "not good"), True),
        ("un{0} {1}", ("approved", "refused"), False),
        ("{0}_3 {1}", ("approved", "refused"), False),
        ("{0} on day {1}", ("no", "ja"), False),
        ("{1}: approved or refused: {0}", ("approved", "refused"), False),
        ("{1}: approved soon", ("approved", "refused"), False),
    ],
)
def test_cells_that_name_the_label_are_warned_of(text, labels, named):
    rng = np.random.default_rng(0)
    given_labels = rng.permutation(labels * 100).tolist()
    notes = [text.format(label.title(), rng.integers(30)) for label in given_labels]
    notes[:4] = ["nothing to say"] * 4
    said, left_out = of_column(notes, given_labels)
    assert not left_out

    assert ["name the label): 'c' (98.0 % of the rows)" in one for one in said] == [True] * named


def test_strong_inputs_of_the_benchmark_sets_are_no_leaks():
    for name in shared_names():
        X, y = load_shared(name)
        table = pd.DataFrame(X).add_prefix("f").assign(target=[f"class {label}" for label in y])
        report = inspect_table(table_of(table), "target")
        assert report.findings.leaks == (), name
        assert not any("overlap" in text for text in report.warnings), name
        if not report.schema.dropped:
            assert report.findings.duplicates == table.duplicated().sum(), name
