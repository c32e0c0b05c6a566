"""Classifiers for Dask collections; each fits an ordinary, in-memory classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from dask import delayed
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from granulearn._sklearn_compat import fit_context
from granulearn.distributed.ball_fit import fit_balls
from granulearn.distributed.blocks import blocks_in_step, checked_blocks
from granulearn.distributed.cluster import compute
from granulearn.distributed.facts import BlockFacts
from granulearn.distributed.member_fit import fit_members
from granulearn.distributed.prediction import predict_lazily
from granulearn.distributed.reduction import tree_reduce
from granulearn.distributed.row_sums import fit_rows
from granulearn.estimators import BallForestClassifier, RobustClassifier
from granulearn.rvfl import (
    FGBRVFLClassifier,
    GBRVFLClassifier,
    RVFLClassifier,
    RVFLEnsembleClassifier,
    SDAPGBRVFLClassifier,
)
from granulearn.utils.estimator import draw_seeds


class _OnDask(BaseEstimator):
    """`fit` and lazy predictions on Dask collections, for a plain classifier's parameters."""

    _plain: ClassVar[type]

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None, sample_membership=None):
        """Fit the network in closed form, block by block.

        Parameters
        ----------
        X : Dask array or DataFrame of shape (n_samples, n_features)
            Inputs, used as they come: scale them first.
        y : Dask array or Series of shape (n_samples,)
            Class labels.
        sample_weight : Dask array or Series of shape (n_samples,), default=None
            How many samples each one stands for; zero leaves it out.
        sample_membership : Dask array or Series of shape (n_samples,), default=None
            How far each sample can be trusted, in [0, 1].

        Returns
        -------
        self
            The fitted classifier; ``estimator_`` is the ordinary one.
        """
        name = self._plain.__name__
        blocks = checked_blocks(X, y, sample_weight, sample_membership, name)
        model = self._plain(**self.get_params(deep=False))
        fit_blocks(model, blocks, X.shape[1])
        self.estimator_ = model
        for key, value in vars(model).items():
            if key.endswith("_"):  # what the ordinary classifier has learnt is found here too
                setattr(self, key, value)
        return self

    def predict(self, X):
        """Return the class of each row, not yet computed.

        Parameters
        ----------
        X : Dask array or DataFrame of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        Dask array or Series of shape (n_samples,)
            Class labels; a Series keeps the index of X.
        """
        return self._lazily("predict", X)

    def predict_proba(self, X):
        """Return class probabilities, not yet computed.

        Parameters
        ----------
        X : Dask array or DataFrame of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        Dask array or DataFrame of shape (n_samples, n_classes)
            Rows sum to one; a DataFrame keeps the index of X.
        """
        return self._lazily("predict_proba", X)

    def decision_function(self, X):
        """Return the scores of the classes, not yet computed; for two classes their difference.

        Parameters
        ----------
        X : Dask array or DataFrame of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        Dask array, Series or DataFrame
            Scores as of the ordinary classifier.
        """
        return self._lazily("decision_function", X)

    def score(self, X, y, sample_weight=None):
        """Return the accuracy, computed block by block.

        Parameters
        ----------
        X : Dask array or DataFrame of shape (n_samples, n_features)
            Inputs.
        y : Dask array or Series of shape (n_samples,)
            True labels.
        sample_weight : Dask array or Series of shape (n_samples,), default=None
            How many samples each one stands for.

        Returns
        -------
        float
            Weighted share of the samples whose class is predicted.
        """
        predicted = self.predict(X)
        instead = f"{self._plain.__name__}.score"
        parts = blocks_in_step(predicted, instead, y=y, sample_weight=sample_weight)
        count = delayed(_hits)
        (hits,) = compute(tree_reduce(np.add, [count(*part) for part in parts]))
        return float(hits[0] / hits[1])

    def _lazily(self, method: str, X: Any) -> Any:
        check_is_fitted(self, "estimator_")
        return predict_lazily(self.estimator_, method, X)


class DaskRVFLClassifier(_OnDask, RVFLClassifier):
    """`RVFLClassifier` for Dask arrays and DataFrames.

    The parameters are those of `RVFLClassifier`. Use it when the table does not
    fit in memory; the plain class is faster on a table that does.

    Attributes
    ----------
    estimator_ : RVFLClassifier
        The ordinary classifier: it predicts, is saved and exported without
        Dask. Its fitted attributes are those of this object too.

    Notes
    -----
    The normal equations are summed over blocks in a fixed order. With one block
    the result equals the plain classifier's exactly; with several, up to rounding.
    It never depends on the order in which workers finish. The data is read once, or
    twice with `class_weight`.

    Examples
    --------
    >>> import dask.array as da
    >>> from granulearn.distributed import DaskRVFLClassifier
    >>> X = da.random.default_rng(0).normal(size=(2000, 3), chunks=(500, 3))
    >>> y = (X.sum(axis=1) > 0).astype(int)
    >>> model = DaskRVFLClassifier(random_state=0).fit(X, y)
    >>> model.predict(X).chunks
    ((500, 500, 500, 500),)
    >>> model.score(X, y) > 0.95
    True
    """

    _plain = RVFLClassifier


