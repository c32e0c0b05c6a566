"""BallSet: the one record that stages exchange."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class BallSet:
    """Granular balls: small groups of similar samples, as parallel arrays.

    There are ``k`` balls of ``n`` samples with ``d`` features and ``K``
    classes. The arrays are read-only; balls are made by `generate_balls`.
    """

    centers: np.ndarray
    """(k, d) mean of each ball's samples."""
    radii: np.ndarray
    """(k,) mean distance of each ball's samples to its centre."""
    labels: np.ndarray
    """(k,) most frequent class of each ball, as an index into `classes`."""
    purities: np.ndarray
    """(k,) share of that class among the ball's samples."""
    counts: np.ndarray
    """(k,) number of samples of each ball."""
    class_counts: np.ndarray
    """(k, K) number of samples of each class in each ball."""
    assignment: np.ndarray
    """(n,) ball of each sample; -1 where the ball was dropped for its size."""
    classes: np.ndarray
    """(K,) the class values, sorted."""

    def __post_init__(self):
        for field in fields(self):
            getattr(self, field.name).setflags(write=False)

    def __len__(self) -> int:
        return len(self.centers)

    def __repr__(self) -> str:
        n_samples, n_features = len(self.assignment), self.centers.shape[1]
        return (
            f"<BallSet: {len(self)} balls of {n_samples} samples, "
            f"{n_features} features, {len(self.classes)} classes>"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row per ball: label, count, purity, radius and the centre.

        Needs pandas (``pip install "granulearn[datasets]"``).
        """
        import pandas as pd

        columns = {
            "label": self.classes[self.labels],
            "count": self.counts,
            "purity": self.purities,
            "radius": self.radii,
        }
        centers = {f"center_{j}": self.centers[:, j] for j in range(self.centers.shape[1])}
        return pd.DataFrame(columns | centers).rename_axis("ball")

    def sample_mean(self, values: np.ndarray) -> np.ndarray:
        """Return the mean of one value per sample over each ball's samples."""
        kept = self.assignment >= 0
        totals = np.bincount(self.assignment[kept], values[kept], minlength=len(self))
        return totals / self.counts
