"""Audit of numbers: rate every value of a target by networks that did not see it.

An RVFL ensemble predicts each value from networks fitted without its row (exact
leave-one-out), and is fitted again with less weight on values that are far off. The
residual of a row is measured by the typical size of the residuals of its 50 nearest rows,
more generously for a row that is far from all others. Mixtures of two distributions, of right
and of wrong values, turn this distance into a probability; how many values are wrong, and how far
off they are, is averaged over. Up to 20,000 rows are all fitted. Of
more, 10,000 are, and the others are predicted out of sample; neighbours are sought among at most
10,000 rows.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pandas.api.types import is_bool_dtype, is_numeric_dtype
from scipy import stats
from scipy.special import expit, logit, softmax
from sklearn.metrics import r2_score
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from granulearn.audit.error_probability import FORECASTS
from granulearn.audit.ratings import percent
from granulearn.audit.validation import is_raw_table, row_names
from granulearn.preprocess import TablePreprocessor
from granulearn.rvfl import RVFLEnsembleRegressor
from granulearn.tables import ColumnOptions, TableError, TableFile, table_of
from granulearn.tables.inspection import first_pass, problems_of_names, report_first
from granulearn.tables.schema import NUMBER
from granulearn.tables.training_table import warn_of_dropped, with_target
from granulearn.utils.neighbors import nearest_others
from granulearn.utils.text import counted
from granulearn.utils.threads import effective_n_jobs, limited_threads

MIN_ROWS, FEW_ROWS = 10, 50
# Inputs that explain less than this of the values say next to nothing about a single one.
MIN_EXPLAINED = 0.05
# Residuals of more than this multiple of the typical size lose weight in the next fit.
FULL_WEIGHT = 2.5
# Networks are fitted to at most this number of rows; others are predicted out of sample.
MAX_SAMPLES = 10_000
N_REFITS = 2
# The first fit moves values nearer that are this many times as far from the median as nine in
# ten are. A single absurd one would leave nothing to see of the others.
FARTHEST = 5.0

# These were chosen on half of the sets of `benchmarks/values.py`.
N_NEIGHBORS, N_NEAREST = 50, 10
GLOBAL_SHARE = 0.2
# Right values have tails like Student's t. Wrong ones have heavier tails and lie so many times as
# far: a little where the inputs say little, much where they say much.
RIGHT, WRONG = stats.t(7), stats.t(3)
SCALES = np.array([1.5, 5.0, 20.0])
# One table in four is nearly free of mistakes. In others the share of wrong values follows a Beta
# distribution.
SHARES = np.append(0.001, np.geomspace(0.005, 0.5, 12))
_DENSITY = stats.beta(1, 9).pdf(SHARES[1:]) * SHARES[1:]
PRIOR = np.append(0.25, 0.75 * _DENSITY / _DENSITY.sum())
# The distributions do not hold exactly: more values than these do not settle what fits best.
MOST_VALUES = 200
RANGE = 0.95
# Where inputs fix the values, what is left is rounding and penalty, with tails of its own: less
# than a thousandth of the values' own spread counts as nothing.
SMALLEST_SPREAD = 1e-3
# Neighbours are searched among this number of rows, so that the search stays linear.
MAX_SEARCHED = 10_000
_NORMAL_MEDIAN = float(stats.norm.ppf(0.75))

# A column is the target itself, in other units perhaps, if a line fits it as closely as this.
SAME = 1 - 1e-9


def audit_regression(
    X: Any, y: Any, *, random_state: Any = None, n_jobs: int | None = None
) -> pd.DataFrame:
    """Return the frame of ``audit_labels(X, y, task="regression")``.

    Parameters
    ----------
    X, y, random_state, n_jobs
        As for `audit_labels`.
    """
    names = row_names(X, y)
    notes: list[str] = []
    if isinstance(y, str) or is_raw_table(X):
        X, y, notes = read_numbers(X, y)
        names = X.index if names is None else names[X.index]
    values = check_values(y)
    inputs = TablePreprocessor(target_type="continuous").fit_transform(X, values)
    frame = rate_values(inputs, values, random_state=random_state, n_jobs=n_jobs)
    if names is not None:
        frame.index = pd.Index(names)[frame.index]
    frame.attrs["warnings"] = [*notes, *frame.attrs["warnings"]]
    return frame


def check_values(y: Any) -> np.ndarray:
    """Return the numbers of a target as floats; raise if they cannot be audited.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The target.
    """
    column = pd.Series(y)
    if not is_numeric_dtype(column) or is_bool_dtype(column):
        shown = ", ".join(map(str, column[:3]))
        raise ValueError(
            f"y must hold numbers, and holds {column.dtype} ({shown}, ...): convert it to numbers, "
            "or use task='classification'."
        )
    values = column.to_numpy(np.float64, na_value=np.nan)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise ValueError(
            f"y has {len(bad)} missing or infinite values, the first at position {bad[0]}: leave "
            "these rows out."
        )
    if len(values) < MIN_ROWS:
        raise ValueError(f"y has {len(values)} values, too few to audit; give at least {MIN_ROWS}.")
    if values.min() == values.max():
        raise ValueError(
            f"all {len(values)} values of y are {values[0]:g}, so none differs from the others; "
            "choose another target."
        )
    return values


# ---- ratings ---------------------------------------------------------------------------------


def rate_values(
    X: np.ndarray, y: np.ndarray, *, random_state: Any = None, n_jobs: int | None = None
) -> pd.DataFrame:
    """Return the frame of the audit for checked inputs and values, by position.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Inputs.
    y : ndarray of shape (n_rows,)
        Values, from `check_values`.
    random_state : int, RandomState or None, default=None
        Draws the networks.
    n_jobs : int or None, default=None
        Threads.
    """
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    scaled = StandardScaler().fit_transform(X)
    median = float(np.median(y))
    unit = typical_size(y - median)
    targets = (y - median) / unit
    with limited_threads(1, "blas"):
        expected = predict_without(scaled, targets, seed)
    residuals = targets - expected
    with limited_threads(effective_n_jobs(n_jobs), "openmp"):
        distance, spread = distances(scaled, expected, residuals)
    error_proba = error_probability(distance)
    half_width = spread * weighted_quantile(distance, 1 - error_proba, RANGE)
    explained = float(r2_score(targets, expected, sample_weight=1 - error_proba))
    notes = _notes(explained, len(y), int(pd.DataFrame(X).assign(target=y).duplicated().sum()))
    judged = explained >= MIN_EXPLAINED

    frame = pd.DataFrame(
        {
            "given_label": y,
            "predicted_label": expected * unit + median,
            "low": (expected - half_width) * unit + median,
            "high": (expected + half_width) * unit + median,
            "error_probability": error_proba if judged else np.full(len(y), np.nan),
            "is_label_issue": False,
        }
    )
    # By distance and not by probability: of two that are both certain, the farther comes first.
    frame = frame.iloc[np.argsort(-distance, kind="stable")]
    found = frame["error_probability"].cumsum().to_numpy()
    n_errors, message = float(found[-1]), "".join(notes[:1])
    if judged:
        # As many as are expected to be wrong, so that flags, rate and forecast agree.
        frame["is_label_issue"] = np.arange(len(y)) < round(n_errors)
        message = (
            f"About {round(n_errors):,} of {len(y):,} values ({percent(n_errors / len(y))}) may be "
            "wrong. Mistakes near the expected value cannot be told from right values."
        )
    sizes = [min(size, len(y)) for size in FORECASTS if judged]
    frame.attrs = {
        "n_labels": len(y),
        "n_errors": n_errors,
        "noise_rate": n_errors / len(y),
        "expected_errors": {size: float(found[size - 1]) for size in sizes},
        "message": message,
        "explained": explained,
        "warnings": notes,
    }
    return frame


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
        limit = FULL_WEIGHT * typical_size(residuals)
        weights = np.square(limit / np.maximum(residuals, limit)) if limit > 0 else None
        # The activation is kept: to choose it again costs four times as much and brings nothing.
        again = RVFLEnsembleRegressor(activation=model.activation_, **sizes)
        model = again.fit(X, targets, weights)
    return model.loo_prediction_


def distances(
    X: np.ndarray, expected: np.ndarray, residuals: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the size of each residual in units of those of near rows, and these units.

    The unit of a row is the root of a mean of squares: of the typical size of residuals among its
    neighbours, and, for a fifth, of that among all rows, since a few neighbours may be alike by
    chance. Rows far from all others are predicted less well: their unit grows with the root of
    the mean distance to the ten nearest rows, in units of its median.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Scaled inputs.
    expected : ndarray of shape (n_rows,)
        What each value is predicted to be without its row.
    residuals : ndarray of shape (n_rows,)
        The values minus that, in units in which the values have a spread of about one.
    """
    # Spread often grows with the value, so the expected value weighs as much as all inputs
    # together. Columns of zeros need no scale.
    size, deviation = np.sqrt(X.var(axis=0).sum()), expected.std()
    points = np.column_stack([X / (size or 1.0), expected / (deviation or 1.0)])
    n_searched = min(len(points), MAX_SEARCHED)
    searched = np.arange(n_searched) * len(points) // n_searched
    near = nearest_others(points, min(N_NEIGHBORS, n_searched - 1), among=searched)
    # One neighbour at a time: all at once would hold ten times the table.
    far = np.mean(
        [np.linalg.norm(points - points[rows], axis=1) for rows in near.T[:N_NEAREST]], axis=0
    )
    typical = np.median(far)
    factors = np.sqrt(np.maximum(far / typical, 1)) if typical > 0 else np.ones(len(points))
    sizes = np.abs(residuals) / factors
    of_all = max(typical_size(sizes), SMALLEST_SPREAD)
    of_near = np.median(sizes[near], axis=1) / _NORMAL_MEDIAN
    spread = factors * np.sqrt((1 - GLOBAL_SHARE) * of_near**2 + GLOBAL_SHARE * of_all**2)
    return np.abs(residuals) / spread, spread


