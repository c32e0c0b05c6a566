"""How long the rest of a run will take, learned from the cells that are done."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import groupby

from granulearn.bench.studies.cells import Cell

_Kind = tuple[str, str]


class RemainingTime:
    """Expected time of cells that are still to do.

    Cells of one estimator and one way of tuning take about the same time; a fit of one
    setting takes a small part of a search over a thousand. So nothing is said before each
    kind of cell of one split has been seen. Of a kind that comes later, as in a second study,
    the mean of those that are tuned, or not, stands for it; and where all that is known are
    searches, fits of one setting count for nothing.

    Parameters
    ----------
    cells : iterable of Cell
        All cells of a run.
    """

    def __init__(self, cells: Iterable[Cell]) -> None:
        self._left: Counter[_Kind] = Counter()
        self._beside: dict[str, set[_Kind]] = {}
        # Cells of one split stand together; another study may have the same split once more.
        for _, split in groupby(cells, key=lambda cell: cell.unit):
            together = list(split)
            kinds = {_kind(cell) for cell in together}
            self._left.update(map(_kind, together))
            self._beside.update((cell.key, kinds) for cell in together)
        self._ended: set[_Kind] = set()
        self._knows_a_split = False
        self._done: Counter[_Kind] = Counter()
        self._seconds: defaultdict[_Kind, float] = defaultdict(float)
        self._run_seconds = 0.0
        self._begun: float | None = None

    def known_before(self, cell: Cell, seconds: float | None) -> None:
        """Hear of a cell that an earlier run has computed."""
        self._learn(cell, seconds)

    def done(self, cell: Cell, seconds: float | None, elapsed: float) -> None:
        """Hear of a cell that this run has computed, and how long after its start."""
        self._learn(cell, seconds)
        if seconds is None:
            return
        if self._begun is None:
            # Before its first cell a run starts processes and compiles loops, once.
            self._begun = max(elapsed - seconds, 0.0)
        self._run_seconds += seconds

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
            None while too little is known.
        """
        if not +self._left:
            return 0.0
        if self._begun is None or not self._run_seconds or not self._knows_a_split:
            return None
        means = {kind: self._mean(kind) for kind in +self._left}
        known = {kind: mean for kind, mean in means.items() if mean is not None}
        if len(known) < len(means):
            return None
        expected = sum(self._left[kind] * mean for kind, mean in known.items())
        return expected * (elapsed - self._begun) / self._run_seconds

    def _learn(self, cell: Cell, seconds: float | None) -> None:
        kind = _kind(cell)
        self._left[kind] -= 1
        self._ended.add(kind)
        self._knows_a_split = self._knows_a_split or self._beside[cell.key] <= self._ended
        if seconds is not None:
            self._done[kind] += 1
            self._seconds[kind] += seconds

    def _mean(self, kind: _Kind) -> float | None:
        """Return what a cell takes; None for a search while no search is known."""
        if self._done[kind]:
            return self._seconds[kind] / self._done[kind]
        alike = [other for other in self._done if (other[1] == "") == (kind[1] == "")]
        n_done = sum(self._done[other] for other in alike)
        if n_done:
            return sum(self._seconds[other] for other in alike) / n_done
        return 0.0 if kind[1] == "" else None


def _kind(cell: Cell) -> _Kind:
    """Return the estimator, and how it is tuned; the latter is empty if it is not."""
    method = cell.method
    tuned = "" if method.grid is None else f"{method.grid}, {method.candidates}, {method.selection}"
    return method.estimator, tuned
