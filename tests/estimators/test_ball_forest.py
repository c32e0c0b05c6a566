"""Laws of the ball forest classifier; those of the trees are in tests/balls."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_circles

from granulearn.datasets import flip_labels
from granulearn.estimators import BallForestClassifier, ball_forest
from granulearn.estimators.ball_forest import telling
from granulearn.utils.validation import check_samples
from tests.rvfl.families import overlapping_classes


def test_probabilities_sum_to_one_and_decide():
    X, y = overlapping_classes(3)
    model = BallForestClassifier(n_trees=40, random_state=0).fit(X, np.array(["a", "b", "c"])[y])
    proba = model.predict_proba(X)
    assert_allclose(proba.sum(axis=1), 1)
    assert_array_equal(model.predict(X), model.classes_[proba.argmax(axis=1)])


def test_one_leaf_gives_the_class_frequencies():
    X, y = overlapping_classes(2, n_samples=50)
    with pytest.warns(UserWarning, match="50 of 50 labels is unknown"):
        model = BallForestClassifier(n_trees=1, max_samples=1.0, stop=1.0).fit(X, y)
    expected = (np.bincount(y) + 0.5) / 51
    assert_allclose(model.predict_proba(X), np.tile(expected, (50, 1)), rtol=1e-9)
    assert np.isnan(model.oob_proba_).all()


def test_reliability_is_the_out_of_bag_probability_of_the_own_label():
    X, y = overlapping_classes(3)
    model = BallForestClassifier(random_state=0).fit(X, np.array(["z", "b", "c"])[y])
    own = np.searchsorted(model.classes_, np.array(["z", "b", "c"])[y])
    assert_array_equal(model.reliability_, model.oob_proba_[np.arange(len(y)), own])


def test_wrong_labels_are_the_least_reliable():
    X, y = make_circles(400, noise=0.05, factor=0.5, random_state=0)
    noisy, mask = flip_labels(y, 0.1, random_state=0)
    reliability = BallForestClassifier(random_state=0).fit(X, noisy).reliability_
    assert mask[np.argsort(reliability)[: mask.sum()]].mean() > 0.9


def test_the_only_sample_of_a_class_has_no_reliability_and_is_counted():
    X, y = overlapping_classes(2, n_samples=40)
    y[0] = 2
    with pytest.warns(UserWarning, match="1 of 40 labels is unknown"):
        model = BallForestClassifier(random_state=0).fit(X, y)
    assert np.isnan(model.reliability_[0])
    assert np.isfinite(model.reliability_[1:]).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BallForestClassifier(random_state=0).fit(X[1:], y[1:])


def test_threads_and_repeated_fits_change_nothing():
    X, y = overlapping_classes(3, n_samples=300)
    first = BallForestClassifier(n_trees=40, random_state=4).fit(X, y)
    second = BallForestClassifier(n_trees=40, random_state=4, n_jobs=3).fit(X, y)
    assert_array_equal(first.oob_proba_, second.oob_proba_)
    assert_array_equal(first.predict_proba(X), second.predict_proba(X))
    other = BallForestClassifier(n_trees=40, random_state=5).fit(X, y)
    assert not np.array_equal(first.predict_proba(X), other.predict_proba(X))


def test_float32_gives_the_answer_of_the_same_values_in_double():
    X, y = overlapping_classes(2)
    X = X.astype(np.float32)
    single = BallForestClassifier(n_trees=40, random_state=0).fit(X, y)
    double = BallForestClassifier(n_trees=40, random_state=0).fit(X.astype(float), y)
    assert_array_equal(single.predict_proba(X), double.predict_proba(X.astype(float)))


def test_balanced_classes_have_equal_say():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(110, 2)), np.r_[np.zeros(100, int), np.ones(10, int)]
    with pytest.warns(UserWarning, match="110 of 110"):
        model = BallForestClassifier(1, 1.0, stop=1.0, class_weight="balanced").fit(X, y)
    assert_allclose(model.predict_proba(X[:1]), 0.5)


def test_importances_follow_the_evidence():
    X, y = overlapping_classes(2, n_samples=300)
    X = np.column_stack([X, np.zeros(300)])
    importances = BallForestClassifier(random_state=0).fit(X, y).feature_importances_
    assert importances.sum() == pytest.approx(1)
    assert importances[3] == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_trees": 0}, "'n_trees' parameter"),
        ({"max_samples": 0.0}, "'max_samples' parameter"),
        ({"max_samples": 1.5}, "'max_samples' parameter"),
        ({"n_tries": 0}, "'n_tries' parameter"),
        ({"stop": 0.0}, "'stop' parameter"),
        ({"class_weight": "equal"}, "balanced"),
    ],
)
def test_a_wrong_setting_is_named_with_what_is_valid(settings, message):
    with pytest.raises(ValueError, match=message):
        BallForestClassifier(**settings).fit(*overlapping_classes())


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.r_[-1.0, np.ones(149)], "must not be negative"),
        (np.zeros(150), "zero for every sample"),
        (np.full(150, 1e4), "divide it so that a typical weight is near one"),
    ],
)
def test_wrong_weights_are_errors(weights, message):
    with pytest.raises(ValueError, match=message):
        BallForestClassifier().fit(*overlapping_classes(), sample_weight=weights)


def test_text_and_one_class_are_errors_that_say_what_to_do():
    X, y = overlapping_classes()
    with pytest.raises(ValueError, match="only one class"):
        BallForestClassifier().fit(X, np.zeros(len(X), int))
    with pytest.raises(ValueError, match="NaN"):
        BallForestClassifier().fit(np.where(X > 5, np.nan, X), y)


def test_samples_without_a_copy_and_not_alone_in_their_class_tell(monkeypatch):
    monkeypatch.setattr(ball_forest, "FEWEST_TELLING", 2)
    X = np.array([[1.0, 2], [1, 2], [1, 2], [3, 4], [5, 6], [7, 8]])
    y = np.array([0, 0, 1, 1, 1, 0])
    weights = np.array([1.0, 1, 1, 2, 1.2, 0])
    found = telling(check_samples(X, y, sample_weight=weights))
    assert_array_equal(found, [False, False, True, False, True, False])
    repeated = np.repeat(np.arange(6), 2)
    assert not telling(check_samples(X[repeated], y[repeated])).any()
    # Where all count twice, those without a copy tell.
    found = telling(check_samples(X, y, sample_weight=np.full(6, 2.0)))
    assert_array_equal(found, [False, False, True, True, True, True])
    assert_array_equal(telling(check_samples(X, [0, 0, 1, 2, 2, 2])), [0, 0, 0, 1, 1, 1])
