"""PathSearchCV: grid search that factors once and reads off the rest."""

from __future__ import annotations

import time
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, ParameterGrid, check_cv
from sklearn.utils import indexable

from granulearn._sklearn_compat import (
    StrOptions,
    check_method_params,
    fit_context,
    insert_error_scores,
    n_samples_of,
    warn_or_raise_about_fit_failures,
)
from granulearn.selection.candidates import describe_candidates
from granulearn.selection.fold import Problem
from granulearn.selection.grid_run import evaluate_grid
from granulearn.selection.setting_columns import (
    SettingColumn,
    parameter_columns,
    setting_columns,
)


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
        for regressors. These cost next to nothing, except for regressors so badly
        conditioned (large C, many columns) that they are solved one by one. Any
        other scorer is called once per candidate and fold, with a fitted estimator.
    n_jobs : int or None, default=None
        Workers of joblib. A worker holds the Gram matrix and the features of
        one fold at a time. Without workers, BLAS keeps to one thread.
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
    granulearn.selection.paper_grid : The paper's grid.

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

    This is exact; only rounding differs from separate fits. Where rounding
    could change a prediction, because a sample is nearly tied or the system is
    badly conditioned, the candidate is solved as its `fit` does, which warns
    where Cholesky fails and a safe solver takes over. So accuracies are those of
    `GridSearchCV`. R squared differs from that of `GridSearchCV` by less than 1e-9
    as a rule, relative to its size where that is above one, and by less than 1e-7
    where unscaled features lie far outside those fitted. Regressors whose scores
    are closer than that may change ranks.

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
    >>> from granulearn.estimators import RVFLClassifier
    >>> from granulearn.selection import PathSearchCV, paper_grid
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
        columns = setting_columns(candidates)
        problem = self._problem(candidates, X, y, scorer, routed.estimator.fit, routed.scorer.score)
        outcomes = evaluate_grid(
            problem,
            describe_candidates(problem.estimator, candidates, columns),
            self._splits(X, y, routed.splitter.split),
            n_jobs=self.n_jobs,
            pre_dispatch=self.pre_dispatch,
        )
        results = self._results(candidates, columns, outcomes)
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

    def _problem(
        self, candidates: list[dict], X, y, scorer, fit_params: dict, score_params: dict
    ) -> Problem:
        return Problem(
            estimator=clone(self.estimator),
            settings=candidates,
            X=X,
            y=y,
            scorer=scorer,
            fit_params=fit_params,
            score_params=score_params,
            scoring=self.scoring,
            leave_one_out=self.selection == "loo",
            return_train_score=self.return_train_score,
            error_score=self.error_score,
            verbose=self.verbose,
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

    def _results(
        self,
        candidates: list[dict],
        columns: dict[str, SettingColumn],
        outcomes: dict[str, list],
    ) -> dict:
        if any(outcomes["fit_error"]):
            outcomes = self._with_error_scores(outcomes)
        first_score = outcomes["test_scores"][0]
        self.multimetric_ = isinstance(first_score, dict)
        if callable(self.scoring) and self.multimetric_:
            self._check_refit_for_multimetric(first_score)
        by_metric = {name: _by_metric(column) for name, column in outcomes.items()}
        # Parameters are left out here: scikit-learn stores them entry by entry, slowly.
        results = self._format_results([{}] * len(candidates), self.n_splits_, [by_metric])
        del results["params"]
        times = {name: results.pop(name) for name in list(results) if name.endswith("_time")}
        return {**times, **parameter_columns(columns), "params": candidates, **results}

    def _with_error_scores(self, outcomes: dict[str, list]) -> dict[str, list]:
        """Report failed fits and put error scores in their place, as scikit-learn does."""
        rows = [
            dict(zip(outcomes, values, strict=True))
            for values in zip(*outcomes.values(), strict=True)
        ]
        warn_or_raise_about_fit_failures(rows, self.error_score)
        if callable(self.scoring):
            insert_error_scores(rows, self.error_score)
        return {name: [row[name] for row in rows] for name in outcomes}

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


def _by_metric(column: list) -> list | dict[str, list]:
    """Return scores of several metrics as one list per metric; anything else as it is."""
    if not isinstance(column[0], dict):
        return column
    return {metric: [scores[metric] for scores in column] for metric in column[0]}
