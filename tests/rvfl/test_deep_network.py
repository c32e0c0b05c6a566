"""Ridges and stages of deep networks, and how layers are combined."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge

from granulearn.rvfl import draw_deep_features
from granulearn.rvfl.deep import running_means, running_votes
from granulearn.rvfl.ridge import ridge_solvers
from tests.rvfl.families import DEEP_CLASSIFIERS, overlapping_classes


@st.composite
def deep_problems(draw):
    """Draw features, X, Y, w and C with more, as many or fewer rows than columns."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_features = draw(st.integers(1, 30)), draw(st.integers(1, 4))
    X, Y = rng.normal(size=(n_rows, n_features)), rng.normal(size=(n_rows, 2))
    weights = rng.uniform(0.1, 2, n_rows) if draw(st.booleans()) else None
    widths = draw(st.lists(st.integers(1, 8), min_size=1, max_size=4))
    features = draw_deep_features(
        X, weights, widths, "sigmoid", feeds_inputs=draw(st.booleans()), normalize=True, seed=3
    )
    return features, X, Y, weights, 10.0 ** draw(st.integers(-2, 2))


def by_scikit_learn(H, Y, weights, C):
    model = Ridge(alpha=1 / C, fit_intercept=False, solver="svd")
    return model.fit(H, Y, sample_weight=weights).coef_.T


@given(deep_problems())
def test_each_design_has_the_ridge_on_its_columns_for_every_penalty(problem):
    """Layers alone where inputs are fed again, else leading columns."""
    features, X, Y, weights, C = problem
    H = features(X)
    designs = (
        list(features.layers(X))
        if features.feeds_inputs
        else [features.first_layers(n)(X) for n in range(1, len(features.deeper) + 2)]
    )
    solvers = ridge_solvers(features, X, Y, weights)
    for solve, columns in zip(solvers, designs, strict=True):
        assert features.feeds_inputs or np.array_equal(columns, H[:, : columns.shape[1]])
        for penalty in (C, 10 * C):
            expected = by_scikit_learn(columns, Y, weights, penalty)
            assert_allclose(solve(penalty), expected, rtol=1e-5, atol=1e-7)


every_deep_classifier = pytest.mark.parametrize("classifier", DEEP_CLASSIFIERS)


@st.composite
def scores_of_layers(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(st.integers(1, 6)), draw(st.integers(1, 5)), draw(st.integers(2, 4))
    return np.round(rng.normal(size=shape), 1)


@given(scores_of_layers())
def test_running_means_are_means_of_the_first_layers(scores):
    for n_layers, found in enumerate(running_means(scores), start=1):
        assert_allclose(found, scores[:n_layers].mean(axis=0), atol=1e-12)


@given(scores_of_layers())
def test_most_votes_win_and_the_mean_settles_ties(scores):
    n_classes = scores.shape[2]
    for n_layers, found in enumerate(running_votes(scores), start=1):
        assert_allclose(found.sum(axis=1), 1)
        votes = scores[:n_layers].argmax(axis=2)
        mean = scores[:n_layers].mean(axis=0)
        for row, shares in enumerate(found):
            counts = np.bincount(votes[:, row], minlength=n_classes)
            winners = np.flatnonzero(counts == counts.max())
            best = mean[row, winners].max()
            assert mean[row, shares.argmax()] >= best - 1e-12
            assert shares.argmax() in winners


@every_deep_classifier
@pytest.mark.parametrize("n_hidden", [[5, 6], [5, 6, 0], [5, 6, 2.5], [5, 6, 7, 8], []])
def test_a_wrong_list_of_widths_says_how_many_there_must_be(classifier, n_hidden):
    with pytest.raises(ValueError, match="one for each of the n_layers=3 layers"):
        classifier(n_layers=3, n_hidden=n_hidden).fit(*overlapping_classes())


@every_deep_classifier
def test_layers_may_differ_in_width(classifier):
    X, y = overlapping_classes(3)
    model = classifier(n_layers=3, n_hidden=[9, 2, 5], random_state=0).fit(X, y)
    assert [len(c) - 4 for c in model.coef_] in ([9, 2, 5], [9, 11, 16])
    assert len(list(model.staged_predict(X))) == 3


@every_deep_classifier
def test_memory_of_fit_and_predict_is_bounded_by_blocks(classifier, monkeypatch):
    monkeypatch.setattr("granulearn.rvfl.ridge.BLOCK_BYTES", 2**20)
    X, y = overlapping_classes(n_samples=40_000)
    model = classifier(n_layers=3, n_hidden=50, random_state=0)
    model.fit(X, y)  # modules are imported when they are first used
    tracemalloc.start()
    model.fit(X, y).predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(X) * model.features_.n_columns * 8 > 45 * 2**20
    assert peak < 20 * 2**20
