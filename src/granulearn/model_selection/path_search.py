"""PathSearchCV: grid search that does work that candidates have in common once.

Candidates that differ only in `C`, `n_hidden`, `n_layers` or `activation` share the earlier steps
of a pipeline, the balls and the memberships. Those of the same columns, which differ only in `C` or
`n_layers`, share features and normal equations, too.
"""

from __future__ import annotations

import copy
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from rich.console import Console
from rich.progress import track
from scipy import linalg
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, ParameterGrid, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import indexable
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from granulearn import rvfl
from granulearn._sklearn_compat import (
    InvalidParameterError,
    StrOptions,
    check_method_params,
    fit_and_score,
    fit_context,
    insert_error_scores,
    n_samples_of,
    score_fitted,
    take_split,
    warn_or_raise_about_fit_failures,
)
from granulearn.rvfl.ridge import check_finite_system, factor_spectral_ridge, normal_equations
from granulearn.utils.estimator import Abilities

SHARED_NAMES = ("C", "n_hidden", "n_layers", "activation")
# Up to this number of columns, a factor shared by widths is faster than solving by the rows.
SMALL_SYSTEM = 544
SHORT_SEARCH = 300
"""Candidates of a search that shows no progress bar."""
Outcome = dict[str, Any]


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
        Above zero, progress is shown; otherwise only on a terminal, for more than 300
        candidates.
    pre_dispatch : int or str, default="2*n_jobs"
        How many tasks joblib hands out ahead.
    error_score : "raise" or float, default=nan
        Score of a candidate whose fit raises.
    return_train_score : bool, default=False
        Whether to score the training samples too.
    selection : {"cv", "loo"}, default="cv"
        How candidates are scored. "cv" means `scoring` over the folds of
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
        As in `GridSearchCV`. The time of candidates that share work is divided equally
        among them in ``mean_fit_time``, and their ``mean_score_time`` is zero.
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
        if self.selection == "loo" and (self.scoring is not None or self.return_train_score):
            raise ValueError(
                "selection='loo' scores by the squared error of leave-one-out, but "
                f"scoring={self.scoring!r} and return_train_score={self.return_train_score!r} "
                "ask for another score; leave them out, or use selection='cv'."
            )
        scorer, refit_metric = self._get_scorers()
        X, y = indexable(X, y)
        routed = self._get_routed_params_for_fit(check_method_params(X, params=params))
        candidates = list(ParameterGrid(self.param_grid))
        problem = Problem(
            search=self,
            settings=candidates,
            X=X,
            y=y,
            scorer=scorer,
            fit_params=routed.estimator.fit,
            score_params=routed.scorer.score,
        )
        outcomes = self._evaluate(problem, self._splits(X, y, routed.splitter.split))
        results = self._results(candidates, outcomes)
        self._choose(results, refit_metric)
        if self.refit:
            self._refit(X, y, routed.estimator.fit)
        self.scorer_ = getattr(scorer, "_scorers", scorer)
        self.cv_results_ = results
        return self

    def _splits(self, X, y, split_params: dict) -> list[tuple]:
        if self.selection == "loo":
            self.n_splits_ = 1
            everything = np.arange(n_samples_of(X))
            return [(everything, everything)]
        splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        splits = list(splitter.split(X, y, **split_params))
        self.n_splits_ = len(splits)
        return splits

    def _evaluate(self, problem: Problem, splits: list[tuple]) -> list[Outcome]:
        """Return the outcomes, the folds of a candidate together."""
        groups = group_candidates(problem)
        calls = [(fold, group) for fold in range(len(splits)) for group in groups]
        if not calls:
            raise ValueError(
                f"No fits were performed: there are {len(problem.settings)} candidates and "
                f"{len(splits)} folds; check param_grid and cv."
            )
        # For small systems threads of BLAS wait longer than they work; n_jobs uses more cores.
        shares = any(group.networks for group in groups)
        with threadpool_limits(1 if shares else None, user_api="blas"):
            parallel = Parallel(
                n_jobs=self.n_jobs, pre_dispatch=self.pre_dispatch, return_as="generator"
            )
            found = parallel(
                delayed(score_group)(problem, group, *splits[fold]) for fold, group in calls
            )
            console = Console(stderr=True)
            hidden = not (sys.stderr.isatty() and len(problem.settings) > SHORT_SEARCH)
            found = list(
                track(found, "searching", len(calls), console=console,
                      transient=self.verbose == 0, disable=hidden and self.verbose == 0)
            )  # fmt: skip
        by_candidate = {
            (candidate, fold): outcome
            for (fold, _), outcomes in zip(calls, found, strict=True)
            for candidate, outcome in outcomes.items()
        }
        return [by_candidate[key] for key in sorted(by_candidate)]

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


