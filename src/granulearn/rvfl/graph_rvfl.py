"""GE-GB-RVFL: a random vector network on balls, with a graph in its penalty.

A graph on the rows of H has a Laplacian L; ``H' L H`` measures how much
features vary along its edges. S_w does so within classes (to be small), S_b
between classes (to be large). No k x k matrix is formed for k rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from scipy import linalg, sparse

from granulearn._sklearn_compat import Interval, StrOptions
from granulearn.rvfl.ball_rvfl import GBRVFLClassifier
from granulearn.rvfl.ridge import (
    check_finite_system,
    normal_equations,
    one_hot,
    row_blocks,
    solve_graph_ridge,
)
from granulearn.utils.estimator import Abilities
from granulearn.utils.neighbors import nearest_points

# Added to S_b before it is inverted; the value of the published scripts.
BETWEEN_SHIFT = 1e-3

Scatters = tuple[np.ndarray, np.ndarray]


def graph_names() -> list[str]:
    """Return the names of the graphs, sorted.

    Examples
    --------
    >>> from granulearn.rvfl import graph_names
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
    >>> from granulearn.rvfl import graph_regulariser
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
    """Complete graphs: deviations of rows from their class mean, and of class means from the mean.

    In the graph within classes, all rows of a class are joined; the other one is what is left of
    the graph that joins all rows.
    """
    counts = np.bincount(codes)
    class_sums = one_hot(codes, len(counts)).T.astype(np.float64) @ H
    class_means = class_sums / np.maximum(counts, 1)[:, None]
    deviations = H - class_means[codes]
    weighted_means = np.sqrt(counts)[:, None] * (class_means - H.mean(axis=0))
    return deviations.T @ deviations, weighted_means.T @ weighted_means


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


class GEGBRVFLClassifier(GBRVFLClassifier):
    r"""GB-RVFL with a graph regulariser that keeps classes tight and apart.

    A graph on the balls measures how the hidden features vary within and
    between classes, and directions that vary within classes are penalised
    more. Use it when balls of a class lie on a curved, connected shape. Its
    weak point is the published regulariser: it is neither symmetric nor
    positive, so it can reward what it means to punish;
    ``graph_form="symmetric"`` is the sound form.

    Parameters
    ----------
    n_hidden : int, default=100
        Number of hidden nodes.
    activation : str, default="relu"
        Activation of the hidden nodes: a name of `granulearn.rvfl.activation_names`.
    C : float, default=1.0
        Inverse of the ridge penalty; large values fit more closely.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes and, independently of them, the balls.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's balls; "balanced" gives every
        class the same total weight.
    balls : str, BallGenerator or callable, default="two-means"
        How balls are made: "two-means", "k-division", "gbg++" or "rd-gbg", a generator,
        or a function that takes the samples and returns a `BallSet`.
    purity : float, default=0.925
        Balls with a smaller share of their most frequent class are split. Used where
        `balls` is a name.
    min_ball_size : int, default=1
        Balls with fewer samples are dropped. The paper's scripts use 2 here,
        which can drop every ball of a small class; that is an error.
    init : {"k-means++", "class-means"}, default="k-means++"
        Where the two means of a split start, for ``balls="two-means"``.
    membership : str, Membership or callable, default="uniform"
        How far a ball is trusted: a name of `granulearn.balls.membership_names`,
        an instance, or a function that takes a `BallSet` and returns one number
        in [0, 1] per ball. Memberships passed to `fit` overrule it.
    n_jobs : int or None, default=None
        Threads for making balls of large data; changes no result.
    graph : {"lda", "lfda", "mda"}, default="lda"
        Which balls are joined. ``"lda"``: all of a class. ``"lfda"``: all of a
        class, near ones more. ``"mda"``: the nearest of the same and of other classes.
    graph_form : {"published", "symmetric"}, default="published"
        ``"published"``: as in the paper, neither symmetric nor positive.
        ``"symmetric"``: the positive semi-definite form.
    gamma : float, default=1.0
        Strength of the graph regulariser, relative to the penalty 1/C.
    n_neighbors : int, default=5
        For ``graph="mda"``: number of neighbours; within its class, a ball counts itself.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had column names.
    balls_ : BallSet
        The balls; samples of weight zero belong to none (assignment -1).
    membership_ : ndarray of shape (n_balls,)
        Membership of each ball.
    coef_ : ndarray of shape (n_columns, n_classes)
        Output weights of the direct link, the bias and the hidden nodes, in
        that order.
    features_ : RandomFeatures
        The map from inputs to those columns.

    Notes
    -----
    .. math::
        (A'A + I/C + (\gamma/C) G) \Theta = A' S Y, \quad
        G = (S_b + 10^{-3} I)^+ S_w

    with :math:`A = S H` and the scatters :math:`S_w = H' L_w H`,
    :math:`S_b = H' L_b H` of the graphs within and between classes. The
    symmetric form is :math:`G = R S_w R`,
    :math:`R = (S_b + 10^{-3} I)^{-1/2}`.

    References
    ----------
    M. Sajid, A. Quadir, M. Tanveer, "GB-RVFL: Fusion of Randomized Neural
    Network and Granular Ball Computing", Pattern Recognition 159 (2025).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from granulearn import GEGBRVFLClassifier
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> model = GEGBRVFLClassifier(random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.8
    True
    """

    # Leave-one-out is written for systems without a graph only.
    _abilities = Abilities(
        command="ge-gbrvfl",
        summary="balls, with a graph that keeps classes apart",
        search="cv",
    )
    _is_nested = False
    _parameter_constraints: ClassVar[dict] = {
        **GBRVFLClassifier._parameter_constraints,
        "graph": [StrOptions(set(graph_names()))],
        "graph_form": [StrOptions({"published", "symmetric"})],
        "gamma": [Interval(Real, 0, None, closed="left")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_hidden=100,
        activation="relu",
        C=1.0,
        random_state=None,
        class_weight=None,
        balls="two-means",
        purity=0.925,
        min_ball_size=1,
        init="k-means++",
        membership="uniform",
        n_jobs=None,
        graph="lda",
        graph_form="published",
        gamma=1.0,
        n_neighbors=5,
    ):
        super().__init__(
            n_hidden, activation, C, random_state, class_weight,
            balls, purity, min_ball_size, init, membership, n_jobs,
        )  # fmt: skip
        self.graph = graph
        self.graph_form = graph_form
        self.gamma = gamma
        self.n_neighbors = n_neighbors

    def _ridges(self, features, rows, Y):
        (equations,) = normal_equations(features, rows.X, Y, rows.weights)
        check_finite_system(equations.gram, equations.moment)
        G = self.gamma * graph_regulariser(
            features(rows.X),
            rows.codes,
            self.graph,
            form=self.graph_form,
            n_neighbors=self.n_neighbors,
        )
        return [partial(solve_graph_ridge, equations, G)]
