"""RVFL and ELM: random features of every sample, solved in closed form."""

from __future__ import annotations

from granulearn.estimators.base import BaseRVFLClassifier
from granulearn.estimators.estimator import SHALLOW, Abilities


class RVFLClassifier(BaseRVFLClassifier):
    r"""Random vector functional link network.

    Inputs and a layer of random, never trained hidden nodes are regressed on
    the classes by one weighted ridge. Use it as a fast, strong baseline on
    tables of up to millions of scaled rows. Its weak point is wrong labels:
    every sample counts fully, and features that are not scaled drown in others.

    Parameters
    ----------
    n_hidden : int, default=100
        Number of hidden nodes.
    activation : str, default="relu"
        Activation of the hidden nodes: a name of `granulearn.network.activation_names`.
    C : float, default=1.0
        Inverse of the ridge penalty; large values fit more closely.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes. The nodes of a narrow network are the first
        nodes of a wide one drawn from the same integer.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's samples; "balanced" gives every
        class the same total weight.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had column names.
    coef_ : ndarray of shape (n_columns, n_classes)
        Output weights of the direct link, the bias and the hidden nodes, in
        that order.
    features_ : RandomFeatures
        The map from inputs to those columns.

    Notes
    -----
    :math:`H = [X, 1, \varphi(X W + b)]` with :math:`W \sim U(-1, 1)` and
    :math:`b \sim U(0, 0.1)`;

    .. math::
        \min_\Theta \tfrac{C}{2} \sum_i w_i \lVert h_i' \Theta - y_i \rVert^2
        + \tfrac12 \lVert \Theta \rVert^2 .

    A sample membership :math:`\delta` is a sample weight :math:`\delta^2`.

    References
    ----------
    Y.-H. Pao, G.-H. Park, D. J. Sobajic, "Learning and generalization
    characteristics of the random vector functional-link net",
    Neurocomputing 6 (1994).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from granulearn.estimators import RVFLClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), RVFLClassifier(random_state=0))
    >>> model.fit(X, y).score(X, y) > 0.95
    True
    """

    _abilities = Abilities(
        command="rvfl",
        summary="no balls: a random network on every row; fast",
        in_parts=True,
        onnx="network",
        shared_work=SHALLOW,
    )

    def __init__(
        self, n_hidden=100, activation="relu", C=1.0, random_state=None, class_weight=None
    ):
        super().__init__(n_hidden, activation, C, random_state, class_weight)


class ELMClassifier(BaseRVFLClassifier):
    r"""Extreme learning machine: an RVFL network without the direct link.

    Only the random hidden nodes and a bias are regressed on the classes. Use
    it as the baseline that shows what the direct link of `RVFLClassifier`
    brings. Its weak point is exactly that missing link: linear structure must
    be rebuilt from random nodes.

    Parameters
    ----------
    n_hidden : int, default=100
        Number of hidden nodes.
    activation : str, default="relu"
        Activation of the hidden nodes: a name of `granulearn.network.activation_names`.
    C : float, default=1.0
        Inverse of the ridge penalty; large values fit more closely.
    random_state : int, RandomState or None, default=None
        Draws the hidden nodes.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of each class's samples; "balanced" gives every
        class the same total weight.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had column names.
    coef_ : ndarray of shape (n_columns, n_classes)
        Output weights of the bias and the hidden nodes, in that order.
    features_ : RandomFeatures
        The map from inputs to those columns.

    Notes
    -----
    :math:`H = [1, \varphi(X W + b)]`; otherwise as `RVFLClassifier`.

    References
    ----------
    G.-B. Huang, Q.-Y. Zhu, C.-K. Siew, "Extreme learning machine: theory and
    applications", Neurocomputing 70 (2006).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from granulearn import ELMClassifier
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> model = ELMClassifier(random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    _abilities = Abilities(
        command="elm",
        summary="as rvfl, without the direct link to the inputs",
        onnx="network",
        shared_work=SHALLOW,
    )
    _direct_link = False

    def __init__(
        self, n_hidden=100, activation="relu", C=1.0, random_state=None, class_weight=None
    ):
        super().__init__(n_hidden, activation, C, random_state, class_weight)