@dataclass(frozen=True, eq=False)
class Problem:
    """The search that all candidates and folds share."""

    search: PathSearchCV
    settings: list[dict]
    """Parameters of each candidate."""
    X: Any
    y: Any
    scorer: Any
    fit_params: dict
    score_params: dict

    @property
    def is_leave_one_out(self) -> bool:
        """Whether candidates are scored by leave-one-out."""
        return self.search.selection == "loo"

    def score_alone(self, candidate: int, train, test) -> Outcome:
        """Fit and score one candidate as `GridSearchCV` does."""
        return fit_and_score(
            clone(self.search.estimator),
            self.X,
            self.y,
            scorer=self.scorer,
            train=train,
            test=test,
            verbose=self.search.verbose,
            parameters=self.settings[candidate],
            fit_params=self.fit_params,
            score_params=self.score_params,
            return_train_score=self.search.return_train_score,
            return_times=True,
            error_score=self.search.error_score,
        )


@dataclass(frozen=True, eq=False)
class Group:
    """Candidates that share all but the parameters of a network."""

    others: dict[str, Any]
    """The parameters that they share."""
    networks: dict[int, dict[str, Any]]
    """`SHARED_NAMES` of each candidate by its position; empty if they cannot share work."""
    alone: list[int]
    """Candidates that are fitted one by one."""


def group_candidates(problem: Problem) -> list[Group]:
    """Group the candidates of a grid by the work that they can share."""
    estimator = problem.search.estimator
    prefix = f"{estimator.steps[-1][0]}__" if type(estimator) is Pipeline else ""
    names = {prefix + name: name for name in SHARED_NAMES}
    alike: dict[tuple, list[int]] = {}
    for candidate, parameters in enumerate(problem.settings):
        # Candidates of a grid hold the same objects.
        key = tuple((name, id(value)) for name, value in parameters.items() if name not in names)
        alike.setdefault(key, []).append(candidate)
    groups = []
    for same in alike.values():
        others = {n: v for n, v in problem.settings[same[0]].items() if n not in names}
        last = _last_step(clone(estimator).set_params(**clone(others, safe=False)))
        group = Group(others, {}, [])
        for candidate in same:
            own = {names[n]: v for n, v in problem.settings[candidate].items() if n in names}
            if _shares_work(problem, copy.copy(last).set_params(**own)):
                group.networks[candidate] = own
            else:
                group.alone.append(candidate)
        groups.append(group)
    return groups


def _shares_work(problem: Problem, model: Any) -> bool:
    """Return whether a candidate shares work; one that `fit` refuses is fitted alone."""
    kind = search_of(model)
    try:
        if kind:
            model._validate_params()
    except InvalidParameterError:
        if problem.is_leave_one_out:
            raise
        return False
    by_mean = getattr(model, "combine", "mean") == "mean"
    if problem.is_leave_one_out and not (kind == "loo" and by_mean):
        known = [name for name in rvfl.__all__ if search_of(vars(rvfl)[name]) == "loo"]
        raise ValueError(
            f"selection='loo' is not offered for {model!r}, only for {', '.join(known)}, with "
            "combine='mean'. Use selection='cv'."
        )
    return bool(kind)


def search_of(model: Any) -> str:
    """Return how a search shares work between models of a class: "", "cv" or "loo"."""
    abilities = getattr(model, "_abilities", None)
    return abilities.search if isinstance(abilities, Abilities) else ""


def _last_step(estimator: BaseEstimator) -> Any:
    return estimator.steps[-1][1] if type(estimator) is Pipeline else estimator


# ---- One fold ---------------------------------------------------------------------------------


def score_group(problem: Problem, group: Group, train, test) -> dict[int, Outcome]:
    """Return the outcome of each candidate of a group on one fold, by its position."""
    outcomes = {candidate: problem.score_alone(candidate, train, test) for candidate in group.alone}
    if group.networks:
        began = time.perf_counter()
        try:
            shared = dict(_Fold(problem, group, train, test).outcomes())
        except Exception:
            # As scikit-learn: the error is reported for each candidate, or raised.
            if problem.search.error_score == "raise":
                raise
            shared = dict.fromkeys(group.networks, _failure(problem))
        times = {
            "fit_time": (time.perf_counter() - began) / len(shared),
            "score_time": 0.0,
        }
        outcomes |= {
            candidate: {"fit_error": None, **o, **times} for candidate, o in shared.items()
        }
    return outcomes


def _failure(problem: Problem) -> Outcome:
    score: Any = problem.search.error_score
    if isinstance(problem.scorer, dict) or hasattr(problem.scorer, "_scorers"):
        score = dict.fromkeys(getattr(problem.scorer, "_scorers", problem.scorer), score)
    failure = {"fit_error": traceback.format_exc(), "test_scores": score}
    return failure | ({"train_scores": score} if problem.search.return_train_score else {})


