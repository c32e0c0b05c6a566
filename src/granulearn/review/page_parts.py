"""What the pages of audits and reviews share: numbers as a reader can use them, headline, pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from granulearn.audit.ratings import CONFIDENT_ROWS, NoiseRate, Ratings
from granulearn.review.cards import confused_pairs, pair_key


def headline(noise: NoiseRate) -> dict[str, Any]:
    """Return how many labels are wrong, as plain values.

    Parameters
    ----------
    noise : NoiseRate
        What the audit says.
    """
    judged = not np.isnan(noise.rate)
    return {
        "rate": float(noise.rate) if judged else None,
        "low": float(noise.low) if judged else None,
        "high": float(noise.high) if judged else None,
        "at_random": noise.basis == CONFIDENT_ROWS,
        "words": noise.message,
    }


def class_pairs(ratings: Ratings) -> list[dict[str, Any]]:
    """Return which class is taken for which, the most frequent pair first, as plain values.

    Parameters
    ----------
    ratings : Ratings
        What the audit says.
    """
    totals = np.bincount(ratings.given, minlength=len(ratings.classes))
    return [
        {
            "key": pair_key(pair.given, pair.rival),
            "given": str(ratings.classes[pair.given]),
            "rival": str(ratings.classes[pair.rival]),
            "wrong": pair.wrong,
            "ambiguous": pair.ambiguous,
            "of_given": int(totals[pair.given]),
        }
        for pair in confused_pairs(ratings)
    ]


def percent(share: float) -> str:
    """Return a share in percent, with as many digits as a reader can use.

    Parameters
    ----------
    share : float
        Between 0 and 1.
    """
    if 0 < share < 0.001:
        return "less than 0.1\u00a0%"
    if 0.999 < share < 1:
        return "more than 99.9\u00a0%"
    return f"{100 * share:.{0 if share in (0, 1) else 1}f}\u00a0%"


def rounded(probability: float) -> str:
    """Return a probability in whole percent; none of a model is a certainty.

    Parameters
    ----------
    probability : float
        Between 0 and 1.
    """
    if probability > 0.995:
        return ">\u00a099\u00a0%"
    return f"{100 * probability:.0f}\u00a0%" if probability >= 0.005 else "<\u00a01\u00a0%"


def grouped(count: int) -> str:
    """Return a count with its thousands apart.

    Parameters
    ----------
    count : int
        Any.
    """
    return f"{count:,}"


FILTERS = {"percent": percent, "rounded": rounded, "grouped": grouped}
"""What templates call them."""