def typical_size(numbers: np.ndarray) -> float:
    """Return a standard deviation about zero that a few large numbers do not change.

    Parameters
    ----------
    numbers : ndarray of shape (n,)
        At least one.
    """
    size = float(np.median(np.abs(numbers))) / _NORMAL_MEDIAN
    # Where most of them are zero, the mean is taken.
    return size if size > 0 else float(np.abs(numbers).mean())


def error_probability(distance: np.ndarray) -> np.ndarray:
    """Return the probability that a value is wrong, given how far all values are from expected.

    Two groups are assumed. Distances of right values follow Student's t with seven degrees
    of freedom, scaled to the median of all distances; those of wrong values Student's t with three,
    1.5, 5 or 20 times as wide. Each width, with each share of wrong values, counts by how well it
    fits the distances, times its prior. The farther, the more probably wrong. The scale is not
    that of values believed to be right alone, which would be exact under the assumptions: on real
    tables, with longer tails, that made probabilities too large.

    Parameters
    ----------
    distance : ndarray of shape (n_rows,)
        Sizes of residuals in units of the spread around them.
    """
    # Half the typical size at least: where residuals are rounding, none is far.
    unit = max(float(np.median(distance)) / RIGHT.ppf(0.75), 0.5)
    sizes = distance / unit
    scales = SCALES[:, None]
    log_ratio = WRONG.logpdf(sizes / scales) - np.log(scales) - RIGHT.logpdf(sizes)
    likelihoods = [
        np.logaddexp(np.log1p(-share), np.log(share) + log_ratio).sum(axis=1) for share in SHARES
    ]
    counted_as = min(1, MOST_VALUES / len(sizes))
    weights = softmax(counted_as * np.array(likelihoods) + np.log(PRIOR)[:, None])
    proba = sum(
        w @ expit(logit(share) + log_ratio) for share, w in zip(SHARES, weights, strict=True)
    )
    return np.minimum(proba, 1.0)


