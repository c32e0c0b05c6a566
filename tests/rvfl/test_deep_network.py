"""Stages of deep networks: how layers are combined, and what a wrong number of nodes says."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.rvfl.deep import running_means, running_votes
from tests.rvfl.families import DEEP_CLASSIFIERS, overlapping_classes

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


def test_one_loud_layer_does_not_overturn_a_majority():
    scores = np.array([[[0.0, 1.0]], [[0.0, 1.0]], [[200.0, 0.0]]])
    assert running_votes(scores)[-1].argmax() == 1


@given(scores_of_layers(), st.integers(1, 5))
def test_the_mean_of_identical_layers_is_the_layer(scores, n_layers):
    alike = np.repeat(scores[:1], n_layers, axis=0)
    assert_allclose(running_means(alike)[-1], scores[0], atol=1e-12)
    assert_array_equal(running_votes(alike)[-1].argmax(axis=1), scores[0].argmax(axis=1))


@every_deep_classifier
@pytest.mark.parametrize("n_hidden", [[5, 6], [5, 6, 0], [5, 6, 2.5], [5, 6, 7, 8], []])
def test_a_wrong_list_of_widths_says_how_many_there_must_be(classifier, n_hidden):
    with pytest.raises(ValueError, match="one for each of the n_layers=3 layers"):
        classifier(n_layers=3, n_hidden=n_hidden).fit(*overlapping_classes())


@every_deep_classifier
def test_one_width_is_the_same_width_for_every_layer(classifier):
    X, y = overlapping_classes(3)
    one = classifier(n_layers=3, n_hidden=6, random_state=0).fit(X, y)
    each = classifier(n_layers=3, n_hidden=(6, 6, 6), random_state=0).fit(X, y)
    assert_array_equal(one.decision_function(X), each.decision_function(X))


@every_deep_classifier
def test_layers_may_differ_in_width(classifier):
    X, y = overlapping_classes(3)
    model = classifier(n_layers=3, n_hidden=[9, 2, 5], random_state=0).fit(X, y)
    assert_array_equal(model.features_.layer_columns, [13, 6, 9])
    assert len(list(model.staged_predict(X))) == 3


@every_deep_classifier
@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"n_layers": 0}, "'n_layers' parameter"), ({"normalize": "yes"}, "'normalize' parameter")],
)
def test_a_wrong_setting_is_named(classifier, wrong, message):
    with pytest.raises(ValueError, match=message):
        classifier(**wrong).fit(*overlapping_classes())


@every_deep_classifier
def test_memory_of_fit_and_predict_is_bounded_by_blocks(classifier, monkeypatch):
    monkeypatch.setattr("granulearn.rvfl.ridge.BLOCK_BYTES", 2**20)
    X, y = overlapping_classes(n_samples=40_000)
    model = classifier(n_layers=3, n_hidden=50, random_state=0)
    model.fit(X, y)  # compiled loops are loaded when they are first called
    tracemalloc.start()
    model.fit(X, y).predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(X) * model.features_.n_columns * 8 > 45 * 2**20
    assert peak < 20 * 2**20
