"""Classifiers for Dask collections: as good as the plain ones, whatever the blocks."""

import pickle

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from granulearn.dask import (
    DaskBallForestClassifier,
    DaskGBRVFLClassifier,
    DaskRobustClassifier,
    DaskRVFLClassifier,
    DaskRVFLEnsembleClassifier,
)
from granulearn.dask.blocks import predict_lazily
from granulearn.forest import BallForestClassifier
from granulearn.models import load_model, save_model
from granulearn.rvfl import GBRVFLClassifier, RVFLClassifier
from tests.dask.chunked import chunked, every_pair, framed, table


def assert_same_model(one, other):
    assert_allclose(one.coef_, other.coef_, rtol=1e-6, atol=1e-8)
    assert_array_equal(one.classes_, other.classes_)


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0}])
@every_pair
def test_one_block_equals_the_plain_classifier(on_dask, plain, class_weight):
    X, y = table()
    settings = {"random_state": 3, "class_weight": class_weight}
    ours = on_dask(**settings).fit(chunked(X), chunked(y))
    assert_same_model(ours, plain(**settings).fit(X, y))
    assert type(ours.estimator_) is plain


@every_pair
def test_one_block_with_weights_and_memberships_equals_the_plain_classifier(on_dask, plain):
    X, y = table()
    rng = np.random.default_rng(0)
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], len(X))
    trust = rng.uniform(size=len(X))
    for given in ({"sample_weight": weights}, {"sample_membership": trust}):
        lazy = {name: chunked(values) for name, values in given.items()}
        ours = on_dask(random_state=0).fit(chunked(X), chunked(y), **lazy)
        assert_same_model(ours, plain(random_state=0).fit(X, y, **given))


@pytest.mark.parametrize(("rows", "class_weight"), [(7, "balanced"), (100, None)])
def test_rvfl_equals_the_plain_classifier_to_rounding_however_rows_are_cut(rows, class_weight):
    X, y = table()
    settings = {"random_state": 3, "class_weight": class_weight}
    ours = DaskRVFLClassifier(**settings).fit(chunked(X, rows), chunked(y, 50))
    assert_same_model(ours, RVFLClassifier(**settings).fit(X, y))


def test_costs_of_errors_are_those_of_the_plain_classifier():
    X, y = table()
    ours = DaskBallForestClassifier(random_state=0, class_cost={1: 9.0}).fit(chunked(X), chunked(y))
    found = ours.predict(chunked(X)).compute()
    assert_array_equal(found, (ours.estimator_.predict_proba(X) * [1, 9, 1]).argmax(axis=1))


@every_pair
def test_empty_partitions_and_texts_of_different_lengths_change_nothing(on_dask, plain):
    X, y = table()
    names = np.array(["ox", "zebra", "rhinoceros"])[y]
    ours = on_dask(random_state=3).fit(*framed(X, names, [0, len(X), len(X)]))
    assert_same_model(ours, plain(random_state=3).fit(X, names))
    assert_array_equal(ours.feature_names_in_, ["x0", "x1", "x2"])
    assert set(ours.predict(framed(X, names, [0, 200])[0]).compute()) <= set(names)


@every_pair
def test_a_block_without_one_of_the_classes_is_no_harm(on_dask, plain):
    X, y = table(n_samples=1200)
    first = np.flatnonzero(y != 2)[:300]
    order = np.concatenate([first, np.setdiff1d(np.arange(len(X)), first)])
    ours = on_dask(random_state=0).fit(chunked(X[order], 300), chunked(y[order], 300))
    assert_array_equal(ours.classes_, [0, 1, 2])
    alone = plain(random_state=0).fit(X, y)
    assert ours.estimator_.score(X, y) > alone.score(X, y) - 0.04


@pytest.mark.parametrize(
    "on_dask", [DaskBallForestClassifier, DaskRVFLEnsembleClassifier, DaskRobustClassifier]
)
def test_a_table_that_fits_the_sample_gives_the_plain_classifier(on_dask):
    X, y = table(n_samples=200)
    ours = on_dask(random_state=0).fit(*framed(X, y, [70, 150]))
    alone = on_dask._plain(random_state=0).fit(X, y)
    rows = pd.DataFrame(X, columns=ours.feature_names_in_)
    assert_allclose(ours.estimator_.predict_proba(rows), alone.predict_proba(X))


def test_a_sample_is_nearly_as_good_as_all_rows():
    X, y = table(n_samples=4000)
    sampled = DaskBallForestClassifier(random_state=0)
    sampled.fit(chunked(X[:3000], 500), chunked(y[:3000], 500), sample_size=1500)
    alone = BallForestClassifier(random_state=0).fit(X[:3000], y[:3000])
    assert sampled.estimator_.score(X[3000:], y[3000:]) > alone.score(X[3000:], y[3000:]) - 0.03