class _LastStepRecorder(BaseEstimator):
    """Stands in for a pipeline's last step and keeps the data it is fitted to.

    The pipeline itself then decides which parameters of `fit` reach its last step.
    """

    def __init__(self, last_step):
        self.last_step = last_step

    def get_metadata_routing(self):
        return self.last_step.get_metadata_routing()

    def fit(self, X, y=None, **fit_params):
        self.X_, self.y_, self.fit_params_ = X, y, fit_params
        return self

    def predict(self, X):
        return X


class _Fold:
    """A group of candidates on one fold, fitted up to the rows of the regression."""

    def __init__(self, problem: Problem, group: Group, train, test):
        search = problem.search
        self.problem, self.networks = problem, group.networks
        self.whole = clone(search.estimator).set_params(**clone(group.others, safe=False))
        self.last = _last_step(self.whole)
        X, y = take_split(self.whole, problem.X, problem.y, train)
        fit_params = check_method_params(problem.X, problem.fit_params, indices=train)
        if self.whole is not self.last:
            recorder = self._replace_last(_LastStepRecorder(self.last))
            self.whole.fit(X, y, **fit_params)
            X, y, fit_params = recorder.X_, recorder.y_, recorder.fit_params_
        self.rows, self.seeds = self.last._prepare(self.last._check(X, y, **fit_params))
        self.scored = {}
        indices = {} if problem.is_leave_one_out else {"test_scores": test}
        if search.return_train_score:
            indices["train_scores"] = train
        for name, index in indices.items():
            X, y = take_split(self.whole, problem.X, problem.y, index, train)
            score_params = check_method_params(problem.X, problem.score_params, indices=index)
            inputs = X if self.whole is self.last else self.whole.predict(X)
            self.scored[name] = X, y, score_params, self.last._checked(inputs)
        own = "r2" if is_regressor(self.last) else "accuracy"
        known = search.scoring is None or search.scoring == own
        self.scores_itself = known and not problem.score_params and not problem.is_leave_one_out

    def _replace_last(self, step: Any) -> Any:
        if self.whole is not self.last:
            self.whole.steps = [*self.whole.steps[:-1], (self.whole.steps[-1][0], step)]
        return step

    def outcomes(self) -> Iterator[tuple[int, Outcome]]:
        """Yield the position of each candidate with its outcome."""
        widest = max(np.max(n.get("n_hidden", self.last.n_hidden)) for n in self.networks.values())
        # Wider networks of few rows are solved faster by the rows, one by one.
        is_small = widest <= max(2 * len(self.rows.X), SMALL_SYSTEM)
        several = not hasattr(self.rows, "codes") or len(np.unique(self.rows.codes)) > 1
        nested = self.scores_itself and self.last._is_nested and is_small and several
        by_columns: dict[tuple, list[int]] = {}
        for candidate, network in self.networks.items():
            n_hidden = network.get("n_hidden", self.last.n_hidden)
            n_layers = None if isinstance(n_hidden, Integral) else network.get("n_layers")
            key = network.get("activation"), None if nested else str(n_hidden), n_layers
            by_columns.setdefault(key, []).append(candidate)
        for alike in by_columns.values():
            models = {candidate: self._model(self.networks[candidate]) for candidate in alike}
            yield from self._nested(models) if nested else self._same_columns(models)

    def _nested(self, models: dict[int, Any]) -> Iterator[tuple[int, Outcome]]:
        """Score networks of several widths: one Cholesky factor for each C serves all of them.

        The factor L of ``H'WH + I/C`` holds that of a narrower network as its leading block. With
        ``z = L^-1 H'WY`` and ``Q = H_test L^-T`` the outputs of p columns are ``Q[:, :p] z[:p]``.
        """
        widest = max(models.values(), key=lambda model: model.n_hidden)
        features = widest._features(self.rows, self.seeds)
        Y, offset = widest._targets(self.rows)
        (equations,) = normal_equations(features, self.rows.X, Y, self.rows.weights)
        check_finite_system(equations.gram, equations.moment)
        tests = [features(one[-1]) for one in self.scored.values()]
        right = np.hstack([equations.moment, *(H.conj().T for H in tests)])
        ends = np.cumsum([equations.moment.shape[1], *map(len, tests)])
        sizes = sorted({model.n_hidden for model in models.values()})
        narrow = [self._model({"n_hidden": size}) for size in sizes]
        columns = [model._features(self.rows, self.seeds).n_columns for model in narrow]
        by_penalty: dict[float, dict[int, Any]] = {}
        for candidate, model in models.items():
            by_penalty.setdefault(model.C, {})[candidate] = model
        for C, alike in by_penalty.items():
            system = equations.gram.copy()
            system.flat[:: len(system) + 1] += 1 / (widest._penalty_factor * C)
            try:
                L = linalg.cholesky(system, lower=True, overwrite_a=True, check_finite=False)
            except linalg.LinAlgError:  # singular to working precision
                yield from self._same_columns(alike)
                continue
            solved = linalg.solve_triangular(L, right, lower=True, check_finite=False)
            z, *Qs = np.split(solved, ends[:-1], axis=1)
            outputs: dict[int, dict[str, np.ndarray]] = {size: {} for size in sizes}
            for name, Q in zip(self.scored, Qs, strict=True):
                parts = zip(sizes, [0, *columns], columns, strict=False)
                total = 0.0
                for size, start, end in parts:
                    total = total + (Q[start:end].conj().T @ z[start:end]).real
                    outputs[size][name] = total + offset
            for candidate, model in alike.items():
                of_size = outputs[model.n_hidden].items()
                yield candidate, {name: self._score(name, each) for name, each in of_size}

    def _same_columns(self, models: dict[int, Any]) -> Iterator[tuple[int, Outcome]]:
        """Score networks that differ in C and in the number of layers only."""
        deepest = max(models.values(), key=_n_layers)
        features = deepest._features(self.rows, self.seeds)
        Cs = sorted({model.C for model in models.values()})
        if self.problem.is_leave_one_out:
            errors = leave_one_out_errors(deepest, features, self.rows, np.array(Cs, dtype=float))
            for candidate, model in models.items():
                yield candidate, {"test_scores": -errors[_n_layers(model) - 1, Cs.index(model.C)]}
            return
        solve = deepest._solver(features, self.rows)
        designs = {name: list(features.designs(one[-1])) for name, one in self.scored.items()}
        for C in Cs:
            coef = solve(C)
            own = {}
            if self.scores_itself:
                own = {name: deepest._outputs(each, coef) for name, each in designs.items()}
            for candidate, model in models.items():
                if model.C != C:
                    continue
                n_layers = _n_layers(model)
                if own:
                    outputs = {name: each[n_layers - 1] for name, each in own.items()}
                    yield (
                        candidate,
                        {name: self._score(name, each) for name, each in outputs.items()},
                    )
                    continue
                model.features_, model.coef_ = features, coef
                if model._is_deep:
                    model.features_, model.coef_ = features.first_layers(n_layers), coef[:n_layers]
                yield candidate, self._ask_scorer(model)

    def _model(self, network: dict) -> Any:
        model = copy.copy(self.last)
        vars(model).update(network)
        return model

    def _score(self, name: str, outputs: np.ndarray) -> float:
        """Return the accuracy, or R squared."""
        y = self.scored[name][1]
        if is_regressor(self.last):
            return r2_score(y, self.last._as_targets(outputs))
        return float(np.mean(self.last._labels(outputs) == np.asarray(y)))

    def _ask_scorer(self, model: Any) -> dict[str, Any]:
        self._replace_last(model)
        whole = model if self.whole is self.last else self.whole
        scorer, error_score = self.problem.scorer, self.problem.search.error_score
        return {
            name: score_fitted(whole, X, y, scorer, score_params, error_score)
            for name, (X, y, score_params, _) in self.scored.items()
        }


