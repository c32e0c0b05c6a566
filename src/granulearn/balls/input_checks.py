"""Samples as the engine needs them, or an error that says what to do."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_X_y
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

INITS = ("k-means++", "class-means")


def check_samples(
    X: Any, y: Any, estimator: BaseEstimator | str = "generate_balls"
) -> tuple[np.ndarray, np.ndarray]:
    """Return X as a C-ordered float array and y as a vector of class values.

    An estimator also gets ``n_features_in_`` and ``feature_names_in_``.
    """
    wanted: dict[str, Any] = {"dtype": [np.float64, np.float32], "order": "C"}
    try:
        if isinstance(estimator, str):
            X_checked, y_checked = check_X_y(X, y, estimator=estimator, **wanted)
        else:
            X_checked, y_checked = validate_data(estimator, X, y, **wanted)
    except ValueError as error:
        column = _first_text_column(X)
        if column is None:
            raise
        raise ValueError(
            f"column {column!r} of X holds text, and inputs must be numbers; encode it first, "
            "for instance with sklearn.preprocessing.OneHotEncoder, or leave it out."
        ) from error
    check_classification_targets(y_checked)
    return X_checked, y_checked


def encode_labels(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted classes and each label's index into them."""
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y holds only one class ({classes.tolist()[0]!r}), and there must be two or more to "
            "tell apart; check that y is the column of labels."
        )
    return classes, codes.astype(np.int32)


def check_ball_parameters(purity: float, min_ball_size: int, init: str) -> None:
    """Raise where a setting of the engine is out of its range."""
    if not isinstance(purity, Real) or isinstance(purity, bool) or not 0 < purity <= 1:
        raise ValueError(f"purity={purity!r} must lie in (0, 1]; lower it to get fewer balls.")
    if not isinstance(min_ball_size, Integral) or min_ball_size < 1:
        raise ValueError(
            f"min_ball_size={min_ball_size!r} must be a whole number from 1 up; "
            "1 keeps every ball, 2 drops the balls of one sample."
        )
    if init not in INITS:
        raise ValueError(f"init={init!r} is not known; use one of {', '.join(map(repr, INITS))}.")


def _first_text_column(X: Any) -> str | int | None:
    """Return the name of the first column of a table that is no number, if there is one."""
    if not hasattr(X, "columns"):
        return None
    for name in X.columns:
        try:
            np.asarray(X[name], dtype=np.float64)
        except (TypeError, ValueError):
            return name
    return None
