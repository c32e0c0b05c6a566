"""The first step from statistics is the first step from rows, and so is what comes out of it."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.datasets import make_pipeline_for
from granulearn.datasets.target_encoding import folds_of_rows
from granulearn.tables.schema import TypedRows
from granulearn.training.part_preparation import prepare_from_statistics
from granulearn.training.part_statistics import ClassedRows, join_statistics, statistics_of_rows
from tests.training.even_folds import take_even_folds


def table(classes, n_rows=300, seed=0):
    """Return features of every sort, with missing cells, and labels."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "street": [f"street {k}" for k in rng.integers(0, 60, n_rows)],
            "age": rng.integers(18, 90, n_rows).astype(float),
            "city": rng.choice(["Graz", "Lyon", "Ōsaka"], n_rows),
            "constant": 0.1,
            "empty": np.nan,
            "nothing": None,
            "zip": [f"{k:05}" for k in rng.integers(0, 90, n_rows)],
        }
    )
    for name in ("street", "city", "zip"):
        frame.loc[rng.random(n_rows) < 0.1, name] = None
    y = rng.choice(classes, n_rows)
    cells = {
        name: frame[name].to_numpy()
        if frame[name].dtype == float
        else pa.array(frame[name].to_list(), pa.string(), from_pandas=True)
        for name in frame
    }
    return TypedRows(cells, {}), y


def part_of(typed, begin, end):
    return TypedRows({name: cell[begin:end] for name, cell in typed.cells.items()}, {})


def statistics(typed, codes, folds, n_classes, edges):
    parts = [
        statistics_of_rows(
            part_of(typed, begin, end).cells,
            ClassedRows(codes[begin:end], folds[begin:end], n_classes, np.arange(begin, end)),
        )
        for begin, end in pairwise(edges)
    ]
    joined = parts[0]
    for part in parts[1:]:
        joined = join_statistics(joined, part)
    return joined


@pytest.mark.parametrize("classes", [["no", "yes"], [3, 7, 10]])
@pytest.mark.parametrize("edges", [[0, 300], [0, 0, 7, 150, 300]])
def test_rows_come_out_as_from_a_pipeline_that_was_fitted_to_rows(classes, edges, monkeypatch):
    take_even_folds(monkeypatch)
    typed, y = table(classes)
    frame = typed.to_frame()
    step = make_pipeline_for(frame)
    expected = step.fit_transform(frame, y)
    known, codes = np.unique(y, return_inverse=True)
    counts = np.bincount(codes)
    folds = folds_of_rows(codes, np.cumsum(counts) - counts)
    learnt = statistics(typed, codes, folds, len(known), edges)
    prepare = prepare_from_statistics(learnt, known)
    assert list(prepare.many) == ["street", "zip"]
    assert_array_equal(prepare.step.get_feature_names_out(), step[0].get_feature_names_out())
    assert prepare.n_features == expected.shape[1]
    found = prepare.training_rows(typed, folds)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    assert_allclose(prepare.new_rows(typed), step.transform(frame), rtol=1e-9, atol=1e-9)
    middle = prepare.training_rows(part_of(typed, 100, 101), folds[100:101])
    assert_allclose(middle, expected[100:101], rtol=1e-9, atol=1e-9)


def test_numbers_too_small_to_be_squared_are_left_as_they_are():
    typed = TypedRows({"tiny": np.array([1e-170, 3e-170, -2e-170])}, {})
    rows = np.zeros(3, dtype=int)
    prepare = prepare_from_statistics(statistics(typed, rows, rows, 2, [0, 3]), np.array([0, 1]))
    assert_allclose(prepare.new_rows(typed), 0, atol=1e-160)


@pytest.mark.parametrize("edges", [[0, 300], [0, 20, 200, 300]])
def test_medians_of_few_cells_are_exact(edges):
    typed, y = table(["no", "yes"])
    typed.cells["age"] = np.where(np.arange(300) % 7, typed.cells["age"], np.nan)
    frame = typed.to_frame()
    known, codes = np.unique(y, return_inverse=True)
    learnt = statistics(typed, codes, np.arange(300) % 5, 2, edges)
    prepare = prepare_from_statistics(learnt, known)
    step = make_pipeline_for(frame).fit(frame, y)[0]
    numbers, expected = (s.named_transformers_["numbers"][:] for s in (prepare.step, step))
    assert_array_equal(numbers[0].statistics_, expected[0].statistics_)
    assert_allclose(numbers[1].mean_, expected[1].mean_, rtol=1e-12)
    assert_allclose(numbers[1].var_, expected[1].var_, rtol=1e-9, atol=1e-15)
    assert numbers[1].n_samples_seen_ == expected[1].n_samples_seen_
