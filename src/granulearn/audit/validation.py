"""Arguments of an audit, validated: raw tables, probabilities, groups, times."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from copy import deepcopy
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from granulearn._sklearn_compat import take_rows
from granulearn.utils.validation import encode_labels, ranks_of

# A table is cut into this number of periods.
N_PERIODS = 10
_LARGE_GROUP = 0.6
_SUM_ERROR = 1e-3
# A model predicts nearly all labels of samples that it has seen, wrong ones as well.
_TOO_OFTEN = 0.995
_ENOUGH_ROWS = 50


def is_raw_table(X: Any) -> bool:
    """Return whether X is a table whose cells are read, rather than an array of numbers.

    Parameters
    ----------
    X : object
        What was passed as inputs.
    """
    if isinstance(X, (str, os.PathLike, Mapping)) or hasattr(X, "__arrow_c_stream__"):
        return True
    return isinstance(X, Sequence) and bool(X) and isinstance(X[0], Mapping)


def row_names(X: Any, y: Any) -> Any:
    """Return the names of the rows, if the data has any.

    Parameters
    ----------
    X, y : object
        Inputs and labels as they were passed.
    """
    named = X if hasattr(X, "iloc") else y if hasattr(y, "iloc") else None
    return None if named is None else named.index


# ---- probabilities of another model ----------------------------------------------------------


def out_of_sample_proba(
    estimator: Any, X: Any, y: Any, *, cv: Any = 5, groups: Any = None, random_state: Any = 0
) -> pd.DataFrame:
    """Return class probabilities of each sample by models that did not see it.

    They are what `audit_labels` and `LabelAudit` take as ``proba``.

    Parameters
    ----------
    estimator : classifier or pipeline
        Has ``predict_proba``. A copy is fitted in each fold, to classes numbered from 0.
    X : array-like of shape (n_samples, n_features)
        Inputs, as the estimator takes them.
    y : array-like of shape (n_samples,)
        Labels.
    cv : int or splitter, default=5
        Number of stratified folds in random order, or a splitter of scikit-learn.
    groups : array-like of shape (n_samples,), default=None
        Samples of one group, such as a patient, are in one fold.
    random_state : int, RandomState or None, default=0
        Draws the folds.

    Returns
    -------
    DataFrame
        A column for each class, indexed like X or y. A row is NaN where the model of its fold did
        not know the given class, which may be the only sample of its class, and where a splitter
        holds it out of no fold.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from granulearn.audit import audit_labels, out_of_sample_proba
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> y[10] = 2  # a wrong label
    >>> proba = out_of_sample_proba(LogisticRegression(max_iter=1_000), X, y)
    >>> int(audit_labels(X, y, proba=proba).index[0])
    10
    """
    codes, classes = encode_labels(np.asarray(y))
    if isinstance(cv, Integral):
        kind = StratifiedKFold if groups is None else StratifiedGroupKFold
        cv = kind(cv, shuffle=True, random_state=random_state)
    proba = np.full((len(codes), len(classes)), np.nan)
    for seen, held_out in cv.split(X, codes, groups):
        # A copy and no clone: CatBoost's models with categories cannot be cloned.
        model = deepcopy(estimator).fit(take_rows(X, seen), codes[seen])
        proba[held_out] = 0
        proba[np.ix_(held_out, model.classes_)] = model.predict_proba(take_rows(X, held_out))
        proba[held_out[~np.isin(codes[held_out], codes[seen])]] = np.nan
    return pd.DataFrame(proba, index=row_names(X, y), columns=classes)


def in_order_of(proba: Any, index: Any, name: str = "proba") -> Any:
    """Return probabilities with their rows in the order of the samples.

    A frame whose rows are named as the samples are is aligned by these names, as pandas does. The
    default index (0, 1, 2, ...) of either names no rows: they are taken as they come, and so are
    those of an array. Where the samples are named by the same numbers in another order, the default
    index of proba may be the order of X or its names, and is refused.

    Parameters
    ----------
    proba : array-like of shape (n_samples, n_classes)
        Class probabilities.
    index : sequence or None
        Names of the samples; None means that they have none.
    name : str, default="proba"
        What to call them in messages: ``annotations`` are aligned in the same way.
    """
    if hasattr(proba, "to_pandas"):
        proba = proba.to_pandas()
    if index is None or not hasattr(proba, "iloc") or len(proba) != len(index):
        return proba
    names, index = proba.index, pd.Index(index)
    default = pd.RangeIndex(len(index))
    if names.equals(index):
        return proba
    if names.equals(default):
        if not names.isin(index).all():
            return proba
        raise ValueError(
            f"{name} has the default index 0 to {len(index) - 1}, which may be the order of X or "
            f"its names; set {name}.index = X.index, or pass an array."
        )
    if index.equals(default) and _positions(names, index) is None:
        return proba
    return proba.iloc[_needed_positions(names, index, f"rows of {name}")]


def _needed_positions(names: Any, wanted: Any, what: str) -> np.ndarray:
    positions = _positions(names, wanted)
    if positions is None:
        raise ValueError(
            f"the {what} are named {names.tolist()[:10]}, and {len(wanted)} "
            f"{what.split()[0]} named {wanted.tolist()[:10]} are needed, in any order; give them "
            "these names, or pass an array in this order."
        )
    return positions


def _positions(names: Any, wanted: Any) -> np.ndarray | None:
    """Return where each wanted name is among those of proba; None if the names are others."""
    names, wanted = pd.Index(names), pd.Index(wanted)
    # A file may have made texts of them.
    for found, needed in ((names, wanted), (names.map(str), wanted.map(str))):
        if found.is_unique:
            positions = found.get_indexer(needed)
            if np.array_equal(np.sort(positions), np.arange(len(found))):
                return positions
    return None


def check_proba(proba: Any, codes: np.ndarray, classes: np.ndarray, index: Any = None) -> Any:
    """Return probabilities as an array; warn if the model has probably seen the labels.

    Parameters
    ----------
    proba : array-like of shape (n_samples, n_classes)
        Class probabilities; a row of NaN is a sample of which nothing is known. The columns of a
        frame are named by the classes, in any order.
    codes : ndarray of shape (n_samples,)
        Number of the given class of each sample.
    classes : ndarray
        The class labels, sorted, which are the columns.
    index : sequence, default=None
        Names of the samples, for a frame.
    """
    proba = in_order_of(proba, index)
    if hasattr(proba, "columns"):
        proba = proba.iloc[:, _needed_positions(proba.columns, classes, "columns of proba")]
    values = np.array(proba, dtype=np.float64)
    shape = (len(codes), len(classes))
    if values.shape != shape:
        raise ValueError(
            f"proba has the shape {values.shape}; {shape[0]} samples and {shape[1]} classes need "
            f"{shape}, one column per class in the order {classes.tolist()[:10]}."
        )
    unknown = np.isnan(values).all(axis=1)
    known = values[~unknown]
    is_proba = (values >= 0).all(axis=1) & (np.abs(values.sum(axis=1) - 1) <= _SUM_ERROR)
    bad = np.flatnonzero(~unknown & ~is_proba)
    if len(bad):
        raise ValueError(
            "the rows of proba must be probabilities whose sum is one, or NaN throughout where "
            f"nothing is known; {len(bad)} are not, first row {bad[0]}: {values[bad[0]].tolist()}. "
            "Scores become probabilities by softmax or calibration."
        )
    accuracy = float((known.argmax(axis=1) == codes[~unknown]).mean()) if len(known) else 0.0
    if accuracy >= _TOO_OFTEN and len(known) >= _ENOUGH_ROWS:
        warnings.warn(
            f"proba predicts {accuracy:.1%} of the given labels; were these samples in the "
            "model's training data? Then it has learnt wrong labels by heart. Use predictions of "
            "samples that the model did not see: granulearn.out_of_sample_proba(model, X, y).",
            UserWarning,
            stacklevel=4,
        )
    return values


# ---- groups and periods ------------------------------------------------------------


def check_groups(groups: Any, times: Any, n_samples: int) -> np.ndarray | None:
    """Return the number of the unit of each sample, from zero; None if none was asked for.

    Parameters
    ----------
    groups : array-like of shape (n_samples,) or None
        Samples of one group stay together.
    times : array-like of shape (n_samples,) or None
        Numbers, dates or texts that say what came when; samples of one period stay
        together, and so do samples of one time. With groups, a group belongs to the
        period of its first sample.
    n_samples : int
        Number of samples.
    """
    if groups is None and times is None:
        return None
    if groups is None:
        return _warned(_periods(ranks_of(times, "times", n_samples)), "period")
    units = ranks_of(groups, "groups", n_samples, is_order=False)
    if times is not None:
        when = ranks_of(times, "times", n_samples)
        first = np.full(units.max() + 1, n_samples)
        np.minimum.at(first, units, when)
        units = _periods(first[units])
    if units.max() == 0:
        raise ValueError(
            "all samples are in one group; groups= needs two or more, so that some can be rated "
            "by others."
            if times is None
            else "all groups begin at the same time, so times= does not order the groups; "
            "leave one of the two out."
        )
    return _warned(units, "group")


def _warned(units: np.ndarray, name: str) -> np.ndarray:
    """Return the units; warn if one of them has most of the samples."""
    largest = float(np.bincount(units).max() / len(units))
    if largest > _LARGE_GROUP:
        warnings.warn(
            f"one {name} has {largest:.0%} of the samples; they can be rated by the few others "
            "only, so verdicts on them are weak.",
            UserWarning,
            stacklevel=4,
        )
    return units


def known_elsewhere(codes: np.ndarray, units: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return where the class of a sample occurs in another unit too; warn of classes that do not.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
        Class of each sample.
    units : ndarray of shape (n_samples,)
        Unit of each sample.
    classes : ndarray
        Names of the classes.
    """
    pairs = np.unique(np.column_stack([codes, units]), axis=0)
    n_units = np.bincount(pairs[:, 0], minlength=len(classes))
    counts = np.bincount(codes, minlength=len(classes))
    # Another warning names the only sample of a class.
    confined = (n_units == 1) & (counts > 1)
    if confined.any():
        named = ", ".join(repr(label) for label in classes[confined].tolist()[:5])
        warnings.warn(
            f"{int(confined.sum())} class(es) occur in one group only ({named}); their "
            f"{int(counts[confined].sum())} labels cannot be rated by other groups and are "
            "unknown. Leave the groups out, or join the classes.",
            UserWarning,
            stacklevel=3,
        )
    return ~confined[codes]


def _periods(ranks: np.ndarray) -> np.ndarray:
    """Return the period of each sample, numbered from zero without gaps; equal ranks stay together.

    All periods have about equally many samples.
    """
    counts = np.bincount(ranks)
    middle = np.cumsum(counts) - counts / 2
    period = np.floor(middle / len(ranks) * N_PERIODS).astype(np.intp)
    return np.unique(period[ranks], return_inverse=True)[1]
