"""Blocks: bad input is refused where it stands, and the message says where."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask import delayed
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.dask import DaskRVFLClassifier
from granulearn.dask.blocks import checked_blocks, sample_blocks
from tests.dask.chunked import chunked, framed, table


def fitted(X, y, *weights):
    return DaskRVFLClassifier(random_state=0).fit(X, y, *weights)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("X", np.nan, r"block 3 \(100 rows\): Input X contains NaN"),
        ("sample_weight", np.nan, r"block 3 \(100 rows\): Input sample_weight contains NaN"),
        ("sample_weight", -1, r"block 3 \(100 rows\): sample_weight must not be negative"),
        ("sample_membership", 2, r"block 3 \(100 rows\): sample_membership: memberships must lie"),
        ("y", 0.25, r"block 3 \(100 rows\): Unknown label type"),
    ],
)
def test_a_wrong_value_is_an_error_that_names_the_block(name, value, message):
    X, y = table()
    given = {"X": X, "y": y.astype(float)}
    given.setdefault(name, np.ones(len(X)))
    given[name][305] = value
    with pytest.raises(ValueError, match=message):
        DaskRVFLClassifier().fit(**{key: chunked(own, 100) for key, own in given.items()})


def test_text_in_one_partition_is_an_error_that_names_block_and_column():
    X, y = table()
    table_of = pd.DataFrame(X, columns=list("abc")).assign(y=y)
    parts = [table_of.iloc[:200], table_of.iloc[200:400].assign(b="much"), table_of.iloc[400:]]
    frame = dd.from_delayed(list(map(delayed, parts)), meta=parts[0].iloc[:0], verify_meta=False)
    with pytest.raises(ValueError, match=r"block 1 \(200 rows\): column 'b' of X holds text"):
        fitted(frame[["a", "b", "c"]], frame["y"])


def test_labels_of_another_type_in_one_block_are_an_error():
    X, y = table()
    pieces = [da.from_array(y[:300]), da.from_array(y[300:].astype(str))]
    labels = da.concatenate([piece.map_blocks(np.asarray, dtype=int) for piece in pieces])
    with pytest.raises(ValueError, match="block 0 holds int64, block 1 <U"):
        fitted(chunked(X, 300), labels)


def test_unknown_chunk_sizes_are_no_error():
    X, y = table()
    frame, labels = framed(X, y, [250, 400])
    unknown, labels_too = frame.to_dask_array(), labels.to_dask_array()
    assert np.isnan(unknown.shape[0])
    ours, theirs = fitted(unknown, labels_too), fitted(frame, labels)
    assert_allclose(ours.coef_, theirs.coef_)
    assert_array_equal(ours.predict(unknown), theirs.predict(frame))


def test_unknown_chunks_that_cannot_be_brought_into_step_are_refused_with_the_way_out():
    X, y = table()
    frame, _ = framed(X, y, [250, 400])
    with pytest.raises(ValueError, match=r"X has 3 blocks of rows and y has 6.*compute_chunk_size"):
        fitted(frame.to_dask_array(), chunked(y, 100))
    with pytest.raises(
        ValueError, match=r"block \d \(\d50 rows\): .*numbers of samples: \[\d50, 2"
    ):
        fitted(frame.to_dask_array(), chunked(y, 200))
    known = frame.to_dask_array().compute_chunk_sizes()
    fitted(known, chunked(y, 100))


def test_rows_that_differ_in_number_and_tables_without_rows_are_refused():
    X, y = table()
    with pytest.raises(ValueError, match="X has 600 rows and y has 599"):
        fitted(chunked(X, 100), chunked(y[:-1], 100))
    with pytest.raises(ValueError, match=r"X has 1 dimension\(s\), and two are needed"):
        fitted(chunked(y, 100), chunked(y, 100))
    with pytest.raises(ValueError, match="X has no rows"):
        fitted(*framed(X[:0], y[:0], [0]))
    with pytest.raises(ValueError, match=r"only one class \(0\)"):
        fitted(chunked(X, 100), chunked(np.zeros(len(X), int), 100))


def test_samples_are_stratified_seeded_and_about_as_large_as_asked_for():
    X, y = table(n_samples=6000)
    y[y == 2] = np.where(np.arange((y == 2).sum()) < 10, 2, 0)  # a class of ten rows
    blocks, facts = checked_blocks(chunked(X, 700), chunked(y, 700), None, None, "")
    one, again, other = (sample_blocks(blocks, facts, 1000, seed) for seed in (0, 0, 1))
    assert_array_equal(one.X, again.X)
    assert len(one.X) != len(other.X) or not np.array_equal(one.X, other.X)
    assert abs(len(one.y) - 1000) < 100
    assert (one.y == 2).sum() == 10
    assert abs((one.y == 1).mean() - (y == 1).mean()) < 0.05
    rows = 700 * one.number + one.position
    assert_array_equal(one.X, X[rows])
    assert_array_equal(one.y, y[rows])


def test_a_table_no_larger_than_the_sample_is_sampled_whole_without_rows_of_weight_zero():
    X, y = table()
    weights = np.arange(600) % 3
    given = chunked(X, 250), chunked(y, 250), chunked(weights, 250)
    sample = sample_blocks(*checked_blocks(*given, None, ""), 600, 0)
    assert_array_equal(sample.X, X[weights > 0])
    assert_array_equal(sample.weights, weights[weights > 0])
