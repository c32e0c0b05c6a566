"""Class probabilities of another model, looked over before an audit uses them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

_SUM_ERROR = 1e-3
# A model foretells nearly all labels of samples that it has seen, wrong ones as well.
_TOO_OFTEN = 0.995
_ENOUGH_ROWS = 50


def check_proba(proba: Any, codes: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return probabilities as an array; refuse what are none, warn of those that know the labels.

    Parameters
    ----------
    proba : array-like of shape (n_samples, n_classes)
        Class probabilities; a row of NaN is a sample of which nothing is known.
    codes : ndarray of shape (n_samples,)
        Number of the given class of each sample.
    classes : ndarray
        The class labels, sorted, which are the columns.
    """
    values = np.array(proba, dtype=np.float64)
    shape = (len(codes), len(classes))
    if values.shape != shape:
        raise ValueError(
            f"proba has the shape {values.shape}; {shape[0]} samples and {shape[1]} classes need "
            f"{shape}, one column per class in the order {classes.tolist()[:10]}."
        )
    missing = np.isnan(values)
    unknown: np.ndarray = np.asarray(missing.all(axis=1))
    in_part = missing.any(axis=1) & ~unknown
    if in_part.any():
        raise ValueError(
            f"proba has {int(in_part.sum())} rows that are NaN in part, first row "
            f"{_first(in_part)}; fill them, or make the whole row NaN where nothing is known."
        )
    known = values[~unknown]
    if not np.isfinite(known).all() or (known < 0).any():
        bad = ~unknown & ~((values >= 0) & np.isfinite(values)).all(axis=1)
        raise ValueError(
            f"proba must hold probabilities; row {_first(bad)} has {values[bad][0].tolist()}. "
            "Scores become probabilities by softmax or calibration."
        )
    sums = values.sum(axis=1)
    off = ~unknown & (np.abs(sums - 1) > _SUM_ERROR)
    if off.any():
        raise ValueError(
            f"the rows of proba must sum to one; {int(off.sum())} do not, first row {_first(off)}, "
            f"whose sum is {sums[off][0]:.4g}."
        )
    foretold = float((known.argmax(axis=1) == codes[~unknown]).mean()) if len(known) else 0.0
    if foretold >= _TOO_OFTEN and len(known) >= _ENOUGH_ROWS:
        warnings.warn(
            f"proba foretells {foretold:.1%} of the given labels; were they in "
            "the model's training data? Then wrong labels were learnt by heart. Use predictions of "
            "samples that the model did not see: sklearn.model_selection.cross_val_predict(..., "
            "method='predict_proba').",
            UserWarning,
            stacklevel=4,
        )
    return values


def _first(where: Any) -> int:
    return int(np.flatnonzero(where)[0])
