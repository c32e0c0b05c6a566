"""Audit of numbers: rate every value of a target by networks that did not see it."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from granulearn._sklearn_compat import n_samples_of
from granulearn.audit.raw_inputs import is_raw_table, row_names
from granulearn.audit.value_ratings import (
    explained_share,
    rate_residuals,
    usual_size,
)
from granulearn.rvfl import RVFLEnsembleRegressor
from granulearn.utils.sorting import order_and_ties
from granulearn.utils.threads import effective_n_jobs, limited_threads
from granulearn.utils.validation import check_inputs

if TYPE_CHECKING:
    import pandas as pd

MIN_ROWS, FEW_ROWS = 10, 50
# Inputs that explain less than this of the values say next to nothing about a single one.
MIN_EXPLAINED = 0.05
# Residuals of more than so many usual sizes lose weight in the next fit.
FULL_WEIGHT = 2.5
# Networks are fitted to at most so many rows; others are predicted out of sample.
MAX_SAMPLES = 10_000
N_REFITS = 2
# The first fit moves values nearer that are this many times as far from the middle as nine in
# ten are. A single absurd one would leave nothing to see of the others.
FARTHEST = 5.0


def rate_values(
    X: Any, y: Any, *, random_state: Any = None, n_jobs: int | None = None
) -> pd.DataFrame:
    """Return the frame of ``audit_labels(X, y, task="regression")``.

    An RVFL ensemble predicts each value from networks fitted without its row (exact
    leave-one-out), and is fitted again with less weight on values that are far off. The
    residual of a row is measured by the usual size of the residuals of its 50 nearest rows,
    more generously for a row that is far from all others. Up to 20,000 rows are all fitted. Of
    more, 10,000 are, spread evenly, and the others are predicted out of sample; neighbours are
    sought among at most 10,000 rows.

    Parameters
    ----------
    X, y, random_state, n_jobs
        As for `audit_labels`.
    """
    if isinstance(y, str) or is_raw_table(X):
        from granulearn.audit.value_table import audit_raw_values

        return audit_raw_values(X, y, random_state=random_state, n_jobs=n_jobs)
    values = check_values(y)
    n_rows = n_samples_of(X)
    if n_rows != len(values):
        raise ValueError(
            f"X has {n_rows} rows and y has {len(values)} values; give one value for each row."
        )
    inputs = _check_numbers(X)
    names = row_names(X, y)
    return list_values(inputs, values, names, random_state=random_state, n_jobs=n_jobs)


def check_values(y: Any) -> np.ndarray:
    """Return the numbers of a target as floats; raise if they cannot be audited.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The target.
    """
    try:
        given = np.asarray(y)
    except ValueError as error:
        raise ValueError(
            f"y is no list of numbers ({error}); give one number for each row."
        ) from error
    if given.ndim != 1:
        raise ValueError(
            f"y has {given.ndim} dimensions, shape {given.shape}; give one number for each row."
        )
    if given.dtype == object:
        # What pandas calls NA is no number for NumPy.
        given = np.array([np.nan if str(value) in ("None", "<NA>") else value for value in given])
    if given.dtype.kind not in "iuf":
        shown = ", ".join(map(str, given[:3]))
        raise ValueError(
            f"y must hold numbers, and holds {given.dtype} ({shown}, ...): convert it to numbers, "
            "or use task='classification'."
        )
    values = given.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise ValueError(
            f"y has {len(bad)} missing or infinite values, the first at position {bad[0]}: leave "
            "these rows out."
        )
    if len(values) < MIN_ROWS:
        raise ValueError(
            f"y has {len(values)} values, too few to tell what is usual; give {MIN_ROWS} at least."
        )
    if values.min() == values.max():
        raise ValueError(
            f"all {len(values)} values of y are {values[0]:g}, so none differs from the others; "
            "choose another target."
        )
    return values


def _check_numbers(X: Any) -> np.ndarray:
    """Return inputs as floats; raise if they are no numbers."""
    remedy = (
        "pass a frame and the name of its column to audit, and cells are read, filled and encoded"
    )
    try:
        inputs, _ = check_inputs(
            X, np.arange(n_samples_of(X)), "audit_labels", dtype=np.float64, ensure_all_finite=False
        )
    except ValueError as error:
        if "could not convert string" not in str(error):
            raise
        raise ValueError(
            f"X holds text ({error}), and inputs must be numbers; {remedy}."
        ) from error
    rows, columns = np.nonzero(~np.isfinite(inputs))
    if len(rows):
        raise ValueError(
            f"X has {len(rows)} missing or infinite (NaN, inf) cells, the first in row {rows[0]}, "
            f"column {columns[0]}; fill them, or {remedy}."
        )
    return inputs


def list_values(
    X: np.ndarray,
    y: np.ndarray,
    index: Any = None,
    *,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> pd.DataFrame:
    """Return the frame of the audit for checked inputs and values.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Inputs.
    y : ndarray of shape (n_rows,)
        Values, from `check_values`.
    index : sequence, default=None
        Names of the rows; None numbers them.
    random_state : int, RandomState or None, default=None
        Draws the networks.
    n_jobs : int or None, default=None
        Threads.
    """
    import pandas as pd

    seed = int(check_random_state(random_state).randint(2**31 - 1))
    # In an order that depends on the values of rows alone, so that no other order can matter.
    order, place = order_and_ties(X, y)
    scaled = _scaled(X[order])
    power = _power_of_two(np.abs(y).max())
    middle = float(np.median(y / power))
    unit = usual_size(y / power - middle)
    targets = (y[order] / power - middle) / unit
    with limited_threads(1, "blas"):
        expected = predict_without(scaled, targets, seed)
    with limited_threads(effective_n_jobs(n_jobs), "openmp"):
        ratings = rate_residuals(scaled, expected, targets - expected)
    explained = explained_share(targets, targets - expected, 1 - ratings.error_proba)
    notes = _notes(explained, len(y), int(np.count_nonzero(place != np.arange(len(y)))))
    judged = explained >= MIN_EXPLAINED
    # Rows that are equal in everything share what is said of the first of them.
    back = np.empty(len(y), dtype=np.intp)
    back[order] = place

    def in_units(numbers: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return (numbers[back] * unit + middle) * power

    proba = ratings.error_proba[back]
    listing = pd.DataFrame(
        {
            "given_label": y,
            "predicted_label": in_units(expected),
            "low": in_units(expected - ratings.half_width),
            "high": in_units(expected + ratings.half_width),
            "error_probability": proba if judged else np.full(len(y), np.nan),
            "is_label_issue": (proba > 0.5) & judged,
        },
        index=index,
    )
    # By distance and not by probability: of two that are both certain, the farther comes first.
    listing = listing.iloc[np.argsort(-ratings.distance[back], kind="stable")]
    listing.attrs = {
        "noise_rate": float(proba.mean()) if judged else float("nan"),
        "explained": explained,
        "warnings": notes,
    }
    return listing


def predict_without(X: np.ndarray, targets: np.ndarray, seed: int) -> np.ndarray:
    """Return what an RVFL ensemble predicts for each row without it.

    A wrong value pulls the predictions for other rows. So the ensemble is fitted again,
    with less weight on what was far off.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Scaled inputs.
    targets : ndarray of shape (n_rows,)
        Values, around zero with a spread of about one.
    seed : int
        Draws the networks.
    """
    sizes: dict[str, Any] = {"max_samples": MAX_SAMPLES, "random_state": seed}
    farthest = FARTHEST * float(np.quantile(np.abs(targets), 0.9)) or np.inf
    model = RVFLEnsembleRegressor(**sizes).fit(X, np.clip(targets, -farthest, farthest))
    for _ in range(N_REFITS):
        residuals = np.abs(targets - model.loo_prediction_)
        limit = FULL_WEIGHT * usual_size(residuals)
        weights = np.square(limit / np.maximum(residuals, limit)) if limit > 0 else None
        # The activation is kept: to choose it again costs four times as much and brings nothing.
        again = RVFLEnsembleRegressor(activation=model.activation_, **sizes)
        model = again.fit(X, targets, weights)
    return model.loo_prediction_


def _scaled(X: np.ndarray) -> np.ndarray:
    """Return columns of zero mean and unit variance; constant ones become zeros."""
    largest = np.abs(X).max(axis=0)
    X = X / _power_of_two(np.where(largest > 0, largest, 1))
    X -= X.mean(axis=0)
    deviation = X.std(axis=0)
    varies = deviation > 1e-12
    return np.where(varies, X / np.where(varies, deviation, 1), 0.0)


def _power_of_two(largest: Any) -> Any:
    """Return what to divide by, so that squares of huge numbers are finite and no digit changes."""
    return np.exp2(np.frexp(largest)[1] - 1.0)


def _notes(explained: float, n_rows: int, n_repeated: int) -> list[str]:
    """Return what could mislead, in sentences."""
    notes = []
    if explained < MIN_EXPLAINED:
        notes.append(
            f"The inputs hardly predict the values (R squared {explained:.2f} without the row), so "
            "no value can be judged by them and none is flagged: add inputs that tell more."
        )
        warnings.warn(notes[0], UserWarning, stacklevel=4)
    if n_rows < FEW_ROWS:
        notes.append(
            f"There are {n_rows} rows; below {FEW_ROWS} it is hardly known how far right values "
            "lie from what is expected: take probabilities for a hint."
        )
    if n_repeated:
        are = "1 row repeats" if n_repeated == 1 else f"{n_repeated} rows repeat"
        notes.append(
            f"{are} another one, value and all; copies vouch for each other, so a wrong value "
            "among them is not found: remove repeated rows unless they are different cases."
        )
    return notes