class DaskGBRVFLClassifier(_OnDask, GBRVFLClassifier):
    """`GBRVFLClassifier` for Dask arrays and DataFrames: balls are made block by block.

    The parameters are those of `GBRVFLClassifier`. Use it when the table does
    not fit in memory. Its weak point is rows sorted by class: a block that holds
    one class becomes a single ball, so shuffle such rows.

    Attributes
    ----------
    estimator_ : GBRVFLClassifier
        The ordinary classifier: it predicts, is saved and exported without
        Dask. Its fitted attributes are those of this object too; above ten
        million rows ``balls_.assignment`` is empty.

    Notes
    -----
    With one block the result equals the plain classifier's exactly. With
    several, a ball never reaches from one block into another, so there are
    somewhat more balls than one machine would make. All centres are gathered:
    their number times the features must fit in the memory of a worker and of
    the client.

    A ball is rated by all blocks with "uniform", "fuzzy", "sdap" or a function, by
    its own samples with memberships given for samples, and by the samples of its
    block with any other scheme. Above 20,000 balls "sdap" seeks the neighbours of
    each among 20,000 balls drawn at random.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import make_moons
    >>> from granulearn.distributed import DaskGBRVFLClassifier
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> rows, labels = da.from_array(X, chunks=(100, 2)), da.from_array(y, chunks=100)
    >>> model = DaskGBRVFLClassifier(random_state=0).fit(rows, labels)
    >>> model.estimator_.score(X, y) > 0.8  # the ordinary classifier
    True
    """

    _plain = GBRVFLClassifier


class DaskFGBRVFLClassifier(_OnDask, FGBRVFLClassifier):
    """`FGBRVFLClassifier` for Dask arrays and DataFrames.

    The parameters are those of `FGBRVFLClassifier`; balls are made as in
    `DaskGBRVFLClassifier`.

    Attributes
    ----------
    estimator_ : FGBRVFLClassifier
        The ordinary classifier: it predicts, is saved and exported without
        Dask. Its fitted attributes are those of this object too.

    Notes
    -----
    Means and radii of the classes are those of all samples, so the data is read
    twice; between the two passes, 16 bytes per row stay with the workers.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import make_moons
    >>> from granulearn.distributed import DaskFGBRVFLClassifier
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> rows, labels = da.from_array(X, chunks=(100, 2)), da.from_array(y, chunks=100)
    >>> model = DaskFGBRVFLClassifier(random_state=0).fit(rows, labels)
    >>> model.estimator_.score(X, y) > 0.8  # the ordinary classifier
    True
    """

    _plain = FGBRVFLClassifier


class DaskSDAPGBRVFLClassifier(_OnDask, SDAPGBRVFLClassifier):
    """`SDAPGBRVFLClassifier` for Dask arrays and DataFrames.

    The parameters are those of `SDAPGBRVFLClassifier`; balls are made as in
    `DaskGBRVFLClassifier`.

    Attributes
    ----------
    estimator_ : SDAPGBRVFLClassifier
        The ordinary classifier: it predicts, is saved and exported without
        Dask. Its fitted attributes are those of this object too.

    Notes
    -----
    Class centres, spreads and neighbours are those of the balls of all blocks.
    Up to 20,000 balls the nearest of all others are found; above, the nearest
    among 20,000 balls drawn at random, since the time grows with the square.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import make_moons
    >>> from granulearn.distributed import DaskSDAPGBRVFLClassifier
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> rows, labels = da.from_array(X, chunks=(100, 2)), da.from_array(y, chunks=100)
    >>> model = DaskSDAPGBRVFLClassifier(random_state=0).fit(rows, labels)
    >>> model.estimator_.score(X, y) > 0.8  # the ordinary classifier
    True
    """

    _plain = SDAPGBRVFLClassifier


class _MembersOnDask(_OnDask):
    """Members are fitted to rows drawn of all blocks."""

    def fit(self, X, y, sample_weight=None):
        """Fit the members to rows that are drawn in passes over the blocks.

        Parameters
        ----------
        X : Dask array or DataFrame of shape (n_samples, n_features)
            Inputs, used as they come: scale them first.
        y : Dask array or Series of shape (n_samples,)
            Class labels.
        sample_weight : Dask array or Series of shape (n_samples,), default=None
            Weights up to 1.5; zero leaves a sample out. Repeat rows that count more often.

        Returns
        -------
        self
            The fitted classifier; ``estimator_`` is the ordinary one.
        """
        return super().fit(X, y, sample_weight)


