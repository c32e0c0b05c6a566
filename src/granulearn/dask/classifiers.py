"""Classifiers for Dask collections; each fits an ordinary, in-memory classifier.

Networks in closed form sum their normal equations over blocks; balls are made, and get
their memberships, within a block. All other classifiers are fitted to a sample of the rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import dask
import numpy as np
import pandas as pd
from dask import delayed
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from granulearn._sklearn_compat import fit_context
from granulearn.dask.blocks import (
    SAMPLE_SIZE,
    Facts,
    checked_blocks,
    predict_lazily,
    sample_blocks,
    with_classes,
)
from granulearn.dask.cluster import compute, tree_reduce
from granulearn.ensemble import RobustClassifier
from granulearn.forest import BallForestClassifier
from granulearn.rvfl import (
    FGBRVFLClassifier,
    GBRVFLClassifier,
    RVFLClassifier,
    RVFLEnsembleClassifier,
    SDAPGBRVFLClassifier,
    one_hot,
)
from granulearn.rvfl.features import FeatureMap
from granulearn.rvfl.ridge import NormalEquations, normal_equations
from granulearn.rvfl.rvfl import TrainingRows, multiply_weights, sample_rows
from granulearn.utils.estimator import Seeds, draw_seeds
from granulearn.utils.validation import Samples, weight_of_each_class


class _OnDask(BaseEstimator):
    """`fit` and lazy predictions on Dask collections, for the parameters of a plain classifier."""

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
        model, name = self._plain(**self.get_params(deep=False)), self._plain.__name__
        blocks, facts = checked_blocks(X, y, sample_weight, sample_membership, name)
        return self._keep(fit_closed_form(model, blocks, facts))

    def _keep(self, model: Any):
        self.estimator_ = model
        for key, value in vars(model).items():
            if key.endswith("_"):  # fitted attributes are found here too
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

    def _lazily(self, method: str, X: Any) -> Any:
        check_is_fitted(self, "estimator_")
        return predict_lazily(self.estimator_, method, X)


class DaskRVFLClassifier(_OnDask, RVFLClassifier):
    """`RVFLClassifier` for Dask collections: normal equations are summed over blocks.

    The parameters are those of `RVFLClassifier`, and the fitted one is ``estimator_``: it
    predicts, is saved and exported without Dask. It is that of a fit in memory, up to rounding.

    Examples
    --------
    >>> import dask.array as da
    >>> from granulearn.dask import DaskRVFLClassifier
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
    """`GBRVFLClassifier` for Dask collections: balls are made and rated within blocks.

    The parameters are those of `GBRVFLClassifier`, and the fitted one is ``estimator_``, without
    ``balls_`` and ``membership_``. A block that holds one class becomes a single ball: shuffle
    rows that are sorted by class.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import make_moons
    >>> from granulearn.dask import DaskGBRVFLClassifier
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> rows, labels = da.from_array(X, chunks=(100, 2)), da.from_array(y, chunks=100)
    >>> model = DaskGBRVFLClassifier(random_state=0).fit(rows, labels)
    >>> model.estimator_.score(X, y) > 0.8  # the ordinary classifier
    True
    """

    _plain = GBRVFLClassifier


