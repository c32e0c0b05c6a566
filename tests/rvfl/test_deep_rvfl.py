"""Laws of deep and ensemble deep random vector networks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.rvfl import DeepRVFLClassifier, EnsembleDeepRVFLClassifier, RVFLClassifier
from tests.rvfl.families import overlapping_classes

both_forms = pytest.mark.parametrize("classifier", [DeepRVFLClassifier, EnsembleDeepRVFLClassifier])
shapes = st.tuples(st.integers(1, 5), st.integers(1, 40), st.integers(4, 90), st.integers(2, 4))


@both_forms
@given(shape=shapes, weighted=st.booleans())
@settings(max_examples=25)
def test_one_layer_is_rvfl(classifier, shape, weighted):
    seed, n_hidden, n_samples, n_classes = shape
    X, y = overlapping_classes(n_classes, n_samples, seed)
    weights = np.random.default_rng(seed).uniform(0.1, 2, n_samples) if weighted else None
    network = {"n_hidden": n_hidden, "random_state": seed, "activation": "sine", "C": 10.0}
    shallow = RVFLClassifier(**network).fit(X, y, sample_weight=weights)
    deep = classifier(n_layers=1, **network).fit(X, y, sample_weight=weights)
    assert_array_equal(deep.features_(X), shallow.features_(X))
    assert_array_equal(deep.coef_[0], shallow.coef_)
    assert_allclose(deep.decision_function(X), shallow.decision_function(X), rtol=0, atol=1e-12)


@both_forms
@pytest.mark.parametrize("n_samples", [30, 150])
@pytest.mark.parametrize("normalize", [True, False])
def test_fewer_layers_of_a_deeper_fit_are_the_shallower_fit(classifier, n_samples, normalize):
    X, y = overlapping_classes(3, n_samples)
    network = {"n_hidden": 20, "random_state": 1, "normalize": normalize}
    deep = classifier(n_layers=4, **network).fit(X, y)
    for n_layers, scores in enumerate(deep.staged_decision_function(X), start=1):
        shallow = classifier(n_layers=n_layers, **network).fit(X, y)
        assert_allclose(scores, shallow.decision_function(X), rtol=1e-6, atol=1e-8)


def test_layers_that_vote_are_not_layers_that_are_averaged():
    X, y = overlapping_classes(3, n_samples=300)
    voting = EnsembleDeepRVFLClassifier(combine="vote", n_hidden=8, random_state=0).fit(X, y)
    alone = RVFLClassifier(n_hidden=8, random_state=0).fit(X, y)
    assert_array_equal(next(voting.staged_predict(X)), alone.predict(X))
    assert_allclose(voting.decision_function(X).sum(axis=1), 1)
    mean = EnsembleDeepRVFLClassifier(n_hidden=8, random_state=0).fit(X, y)
    assert 0.9 < np.mean(voting.predict(X) == mean.predict(X)) < 1


@both_forms
def test_more_layers_learn_what_one_cannot(classifier):
    """A chessboard of many fields: a layer of few nodes is too simple for it."""
    X = np.random.default_rng(0).uniform(-1, 1, (1500, 2))
    y = (np.floor(2 * X).sum(axis=1) % 2).astype(int)
    model = classifier(n_layers=6, n_hidden=40, activation="sine", C=1e4, random_state=0)
    model.fit(X[:1000], y[:1000])
    accuracy = [np.mean(labels == y[1000:]) for labels in model.staged_predict(X[1000:])]
    assert max(accuracy[1:]) > accuracy[0] + 0.05


def test_normalisation_uses_training_rows_only():
    """A test row far away changes the answer for no other row."""
    X, y = overlapping_classes()
    model = EnsembleDeepRVFLClassifier(random_state=0).fit(X, y)
    with_outlier = np.vstack([X, 1e6 * np.ones((1, X.shape[1]))])
    found = model.decision_function(with_outlier)[:-1]
    assert_allclose(found, model.decision_function(X), atol=1e-12)
