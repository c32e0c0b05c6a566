"""Lazy predictions: those of the ordinary estimator, block by block, in the form of the input."""

import pickle

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from granulearn.distributed.prediction import predict_lazily
from granulearn.rvfl import GBRVFLClassifier
from tests.distributed.chunked import chunked, framed, table

METHODS = ["predict", "predict_proba", "decision_function"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_arrays_give_arrays_of_the_same_blocks(method, n_classes):
    X, y = table(n_classes)
    model = GBRVFLClassifier(random_state=0).fit(X, y)
    lazy = predict_lazily(model, method, da.from_array(X, chunks=(250, 2)))
    assert isinstance(lazy, da.Array)
    assert lazy.chunks[0] == (250, 250, 100)
    expected = getattr(model, method)(X)
    assert (lazy.shape, lazy.dtype) == (expected.shape, expected.dtype)
    assert_array_equal(
        lazy.compute(),
        np.concatenate([getattr(model, method)(X[first : first + 250]) for first in (0, 250, 500)]),
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_frames_give_series_or_frames_with_the_index(method, n_classes):
    X, y = table(n_classes)
    names = np.array(["ox", "ape", "mole"])[y]
    frame, _ = framed(X, y, [100, 100, 400])
    memory = frame.compute()
    model = GBRVFLClassifier(random_state=0).fit(memory, names)
    lazy = predict_lazily(model, method, frame)
    computed = lazy.compute()
    assert_array_equal(computed.index, memory.index)
    assert type(lazy._meta) is type(computed)
    if isinstance(computed, pd.DataFrame):
        assert_array_equal(computed.columns, model.classes_)
    assert_array_equal(np.asarray(computed[400:]), getattr(model, method)(memory[400:]))


def test_nothing_is_computed_before_it_is_asked_for():
    def fail(block):
        raise AssertionError("computed")

    X, y = table()
    model = GBRVFLClassifier(random_state=0).fit(X, y)
    never = chunked(X, 100).map_blocks(fail, dtype=float, meta=np.empty((0, 3)))
    lazy = predict_lazily(model, "predict", never)
    with pytest.raises(AssertionError, match="computed"):
        lazy.compute()


def test_unknown_chunk_sizes_are_no_error():
    X, y = table()
    frame, _ = framed(X, y, [100, 400])
    model = GBRVFLClassifier(random_state=0).fit(X, y)
    for method in METHODS:
        lazy = predict_lazily(model, method, frame.to_dask_array())
        assert len(lazy.compute()) == len(X)


def test_tasks_do_not_carry_the_balls():
    X, y = table(n_samples=5000)
    model = GBRVFLClassifier(random_state=0, purity=1.0).fit(X, y)
    lazy = predict_lazily(model, "predict", da.zeros((10, 3), chunks=(5, 3)))
    assert len(pickle.dumps(lazy)) < model.balls_.centers.nbytes
    assert hasattr(model, "balls_")