class DaskFGBRVFLClassifier(_OnDask, FGBRVFLClassifier):
    """`FGBRVFLClassifier` for Dask collections, as `DaskGBRVFLClassifier`.

    Examples
    --------
    >>> import dask.array as da
    >>> from granulearn.dask import DaskFGBRVFLClassifier
    >>> X = da.random.default_rng(0).normal(size=(2000, 3), chunks=(500, 3))
    >>> y = (X.sum(axis=1) > 0).astype(int)
    >>> DaskFGBRVFLClassifier(random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    _plain = FGBRVFLClassifier


class DaskSDAPGBRVFLClassifier(_OnDask, SDAPGBRVFLClassifier):
    """`SDAPGBRVFLClassifier` for Dask collections, as `DaskGBRVFLClassifier`.

    Examples
    --------
    >>> import dask.array as da
    >>> from granulearn.dask import DaskSDAPGBRVFLClassifier
    >>> X = da.random.default_rng(0).normal(size=(2000, 3), chunks=(500, 3))
    >>> y = (X.sum(axis=1) > 0).astype(int)
    >>> DaskSDAPGBRVFLClassifier(random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    _plain = SDAPGBRVFLClassifier


class _Sampled(_OnDask):
    """`fit` on rows that are sampled to memory."""

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None, *, sample_size=SAMPLE_SIZE):
        """Sample rows to memory, and fit the ordinary classifier to them.

        Parameters
        ----------
        X : Dask array or DataFrame of shape (n_samples, n_features)
            Inputs: numbers, which are scaled.
        y : Dask array or Series of shape (n_samples,)
            Class labels.
        sample_weight : Dask array or Series of shape (n_samples,), default=None
            Of the samples; zero leaves one out.
        sample_size : int, default=50000
            About how many rows to sample, every class in proportion and small ones more often;
            all if there are no more.

        Returns
        -------
        self
            The fitted classifier; ``estimator_`` is the ordinary one.
        """
        model, name = self._plain(**self.get_params(deep=False)), self._plain.__name__
        blocks, facts = checked_blocks(X, y, sample_weight, None, name)
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        sample = sample_blocks(blocks, facts, sample_size, seed)
        rows = sample.X if facts.names is None else pd.DataFrame(sample.X, columns=facts.names)
        return self._keep(model.fit(rows, sample.y, sample.weights))


