"""How long the rest of a run will take, learned from the cells that are done."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from granulearn.studies.cells import Cell

_Kind = tuple[str, str]


class RemainingTime:
    """Expected time of cells that are still to do.

    Cells of one estimator and one way of tuning take about the same time; a fit of one
    setting takes a small part of a search over a thousand. Where no cell of a kind is
    done yet, the mean of those that are tuned, or not, stands for it.

    Parameters
    ----------
    cells : iterable of Cell
        All cells of a run.
    """

    def __init__(self, cells: Iterable[Cell]) -> None:
        self._left = Counter(_kind(cell) for cell in cells)
        self._done: Counter[_Kind] = Counter()
        self._seconds: defaultdict[_Kind, float] = defaultdict(float)
        self._run_seconds = 0.0

    def known_before(self, cell: Cell, seconds: float | None) -> None:
        """Hear of a cell that an earlier run has computed."""
        self._left[_kind(cell)] -= 1
        self._learn(cell, seconds)

    def done(self, cell: Cell, seconds: float | None) -> None:
        """Hear of a cell that this run has computed."""
        self._left[_kind(cell)] -= 1
        self._learn(cell, seconds)
        self._run_seconds += seconds or 0.0

    def left(self, elapsed: float) -> float | None:
        """Return the seconds that are left, by the clock.

        Parameters
        ----------
        elapsed : float
            Seconds since the run began. How many processes there are, and how busy the
            machine is, is in their ratio to the seconds that cells took.

        Returns
        -------
        float or None
            None while nothing is known.
        """
        if not self._run_seconds:
            return None
        expected = sum(n * self._mean(kind) for kind, n in self._left.items() if n > 0)
        return expected * elapsed / self._run_seconds

    def _learn(self, cell: Cell, seconds: float | None) -> None:
        if seconds is not None:
            self._done[_kind(cell)] += 1
            self._seconds[_kind(cell)] += seconds

    def _mean(self, kind: _Kind) -> float:
        if self._done[kind]:
            return self._seconds[kind] / self._done[kind]
        alike = [other for other in self._done if (other[1] == "") == (kind[1] == "")]
        kinds = alike or list(self._done)
        n_done = sum(self._done[other] for other in kinds)
        return sum(self._seconds[other] for other in kinds) / n_done if n_done else 0.0


def _kind(cell: Cell) -> _Kind:
    """Return the estimator, and how it is tuned; the latter is empty if it is not."""
    method = cell.method
    tuned = "" if method.grid is None else f"{method.grid}, {method.candidates}, {method.selection}"
    return method.estimator, tuned
