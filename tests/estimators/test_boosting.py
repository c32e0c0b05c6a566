"""The boosted member: who sees which rows, and when it stops."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import HistGradientBoostingClassifier

from granulearn.balls.narrow_tables import narrow_table
from granulearn.datasets import flip_labels
from granulearn.estimators import boosting
from granulearn.estimators.boosting import (
    BoostingError,
    boost_samples,
    boosting_job,
    fit_boosting,
    n_leaves,
)
from granulearn.estimators.row_source import TableSource
from granulearn.utils.validation import check_samples


def rings(n=900, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = np.digitize(np.square(X[:, :2]).sum(axis=1), [1.0, 3.0])
    return X, y


def boosted(X, y, weights=None):
    samples = check_samples(X, y)
    return boost_samples(samples, np.ones(len(y)) if weights is None else weights, 1)


def test_every_row_is_predicted_by_the_booster_that_did_not_see_it():
    X, y = rings()
    fit = boosted(X, y)
    assert len(fit.boosters) == boosting.N_FOLDS
    each = np.stack([booster.proba(X, 3) for booster in fit.boosters])
    near = np.abs(each - fit.out_of_sample).max(axis=2) < 1e-6
    assert near.any(axis=0).all()
    assert_allclose(near.mean(axis=1), 1 / boosting.N_FOLDS, atol=0.01)


def test_every_row_is_held_out_of_one_fold_and_classes_are_spread_evenly():
    codes = np.random.default_rng(0).integers(3, size=400)
    parts = boosting._folds(codes, 3)
    for seen, held_out in parts:
        assert not set(seen) & set(held_out)
        assert_allclose(
            np.bincount(codes[held_out]) / len(held_out), np.bincount(codes) / 400, atol=0.03
        )
    assert_array_equal(np.sort(np.concatenate([held_out for _, held_out in parts])), range(400))


def test_it_keeps_the_rounds_after_which_rows_held_out_were_predicted_best():
    X, y = rings(1200)
    y = flip_labels(y, 0.3, random_state=0).labels
    seen, held_out = np.arange(800), np.arange(800, 1200)
    fit = fit_boosting(
        X, narrow_table(X), np.arange(1200), y, 3, np.ones(1200), 1, [(seen, held_out)]
    )
    (n_rounds,) = fit.rounds
    plain = HistGradientBoostingClassifier(
        learning_rate=boosting.RATE,
        max_iter=n_rounds + boosting.PATIENCE,
        max_leaf_nodes=boosting.MOST_LEAVES,
        early_stopping=False,
    ).fit(X[seen], y[seen])
    each = list(plain.staged_predict_proba(X[held_out]))
    errors = [np.square(proba - np.eye(3)[y[held_out]]).sum() for proba in each]
    assert 1 < n_rounds < boosting.MOST_ROUNDS
    assert np.argmin(errors) + 1 == n_rounds
    assert_allclose(fit.out_of_sample[held_out], each[n_rounds - 1], atol=1e-6)
    assert np.isnan(fit.out_of_sample[seen]).all()


def test_trees_of_two_classes_grow_with_the_rows_and_those_of_more_are_large():
    assert [n_leaves(n, 2) for n in (100, 3_300, 4_400, 10**5)] == [15, 15, 20, 31]
    assert n_leaves(100, 3) == 31


def test_wrong_labels_stop_it_earlier():
    X, y = rings(1500)
    noisy = flip_labels(y, 0.4, random_state=0).labels
    assert np.mean(boosted(X, noisy).rounds) < np.mean(boosted(X, y).rounds)


def test_rows_drawn_of_a_large_table_have_one_booster_and_rows_held_out(monkeypatch):
    monkeypatch.setattr(boosting, "MAX_SEEN", 400)
    X, y = rings()
    source = TableSource(check_samples(X, y))
    ((done,), _) = source.fit([boosting_job(source, None, 1)])
    assert len(done.fit.boosters) == 1
    known = done.held_out.positions
    assert len(known) == len(done.fit.out_of_sample) == 90
    assert_allclose(np.bincount(y[known]) / 90, np.bincount(y) / 900, atol=0.02)
    again = done.fit.boosters[0].proba(X[known], 3)
    assert_allclose(again, done.fit.out_of_sample, atol=1e-6)
    accuracy = (done.fit.out_of_sample.argmax(axis=1) == y[known]).mean()
    assert accuracy > 0.8


def test_drawn_rows_that_cannot_be_boosted_say_why():
    X, y = rings(60)
    y = np.where(np.arange(60) == 3, 1, 0)
    source = TableSource(check_samples(X, y))
    ((done,), _) = source.fit([boosting_job(source, None, 1)])
    assert done.fit is None or len(done.fit.boosters) == 1
    if done.fit is None:
        assert "one class only" in done.problem


def test_threads_row_order_and_names_of_classes_change_nothing():
    X, y = rings()
    plain = boosted(X, y)
    order, names = np.random.default_rng(1).permutation(len(X)), np.array([2, 0, 1])
    other = boost_samples(check_samples(X[order], names[y[order]]), np.ones(len(X)), 2)
    assert other.rounds == plain.rounds
    assert_array_equal(other.out_of_sample[:, names], plain.out_of_sample[order])
    for one, two in zip(plain.boosters, other.boosters, strict=True):
        assert_array_equal(two.proba(X, 3)[:, names], one.proba(X, 3))


def test_rows_of_weight_zero_are_left_out():
    X, y = rings()
    weights = (np.arange(len(X)) % 3 > 0).astype(float)
    some = weights > 0
    fit, alone = boosted(X, y, weights), boosted(X[some], y[some])
    assert_array_equal(fit.out_of_sample[some], alone.out_of_sample)
    assert np.isnan(fit.out_of_sample[~some]).all()


def test_one_class_in_a_part_cannot_be_boosted():
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.zeros(40, int)
    y[3] = 1
    with pytest.raises(BoostingError, match="one class only"):
        fit_boosting(X, narrow_table(X), np.arange(40), y, 2, np.ones(40), 1)
