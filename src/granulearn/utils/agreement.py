"""Agreement of annotators beyond chance: Cohen's kappa of two, Krippendorff's alpha of any number.

Both are ``1 - D_o / D_e``, the observed disagreement over that expected by chance: of two labels of
one row, against two labels drawn from all rows. Labels are nominal, and codes of an array of shape
(n_rows, n_annotators); -1 or NaN is no label.

The 95 % range is Wilson's of ``D_o``, with the rows as sample and ``D_e`` as it is. It says
something where all agree, too, and errs on the wide side with more than two annotators.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

_Z = 1.96  # 95 % of a normal distribution lie within


@dataclass(frozen=True)
class Agreement:
    """A coefficient of agreement: 1 where all agree, 0 as by chance."""

    value: float
    """NaN if undefined: no row with two labels, or a single label in all of them."""
    low: float
    """Lower end of the 95 % range."""
    high: float
    n_rows: int
    """Rows with two labels or more."""


def cohen_kappa(first: Any, second: Any) -> Agreement:
    """Return the agreement of two annotators, on the rows that both have labelled.

    Parameters
    ----------
    first, second : array-like of shape (n_rows,)
        Codes of the labels.
    """
    codes = _codes(np.column_stack([first, second]))
    a, b = codes[(codes >= 0).all(axis=1)].T
    n_rows, n_classes = len(a), codes.max(initial=0) + 1
    by_chance = np.bincount(a, minlength=n_classes) @ np.bincount(b, minlength=n_classes)
    return _agreement(
        float(np.sum(a != b)) / max(n_rows, 1), n_rows**2 - by_chance, n_rows**2, n_rows
    )


def krippendorff_alpha(codes: Any) -> Agreement:
    """Return the agreement of any number of annotators, who need not label the same rows.

    Parameters
    ----------
    codes : array-like of shape (n_rows, n_annotators)
        Codes of the labels.
    """
    codes = _codes(codes)
    codes = codes[(codes >= 0).sum(axis=1) > 1]  # a single label has none to agree with
    rows, columns = np.nonzero(codes >= 0)
    labels, n_classes = codes[rows, columns], codes.max(initial=0) + 1
    # Ordered pairs of labels of a row that are equal, each label with itself among them.
    cells, counts = np.unique(rows * n_classes + labels, return_counts=True)
    n_equal = np.bincount(cells // n_classes, counts**2, minlength=len(codes))
    n_labels = np.bincount(rows, minlength=len(codes))
    total = len(labels)
    observed = float(np.sum((n_labels**2 - n_equal) / (n_labels - 1))) / max(total, 1)
    by_chance = np.sum(np.bincount(labels) ** 2)
    return _agreement(observed, total**2 - by_chance, total * (total - 1), len(codes))


def _codes(codes: Any) -> np.ndarray:
    """Return codes as integers from 0, without gaps; -1 is no label."""
    given = np.asarray(codes)
    if given.dtype.kind not in "biuf":
        raise TypeError("labels must be codes from 0; make codes of them by pandas.factorize.")
    if given.ndim != 2:
        raise ValueError(f"codes must have shape (n_rows, n_annotators); got {given.shape}.")
    known = np.nan_to_num(given, nan=-1)
    numbered = np.unique(known[known >= 0], return_inverse=True)[1]
    result = np.full(given.shape, -1)
    result[known >= 0] = numbered
    return result


def _agreement(observed: float, unequal: Any, pairs: int, n_rows: int) -> Agreement:
    """Return ``1 - D_o / D_e``; ``D_e`` is the fraction of unequal pairs."""
    if not unequal:
        return Agreement(np.nan, np.nan, np.nan, n_rows)
    expected, z2 = unequal / pairs, _Z**2 / n_rows
    center = (observed + z2 / 2) / (1 + z2)
    half = np.sqrt(z2 * observed * (1 - observed) + z2**2 / 4) / (1 + z2)
    ends = (observed, center + half, center - half)
    value, low, high = (max(-1.0, 1 - float(disagreement / expected)) for disagreement in ends)
    return Agreement(value, low, high, n_rows)
