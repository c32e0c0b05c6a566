"""Laws of the ball forest classifier; those of the trees are in test_forest."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_circles

from granulearn import generate_balls
from granulearn.datasets import flip_labels
from granulearn.forest import BallForestClassifier
from tests.rvfl.families import overlapping_classes


def test_probabilities_sum_to_one_and_decide():
    X, y = overlapping_classes(3)
    model = BallForestClassifier(n_estimators=40, random_state=0).fit(
        X, np.array(["a", "b", "c"])[y]
    )
    proba = model.predict_proba(X)
    assert_allclose(proba.sum(axis=1), 1)
    assert_array_equal(model.predict(X), model.classes_[proba.argmax(axis=1)])


def test_label_quality_is_the_out_of_bag_probability_of_the_own_label():
    X, y = overlapping_classes(3)
    model = BallForestClassifier(random_state=0).fit(X, np.array(["z", "b", "c"])[y])
    own = np.searchsorted(model.classes_, np.array(["z", "b", "c"])[y])
    assert_array_equal(model.label_quality_, model.oob_proba_[np.arange(len(y)), own])


def test_wrong_labels_are_the_least_reliable():
    X, y = make_circles(400, noise=0.05, factor=0.5, random_state=0)
    noisy, mask = flip_labels(y, 0.1, random_state=0)
    label_quality = BallForestClassifier(random_state=0).fit(X, noisy).label_quality_
    assert mask[np.argsort(label_quality)[: mask.sum()]].mean() > 0.9


def test_threads_and_repeated_fits_change_nothing():
    X, y = overlapping_classes(3, n_samples=300)
    first = BallForestClassifier(n_estimators=40, random_state=4).fit(X, y)
    second = BallForestClassifier(n_estimators=40, random_state=4, n_jobs=3).fit(X, y)
    assert_array_equal(first.oob_proba_, second.oob_proba_)
    assert_array_equal(first.predict_proba(X), second.predict_proba(X))
    other = BallForestClassifier(n_estimators=40, random_state=5).fit(X, y)
    assert not np.array_equal(first.predict_proba(X), other.predict_proba(X))


def test_fits_in_two_threads_share_nothing():
    X, y = overlapping_classes(3, n_samples=600)

    def fitted(seed):
        balls = generate_balls(X, y, random_state=seed)
        forest = BallForestClassifier(n_estimators=40, random_state=seed).fit(X, y)
        return balls.assignment, forest.oob_proba_

    with ThreadPoolExecutor(2) as pool:
        at_once = list(pool.map(fitted, range(6)))
    for seed, found in enumerate(at_once):
        for own, expected in zip(found, fitted(seed), strict=True):
            assert_array_equal(own, expected)


def test_float32_gives_the_answer_of_the_same_values_in_double():
    X, y = overlapping_classes(2)
    X = X.astype(np.float32)
    single = BallForestClassifier(n_estimators=40, random_state=0).fit(X, y)
    double = BallForestClassifier(n_estimators=40, random_state=0).fit(X.astype(float), y)
    assert_array_equal(single.predict_proba(X), double.predict_proba(X.astype(float)))


def test_balanced_classes_have_equal_say():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(110, 2)), np.r_[np.zeros(100, int), np.ones(10, int)]
    with pytest.warns(UserWarning, match="110 of 110"):
        model = BallForestClassifier(1, 1.0, stop=1.0, class_weight="balanced").fit(X, y)
    assert_allclose(model.predict_proba(X[:1]), 0.5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_estimators": 0}, "'n_estimators' parameter"),
        ({"max_samples": 0.0}, "'max_samples' parameter"),
        ({"max_samples": 1.5}, "'max_samples' parameter"),
        ({"n_candidates": 0}, "'n_candidates' parameter"),
        ({"stop": 0.0}, "'stop' parameter"),
        ({"class_weight": "equal"}, "balanced"),
    ],
)
def test_a_wrong_setting_is_named_with_what_is_valid(settings, message):
    with pytest.raises(ValueError, match=message):
        BallForestClassifier(**settings).fit(*overlapping_classes())


def test_priors_are_weighted_by_out_of_bag_error_and_means_are_a_splitter():
    X, y = overlapping_classes(3, n_samples=300)
    model = BallForestClassifier(40, random_state=0).fit(X, y)
    assert len(model.priors_) == 5
    assert model.prior_weights_.sum() == pytest.approx(1)
    means = BallForestClassifier(40, splitter="means", stop=0.8, random_state=0).fit(X, y)
    assert_array_equal(means.prior_weights_, [1])
    assert not np.allclose(means.predict_proba(X), model.predict_proba(X))


def test_a_group_is_never_in_and_out_of_bag_at_once():
    X, y = overlapping_classes(2, n_samples=200)
    groups = np.arange(200) // 5
    model = BallForestClassifier(30, random_state=0).fit(X, y, groups=groups)
    assert_array_equal(model.in_bag_[:, ::5].repeat(5, axis=1), model.in_bag_)
    assert model.in_bag_.mean() == pytest.approx(0.632, abs=0.02)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        BallForestClassifier().fit(X, y, groups=groups[:-1])
