"""Laws of the evidence membership."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_moons

from granulearn.balls import EvidenceMembership, generate_balls, resolve_membership
from granulearn.balls.memberships import known_mean
from granulearn.datasets import flip_labels
from granulearn.forest import BallForestClassifier
from granulearn.rvfl import GBRVFLClassifier


def noisy_moons():
    X, y = make_moons(300, noise=0.15, random_state=0)
    return X, *flip_labels(y, 0.2, random_state=0)


def test_a_ball_gets_the_mean_reliability_of_its_samples():
    X, y, _ = noisy_moons()
    balls = generate_balls(X, y, purity=0.9, random_state=0)
    forest = BallForestClassifier(100, splitter="means", stop=0.8, random_state=0).fit(X, y)
    expected = [
        forest.label_quality_[balls.assignment == ball].mean() for ball in range(len(balls))
    ]
    assert_allclose(resolve_membership("evidence")(balls, X, y), expected)


def test_balls_of_wrong_labels_are_trusted_least():
    X, y, wrong = noisy_moons()
    balls = generate_balls(X, y, purity=1.0, random_state=0)
    trust = EvidenceMembership()(balls, X, y)
    share_wrong = balls.sample_mean(wrong.astype(float))
    assert trust[share_wrong == 1].mean() + 0.2 < trust[share_wrong == 0].mean()


def test_values_that_are_unknown_are_left_out_and_a_ball_of_them_is_trusted():
    X, y = np.array([[0.0], [0.1], [5.0], [5.1]]), np.array([0, 0, 1, 1])
    balls = generate_balls(X, y, random_state=0)
    values = np.array([0.2, np.nan, np.nan, np.nan])
    assert_array_equal(known_mean(balls, values)[balls.assignment], [0.2, 0.2, 1, 1])


def test_the_only_sample_of_a_class_is_counted_in_a_warning():
    X, y, _ = noisy_moons()
    y[0] = 2
    balls = generate_balls(X, y, random_state=0)
    with pytest.warns(UserWarning, match="1 of 300 labels is unknown"):
        trust = EvidenceMembership(n_estimators=40)(balls, X, y)
    assert np.isfinite(trust).all()


def test_every_ball_model_can_use_it_and_repeats_itself():
    X, y, _ = noisy_moons()
    scores = [
        GBRVFLClassifier(membership="evidence", random_state=0).fit(X, y).decision_function(X)
        for _ in range(2)
    ]
    assert_array_equal(*scores)


def test_without_samples_it_says_what_it_needs():
    X, y, _ = noisy_moons()
    with pytest.raises(ValueError, match="call it with the X and y"):
        EvidenceMembership()(generate_balls(X, y))
