"""The run of a grid: every candidate on every fold, sharing work, in several processes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from granulearn.selection.candidates import Grid, InputsGroup, RowsGroup, last_step
from granulearn.selection.fold import Fold, OutcomeTable, Problem, fit_earlier_steps
from granulearn.selection.leave_one_out import check_closed_form, leave_one_out
from granulearn.selection.network_path import evaluate_networks
from granulearn.selection.prepared_model import prepare_model
from granulearn.selection.progress import show_progress


def evaluate_grid(
    problem: Problem,
    grid: Grid,
    splits: list[tuple],
    *,
    n_jobs: int | None,
    pre_dispatch: int | str,
) -> dict[str, list]:
    """Evaluate a grid; return the outcomes as columns, the folds of a candidate together.

    Parameters
    ----------
    problem : Problem
        What is fitted and how it is scored.
    grid : Grid
        The candidates.
    splits : list of (train, test)
        Indices of the samples of each fold.
    n_jobs, pre_dispatch
        As in joblib.
    """
    folds = [Fold(problem, train, test) for train, test in splits]
    if problem.leave_one_out:
        check_closed_form(folds[0], grid)
    groups = plan_groups(grid.sharing, len(folds), effective_n_jobs(n_jobs))
    calls: list[tuple[int, Callable, Any]] = []
    for at in range(len(folds)):
        calls += [(at, share_work, group) for group in groups]
        calls += [(at, fit_alone, place) for place in grid.alone]
    if not calls:
        raise ValueError(
            f"No fits were performed: there are {len(problem.settings)} candidates and "
            f"{len(folds)} folds; "
            "check param_grid and cv."
        )
    # For systems this small, threads of BLAS wait for each other longer than they
    # work, many times longer on a busy machine; n_jobs is the way to use more cores.
    one_thread = threadpool_limits(1 if grid.sharing else None, user_api="blas")
    with one_thread, show_progress(len(calls), problem.verbose) as progress:
        parallel = Parallel(n_jobs=n_jobs, pre_dispatch=pre_dispatch, return_as=progress.return_as)
        results = parallel(delayed(work)(folds[at], what) for at, work, what in calls)
        tables = list(progress.track(results))
    splits_of_calls = (at for at, _, _ in calls)
    return join_folds(list(zip(splits_of_calls, tables, strict=True)), len(folds))


def plan_groups(groups: list[InputsGroup], n_splits: int, n_workers: int) -> list[InputsGroup]:
    """Return groups of candidates that share work, one for each task.

    Parameters
    ----------
    groups : list of InputsGroup
        The largest groups that share work.
    n_splits : int
        Number of folds that each group is evaluated on.
    n_workers : int
        Number of workers; groups are split where workers would stand idle.
    """
    for split in (_by_rows, _by_columns):
        if len(groups) * n_splits >= n_workers:
            break
        groups = [part for group in groups for part in split(group)]
    return groups


def _by_rows(group: InputsGroup) -> list[InputsGroup]:
    return [InputsGroup([same_rows]) for same_rows in group.same_rows]


def _by_columns(group: InputsGroup) -> list[InputsGroup]:
    return [
        InputsGroup([RowsGroup([same_columns])])
        for same_rows in group.same_rows
        for same_columns in same_rows.same_columns
    ]


def fit_alone(fold: Fold, place: int) -> OutcomeTable:
    """Return the outcome of one candidate."""
    table = OutcomeTable(fold.score_names())
    table.add(place, fold.fit_ordinarily(place))
    return table


def share_work(fold: Fold, group: InputsGroup) -> OutcomeTable:
    """Return the outcomes of a group's candidates."""
    table = OutcomeTable(fold.score_names())
    evaluate = leave_one_out if fold.problem.leave_one_out else evaluate_networks
    places = group.places
    inputs = _attempt(fit_earlier_steps, fold, fold.estimator(places[0]))
    for same_rows in [] if inputs is None else group.same_rows:
        estimator = last_step(fold.estimator(same_rows.places[0]))
        model = _attempt(prepare_model, fold, inputs, estimator)
        if model is not None:
            _attempt(evaluate, model, same_rows, table)
    if len(table) < len(places):
        for place in sorted(set(places.tolist()).difference(table.places)):
            table.add(place, _ordinary_outcome(fold, place))
    return table


def _ordinary_outcome(fold: Fold, place: int) -> dict:
    outcome = fold.fit_ordinarily(place)
    if fold.problem.leave_one_out and outcome["fit_error"] is None:
        # The score is that of the samples it was fitted to, which is no guide for a choice.
        raise RuntimeError(
            f"the leave-one-out error of {fold.problem.settings[place]} cannot be computed, though "
            "it can be fitted; use selection='cv'."
        )
    return outcome


def _attempt(stage: Callable, *arguments):
    """Return what a stage of the fit returns; None if it raises."""
    try:
        return stage(*arguments)
    except Exception:
        # The ordinary fit raises the error again, where scikit-learn reports it.
        return None


def join_folds(tables: list[tuple[int, OutcomeTable]], n_splits: int) -> dict[str, list]:
    """Return the columns of all tables, sorted by candidate and then by fold.

    Parameters
    ----------
    tables : list of (int, OutcomeTable)
        Each table with the number of its fold; together they cover every candidate
        and fold once.
    n_splits : int
        Number of folds.
    """
    rows = np.concatenate([np.array(table.places) * n_splits + at for at, table in tables])
    joined = {}
    for name in tables[0][1].columns:
        column = np.empty(len(rows), dtype=object)
        column[rows] = list(chain.from_iterable(table.columns[name] for _, table in tables))
        joined[name] = column.tolist()
    return joined