class DaskBallForestClassifier(_MembersOnDask, BallForestClassifier):
    """`BallForestClassifier` for Dask arrays and DataFrames.

    The parameters are those of `BallForestClassifier`. Use it when the table does not fit in
    memory.

    Attributes
    ----------
    estimator_ : BallForestClassifier
        The ordinary classifier: it predicts, is saved and exported without Dask. Its fitted
        attributes are those of this object too. Above 20,000 samples those with an entry for
        every sample are empty: ``reliability_``, ``oob_proba_``, ``in_bag_``; `DaskLabelAudit`
        rates labels.

    Notes
    -----
    The trees are those of the plain classifier to the last bit, however rows are cut into
    blocks: a tree draws rows by keys that depend on their values. The data is read twice.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import make_moons
    >>> from granulearn.distributed import DaskBallForestClassifier
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> rows, labels = da.from_array(X, chunks=(100, 2)), da.from_array(y, chunks=100)
    >>> model = DaskBallForestClassifier(random_state=0).fit(rows, labels)
    >>> model.estimator_.score(X, y) > 0.9  # the ordinary classifier
    True
    """

    _plain = BallForestClassifier


class DaskRVFLEnsembleClassifier(_MembersOnDask, RVFLEnsembleClassifier):
    """`RVFLEnsembleClassifier` for Dask arrays and DataFrames.

    The parameters are those of `RVFLEnsembleClassifier`; of `n_layers` and `n_hidden` one
    must be "auto", so that a part of the rows is enough.

    Attributes
    ----------
    estimator_ : RVFLEnsembleClassifier
        The ordinary classifier: it predicts, is saved and exported without Dask. Its fitted
        attributes are those of this object too; above 20,000 samples ``loo_scores_`` is empty.

    Notes
    -----
    The networks are those of the plain classifier to the last bit, however rows are cut into
    blocks. The data is read twice.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import make_moons
    >>> from granulearn.distributed import DaskRVFLEnsembleClassifier
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> rows, labels = da.from_array(X, chunks=(100, 2)), da.from_array(y, chunks=100)
    >>> model = DaskRVFLEnsembleClassifier(random_state=0).fit(rows, labels)
    >>> model.estimator_.score(X, y) > 0.9  # the ordinary classifier
    True
    """

    _plain = RVFLEnsembleClassifier


class DaskRobustClassifier(_MembersOnDask, RobustClassifier):
    """`RobustClassifier` for Dask arrays and DataFrames.

    The parameters are those of `RobustClassifier`, without another `forest`. Use it when the
    table does not fit in memory.

    Attributes
    ----------
    estimator_ : RobustClassifier
        The ordinary classifier: it predicts, is saved and exported without Dask. Its fitted
        attributes are those of this object too; above 20,000 samples those with an entry for
        every sample are empty.

    Notes
    -----
    Members, shares and power are those of the plain classifier to the last bit, however rows
    are cut into blocks. The data is read three times.

    Examples
    --------
    >>> import dask.array as da
    >>> from granulearn.distributed import DaskRobustClassifier
    >>> X = da.random.default_rng(0).normal(size=(2000, 3), chunks=(500, 3))
    >>> y = (X.sum(axis=1) > 0).astype(int)
    >>> model = DaskRobustClassifier(random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    _plain = RobustClassifier


def fit_blocks(model: Any, blocks: Sequence[Any], n_features: int) -> BlockFacts:
    """Fit an ordinary classifier to blocks of samples; return the facts about them.

    Parameters
    ----------
    model : classifier
        One that can be fitted in parts. Not fitted; parameters already checked.
    blocks : sequence of Delayed
        One `Block` each.
    n_features : int
        Number of columns of X.
    """
    if isinstance(model, BallForestClassifier | RVFLEnsembleClassifier | RobustClassifier):
        facts = fit_members(model, blocks)
    elif isinstance(model, GBRVFLClassifier):
        facts = fit_balls(model, blocks, draw_seeds(model.random_state))
    else:
        facts = fit_rows(model, blocks, n_features, draw_seeds(model.random_state))
    model.n_features_in_ = n_features
    if facts.names is not None:
        model.feature_names_in_ = np.array(facts.names, dtype=object)
    return facts


def _hits(predicted: Any, y: Any, weights: Any) -> np.ndarray:
    """Return the weight of the rows predicted right, and of all rows, of one block."""
    weights = np.ones(len(y)) if weights is None else np.broadcast_to(weights, len(y))
    right = np.asarray(predicted) == np.asarray(y)
    return np.array([weights[right].sum(), weights.sum()])
