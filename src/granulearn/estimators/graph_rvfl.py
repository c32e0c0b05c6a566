"""GE-GB-RVFL: a random vector network on balls, with a graph in its penalty."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import ClassVar

from granulearn._sklearn_compat import Interval, StrOptions
from granulearn.estimators.ball_rvfl import GBRVFLClassifier
from granulearn.estimators.estimator import SHALLOW, Abilities
from granulearn.network import graph_names, graph_regulariser, normal_equations, solve_graph_ridge
from granulearn.network.ridge import check_finite_system


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
        Activation of the hidden nodes: a name of `granulearn.network.activation_names`.
    C : float, default=1.0
        Inverse of the ridge penalty; large values fit more closely.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes and, independently of them, the balls.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's balls; "balanced" gives every
        class the same total weight.
    balls : str, BallMaker or callable, default="two-means"
        How balls are made: a name of `granulearn.balls.maker_names`, an instance,
        or a function that takes `Samples` and returns a `BallSet`.
    purity : float, default=0.925
        Balls with a smaller share of their most frequent class are split. Used where
        `balls` is the name of a maker with a purity.
    min_ball_size : int, default=1
        Balls with fewer samples are dropped. The paper's scripts use 2 here,
        which can drop every ball of a small class; that is an error.
    init : {"k-means++", "class-means"}, default="k-means++"
        Where the two means of a split start, for ``balls="two-means"``.
    membership : str, Membership or callable, default="uniform"
        How far a ball is trusted: a name of `granulearn.memberships.membership_names`,
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
        onnx="network",
        shared_work=replace(SHALLOW, graph_penalty=True, leave_one_out=False),
    )
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

    def _solve(self, features, rows, Y):
        equations, G = self._graph_system(features, rows, Y)
        return solve_graph_ridge(equations, G, self.C)

    def _graph_system(self, features, rows, Y):
        """Return the normal equations and gamma G, which no penalty changes."""
        equations = normal_equations(features, rows.X, Y, rows.weights)
        check_finite_system(equations.gram, equations.moment)
        G = graph_regulariser(
            features(rows.X),
            rows.codes,
            self.graph,
            form=self.graph_form,
            n_neighbors=self.n_neighbors,
        )
        return equations, self.gamma * G
