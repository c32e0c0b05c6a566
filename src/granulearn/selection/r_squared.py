r"""R squared of many networks at once, and which of it rounding could change.

.. math::
    R^2 = 1 - \frac{\sum_i w_i (y_i - f_i)^2}{\sum_i w_i (y_i - \bar y)^2} ,

the mean over outputs. When each :math:`f_i` moves by at most m, the share u of
the variation that is not explained moves by at most
:math:`2 m \sqrt{u / v} + m^2 / v` for the variance v of the targets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from granulearn.network import row_blocks
from granulearn.selection.judging import Judged, rounding_error
from granulearn.selection.ridge_path import RidgePath

# Of R squared, relative to its size where that is above one. Rounding as a rule does
# less than a tenth of what this allows; where rows to score lie far outside those
# fitted, large terms cancel and it can do about twice as much.
LARGEST_CHANGE = 1e-8


@dataclass(frozen=True, eq=False)
class RSquared:
    """Judges regressors, as scikit-learn's ``r2_score`` does."""

    Y: np.ndarray
    """(n_rows, n_outputs) the true values."""
    weights: np.ndarray
    """(n_rows,) of the samples."""
    offset: np.ndarray
    """(n_outputs,) what comes on top of the outputs of a ridge."""
    largest_target: np.ndarray
    """(n_outputs,) that ridges were fitted to."""

    def of_widths(
        self, path: RidgePath, columns: np.ndarray, H: np.ndarray, error: float
    ) -> Judged:
        """Judge a network of each width; see `Judge`."""
        n_outputs = self.Y.shape[1]
        squares, largest = np.zeros((n_outputs, len(columns))), self.largest_target
        for block in row_blocks(len(H), 8 * (len(columns) * n_outputs + H.shape[1])):
            scores = path.scores(H[block], columns)
            largest = np.maximum(largest, np.abs(scores).max(axis=(1, 2)))
            scores -= (self.Y[block] - self.offset).T[:, None]
            squares += np.square(scores, out=scores) @ self.weights[block]
        # No system is solved for the offset: it is added as it is.
        moved = error * largest + rounding_error(0) * np.abs(self.offset)
        return self._judged(squares.T, moved)

    def of_layers(self, outputs: np.ndarray) -> Judged:
        """Judge networks by their outputs; see `Judge`."""
        return self._judged(self.weights @ np.square(outputs - self.Y), np.zeros(1))

    def _judged(self, squares: np.ndarray, moved: np.ndarray) -> Judged:
        """Return the scores for sums of squared errors, of shape (n_networks, n_outputs)."""
        # Of targets that do not vary, but for rounding perhaps, no score is certain.
        exactness = rounding_error(0) * np.abs(self.Y).max(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            variation = self._variation()
            unexplained = squares / variation
            variance = variation / self.weights.sum()
            change = largest_change(unexplained, variance, moved)
            change += unexplained * np.square(exactness) / variance
            scores = 1 - unexplained.mean(axis=1)
            certain = change.mean(axis=1) < LARGEST_CHANGE * np.abs(scores).clip(min=1)
        return Judged(scores, certain)

    def _variation(self) -> np.ndarray:
        mean = np.average(self.Y, axis=0, weights=self.weights)
        return self.weights @ np.square(self.Y - mean)


def largest_change(unexplained, variance, moved):
    """Return how far the unexplained share can move with predictions that move so far."""
    return 2 * moved * np.sqrt(unexplained / variance) + moved**2 / variance
