"""The exact leave-one-out squared error of every candidate, in closed form."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from granulearn import estimators
from granulearn.estimators.estimator import Estimator
from granulearn.network.spectral_ridge import factor_spectral_ridge
from granulearn.selection.candidates import (
    ColumnsGroup,
    Grid,
    RowsGroup,
    last_step,
)
from granulearn.selection.fold import Fold, OutcomeTable
from granulearn.selection.network_path import width_columns
from granulearn.selection.prepared_model import PreparedModel


def check_closed_form(fold: Fold, grid: Grid) -> None:
    """Raise if a candidate has no leave-one-out error in closed form.

    Parameters
    ----------
    fold : Fold
        Any fold of the search; it makes the estimators of the candidates.
    grid : Grid
        The candidates.
    """
    firsts = [same_rows.places[0] for group in grid.sharing for same_rows in group.same_rows]
    for place in firsts + grid.alone:
        estimator = last_step(fold.estimator(place))
        if place in grid.alone or not _has_closed_form(estimator):
            if hasattr(estimator, "_validate_params"):
                estimator._validate_params()  # a wrong value gets its own message
            known = [name for name in estimators.__all__ if _knows_it(getattr(estimators, name))]
            raise ValueError(
                f"selection='loo' is not offered for {estimator!r}, only for "
                f"{', '.join(known)}, with one n_hidden for all layers and combine='mean'. "
                "Use selection='cv'."
            )


def _has_closed_form(estimator: BaseEstimator) -> bool:
    by_mean = getattr(estimator, "combine", "mean") == "mean"
    return by_mean and _knows_it(type(estimator))


def _knows_it(kind: type[Estimator]) -> bool:
    shared = kind._abilities.shared_work
    return shared is not None and shared.leave_one_out


def leave_one_out(model: PreparedModel, group: RowsGroup, table: OutcomeTable) -> None:
    """Add to the table the leave-one-out scores of candidates that share their rows.

    Parameters
    ----------
    model : PreparedModel
        What the candidates share; fitted to all samples.
    group : RowsGroup
        Networks of any activation, penalty and size.
    table : OutcomeTable
        Where outcomes are added.
    """
    for same_columns in group.same_columns:
        began, start = time.perf_counter(), len(table)
        errors = _errors_by_size(model, same_columns)
        for at, same_penalty in enumerate(same_columns.penalties):
            scores = [-errors[size][at] for size in same_penalty.sizes.tolist()]
            table.add_scores(same_penalty.places.tolist(), {"test_scores": scores})
        table.share_time(start, time.perf_counter() - began)


def _errors_by_size(model: PreparedModel, same_columns: ColumnsGroup) -> dict[int, np.ndarray]:
    """Return, for each size, the errors at each penalty of the group."""
    targets, weights = model.targets, model.rows.weights
    weights = np.ones(len(targets.Y)) if weights is None else weights
    Cs = [model.shared.inverse_penalty_factor * group.C for group in same_columns.penalties]
    sizes = np.unique(np.concatenate([group.sizes for group in same_columns.penalties]))
    predict = _of_layers if model.shared.ridge_per_layer else _of_widths
    errors = {}
    Y = targets.to_leave_out()
    for size, predictions in predict(model, same_columns, sizes.tolist(), Y, weights, Cs):
        residuals = targets.left_out(predictions, weights) - targets.Y
        errors[size] = np.square(residuals).sum(axis=2) @ weights / weights.sum()
    return errors


def _of_widths(
    model: PreparedModel, same_columns: ColumnsGroup, sizes: list[int], Y, weights, Cs
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each size and what its networks predict for each row when fitted without it."""
    columns = width_columns(model, same_columns)
    H = model.features(same_columns.network(1.0, sizes[-1]))(model.rows.X)
    for size in sizes:
        p = columns.fixed + columns.per_node * size
        yield size, predict_left_out(H[:, :p], Y, weights, Cs)


def _of_layers(
    model: PreparedModel, same_columns: ColumnsGroup, sizes: list[int], Y, weights, Cs
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each size and the mean prediction of that many layers, fitted without each row."""
    features = model.features(same_columns.network(1.0, sizes[-1]))
    total = np.zeros((len(Cs), *Y.shape))
    for size, columns in enumerate(features.layers(model.rows.X), start=1):
        total += predict_left_out(columns, Y, weights, Cs)
        if size in sizes:
            yield size, total / size


@dataclass(frozen=True)
class _Columns:
    """A feature map for rows that are features already: it returns them as they are."""

    n_columns: int
    bias_column = 0
    dtype = np.dtype(np.float64)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        return X.copy()

    def scores(self, X: np.ndarray, theta: np.ndarray) -> np.ndarray:
        return X @ theta


def predict_left_out(
    H: np.ndarray, Y: np.ndarray, weights: np.ndarray, Cs: list[float]
) -> np.ndarray:
    """Return what ridges predict for each row when they are fitted without it.

    Parameters
    ----------
    H : ndarray of shape (n_rows, p)
        Features.
    Y : ndarray of shape (n_rows, n_outputs)
        Targets.
    weights : ndarray of shape (n_rows,)
        Weights of the rows.
    Cs : list of float
        Inverse penalties.

    Returns
    -------
    ndarray of shape (len(Cs), n_rows, n_outputs)
        One prediction for each penalty, row and output.
    """
    ridge = factor_spectral_ridge(_Columns(H.shape[1]), H, Y, weights, free_intercept=False)
    blocks = ridge.leave_out(H, Y, weights, Cs)
    return np.concatenate([predictions for _, predictions in blocks], axis=1)
