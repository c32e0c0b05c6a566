"""Ball ensemble: one classifier on several random ball partitions of the same data."""

from __future__ import annotations

from functools import reduce
from numbers import Integral
from typing import ClassVar

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from granulearn._sklearn_compat import HasMethods, Interval, fit_context, set_random_states
from granulearn.rvfl.ball_rvfl import SDAPGBRVFLClassifier
from granulearn.utils.estimator import Abilities, DecisionClassifier, ScoreClassifier, fit_part
from granulearn.utils.saved import Part, require
from granulearn.utils.validation import Samples, check_samples


class BallEnsembleClassifier(ScoreClassifier):
    r"""Mean of ball classifiers that differ by their random draws alone.

    Where balls end and what hidden nodes see is a matter of chance. Members
    with partitions and nodes of their own are wrong in different places, and
    their mean is steadier than each. Use it to make any ball classifier more
    accurate at the price of several fits. Its weak point is that price, and
    that one model becomes many.

    Parameters
    ----------
    estimator : classifier or None, default=None
        The member; it needs a ``decision_function``. None means
        `SDAPGBRVFLClassifier`.
    n_estimators : int, default=15
        Number of members.
    random_state : int, RandomState or None, default=None
        Draws the ``random_state`` of every member.
    n_jobs : int or None, default=None
        Members fitted at the same time, by threads; changes no result.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had column names.
    estimators_ : list of classifiers
        The fitted members.

    Notes
    -----
    With the scores :math:`f_t` of the T members, the ensemble's are
    :math:`\frac1T \sum_t f_t`, and its probabilities their softmax. Weights and
    memberships of samples are passed to every member.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from granulearn.rvfl import BallEnsembleClassifier, SDAPGBRVFLClassifier
    >>> X, y = make_moons(500, noise=0.2, random_state=0)
    >>> member = SDAPGBRVFLClassifier(activation="sine", C=100)
    >>> model = BallEnsembleClassifier(member, random_state=0).fit(X, y)
    >>> len(model.estimators_), model.score(X, y) > 0.9
    (15, True)
    """

    _abilities = Abilities()
    _parameter_constraints: ClassVar[dict] = {
        "estimator": [HasMethods(["fit", "decision_function"]), None],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }

    def __init__(self, estimator=None, n_estimators=15, random_state=None, n_jobs=None):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.random_state = random_state
        self.n_jobs = n_jobs

    _saved: ClassVar[dict] = {"estimators_": Part(DecisionClassifier, many=list)}

    def _check_saved(self) -> None:
        super()._check_saved()
        require(self.estimators_, "estimators_ are none")
        for member in self.estimators_:
            self._check_agrees("estimators_", member)

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, sample_weight=None, sample_membership=None):
        """Fit every member.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs, used as they come: scale them first.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How many samples each one stands for; zero leaves it out.
        sample_membership : array-like of shape (n_samples,), default=None
            How far each sample can be trusted, in [0, 1].

        Returns
        -------
        self
            The fitted classifier.
        """
        return self._fit_samples(check_samples(X, y, self, sample_weight, sample_membership))

    def _fit_samples(self, samples: Samples):
        """Fit every member to samples that are checked."""
        self.classes_, self.n_features_in_ = samples.classes, samples.X.shape[1]
        # Threads: the loops over balls and the linear algebra release the lock.
        self.estimators_ = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(fit_part)(member, samples) for member in self._new_members()
        )
        return self

    def _new_members(self) -> list[BaseEstimator]:
        """Return the members, not fitted, with seeds drawn one after the other."""
        stream = check_random_state(self.random_state)
        prototype = SDAPGBRVFLClassifier() if self.estimator is None else self.estimator
        members = [clone(prototype) for _ in range(self.n_estimators)]
        for member in members:
            set_random_states(member, stream)
        return members

    def decision_function(self, X):
        """Return the mean of the members' scores; for two classes their difference.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            For two classes, positive means ``classes_[1]``.
        """
        return self._mean_decisions(self._checked(X))

    def _mean_decisions(self, X: np.ndarray) -> np.ndarray:
        # Scores are added in the order of the members, whichever is ready first, and as they come:
        # those of all members at once may be more than there is room for.
        each = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(
            delayed(member.decision_function)(X) for member in self.estimators_
        )
        return reduce(np.add, each) / len(self.estimators_)

    def _scores(self, X: np.ndarray) -> np.ndarray:
        """Return one score per class; for two classes, zero and the difference of their scores."""
        decisions = self._mean_decisions(X)
        if decisions.ndim == 2:
            return decisions
        return np.column_stack([np.zeros_like(decisions), decisions])
