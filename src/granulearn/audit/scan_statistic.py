"""Scan statistic: windows of a file with far more doubted labels than elsewhere.

A file may be sorted, so that the rows of a hard class stand together. A window is therefore
compared with rows elsewhere that have the same class and are as easy to predict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from granulearn.audit.ratings import Issue, Ratings

BLOCK = "doubtful block"

# Doubts that count: those of this fraction of the rows, the most doubtful ones. Wrong labels
# are few or many, and the fewer other doubts are counted with them, the more they stand out.
MOST_DOUBTED = (0.02, 0.05, 0.15)
SHORTEST = 8
# A longer window cannot be compared with the rest of the file.
LONGEST_SHARE = 1 / 3
# Probability of finding any such window in a file without one.
BY_CHANCE = 0.01
# A window is reported if it has this multiple of the expected number of doubted labels,
LEAST_RATIO = 2.0
# and if this share of its labels is doubted.
LEAST_SHARE = 0.25
MOST_BLOCKS = 5
_STEPS_PER_LENGTH = 8
_GROWTH = 1.5
# Rows are stratified by their largest probability.
_LEVELS, _ROWS_PER_LEVEL = 10, 50
# A class with few rows on a level is as doubtful there as anywhere.
_PRIOR_ROWS = 10.0
# A block with more than this share of a class may be what the class is like.
MOSTLY = 0.5


@dataclass(frozen=True)
class Block:
    """Consecutive rows."""

    start: int
    stop: int
    doubted: int
    expected: float
    score: float
    """Log-likelihood ratio, less the logarithm of the number of blocks that were tried."""


def find_blocks(ratings: Ratings, positions: np.ndarray | None = None) -> list[Issue]:
    """Return an issue for each window of the file with far more doubted labels than elsewhere.

    Parameters
    ----------
    ratings : Ratings
        Rows whose ``error_proba`` is NaN are passed over.
    positions : ndarray of shape (n_rows,), default=None
        Where each row is in the file; None means in the order they have.
    """
    if positions is None:
        positions = np.arange(len(ratings.given))
    known = np.flatnonzero(ratings.known & ~np.isnan(ratings.error_proba))
    known = known[np.argsort(positions[known], kind="stable")]
    if len(known) == 0:
        return []
    wrong = 1 - ratings.label_quality[known]
    differs = ratings.predicted[known] != ratings.given[known]
    bounds = np.quantile(wrong, 1 - np.array(MOST_DOUBTED))
    doubts = [differs & (wrong >= bound) for bound in bounds]
    found = []
    for block in scan(doubts, _strata(ratings.proba[known], ratings.given[known])):
        rows = known[block.start : block.stop]
        message = (
            f"Of the {len(rows)} rows from {positions[rows[0]]} to {positions[rows[-1]]}, "
            f"{block.doubted} have one of the most doubtful labels of the file, where "
            f"{block.expected:.1f} are expected; find out who or what labelled this part."
        )
        score = 1 - np.exp(-block.score / 10)
        found.append(Issue(BLOCK, float(score), tuple(rows.tolist()), message))
    return found


@dataclass(frozen=True, eq=False)
class Strata:
    """Rows that should be doubted alike: of one class, and as easy to predict."""

    levels: np.ndarray
    """(n,) stratum of the largest probability of each row."""
    codes: np.ndarray
    """(n,) class of each row."""

    def expected(self, doubted: np.ndarray, counted: np.ndarray, block: slice) -> np.ndarray:
        """Return the probability of a doubt of each row, from the counted rows outside a block.

        Of a class that is mostly inside the block all rows are used: nothing else says
        whether the class is as doubtful elsewhere.
        """
        n_levels, n_classes = int(self.levels.max()) + 1, int(self.codes.max()) + 1
        inside = np.bincount(self.codes[block], counted[block], n_classes)
        of_class = np.bincount(self.codes, counted, n_classes)
        weights = counted.copy()
        weights[block] *= (inside > MOSTLY * of_class)[self.codes[block]]
        cells = self.levels * n_classes + self.codes
        shape = (n_levels, n_classes)
        rows = np.bincount(cells, weights, n_levels * n_classes).reshape(shape)
        doubts = np.bincount(cells, weights * doubted, n_levels * n_classes).reshape(shape)
        # Half a doubt more, as no doubt among a few rows does not mean that there is never one.
        shares = (doubts.sum(axis=0) + 0.5) / (rows.sum(axis=0) + 1)
        shares = (doubts + _PRIOR_ROWS * shares) / (rows + _PRIOR_ROWS)
        return shares.reshape(-1)[cells] * counted


def _strata(proba: np.ndarray, codes: np.ndarray) -> Strata:
    largest = proba.max(axis=1)
    n_levels = int(np.clip(len(codes) // _ROWS_PER_LEVEL, 1, _LEVELS))
    edges = np.quantile(largest, np.arange(1, n_levels) / n_levels)
    return Strata(np.searchsorted(edges, largest), codes)


def scan(doubts: Sequence[np.ndarray], strata: Strata) -> list[Block]:
    """Return the windows with far more doubts than elsewhere, the highest score first.

    Parameters
    ----------
    doubts : sequence of ndarray of bool
        Which rows are doubted, in the order of the file, by several thresholds.
    strata : Strata
        Of the same rows.
    """
    counted = np.ones(len(strata.codes))
    found: list[Block] = []
    while len(found) < MOST_BLOCKS:
        blocks = [_best_block(doubted, strata, counted, len(doubts)) for doubted in doubts]
        best = max((b for b in blocks if b is not None), key=lambda b: b.score, default=None)
        if best is None:
            break
        found.append(best)
        counted[best.start : best.stop] = 0.0
    return found


def _best_block(
    doubted: np.ndarray, strata: Strata, counted: np.ndarray, n_thresholds: int
) -> Block | None:
    lengths = _lengths(len(doubted))
    if not lengths or not doubted.any():
        return None
    start, stop = 0, 0
    for turn in range(3):
        # Expectations come from other rows, or a large block would raise its own.
        of_rows = strata.expected(doubted, counted, slice(start, stop))
        sums = tuple(np.append(0.0, np.cumsum(each)) for each in (doubted * counted, of_rows))
        if turn == 0:
            start, stop = _most_likely_block(sums, lengths)
        else:
            start, stop = _refined(sums, start, stop)
    n_doubted, expected = (float(total[stop] - total[start]) for total in sums)
    n_scans = len(doubted) * len(lengths) * n_thresholds
    ratio = float(_log_likelihood_ratio(n_doubted, expected)) - np.log(n_scans)
    least = max(LEAST_RATIO * expected, LEAST_SHARE * (stop - start))
    if ratio < -np.log(BY_CHANCE) or n_doubted < least:
        return None
    return Block(start, stop, round(n_doubted), expected, ratio)


def _lengths(n: int) -> list[int]:
    lengths, length = [], float(SHORTEST)
    while length <= n * LONGEST_SHARE:
        lengths.append(round(length))
        length *= _GROWTH
    return lengths


def _log_likelihood_ratio(found: np.ndarray | float, expected: np.ndarray | float) -> np.ndarray:
    """Return Poisson's; by Chernoff, such a count has at most the probability exp(-ratio)."""
    found, expected = np.asarray(found, float), np.maximum(expected, 1e-12)
    logs = np.log(np.maximum(found / expected, 1.0))
    return np.where(found > expected, found * logs - found + expected, 0.0)


