"""Candidates times folds: sharing what can be shared, in as many processes as asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from granulearn.selection.candidates import Candidate, describe_candidates, group_by, last_step
from granulearn.selection.fold import Fold, Problem, fit_earlier_steps
from granulearn.selection.network_path import RowsGroup, evaluate_networks, group_networks
from granulearn.selection.outcomes import OutcomeTable, join_folds
from granulearn.selection.prepared_model import prepare_model
from granulearn.selection.progress import show_progress

# From what is shared most widely to what is shared least: a task is a group of
# the coarsest kind that gives every worker one.
GROUPINGS: tuple[Callable[[Candidate], tuple], ...] = (
    lambda candidate: candidate.inputs,
    lambda candidate: (candidate.inputs, candidate.rows),
    lambda candidate: (candidate.inputs, candidate.rows, candidate.network.activation),
)


@dataclass(frozen=True, eq=False)
class Group:
    """Candidates that share their inputs, taken apart further."""

    first: dict
    """Parameters of one of them."""
    same_rows: list[RowsGroup]


def evaluate_grid(
    problem: Problem,
    settings: Iterable[dict],
    splits: list[tuple],
    *,
    n_jobs: int | None,
    pre_dispatch: int | str,
) -> dict[str, list]:
    """Return the outcomes by column, the folds of a candidate together.

    Parameters
    ----------
    problem : Problem
        What is fitted and how it is scored.
    settings : iterable of dict
        The candidates' parameters.
    splits : list of (train, test)
        Indices of the samples of each fold.
    n_jobs, pre_dispatch
        As in joblib.
    """
    grid = describe_candidates(problem.estimator, settings)
    folds = [Fold(problem, train, test) for train, test in splits]
    groups = plan_groups(grid.sharing, len(folds), effective_n_jobs(n_jobs))
    calls: list[tuple[int, Callable, Any]] = []
    for at in range(len(folds)):
        calls += [(at, share_work, group) for group in groups]
        calls += [(at, fit_alone, item) for item in grid.alone.items()]
    if not calls:
        raise ValueError(
            f"No fits were performed: there are {len(grid)} candidates and {len(folds)} folds; "
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


def plan_groups(candidates: list[Candidate], n_splits: int, n_workers: int) -> list[Group]:
    """Return groups of candidates that share work.

    Parameters
    ----------
    candidates : list of Candidate
        Those that can.
    n_splits : int
        Each group is evaluated on so many folds.
    n_workers : int
        Work is shared less where workers would stand idle.
    """
    groups: list[list[Candidate]] = []
    for grouping in GROUPINGS:
        groups = list(group_by(candidates, grouping).values())
        if len(groups) * n_splits >= n_workers:
            break
    return [
        Group(
            group[0].parameters,
            [
                group_networks(same_rows)
                for same_rows in group_by(group, lambda candidate: candidate.rows).values()
            ],
        )
        for group in groups
    ]


def fit_alone(fold: Fold, item: tuple[int, dict]) -> OutcomeTable:
    """Return the outcome of one candidate, given as its place and parameters."""
    place, parameters = item
    table = OutcomeTable(fold.score_names())
    table.add(place, fold.fit_ordinarily(parameters))
    return table


def share_work(fold: Fold, group: Group) -> OutcomeTable:
    """Return the outcomes of a group's candidates."""
    table = OutcomeTable(fold.score_names())
    inputs = _attempt(fit_earlier_steps, fold, _with_parameters(fold, group.first))
    for same_rows in [] if inputs is None else group.same_rows:
        estimator = last_step(_with_parameters(fold, same_rows.first))
        model = _attempt(prepare_model, fold, inputs, estimator)
        if model is not None:
            evaluate_networks(model, same_rows, table)
    done = set(table.places)
    for same_rows in group.same_rows:
        for candidate in same_rows.candidates:
            if candidate.place not in done:
                table.add(candidate.place, fold.fit_ordinarily(candidate.parameters))
    return table


def _attempt(stage: Callable, *arguments):
    """Return what a stage of the fit returns; None if it raises."""
    try:
        return stage(*arguments)
    except Exception:
        # The ordinary fit raises it again, where scikit-learn reports it.
        return None


def _with_parameters(fold: Fold, parameters: dict):
    return clone(fold.problem.estimator).set_params(**clone(parameters, safe=False))
