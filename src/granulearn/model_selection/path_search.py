"""PathSearchCV: grid search that does work that candidates have in common once."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, ParameterGrid, check_cv
from sklearn.utils import indexable
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from granulearn import rvfl
from granulearn._sklearn_compat import (
    StrOptions,
    check_method_params,
    fit_context,
    insert_error_scores,
    n_samples_of,
    warn_or_raise_about_fit_failures,
)
from granulearn.model_selection.sharing import (
    Group,
    Outcome,
    Problem,
    group_candidates,
    last_step,
    score_group,
)

SILENT_SECONDS = 2.0
"""A progress bar appears after this time."""


class PathSearchCV(GridSearchCV):
    r"""Grid search with the results of `GridSearchCV` at a fraction of its cost.

    It does work that candidates have in common once, for the random vector
    networks of this library, classifiers and regressors, alone or as the last step
    of a `Pipeline`. In each fold, earlier steps, balls and memberships are made once
    for each of their own settings. One Gram matrix serves an activation, and one
    Cholesky factor serves an activation and C, for all widths. Use it wherever you
    would use `GridSearchCV` on these networks. Its weak point is that only `C`,
    `n_hidden`, `n_layers` and `activation` are that cheap, and that other estimators
    are fitted candidate by candidate, as by `GridSearchCV`.

    Parameters
    ----------
    estimator : estimator object
        A classifier or regressor, or a pipeline that ends in one.
    param_grid : dict or list of dict
        Names of parameters and the values to try; see `paper_grid`.
    scoring : str, callable, list, tuple, dict or None, default=None
        One or several metrics. None means accuracy for classifiers and R squared
        for regressors. These cost next to nothing. Any other scorer is called once per
        candidate and fold, with a fitted estimator.
    n_jobs : int or None, default=None
        Workers of joblib. A worker holds the Gram matrix and the features of
        one fold at a time. BLAS keeps to one thread.
    refit : bool, str or callable, default=True
        Whether to fit the best candidate on all samples; for several metrics
        the name of the one that decides.
    cv : int, cross-validation generator, iterable or None, default=5
        How to split; None means 5 folds.
    verbose : int, default=0
        Above zero, a progress bar is shown from the start; otherwise only
        when the search is long. The bar needs a terminal and the package rich.
    pre_dispatch : int or str, default="2*n_jobs"
        How many tasks joblib hands out ahead.
    error_score : "raise" or float, default=nan
        Score of a candidate whose fit raises.
    return_train_score : bool, default=False
        Whether to score the training samples too.
    selection : {"cv", "loo"}, default="cv"
        What the score of a candidate is. "cv" means `scoring` over the folds of
        `cv`. "loo" means minus the squared error of exact leave-one-out, in
        closed form, for the one model fitted to all samples. It is as a rule the
        better guide with wrong labels, and the faster one for deep networks. `cv`
        then has no part in the choice, `scoring` must be None, and there is one
        split in `cv_results_`. A sample is left out whole, whatever its weight.
        Errors of several targets add up. Errors under different class weights
        cannot be compared.

    Attributes
    ----------
    cv_results_ : dict of str -> ndarray
        As in `GridSearchCV`. The time of work done once for many candidates is
        divided equally among them in ``mean_fit_time``.
    best_estimator_ : estimator
        The best candidate, fitted on all samples. Absent if ``refit=False``.
    best_score_ : float
        Its mean score.
    best_params_ : dict
        Its parameters.
    best_index_ : int
        Its position in `cv_results_`.
    scorer_ : callable or dict
        The scorer, or one for each metric.
    n_splits_ : int
        Number of folds.
    refit_time_ : float
        Seconds of the last fit.
    multimetric_ : bool
        Whether there are several metrics.
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted. Only for a classifier.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had column names.

    See Also
    --------
    granulearn.model_selection.paper_grid : The paper's grid.

    Notes
    -----
    With the columns in the order [direct link, bias, hidden 1..h], the
    Cholesky factor :math:`L` of :math:`H'WH + I/C` for the widest network
    holds the factor of every narrower one as a leading block. With
    :math:`z = L^{-1} H'WY` the output weights of p columns are
    :math:`L_p^{-T} z_p`, and with :math:`Q = H_{test} L^{-T}` the scores of
    all widths are partial sums of :math:`Q z`.

    Deep networks have leading blocks layer by layer. In an ensemble each layer is
    solved once for each C, and a smaller ensemble takes the first of these layers.

    Scores are those of `GridSearchCV` up to rounding: a candidate of equal score may be
    chosen. An error in shared work is reported for each candidate, or raised with
    ``error_score="raise"``.

    With ``selection="loo"``, the fitted values :math:`f_i` and the leverages
    :math:`h_i` of the rows (samples, or balls) give the error without each row,

    .. math::
        \frac{1}{\sum_i w_i} \sum_i w_i
        \Big\lVert \frac{y_i - f_i}{1 - h_i} \Big\rVert^2 ,

    for every C from one eigendecomposition; an ensemble of layers has the mean
    of its layers' leave-one-out predictions. Regressors are fitted around the
    mean of their targets, and leaving out row i changes that mean to
    :math:`m_i`. A ridge is linear in its targets: with its leave-one-out
    predictions :math:`p_i(y)` of the targets and :math:`p_i(1)` of the constant
    one, that of the regressor is :math:`p_i(y) - m_i p_i(1) + m_i`.

    Features, balls and memberships are those of all samples; the features of
    all rows are in memory at once. This closed form exists for RVFL, ELM, ACRVFL,
    the ball models without a graph, the deep networks that do not vote, and the
    regressors. Errors of different memberships or different balls cannot be
    compared: choose only C, widths, layers and activations by leave-one-out.

    With ``random_state=None`` in the estimator, candidates that share work
    share a random draw, where `GridSearchCV` draws for each fit; with an
    integer or a `RandomState` both give the same results. Callbacks of recent
    scikit-learn versions are not called.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from granulearn.rvfl import RVFLClassifier
    >>> from granulearn.model_selection import PathSearchCV, paper_grid
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), RVFLClassifier(random_state=0))
    >>> grid = {f"rvflclassifier__{name}": values for name, values in paper_grid().items()}
    >>> search = PathSearchCV(model, grid).fit(X, y)
    >>> len(search.cv_results_["params"])
    1089
    >>> bool(search.best_score_ > 0.95)
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **GridSearchCV._parameter_constraints,
        "selection": [StrOptions({"cv", "loo"})],
    }

    def __init__(
        self,
        estimator,
        param_grid,
        *,
        scoring=None,
        n_jobs=None,
        refit=True,
        cv=5,
        verbose=0,
        pre_dispatch="2*n_jobs",
        error_score=np.nan,
        return_train_score=False,
        selection="cv",
    ):
        super().__init__(
            estimator,
            param_grid,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.selection = selection

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y=None, **params):
        """Evaluate all candidates, then fit the best one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Class labels, or the numbers to predict.
        **params : dict of str -> object
            Passed on as by `GridSearchCV`: ``groups`` to the splitter, the
            rest, such as ``sample_weight`` and ``sample_membership``, to the
            estimator's `fit`, each fold's part of it.

        Returns
        -------
        self
            The fitted search.
        """
        self._check_selection()
        scorer, refit_metric = self._get_scorers()
        X, y = indexable(X, y)
        routed = self._get_routed_params_for_fit(check_method_params(X, params=params))
        candidates = list(ParameterGrid(self.param_grid))
        problem = Problem(
            estimator=clone(self.estimator),
            settings=candidates,
            X=X,
            y=y,
            scorer=scorer,
            fit_params=routed.estimator.fit,
            score_params=routed.scorer.score,
            scoring=self.scoring,
            return_train_score=self.return_train_score,
            error_score=self.error_score,
            verbose=self.verbose,
            leave_one_out=self.selection == "loo",
        )
        outcomes = self._evaluate(problem, self._splits(X, y, routed.splitter.split))
        results = self._results(candidates, outcomes)
        self._choose(results, refit_metric)
        if self.refit:
            self._refit(X, y, routed.estimator.fit)
        self.scorer_ = getattr(scorer, "_scorers", scorer)
        self.cv_results_ = results
        return self

    def _check_selection(self) -> None:
        if self.selection == "loo" and (self.scoring is not None or self.return_train_score):
            raise ValueError(
                "selection='loo' scores by the squared error of leave-one-out, but "
                f"scoring={self.scoring!r} and return_train_score={self.return_train_score!r} "
                "ask for another score; leave them out, or use selection='cv'."
            )

    def _splits(self, X, y, split_params: dict) -> list[tuple]:
        if self.selection == "loo":
            self.n_splits_ = 1
            everything = np.arange(n_samples_of(X))
            return [(everything, everything)]
        splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        splits = list(splitter.split(X, y, **split_params))
        self.n_splits_ = splitter.get_n_splits(X, y, **split_params)
        if len(splits) != self.n_splits_:
            raise ValueError(
                f"cv.split gives {len(splits)} splits, but cv.get_n_splits says {self.n_splits_}; "
                "make them agree."
            )
        return splits

    def _evaluate(self, problem: Problem, splits: list[tuple]) -> list[Outcome]:
        """Return the outcomes, the folds of a candidate together."""
        groups = group_candidates(problem.estimator, problem.settings)
        if self.selection == "loo":
            _check_closed_form(problem, groups)
        if len(groups) * len(splits) < effective_n_jobs(self.n_jobs):
            groups = [part for group in groups for part in group.split()]
        calls = [(at, group) for at in range(len(splits)) for group in groups]
        if not calls:
            raise ValueError(
                f"No fits were performed: there are {len(problem.settings)} candidates and "
                f"{len(splits)} folds; check param_grid and cv."
            )
        shares = any(group.networks for group in groups)
        # For small systems threads of BLAS wait longer than they work; n_jobs uses more cores.
        with threadpool_limits(1 if shares else None, user_api="blas"):
            parallel = Parallel(
                n_jobs=self.n_jobs, pre_dispatch=self.pre_dispatch, return_as="generator"
            )
            found = parallel(
                delayed(score_group)(problem, group, *splits[at]) for at, group in calls
            )
            found = list(_with_progress(found, len(calls), self.verbose))
        by_place = {
            (place, at): outcome
            for (at, _), outcomes in zip(calls, found, strict=True)
            for place, outcome in outcomes.items()
        }
        return [by_place[key] for key in sorted(by_place)]

    def _results(self, candidates: list[dict], outcomes: list[Outcome]) -> dict:
        if any(outcome["fit_error"] for outcome in outcomes):
            warn_or_raise_about_fit_failures(outcomes, self.error_score)
            if callable(self.scoring):
                insert_error_scores(outcomes, self.error_score)
        first_score = outcomes[0]["test_scores"]
        self.multimetric_ = isinstance(first_score, dict)
        if callable(self.scoring) and self.multimetric_:
            self._check_refit_for_multimetric(first_score)
        return self._format_results(candidates, self.n_splits_, outcomes)

    def _choose(self, results: dict, refit_metric: Any) -> None:
        if callable(self.scoring) and self.multimetric_:
            refit_metric = self.refit
        if not self.refit and self.multimetric_:
            return  # nothing says which metric decides
        self.best_index_ = self._select_best_index(self.refit, refit_metric, results)
        self.best_params_ = results["params"][self.best_index_]
        if not callable(self.refit):
            self.best_score_ = results[f"mean_test_{refit_metric}"][self.best_index_]

    def _refit(self, X, y, fit_params: dict) -> None:
        best = clone(self.estimator).set_params(**clone(self.best_params_, safe=False))
        labels = () if y is None else (y,)
        began = time.perf_counter()
        self.best_estimator_ = best.fit(X, *labels, **fit_params)
        self.refit_time_ = time.perf_counter() - began
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_


