"""GE-GB-RVFL; graph regularisers against the full Laplacians."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from granulearn.rvfl import GBRVFLClassifier, GEGBRVFLClassifier, graph_regulariser
from granulearn.rvfl.graph_rvfl import _SCATTERS
from tests.rvfl.families import overlapping_classes


def laplacian(W):
    return np.diag(W.sum(axis=1)) - W


def slow_lda(H, codes, n_neighbors):
    k = len(H)
    within, between = np.eye(k), -np.ones((k, k)) / k
    for code in np.unique(codes):
        e = (codes == code).astype(float)
        within -= np.outer(e, e) / e.sum()
        between += np.outer(e, e) / e.sum()
    return within, between


def slow_lfda(H, codes, n_neighbors):
    k = len(H)
    squares = cdist(H, H, "sqeuclidean")
    W, B = np.zeros((k, k)), np.zeros((k, k))
    for i in range(k):
        for j in range(k):
            a = np.exp(-squares[i, j] / (2 * squares.mean()))
            share = 1 / (codes == codes[i]).sum()
            same = codes[i] == codes[j]
            W[i, j] = a * share if same else 0
            B[i, j] = a * (1 / k - share) if same else 1 / k
    return laplacian((W + W.T) / 2), laplacian((B + B.T) / 2)


def slow_mda(H, codes, n_neighbors):
    k = len(H)
    distances = cdist(H, H)
    W, B = np.zeros((k, k)), np.zeros((k, k))
    for i in range(k):
        for graph, allowed in ((W, codes == codes[i]), (B, codes != codes[i])):
            candidates = np.flatnonzero(allowed)
            nearest = candidates[np.argsort(distances[i, candidates])[:n_neighbors]]
            graph[i, nearest] = graph[nearest, i] = 1
    return laplacian(W), laplacian(B)


SLOW_LAPLACIANS = {"lda": slow_lda, "lfda": slow_lfda, "mda": slow_mda}


@st.composite
def labelled_rows(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    k, p, n_classes = draw(st.integers(5, 25)), draw(st.integers(1, 6)), draw(st.integers(2, 4))
    codes = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, k - n_classes)])
    return rng.normal(size=(k, p)), codes


@pytest.mark.parametrize("graph", ["lda", "lfda", "mda"])
@given(problem=labelled_rows(), n_neighbors=st.integers(1, 6))
def test_scatters_are_those_of_the_full_laplacians(graph, problem, n_neighbors):
    H, codes = problem
    expected = [H.T @ L @ H for L in SLOW_LAPLACIANS[graph](H, codes, n_neighbors)]
    for found, wanted in zip(_SCATTERS[graph](H, codes, n_neighbors), expected, strict=True):
        assert_allclose(found, wanted, atol=1e-9)


@pytest.mark.parametrize("graph", ["lda", "lfda", "mda"])
@given(problem=labelled_rows())
def test_the_symmetric_form_is_symmetric_and_positive(graph, problem):
    G = graph_regulariser(*problem, graph, form="symmetric", n_neighbors=3)
    assert_allclose(G, G.T, atol=1e-9 * np.abs(G).max())
    assert np.linalg.eigvalsh(G).min() >= -1e-9 * np.abs(G).max()


every_graph = pytest.mark.parametrize("graph", ["lda", "lfda", "mda"])
every_form = pytest.mark.parametrize("form", ["published", "symmetric"])


@every_graph
@every_form
def test_output_weights_solve_the_regularised_equations(graph, form):
    X, y = overlapping_classes(3)
    settings = {"graph": graph, "graph_form": form, "gamma": 0.3, "n_neighbors": 4}
    model = GEGBRVFLClassifier(
        n_hidden=10, C=2.0, membership="fuzzy", random_state=0, **settings
    ).fit(X, y)
    H = model.features_(model.balls_.centers)
    A = model.membership_[:, None] * H
    SY = model.membership_[:, None] * np.eye(3)[model.balls_.labels]
    G = graph_regulariser(H, model.balls_.labels, graph, form=form, n_neighbors=4)
    system = A.T @ A + np.eye(len(G)) / 2 + 0.3 / 2 * G
    assert_allclose(system @ model.coef_, A.T @ SY, rtol=1e-6, atol=1e-6)


@every_graph
@every_form
def test_without_strength_the_graph_changes_nothing(graph, form):
    X, y = overlapping_classes(3)
    plain = GBRVFLClassifier(random_state=0).fit(X, y)
    model = GEGBRVFLClassifier(gamma=0, graph=graph, graph_form=form, random_state=0).fit(X, y)
    assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-7)
