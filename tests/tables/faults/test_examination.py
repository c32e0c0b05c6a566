"""Laws of examining a table: batches do not matter, and real tables give what is known of them."""

import gzip
from functools import reduce
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.faults import examination as module
from granulearn.tables.faults.examination import examine, find, join_examinations
from granulearn.tables.parse.cells import without_null_tokens
from tests.shared_data import load_shared, shared_data_dir, shared_names

ROW = st.tuples(
    st.sampled_from([0.0, -0.0, 1.0, 2.5, np.nan]),
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from(["a", "b", None]),
    st.sampled_from(["yes", "no", None]),
)


def examined(rows, cuts=()):
    edges = [0, *sorted(cuts), len(rows)]
    return [_examined(rows[start:end]) for start, end in pairwise(edges)]


def _examined(rows):
    x, z, s, y = zip(*rows, strict=True) if rows else ((), (), (), ())
    cells = {"x": np.array(x, float), "z": np.array(z, float), "s": pa.array(s, pa.string())}
    return examine(cells, pa.array(y, pa.string()), few=["x", "s"])


def examined_frame(frame, target):
    """Return the findings of a frame of numbers, text and nothing else."""
    cells = {}
    for name in frame.columns.drop(target):
        column = frame[name]
        if pd.api.types.is_numeric_dtype(column):
            cells[name] = column.to_numpy(float)
        else:
            cells[name] = without_null_tokens(pa.array(column.astype(object), pa.string()))
    few = [name for name in cells if frame[name].nunique() <= 1000]
    return find(examine(cells, pa.array(frame[target].astype(str), pa.string()), few=few))


@given(st.lists(ROW, max_size=30), st.lists(st.integers(0, 30), max_size=5))
def test_any_partition_of_the_rows_gives_the_same_findings(rows, cuts):
    (whole,) = examined(rows)
    parts = examined(rows, [min(cut, len(rows)) for cut in cuts])
    joined = reduce(join_examinations, parts)
    assert find(joined) == find(whole)
    assert joined.counts == whole.counts
    assert joined.ranges == whole.ranges
    from_right = reduce(lambda right, left: join_examinations(left, right), reversed(parts))
    assert find(from_right) == find(whole)
    assert from_right.counts == whole.counts


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 60), max_size=4))
def test_partitions_agree_where_there_is_something_to_find(seed, cuts):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(["yes", "no"] * 30).tolist()
    rows = [
        (float(label == "yes"), 2.0 * (label == "yes") + rng.random(), "a", label)
        for label in labels
    ]
    found = find(reduce(join_examinations, examined(rows, cuts)))
    assert [(leak.name, leak.how) for leak in found.leaks] == [("x", "code")]
    assert found.separated == ("z",)


@given(st.lists(ROW, min_size=1, max_size=30))
def test_counts_and_ranges_are_those_of_pandas(rows):
    frame = pd.DataFrame(rows, columns=["x", "z", "s", "y"])
    (examination,) = examined(rows)
    frame = frame[frame["y"].notna()]
    known = frame.dropna(subset=["x"])
    expected = known.groupby(["x", "y"]).size().to_dict()
    counts = examination.counts["x"]
    assert {pair: n for pair, n in counts.items() if pair[0] is not None} == expected
    assert sum(counts.values()) == len(frame)
    missing = frame["z"].isna().groupby(frame["y"]).agg(["sum", "size"])
    for label, (absent, rows_of) in missing.iterrows():
        assert examination.counts["z"].get((None, label), 0) == absent
        assert examination.counts["z"].get(("", label), 0) == rows_of - absent
    of_class = frame.dropna(subset=["z"]).groupby("y")["z"].agg(["min", "max", "size"])
    found = {y: (r.lowest, r.highest, r.rows) for y, r in examination.ranges["z"].items()}
    assert found == {y: tuple(values) for y, values in of_class.iterrows()}


@pytest.mark.parametrize("cuts", [(), (5, 20), range(40)])
def test_too_many_pairs_are_given_up_in_every_partition(cuts, monkeypatch):
    monkeypatch.setattr(module, "MAX_PAIRS", 3)
    rows = [(float(i % 5), 0.0, "a", "yes" if i % 2 else "no") for i in range(40)]
    joined = reduce(join_examinations, examined(rows, cuts))
    assert joined.counts["x"] is None
    assert joined.counts["s"] == {("a", "yes"): 20, ("a", "no"): 20}
    assert find(joined).leaks == ()


def test_a_table_without_a_target_has_duplicates_only():
    cells = {"x": np.array([1.0, 1.0, 2.0]), "s": pa.array(["a", "a", None])}
    found = find(examine(cells, None, few=["x", "s"]))
    assert (found.duplicates, found.conflicts, found.leaks, found.separated) == (1, 0, (), ())


@pytest.mark.parametrize(
    ("shift", "missing", "n_rows", "apart"),
    [
        (1.5, 0.0, 40, True),
        (0.9, 0.0, 40, False),
        (1.5, 0.5, 200, True),
        (1.5, 0.9, 400, False),
        (1.5, 0.0, 18, False),
    ],
    ids=["apart", "overlapping", "half missing", "nearly all missing", "few rows"],
)
def test_numbers_whose_ranges_do_not_overlap_are_named(shift, missing, n_rows, apart):
    rng = np.random.default_rng(0)
    second = np.arange(n_rows) % 2 == 1
    values = rng.random(n_rows) + shift * second
    values[rng.random(n_rows) < missing] = np.nan
    labels = pa.array(np.where(second, "b", "a"))
    found = find(examine({"x": values}, labels, few=[]))
    assert found.separated == (("x",) if apart else ())


def test_a_class_of_few_rows_does_not_hide_that_the_others_lie_apart():
    values = np.r_[np.linspace(0, 1, 30), np.linspace(2, 3, 30), 0.5]
    labels = pa.array(["a"] * 30 + ["b"] * 30 + ["rare"])
    assert find(examine({"x": values}, labels, few=[])).separated == ("x",)


def test_the_planted_leak_of_a_messy_table_is_found_and_nothing_else():
    path = shared_data_dir() / "messy" / "hmda.tsv"
    table = pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False)
    table["deny"] = table["deny"].str.strip().str.lower()
    found = examined_frame(table, "deny")
    assert [(leak.name, leak.how) for leak in found.leaks] == [("decision_code", "code")]
    assert found.separated == ()


def test_counts_of_bugs_give_bugs_away_in_every_release():
    for path in sorted((shared_data_dir() / "real_noise").glob("*.csv.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            table = pd.read_csv(file)
        found = examined_frame(table, "HeuBug")
        assert [leak.name for leak in found.leaks] == ["HeuBugCount"], path
        table = table.drop(columns="HeuBugCount")
        assert examined_frame(table, "HeuBug").leaks == (), path


def test_strong_inputs_of_the_benchmark_sets_are_no_leaks():
    for name in shared_names():
        X, y = load_shared(name)
        table = pd.DataFrame(X).add_prefix("f").assign(target=y)
        found = examined_frame(table, "target")
        assert (found.leaks, found.separated) == ((), ()), name
        assert found.duplicates == table.duplicated().sum(), name
