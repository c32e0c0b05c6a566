"""Deep networks on balls: the ball forms of what one layer and every sample give."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.balls import membership_names
from granulearn.rvfl import (
    DeepGBRVFLClassifier,
    DeepRVFLClassifier,
    EnsembleDeepGBRVFLClassifier,
    EnsembleDeepRVFLClassifier,
    GBRVFLClassifier,
)
from tests.rvfl.families import one_ball_per_sample, overlapping_classes

both_forms = pytest.mark.parametrize(
    ("on_balls", "on_samples"),
    [
        (DeepGBRVFLClassifier, DeepRVFLClassifier),
        (EnsembleDeepGBRVFLClassifier, EnsembleDeepRVFLClassifier),
    ],
)


@both_forms
@pytest.mark.parametrize(
    "membership", [name for name in membership_names() if name != "precomputed"]
)
def test_one_layer_is_gb_rvfl_with_any_membership(on_balls, on_samples, membership):
    X, y = overlapping_classes(3)
    settings = {"membership": membership, "purity": 0.985, "random_state": 0, "C": 10.0}
    shallow = GBRVFLClassifier(**settings).fit(X, y)
    deep = on_balls(n_layers=1, **settings).fit(X, y)
    assert_array_equal(deep.coef_[0], shallow.coef_)
    assert_array_equal(deep.membership_, shallow.membership_)
    assert_allclose(deep.decision_function(X), shallow.decision_function(X), rtol=0, atol=1e-12)


@both_forms
def test_every_ridge_carries_the_memberships(on_balls, on_samples):
    X, y = one_ball_per_sample()
    delta = np.random.default_rng(0).uniform(0.2, 1, len(X))
    settings = {"n_layers": 3, "n_hidden": 12, "random_state": 4}
    balls = on_balls(purity=1.0, **settings).fit(X, y, sample_membership=delta)
    samples = on_samples(**settings).fit(X, y, sample_weight=delta**2)
    assert_allclose(balls.decision_function(X), samples.decision_function(X), rtol=1e-6, atol=1e-8)


@both_forms
def test_one_ball_predicts_the_majority_at_every_stage(on_balls, on_samples):
    X, y = overlapping_classes(3)
    y = np.append(y, [1] * 30)
    X = np.vstack([X, X[:30]])
    with pytest.warns(UserWarning, match="every prediction is that class"):
        model = on_balls(purity=0.01, n_layers=3).fit(X, y)
    for labels in model.staged_predict(X):
        assert_array_equal(labels, np.ones(len(X)))
