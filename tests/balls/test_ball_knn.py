"""The nearest ball: laws, and looking at every ball."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import shuffle
from sklearn.utils.estimator_checks import parametrize_with_checks

from granulearn import GBRVFLClassifier, GranularBallKNNClassifier
from granulearn.balls import TwoMeansBalls, balls_from_labels
from granulearn.balls.generators import generator_names
from tests.rvfl.families import one_ball_per_sample, overlapping_classes


@parametrize_with_checks(
    [
        GranularBallKNNClassifier(),
        GranularBallKNNClassifier(n_neighbors=3, balls="gbg++"),
        GranularBallKNNClassifier(balls="k-division"),
        GranularBallKNNClassifier(balls="rd-gbg"),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def by_looking_at_every_ball(model, X):
    """Return the mean class shares of the nearest balls, one row after the other."""
    balls = model.balls_
    scores = []
    for row in X:
        to_surface = np.linalg.norm(row - balls.centers, axis=1) - balls.radii
        nearest = sorted(range(len(balls)), key=lambda ball: (to_surface[ball], ball))
        chosen = nearest[: model.n_neighbors]
        scores.append(np.mean(balls.class_counts[chosen] / balls.counts[chosen, None], axis=0))
    return np.array(scores)


@settings(max_examples=40)
@given(
    n_classes=st.integers(2, 4),
    n_neighbors=st.sampled_from([1, 2, 5, 1000]),
    generator=st.sampled_from(generator_names()),
    seed=st.integers(0, 1000),
)
def test_predictions_are_those_of_looking_at_every_ball(n_classes, n_neighbors, generator, seed):
    X, y = overlapping_classes(n_classes, 120, seed)
    model = GranularBallKNNClassifier(n_neighbors, generator, random_state=seed)
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # a class without balls
        model.fit(X, y)
    new = np.random.RandomState(seed).uniform(X.min(), X.max(), (100, 3))
    probabilities = model.predict_proba(new)
    assert_allclose(probabilities, by_looking_at_every_ball(model, new), atol=1e-12)
    assert_allclose(probabilities.sum(axis=1), 1)
    assert_array_equal(model.predict(new), model.classes_[probabilities.argmax(axis=1)])


@pytest.mark.parametrize("generator", ["two-means", "k-division"])
def test_one_neighbour_gives_the_label_of_the_nearest_ball(generator):
    X, y = overlapping_classes(3)
    model = GranularBallKNNClassifier(balls=generator, random_state=0).fit(X, y)
    balls = model.balls_
    to_surface = np.linalg.norm(X[:, None] - balls.centers, axis=2) - balls.radii
    assert_array_equal(model.predict(X), balls.labels[to_surface.argmin(axis=1)])


def test_balls_of_one_sample_are_nearest_neighbours():
    X, y = one_ball_per_sample()
    model = GranularBallKNNClassifier(n_neighbors=3, purity=1.0, random_state=0).fit(X, y)
    assert_array_equal(model.balls_.counts, 1)
    new = np.random.RandomState(0).uniform(0, 6, (200, 1)) * [1, -1]
    expected = KNeighborsClassifier(3).fit(X, y).predict_proba(new)
    assert_allclose(model.predict_proba(new), expected)


def test_radii_count():
    """A large ball reaches a sample that is nearer to the centre of a small one."""
    X = np.array([[-4.0], [4.0], [9.0], [9.2]])

    def two_balls(samples):
        return balls_from_labels(samples, (samples.X[:, 0] > 5).astype(int))

    model = GranularBallKNNClassifier(balls=two_balls).fit(X, [0, 0, 1, 1])
    assert_array_equal(model.balls_.radii.round(9), [4.0, 0.1])
    assert_array_equal(model.predict([[6.0], [6.6]]), [0, 1])


@pytest.mark.parametrize("generator", generator_names())
@pytest.mark.parametrize("seed", range(3))
def test_integer_weights_are_repeated_rows_in_any_order(generator, seed):
    X, y = overlapping_classes(3, n_samples=60, seed=seed)
    weights = np.random.default_rng(seed).integers(0, 4, len(X))
    repeated = shuffle(np.repeat(X, weights, axis=0), np.repeat(y, weights), random_state=seed)
    model = GranularBallKNNClassifier(2, generator, random_state=seed)
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # a class without balls
        weighted = clone(model).fit(X, y, sample_weight=weights)
        plain = clone(model).fit(*repeated)
    assert_array_equal(weighted.predict_proba(X), plain.predict_proba(X))
    assert_array_equal(weighted.balls_.assignment < 0, weights == 0)


def test_the_same_seed_gives_the_balls_of_the_other_ball_models():
    X, y = overlapping_classes(3)
    own = GranularBallKNNClassifier(random_state=5).fit(X, y)
    others = GBRVFLClassifier(random_state=5).fit(X, y)
    assert_array_equal(own.balls_.assignment, others.balls_.assignment)


def test_a_class_without_weight_has_probability_zero():
    X, y = overlapping_classes(3)
    model = GranularBallKNNClassifier(2, random_state=0).fit(X, y, sample_weight=y != 1)
    assert_array_equal(model.classes_, [0, 1, 2])
    assert_array_equal(model.predict_proba(X)[:, 1], 0)
    assert set(model.predict(X)) == {0, 2}


def test_names_of_classes_change_only_names():
    X, y = overlapping_classes(3)
    names = np.array(["zebra", "ape", "mole"])
    plain = GranularBallKNNClassifier(3, random_state=0).fit(X, y)
    named = GranularBallKNNClassifier(3, random_state=0).fit(X, names[y])
    assert_allclose(named.predict_proba(X)[:, [2, 0, 1]], plain.predict_proba(X))


def test_settings_of_a_maker_can_be_searched_over():
    X, y = overlapping_classes()
    model = GranularBallKNNClassifier(balls=TwoMeansBalls(), random_state=0)
    search = GridSearchCV(model, {"balls__purity": [0.7, 1.0], "n_neighbors": [1, 3]}, cv=2)
    assert set(search.fit(X, y).best_params_) == {"balls__purity", "n_neighbors"}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_neighbors": 0}, "'n_neighbors' parameter of GranularBallKNNClassifier"),
        ({"balls": "cubes"}, "balls='cubes' is not known"),
        ({"purity": 2}, "purity=2 must lie"),
        ({"min_ball_size": 0}, "min_ball_size=0 must be"),
        ({"init": "random"}, "init='random' is not known"),
    ],
)
def test_a_wrong_setting_is_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        GranularBallKNNClassifier(**wrong).fit(*overlapping_classes())


@pytest.mark.parametrize("generator", generator_names())
def test_the_smallest_numbers_are_numbers(generator):
    rng = np.random.default_rng(0)
    X, y = rng.integers(-50, 50, size=(80, 3)) * 1e-320, np.arange(80) % 2
    model = GranularBallKNNClassifier(balls=generator, random_state=0).fit(X, y)
    for rows in (X, 0 * X, X * 1e300, X + 1):
        assert_allclose(model.predict_proba(rows).sum(axis=1), 1)