def weighted_quantile(values: np.ndarray, weights: np.ndarray, share: float) -> float:
    """Return the smallest value up to which this share of the weight lies.

    Parameters
    ----------
    values, weights : ndarray of shape (n,)
        Weights are not negative, and not all zero.
    share : float
        Between 0 and 1.
    """
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    at = int(np.searchsorted(reached, share * reached[-1]))
    return float(values[order[min(at, len(order) - 1)]])


def _notes(explained: float, n_rows: int, n_repeated: int) -> list[str]:
    """Return messages about what could mislead."""
    notes = []
    if explained < MIN_EXPLAINED:
        notes.append(
            f"The inputs hardly predict the values (R squared {explained:.2f} without the row), so "
            "no value can be judged by them and none is flagged: add inputs that predict them."
        )
        warnings.warn(notes[0], UserWarning, stacklevel=4)
    if n_rows < FEW_ROWS:
        notes.append(
            f"There are {n_rows} rows; below {FEW_ROWS} it is hardly known how far right values "
            "lie from what is expected: take probabilities for a hint."
        )
    if n_repeated:
        notes.append(
            f"{counted(n_repeated, 'row repeats', 'rows repeat')} another one, value and all; "
            "duplicates vouch for each other, so a wrong value among them is not found: remove "
            "repeated rows unless they are different cases."
        )
    return notes