class DaskBallForestClassifier(_Sampled, BallForestClassifier):
    """`BallForestClassifier` for Dask collections, fitted to a sample of the rows.

    The parameters are those of `BallForestClassifier`, and the fitted one is ``estimator_``;
    attributes with an entry for every sample are of the sampled rows.

    Examples
    --------
    >>> import dask.array as da
    >>> from granulearn.dask import DaskBallForestClassifier
    >>> X = da.random.default_rng(0).normal(size=(2000, 3), chunks=(500, 3))
    >>> y = (X.sum(axis=1) > 0).astype(int)
    >>> DaskBallForestClassifier(random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    _plain = BallForestClassifier


class DaskRVFLEnsembleClassifier(_Sampled, RVFLEnsembleClassifier):
    """`RVFLEnsembleClassifier` for Dask collections, as `DaskBallForestClassifier`.

    Examples
    --------
    >>> import dask.array as da
    >>> from granulearn.dask import DaskRVFLEnsembleClassifier
    >>> X = da.random.default_rng(0).normal(size=(2000, 3), chunks=(500, 3))
    >>> y = (X.sum(axis=1) > 0).astype(int)
    >>> DaskRVFLEnsembleClassifier(random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    _plain = RVFLEnsembleClassifier


class DaskRobustClassifier(_Sampled, RobustClassifier):
    """`RobustClassifier` for Dask collections, as `DaskBallForestClassifier`.

    Examples
    --------
    >>> import dask.array as da
    >>> from granulearn.dask import DaskRobustClassifier
    >>> X = da.random.default_rng(0).normal(size=(2000, 3), chunks=(500, 3))
    >>> y = (X.sum(axis=1) > 0).astype(int)
    >>> DaskRobustClassifier(random_state=0).fit(X, y).score(X, y) > 0.95
    True
    """

    _plain = RobustClassifier


def fit_closed_form(model: Any, blocks: Sequence[Any], facts: Facts) -> Any:
    """Fit an ordinary network to blocks of samples, and return it.

    Parameters
    ----------
    model : classifier in closed form
        Not fitted; parameters are checked.
    blocks : sequence of Delayed
        Of `Samples`.
    facts : Facts
        About all of them.
    """
    is_ball_model, seeds = isinstance(model, GBRVFLClassifier), draw_seeds(model.random_state)
    if is_ball_model:
        _warn_of_sorted_rows(facts)
    classes, n_features = facts.classes, facts.n_features
    make, weigh, add = map(delayed, (rows_of_block, weight_of_classes, equations_of_rows))
    rows = [make(block, model, classes, seeds) for block in blocks]
    # Balls are few, and take long to make.
    rows = list(dask.persist(*rows)) if is_ball_model else rows
    learnt, factors = facts.counts.any(axis=0), None
    if model.class_weight is not None:
        totals = np.sum(compute(*(weigh(part, len(classes)) for part in rows)), axis=0)
        factors = weight_of_each_class(model.class_weight, classes, totals)
        learnt &= factors > 0
    model.classes_, model.n_features_in_ = classes, n_features
    if facts.names is not None:
        model.feature_names_in_ = np.array(facts.names, dtype=object)
    no_rows = TrainingRows(np.empty((0, n_features)), np.empty(0, np.intp), None)
    model.features_ = model._features(no_rows, seeds)
    parts = [add(part, model.features_, factors, len(classes)) for part in rows]
    (equations,) = compute(tree_reduce(_added, parts))
    # In the row of the bias are the weights of the classes.
    found = False if equations is None else equations.moment[model.features_.bias_column] > 0
    lost = classes[learnt & np.logical_not(found)]
    if len(lost):
        raise ValueError(
            f"class {lost.tolist()} has no sample or ball with a membership above zero to learn it "
            "from; lower min_ball_size, raise purity, or use another membership."
        )
    model.coef_ = equations.solve(model.C)
    return model


def rows_of_block(
    samples: Samples | None, model: Any, classes: np.ndarray, seeds: Seeds
) -> TrainingRows | None:
    """Return the rows of the regression that a block gives: its samples, or centres of balls."""
    samples = None if samples is None else with_classes(samples, classes).that_count()
    if samples is None or not len(samples):
        return None
    if not isinstance(model, GBRVFLClassifier):
        return sample_rows(samples)
    samples = samples.for_balls()
    balls = model._generator()(samples, random_state=seeds.balls, n_jobs=model.n_jobs)
    balls = balls.without_small(model.min_ball_size)
    if not len(balls):
        return None
    rows = model._rows_of_balls(balls, samples, classes)
    return replace(rows, balls=None, membership=None)


def weight_of_classes(rows: TrainingRows | None, n_classes: int) -> np.ndarray:
    """Return the weight of the rows of each class."""
    if rows is None:
        return np.zeros(n_classes)
    return np.bincount(rows.codes, rows.weights, minlength=n_classes)


def equations_of_rows(
    rows: TrainingRows | None, features: FeatureMap, factors: np.ndarray | None, n_classes: int
) -> NormalEquations | None:
    """Return the normal equations of the rows of one block."""
    if rows is None:
        return None
    weights = rows.weights
    if factors is not None:
        weights = multiply_weights(weights, factors[rows.codes])
    return normal_equations(features, rows.X, one_hot(rows.codes, n_classes), weights)[0]


def _added(first: NormalEquations, second: NormalEquations) -> NormalEquations:
    return NormalEquations(first.gram + second.gram, first.moment + second.moment)


def _warn_of_sorted_rows(facts: Facts) -> None:
    alone = facts.counts[np.count_nonzero(facts.counts, axis=1) == 1].sum(axis=0)
    sorted_ = 2 * alone > facts.counts.sum(axis=0)
    if sorted_.any():
        warnings.warn(
            f"most samples of class {facts.classes[sorted_].tolist()} lie in blocks without any "
            "other class, and such a block becomes a single ball, so the class will hardly be "
            "predicted: the rows seem to be sorted. Shuffle them, so that blocks are alike.",
            UserWarning,
            stacklevel=4,
        )