def _check_closed_form(problem: Problem, groups: list[Group]) -> None:
    """Raise if a candidate has no leave-one-out error in closed form."""
    for group in groups:
        settings = {**group.others, **(problem.settings[group.alone[0]] if group.alone else {})}
        estimator = last_step(clone(problem.estimator).set_params(**clone(settings, safe=False)))
        by_mean = getattr(estimator, "combine", "mean") == "mean"
        if group.alone or not by_mean or not _has_closed_form(type(estimator)):
            if hasattr(estimator, "_validate_params"):
                estimator._validate_params()  # a wrong value gets its own message
            known = [name for name in rvfl.__all__ if _has_closed_form(getattr(rvfl, name))]
            raise ValueError(
                f"selection='loo' is not offered for {estimator!r}, only for "
                f"{', '.join(known)}, with one n_hidden for all layers and combine='mean'. "
                "Use selection='cv'."
            )


def _has_closed_form(kind: Any) -> bool:
    abilities = getattr(kind, "_abilities", None)
    shared = None if abilities is None else abilities.shared_work
    return shared is not None and shared.leave_one_out


def _with_progress(results: Iterable, n_tasks: int, verbose: int) -> Iterator:
    """Yield results; on a terminal a bar appears when the search is long, or with `verbose`."""
    if not sys.stderr.isatty():
        yield from results
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = "searching", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    began, task = time.monotonic(), bar.add_task("", total=n_tasks)
    try:
        for result in results:
            bar.advance(task)
            late = time.monotonic() - began >= SILENT_SECONDS
            if not bar.live.is_started and (late or verbose > 0):
                bar.start()
            yield result
    finally:
        bar.stop()


PAPER_ACTIVATIONS = (
    "selu",
    "relu",
    "sigmoid",
    "sine",
    "hardlim",
    "tribas",
    "radbas",
    "sign",
    "leaky_relu",
)


def paper_grid() -> dict[str, list]:
    """Return the paper's grid: 11 penalties, 11 widths, nine activations.

    The complex classifiers have activations of their own: leave that entry
    out for them.

    Returns
    -------
    dict of str -> list
        A grid of 1,089 candidates for ``param_grid``; each call makes a new one.

    See Also
    --------
    granulearn.PathSearchCV : Searches it with a few factorisations.

    Examples
    --------
    >>> from granulearn.model_selection import paper_grid
    >>> {name: len(values) for name, values in paper_grid().items()}
    {'C': 11, 'n_hidden': 11, 'activation': 9}
    """
    return {
        "C": [10.0**exponent for exponent in range(-5, 6)],
        "n_hidden": list(range(3, 204, 20)),
        "activation": list(PAPER_ACTIVATIONS),
    }
