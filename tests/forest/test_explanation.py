"""Explanations of rows: what they say adds up to what the model predicts."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError

from granulearn.ensemble import RobustClassifier
from granulearn.forest import BallForestClassifier
from granulearn.forest.explanation import training_samples
from granulearn.rvfl import RVFLEnsembleClassifier
from tests.rvfl.families import overlapping_classes

SMALL = {
    "forest": BallForestClassifier(30),
    "rvfl": RVFLEnsembleClassifier(2, 15),
    "noise_matrix": None,
    "random_state": 0,
}


@pytest.fixture(scope="module")
def fitted():
    X, y = overlapping_classes(3, n_samples=200)
    return X, y, RobustClassifier(**SMALL).fit(X, y)


def test_members_share_in_the_scores(fitted):
    X, _, model = fitted
    scores, proba = model.decision_function(X), model.predict_proba(X)
    for i, why in enumerate(model.explain(X)):
        assert why.label == model.predict(X[[i]])[0]
        assert why.probability == pytest.approx(proba[i, why.label])
        assert sum(member.weight for member in why.members.values()) == pytest.approx(1)
        mean = sum(member.weight * member.probability for member in why.members.values())
        assert mean == pytest.approx(scores[i, why.label])


def test_a_probability_that_is_not_the_mean_of_the_members_is_accounted_for(fitted):
    X, _, model = fitted
    for why in model.explain(X):
        mean = sum(member.weight * member.probability for member in why.members.values())
        told = f"their mean, {mean:.3f}, is calibrated to {why.probability:.3f}"
        assert (told in str(why)) == (f"{mean:.3f}" != f"{why.probability:.3f}")


def test_boosted_trees_are_a_member():
    X, y = overlapping_classes(2, n_samples=300)
    model = RobustClassifier(**SMALL).fit(X, y)
    scores = model.decision_function(X[:10])
    for why, difference in zip(model.explain(X[:10]), scores, strict=True):
        assert set(why.members) == {name for name, weight in model.weights_.items() if weight > 0}
        mean = sum(member.weight * member.probability for member in why.members.values())
        assert mean == pytest.approx((1 + abs(difference)) / 2)


def test_without_training_rows_there_are_members_only_and_it_says_so(fitted):
    X, _, model = fitted
    (why,) = model.explain(X[:1])
    assert (why.balls, why.nearest, why.knows_training) == ((), (), False)
    assert "pass training=(X, y)" in str(why)


def test_balls_and_nearest_rows_are_those_of_the_training_rows(fitted):
    X, y, model = fitted
    new = X[:20] + 0.1
    for row, why in zip(new, model.explain(new, training=(X, y)), strict=True):
        distances = np.linalg.norm((X - row) / X.std(axis=0), axis=1)
        assert_array_equal(why.nearest, np.argsort(distances)[:3])
        assert why.knows_training
        assert len(why.balls) == 3
        for ball in why.balls:
            assert len(ball.class_counts) == 3
            assert 0 < ball.n_samples <= model.forest_.in_bag_[ball.tree].sum()
            assert 0 < ball.weight <= 1 / 30 + 1e-12
        assert f"by position: {', '.join(map(str, why.nearest))}" in str(why)


def test_nearest_rows_are_positions_whatever_the_rows_of_a_frame_are_called(fitted):
    X, y, model = fitted
    called = pd.DataFrame(X, index=1000 + np.arange(len(X))[::-1])
    (why,) = model.explain(X[:1], training=(called, y))
    assert_array_equal(
        why.nearest, np.argsort(np.linalg.norm((X - X[0]) / X.std(axis=0), axis=1))[:3]
    )


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 1, 1: 3.5, 2: 1}])
def test_balls_give_back_what_a_forest_predicts(class_weight):
    X, y = overlapping_classes(3, n_samples=200)
    y[:60] = 0
    model = BallForestClassifier(40, random_state=0, class_weight=class_weight).fit(X, y)
    expected = model.predict_proba(X[:30])
    for given in ((X, y), (X, y, np.ones(200))):
        trees = model._weigh_trees(training_samples(model, given))
        rows = model.forest_.rows(model._checked(X[:30]))
        told = [
            np.mean([t.contributions[t.path(row)].sum(axis=0) for t in trees], axis=0)
            for row in rows
        ]
        assert_allclose(told, expected, atol=1e-5)


def test_samples_of_weight_zero_are_not_in_balls():
    X, y = overlapping_classes(2, n_samples=120)
    weights = (np.arange(120) % 3 > 0).astype(float)
    whole = BallForestClassifier(20, random_state=0).fit(X, y, weights)
    part = BallForestClassifier(20, random_state=0).fit(X[weights > 0], y[weights > 0])
    found = whole.explain(X[:10], (X, y, weights))
    expected = part.explain(X[:10], (X[weights > 0], y[weights > 0]))
    assert [why.balls for why in found] == [why.balls for why in expected]


def test_columns_have_the_names_of_a_frame():
    X, y = overlapping_classes(2, n_samples=100)
    frame = pd.DataFrame(X, columns=["length", "width", "height"])
    model = BallForestClassifier(20, random_state=0).fit(frame, y)
    found = model.explain(frame[:5], training=(frame, y))
    columns = {column for why in found for ball in why.balls for column, _ in ball.columns}
    assert columns
    assert columns <= set(frame.columns)
    assert any(f"{side} {column}" in str(found[0]) for column in columns for side in
               ("higher", "lower"))  # fmt: skip


def test_a_forest_of_another_library_has_no_balls():
    X, y = overlapping_classes(2, n_samples=80)
    model = RobustClassifier(**SMALL | {"forest": RandomForestClassifier(10)}).fit(X, y)
    (why,) = model.explain(X[:1], training=(X, y))
    assert why.balls == ()
    assert why.nearest[0] == 0


def test_other_rows_than_those_of_fit_are_refused(fitted):
    X, y, model = fitted
    with pytest.raises(ValueError, match="training has 199 rows, and the model was fitted to 200"):
        model.explain(X[:1], training=(X[1:], y[1:]))
    with pytest.raises(ValueError, match="other rows or labels than the model was fitted to"):
        model.explain(X[:1], training=(2 * X + 1, y))
    with pytest.raises(ValueError, match="class 7, which the model does not know"):
        model.explain(X[:1], training=(X, np.where(y == 0, 7, y)))
    with pytest.raises(ValueError, match="got 1 part"):
        model.explain(X[:1], training=(X,))
    with pytest.raises(NotFittedError):
        RobustClassifier().explain(X)


def test_other_labels_than_those_of_fit_are_refused():
    X, y = overlapping_classes(2)
    model = RobustClassifier(**SMALL).fit(X, y)
    with pytest.raises(ValueError, match="other rows or labels than the model was fitted to"):
        model.explain(X[:2], training=(X, y[::-1].copy()))


def test_samples_of_weight_zero_are_not_nearest():
    X, y = overlapping_classes(2)
    weights = np.ones(len(X))
    weights[0] = 0
    model = RobustClassifier(**SMALL).fit(X, y, weights)
    (why,) = model.explain(X[:1], training=(X, y, weights))
    assert 0 not in why.nearest
    assert len(why.nearest) == 3