def _n_layers(model: Any) -> int:
    return getattr(model, "n_layers", 1)


def leave_one_out_errors(model: Any, features: Any, rows: Any, Cs: np.ndarray) -> np.ndarray:
    """Return the squared error of each stage and penalty, of shape (n_stages, len(Cs)).

    Without row i the mean of a regressor's targets is another, m_i. A ridge is linear in its
    targets, so that its prediction is ``p_i(Y) - m_i p_i(1) + m_i``.
    """
    Y, _ = model._targets(rows)
    weights = np.ones(len(Y)) if rows.weights is None else rows.weights
    targets = np.column_stack([Y, np.ones(len(Y))]).astype(float)
    left_out = []
    for H in features.designs(rows.X):
        ridge = factor_spectral_ridge(np.array, H, targets, weights, free_intercept=False)
        blocks = ridge.leave_out(H, targets, weights, model._penalty_factor * Cs)
        left_out.append(np.concatenate([predictions for _, predictions in blocks], axis=1))
    combined = model._combined(np.stack(left_out))
    predictions = combined[..., :-1]
    if is_regressor(model):
        others = weights.sum() - weights
        if others.min() <= 0:
            raise ValueError(
                "one row has all the weight, so without it nothing is left to fit; leave-one-out "
                "needs two or more."
            )
        mean = Y * (-weights / others)[:, None]  # the weighted sum of all Y is zero
        predictions = predictions + mean * (1 - combined[..., -1:])
    return np.square(predictions - Y).sum(axis=-1) @ (weights / weights.sum())


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