# ---- raw tables ------------------------------------------------------------------------------


def read_numbers(X: Any, y: Any) -> tuple[pd.DataFrame, np.ndarray, list[str]]:
    """Read a table with numbers to audit, in one of its columns or beside it.

    The target is read as any column of numbers is: with currencies, units and decimal commas.
    Rows without a number are left out and counted.

    Parameters
    ----------
    X : path, frame, Arrow table, list of dicts or dict of columns
        The table.
    y : str or array-like
        The column of numbers, or the numbers.

    Returns
    -------
    tuple
        Inputs by number of the row in the table, from 0: numbers as floats, the others as
        categories of text; the numbers; and what could mislead.

    Raises
    ------
    TableError
        Says what was found, where, and what to do.
    """
    with table_of(X) as file:
        if isinstance(y, str):
            return _read_numbers(file, y)
        table = pa.Table.from_batches(list(file.batches()))
        return _read_numbers(*with_target(table, y, pa.array(y, from_pandas=True), file.path))


def _read_numbers(file: TableFile, target: str) -> tuple[pd.DataFrame, np.ndarray, list[str]]:
    # A target that looks like an ID or a number of rows is still a target.
    options = ColumnOptions(include=(target,) if target in file.names else ())
    problems = problems_of_names(file.names, target, options)
    if problems:
        raise TableError.about(file.path, problems)
    batches = pa.Table.from_batches(list(file.batches())).combine_chunks().to_batches()
    report = report_first(file, first_pass(batches, None), None, options)
    if report.problems:
        raise TableError.about(file.path, report.problems)
    column = report.schema[target]
    if column.type != NUMBER:
        shown = ", ".join(map(repr, column.examples[:3]))
        message = (
            f"Column {target!r}, the target, holds no numbers but is of the kind "
            f"{column.type!r} ({shown}, ...): choose another column, or leave out "
            "task='regression' if these are classes."
        )
        raise TableError.about(file.path, [message])
    if len(report.schema.used) == 1:
        message = f"There is no column to learn from but {target!r}, the target: add columns."
        raise TableError.about(file.path, [message])
    warn_of_dropped(report.schema)
    frame = report.schema.read(batches[0], 0).to_frame()
    values = frame.pop(target).to_numpy()
    notes = [
        f"Column {target!r}, the target: {warning}." for warning in column.warnings(file.location)
    ]
    known = np.flatnonzero(~np.isnan(values))
    if len(known) < len(values):
        missing = counted(len(values) - len(known), "row has", "rows have")
        notes.append(f"{missing} no number in {target!r}: left out.")
    frame, values = frame.iloc[known], values[known]
    target_values, fewest = pd.Series(values, frame.index), max(3, len(values) // 2)
    with np.errstate(invalid="ignore"):  # a constant column has no correlation
        copies = [
            name
            for name in frame.select_dtypes("float")
            if abs(frame[name].corr(target_values, min_periods=fewest)) >= SAME
        ]
    if copies and len(copies) < frame.shape[1]:
        frame = frame.drop(columns=copies)
        notes += [
            f"Column {name!r} holds the target itself, perhaps in other units: it is dropped, "
            "since it would vouch for every value."
            for name in copies
        ]
    return frame, values, notes