def test_rows_of_weight_zero_are_not_sampled():
    X, y = table()
    weights = (np.arange(len(X)) < 300).astype(float)
    given = chunked(X, 100), chunked(y, 100), chunked(weights, 100)
    ours = DaskBallForestClassifier(random_state=0).fit(*given)
    assert len(ours.oob_proba_) == 300


def test_the_fitted_estimator_is_saved_without_dask(tmp_path):
    X, y = table()
    ours = DaskGBRVFLClassifier(random_state=0).fit(chunked(X, 200), chunked(y, 200))
    save_model(ours.estimator_, tmp_path / "model.granulearn")
    loaded = load_model(tmp_path / "model.granulearn").pipeline
    assert_allclose(loaded.predict_proba(X), ours.predict_proba(chunked(X, 600)), rtol=1e-9)


@pytest.mark.parametrize("on_dask", [DaskRVFLClassifier, DaskRobustClassifier])
def test_data_in_memory_is_refused_with_the_plain_class_named(on_dask):
    X, y = table()
    for wrong in ((X, y), (chunked(X), y), (X, chunked(y))):
        with pytest.raises(TypeError, match=rf"for data in memory use {on_dask._plain.__name__}"):
            on_dask().fit(*wrong)
    with pytest.raises(TypeError, match="sample_weight is a numpy ndarray"):
        on_dask().fit(chunked(X), chunked(y), sample_weight=np.ones(len(X)))


@every_pair
def test_unknown_settings_and_unfitted_use_are_scikit_learns_errors(on_dask, plain):
    X, y = table()
    with pytest.raises(ValueError, match="'C' parameter"):
        on_dask(C=-1).fit(chunked(X), chunked(y))
    with pytest.raises(NotFittedError):
        on_dask().predict(chunked(X))
    assert repr(on_dask(n_hidden=7)) == f"{on_dask.__name__}(n_hidden=7)"


def test_score_counts_weights_and_understands_frames():
    X, y = table()
    model = DaskRVFLClassifier(random_state=0).fit(chunked(X, 200), chunked(y, 200))
    weights = np.random.default_rng(0).integers(0, 3, len(X))
    expected = model.estimator_.score(X, y, weights)
    assert model.score(chunked(X, 200), chunked(y, 150), chunked(weights, 100)) == expected
    frame, labels = framed(X, y, [150, 150])
    named = DaskRVFLClassifier(random_state=0).fit(frame, labels)
    assert named.score(frame, labels) == named.estimator_.score(frame.compute(), y)


def test_rows_sorted_by_class_are_warned_of():
    X, y = table()
    order = np.argsort(y == 2, kind="stable")
    with pytest.warns(UserWarning, match=r"most samples of class \[2\] lie in blocks without"):
        DaskGBRVFLClassifier(random_state=0).fit(chunked(X[order], 100), chunked(y[order], 100))


def test_a_class_with_nothing_to_learn_it_from_is_an_error():
    X, y = table()
    trust = chunked((y != 2).astype(float), 200)
    with pytest.raises(ValueError, match=r"class \[2\] has no sample or ball with a membership"):
        DaskRVFLClassifier().fit(chunked(X, 200), chunked(y, 200), sample_membership=trust)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_predictions_have_the_kind_and_the_blocks_of_the_rows(method, n_classes):
    X, y = table(n_classes)
    names = np.array(["ox", "ape", "mole"])[y]
    frame, _ = framed(X, y, [100, 100, 400])
    memory = frame.compute()
    model = GBRVFLClassifier(random_state=0).fit(memory, names)
    expected = getattr(model, method)(memory)
    lazy = predict_lazily(model, method, frame)
    computed = lazy.compute()
    assert type(lazy._meta) is type(computed)
    assert_array_equal(computed.index, memory.index)
    if isinstance(computed, pd.DataFrame):
        assert_array_equal(computed.columns, model.classes_)
    if method == "predict":
        assert_array_equal(computed, expected)
    else:
        assert_allclose(computed, expected, atol=1e-9)
    unnamed = GBRVFLClassifier(random_state=0).fit(X, y)
    lazy = predict_lazily(unnamed, method, da.from_array(X, chunks=(250, 2)))
    expected = getattr(unnamed, method)(X)
    assert (lazy.chunks[0], lazy.shape, lazy.dtype) == (
        (250, 250, 100),
        expected.shape,
        expected.dtype,
    )
    assert_allclose(lazy.compute(), expected)


def test_predictions_are_lazy_and_tasks_do_not_carry_the_balls():
    def fail(block):
        raise AssertionError("computed")

    X, y = table(n_samples=5000)
    model = GBRVFLClassifier(random_state=0, purity=1.0).fit(X, y)
    never = chunked(X, 1000).map_blocks(fail, dtype=float, meta=np.empty((0, 3)))
    lazy = predict_lazily(model, "predict", never)
    with pytest.raises(AssertionError, match="computed"):
        lazy.compute()
    lazy = predict_lazily(model, "predict", da.zeros((10, 3), chunks=(5, 3)))
    assert len(pickle.dumps(lazy)) < model.balls_.centers.nbytes
    assert hasattr(model, "balls_")
