"""Graph regularisers against the full Laplacians."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from granulearn.rvfl import graph_names, graph_regulariser
from granulearn.rvfl.graph_rvfl import _SCATTERS


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


def test_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    H, codes = rng.normal(size=(60, 4)), rng.integers(0, 3, 60)
    whole = graph_regulariser(H, codes, "lfda", form="published", n_neighbors=5)
    monkeypatch.setattr("granulearn.rvfl.ridge.BLOCK_BYTES", 7 * 60 * 8)
    blocked = graph_regulariser(H, codes, "lfda", form="published", n_neighbors=5)
    assert_allclose(blocked, whole, rtol=1e-9)


@pytest.mark.parametrize("graph", ["lda", "lfda", "mda"])
@given(problem=labelled_rows())
def test_the_symmetric_form_is_symmetric_and_positive(graph, problem):
    G = graph_regulariser(*problem, graph, form="symmetric", n_neighbors=3)
    assert_allclose(G, G.T, atol=1e-9 * np.abs(G).max())
    assert np.linalg.eigvalsh(G).min() >= -1e-9 * np.abs(G).max()


@given(problem=labelled_rows())
def test_the_two_forms_have_the_same_eigenvalues_where_the_scatter_is_positive(problem):
    """R S_w R and R R S_w are similar; for lda S_b is positive as it is."""
    published = graph_regulariser(*problem, "lda", form="published", n_neighbors=3)
    symmetric = graph_regulariser(*problem, "lda", form="symmetric", n_neighbors=3)
    of_published = np.sort(np.linalg.eigvals(published).real)
    of_symmetric = np.linalg.eigvalsh(symmetric)
    assert_allclose(of_published, of_symmetric, atol=1e-8 * np.abs(of_symmetric).max())


def test_rows_that_are_all_equal_have_no_scatter():
    G = graph_regulariser(
        np.ones((4, 2)), np.array([0, 1, 0, 1]), "lfda", form="published", n_neighbors=3
    )
    assert_allclose(G, 0)


def test_an_unknown_graph_lists_the_known_ones():
    assert graph_names() == ["lda", "lfda", "mda"]
    with pytest.raises(ValueError, match="'lda', 'lfda', 'mda'"):
        graph_regulariser(np.ones((2, 1)), np.array([0, 1]), "pca", form="published", n_neighbors=3)