def _most_likely_block(sums: tuple[np.ndarray, ...], lengths: list[int]) -> tuple[int, int]:
    best, where = -1.0, (0, lengths[0])
    n = len(sums[0]) - 1
    for length in lengths:
        starts = np.arange(0, n - length + 1, max(1, length // _STEPS_PER_LENGTH))
        found, expected = (total[starts + length] - total[starts] for total in sums)
        ratio = _log_likelihood_ratio(found, expected)
        at = int(ratio.argmax())
        if ratio[at] > best:
            best, where = float(ratio[at]), (int(starts[at]), int(starts[at]) + length)
    return where


def _refined(sums: tuple[np.ndarray, ...], start: int, stop: int) -> tuple[int, int]:
    """Move both ends of a block to the highest ratio."""
    n, length = len(sums[0]) - 1, stop - start
    step = max(1, length // 32)
    moves = np.arange(-(length // 2), length // 2 + 1, step)
    starts = np.unique(np.clip(start + moves, 0, n))[:, None]
    stops = np.unique(np.clip(stop + moves, 0, n))[None, :]
    found, expected = (total[stops] - total[starts] for total in sums)
    fits = (stops - starts >= SHORTEST) & (stops - starts <= max(n * LONGEST_SHARE, length))
    ratio = np.where(fits, _log_likelihood_ratio(found, expected), -1.0)
    a, b = np.unravel_index(int(ratio.argmax()), ratio.shape)
    return int(starts[a, 0]), int(stops[0, b])
