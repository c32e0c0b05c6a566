"""Ratings: what an audit says about each label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

WRONG, AMBIGUOUS, STRANGE, FINE, UNKNOWN = "wrong", "ambiguous", "strange", "fine", "unknown"
VERDICTS = (WRONG, AMBIGUOUS, STRANGE, FINE, UNKNOWN)
"""Another class is clearly more probable; two classes are plausible; the inputs are far from
all others; nothing speaks against the label; nothing can be said."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """One row per label."""

    classes: np.ndarray
    """(K,) the class labels, sorted."""
    codes: np.ndarray
    """(n,) number of the given class."""
    proba: np.ndarray
    """(n, K) probability of each class as a given label, by models that did not see the row."""
    reliability: np.ndarray
    """(n,) probability of the given class; NaN where it cannot be known."""
    wrong_proba: np.ndarray
    """(n,) probability that the true class is another one; NaN where it cannot be known."""
    suggested: np.ndarray
    """(n,) number of the most probable class; the given one where nothing is known."""
    verdicts: np.ndarray
    """(n,) one of `VERDICTS`."""
    verified: np.ndarray
    """(n,) true where a person has confirmed or corrected the label."""
