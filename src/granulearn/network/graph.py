"""Graph regularisers of GE-GB-RVFL: keep classes tight and apart.

A graph on the rows of H has a Laplacian L; ``H' L H`` measures how much
features vary along its edges. S_w does so within classes (to be small), S_b
between classes (to be large). No k x k matrix is formed for k rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg, sparse

from granulearn.memberships.base import nearest_points
from granulearn.network.ridge import one_hot, row_blocks

# Added to S_b before it is inverted; the value of the published scripts.
BETWEEN_SHIFT = 1e-3

Scatters = tuple[np.ndarray, np.ndarray]


def graph_names() -> list[str]:
    """Return the names of the graphs, sorted.

    Examples
    --------
    >>> from granulearn.network import graph_names
    >>> graph_names()
    ['lda', 'lfda', 'mda']
    """
    return sorted(_SCATTERS)


def graph_regulariser(
    H: np.ndarray, codes: np.ndarray, graph: str, *, form: str, n_neighbors: int
) -> np.ndarray:
    """Return G, of shape (p, p), for the rows of H and their classes.

    Parameters
    ----------
    H : ndarray of shape (k, p)
        Rows to be joined by edges.
    codes : ndarray of shape (k,)
        Class of each row, as small integers.
    graph : {"lda", "lfda", "mda"}
        Which rows are joined.
    form : {"published", "symmetric"}
        ``"published"``: ``pinv(S_b + 1e-3 I) S_w``, neither symmetric nor
        positive. ``"symmetric"``: ``R S_w R`` with ``R = (S_b + 1e-3 I)^-1/2``
        after negative eigenvalues of S_b are set to zero.
    n_neighbors : int
        For ``"mda"``: number of neighbours; within its class, a row counts itself.

    Examples
    --------
    >>> import numpy as np
    >>> from granulearn.network import graph_regulariser
    >>> H = np.array([[0.0, 1.0], [0.1, 1.0], [2.0, 1.0], [2.1, 1.0]])
    >>> codes = np.array([0, 0, 1, 1])
    >>> graph_regulariser(H, codes, "lda", form="published", n_neighbors=1).round(4)
    array([[0.0025, 0.    ],
           [0.    , 0.    ]])
    """
    if graph not in _SCATTERS:
        raise ValueError(f"graph={graph!r} is not known: use one of {graph_names()}.")
    within, between = _SCATTERS[graph](H, codes, n_neighbors)
    if form == "published":
        shifted = between + BETWEEN_SHIFT * np.eye(len(between))
        return np.linalg.pinv(shifted) @ within
    root = _inverse_root(between)
    return root @ within @ root


def _inverse_root(between: np.ndarray) -> np.ndarray:
    values, vectors = linalg.eigh(between)
    return (vectors / np.sqrt(values.clip(min=0) + BETWEEN_SHIFT)) @ vectors.T


def _lda_scatters(H: np.ndarray, codes: np.ndarray, n_neighbors: int) -> Scatters:
    """Complete graphs: distances of rows to their class mean, and of class means to the mean."""
    deviations, spread = class_deviations(H, codes)
    return deviations.T @ deviations, spread.T @ spread


def class_deviations(H: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the factors of the scatters of the "lda" graphs.

    Parameters
    ----------
    H : ndarray of shape (k, p)
        Rows.
    codes : ndarray of shape (k,)
        Class of each row, as small integers.

    Returns
    -------
    deviations : ndarray of shape (k, p)
        Rows minus the mean of their class; ``S_w`` is its transpose times itself.
    spread : ndarray of shape (n_classes, p)
        Class means minus the mean of all rows, times the root of the class's size;
        ``S_b`` is its transpose times itself.
    """
    counts = np.bincount(codes)
    class_sums = one_hot(codes, len(counts)).T.astype(np.float64) @ H
    class_means = class_sums / np.maximum(counts, 1)[:, None]
    deviations = H - class_means[codes]
    spread = np.sqrt(counts)[:, None] * (class_means - H.mean(axis=0))
    return deviations, spread


def _lfda_scatters(H: np.ndarray, codes: np.ndarray, n_neighbors: int) -> Scatters:
    """Affinity graphs: near rows of a class count more."""
    k = len(H)
    centred = H - H.mean(axis=0)  # same differences, but their squares lose fewer digits
    square_norms = np.einsum("ij,ij->i", centred, centred)
    mean_square_distance = 2 * square_norms.mean()
    if mean_square_distance == 0:
        return np.zeros((H.shape[1],) * 2), np.zeros((H.shape[1],) * 2)
    class_share = 1 / np.bincount(codes)[codes]
    within, between = np.zeros((H.shape[1],) * 2), np.zeros((H.shape[1],) * 2)
    for block in row_blocks(k, 8 * k):
        squares = square_norms[block, None] + square_norms - 2 * centred[block] @ centred.T
        affinity = np.exp(-squares.clip(min=0) / (2 * mean_square_distance))
        same = codes[block, None] == codes
        share = class_share[block, None]
        within += _block_laplacian(np.where(same, affinity * share, 0), centred, block)
        edges = np.where(same, affinity * (1 / k - share), 1 / k)
        between += _block_laplacian(edges, centred, block)
    return within, between


def _block_laplacian(edges: np.ndarray, H: np.ndarray, block: slice) -> np.ndarray:
    """Return the part of ``H' (D - W) H`` that comes from a block of rows of W."""
    rows = H[block]
    return rows.T @ (edges.sum(axis=1)[:, None] * rows - edges @ H)


def _mda_scatters(H: np.ndarray, codes: np.ndarray, n_neighbors: int) -> Scatters:
    """Join rows to their nearest of the same class, and of the other classes."""
    own = [np.flatnonzero(codes == code) for code in np.unique(codes)]
    others = [np.flatnonzero(codes != code) for code in np.unique(codes)]
    within = _nearest_graph(H, own, own, n_neighbors)
    between = _nearest_graph(H, own, others, n_neighbors)
    return _sparse_scatter(within, H), _sparse_scatter(between, H)


def _nearest_graph(
    H: np.ndarray, sources: list[np.ndarray], targets: list[np.ndarray], n_neighbors: int
) -> sparse.csr_array:
    """Join each group of source rows to their nearest rows of its target group, both ways."""
    heads, tails = [], []
    for source, target in zip(sources, targets, strict=True):
        n_joined = min(n_neighbors, len(target))
        if n_joined:
            nearest = nearest_points(H[target], H[source], n_joined)
            heads.append(np.repeat(source, n_joined))
            tails.append(target[nearest].ravel())
    head, tail = np.concatenate(heads), np.concatenate(tails)
    edges = sparse.csr_array((np.ones(len(head)), (head, tail)), shape=(len(H), len(H)))
    return edges.maximum(edges.T)


def _sparse_scatter(edges: sparse.csr_array, H: np.ndarray) -> np.ndarray:
    degrees = np.asarray(edges.sum(axis=1)).ravel()
    return H.T @ (degrees[:, None] * H - edges @ H)


_SCATTERS: dict[str, Callable[[np.ndarray, np.ndarray, int], Scatters]] = {
    "lda": _lda_scatters,
    "lfda": _lfda_scatters,
    "mda": _mda_scatters,
}
