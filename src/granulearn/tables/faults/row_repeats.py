"""Repeated rows, and equal inputs under different labels, counted in bounded memory.

Each row is a pair of hashes, of its inputs and of its label. The smallest pairs are kept, with
how often and where first each occurs: all of them while there are few, else a sample that
depends on the rows alone, not on how they were cut into batches.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Pairs kept: 32 MB. Up to so many different rows all counts are exact.
MAX_PAIRS = 1 << 20
# Batches of a few rows each would otherwise wait in their thousands.
MAX_BLOCKS = 256
UNLABELLED = np.uint64(0)
# Examples of conflicts, enough to look at.
_EXAMPLES = 5


@dataclass(frozen=True, eq=False)
class RowPairs:
    """Different pairs, sorted by their hashes."""

    inputs: np.ndarray
    labels: np.ndarray
    counts: np.ndarray
    first_rows: np.ndarray
    cut: bool = False
    """Whether larger pairs were left out."""

    def __len__(self) -> int:
        return len(self.inputs)


@dataclass(frozen=True, eq=False)
class RowRepeats:
    """The rows of a stretch; `join_repeats` adds the next one."""

    rows: int
    blocks: tuple[RowPairs, ...]
    """Pairs wait here until so many are new that sorting them is worth it."""


@dataclass(frozen=True)
class RepeatCounts:
    """How many rows of a table say what another said, or contradict it."""

    duplicates: int
    """Rows that repeat an earlier one, label and all."""
    conflicts: int
    """Labelled rows whose inputs occur under another label as well."""
    conflict_rows: tuple[tuple[int, int], ...]
    """Pairs of rows with equal inputs and different labels: the first few."""
    exact: bool
    """Whether all rows were counted; else the numbers are estimates from a sample."""


def row_repeats(inputs: np.ndarray, labels: np.ndarray) -> RowRepeats:
    """Return the record of a stretch of rows.

    Parameters
    ----------
    inputs : ndarray of uint64
        Hashes of the inputs of each row.
    labels : ndarray of uint64
        Hashes of the labels; 0 for a row without one.
    """
    n_rows = len(inputs)
    ones, rows = np.ones(n_rows, dtype=np.int64), np.arange(n_rows)
    return RowRepeats(n_rows, (_settled([RowPairs(inputs, labels, ones, rows)]),))


def join_repeats(a: RowRepeats, b: RowRepeats) -> RowRepeats:
    """Return the record of a's rows followed by b's.

    Parameters
    ----------
    a, b : RowRepeats
        Of stretches of one table, b after a.
    """
    moved = [
        RowPairs(block.inputs, block.labels, block.counts, block.first_rows + a.rows, block.cut)
        for block in b.blocks
    ]
    blocks = [*a.blocks, *moved]
    # Each pair is sorted again only when the whole has doubled: joining many batches one by
    # one takes no longer than sorting all rows a few times.
    if sum(map(len, blocks[1:])) >= len(blocks[0]) or len(blocks) > MAX_BLOCKS:
        blocks = [_settled(blocks)]
    return RowRepeats(a.rows + b.rows, tuple(blocks))


def count_repeats(repeats: RowRepeats) -> RepeatCounts:
    """Return the numbers of duplicates and conflicts.

    Parameters
    ----------
    repeats : RowRepeats
        Of the whole table.
    """
    pairs = _settled(list(repeats.blocks))
    share = 1.0
    if pairs.cut:
        # The last inputs may lack some of their labels; all smaller ones are complete.
        last = pairs.inputs[-1]
        pairs = _where(pairs, pairs.inputs < last)
        share = max(float(last) / 2.0**64, 1e-300)
    duplicates = int(pairs.counts.sum()) - len(pairs)
    labelled = _where(pairs, pairs.labels != UNLABELLED)
    starts = _group_starts(labelled.inputs)
    sizes = np.diff(np.append(starts, len(labelled)))
    in_conflict = np.repeat(sizes > 1, sizes)
    return RepeatCounts(
        duplicates=round(duplicates / share),
        conflicts=round(int(labelled.counts[in_conflict].sum()) / share),
        conflict_rows=_first_conflicts(_where(labelled, in_conflict)),
        exact=not pairs.cut,
    )


def _first_conflicts(pairs: RowPairs) -> tuple[tuple[int, int], ...]:
    order = np.lexsort((pairs.first_rows, pairs.inputs))
    starts = _group_starts(pairs.inputs)
    rows = pairs.first_rows[order]
    examples = sorted(zip(rows[starts].tolist(), rows[starts + 1].tolist(), strict=True))
    return tuple(examples[:_EXAMPLES])


def _group_starts(values: np.ndarray) -> np.ndarray:
    """Return where each run of equal values begins."""
    if len(values) == 0:
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(np.append(True, values[1:] != values[:-1]))


def _where(pairs: RowPairs, chosen: np.ndarray) -> RowPairs:
    return RowPairs(
        pairs.inputs[chosen],
        pairs.labels[chosen],
        pairs.counts[chosen],
        pairs.first_rows[chosen],
        pairs.cut,
    )


def _settled(blocks: list[RowPairs]) -> RowPairs:
    """Return the smallest different pairs of all blocks."""
    cut = any(block.cut for block in blocks)
    # What is larger than the last pair of a full block would be left out anyway.
    bounds = [block.inputs[-1] for block in blocks if block.cut]
    if bounds:
        bound = min(bounds)
        blocks = [_where(block, block.inputs <= bound) for block in blocks]
    inputs = np.concatenate([block.inputs for block in blocks])
    labels = np.concatenate([block.labels for block in blocks])
    counts = np.concatenate([block.counts for block in blocks])
    first_rows = np.concatenate([block.first_rows for block in blocks])
    order = _sorting(inputs, labels)
    inputs, labels = inputs[order], labels[order]
    if len(order) == 0:
        return RowPairs(inputs, labels, counts, first_rows, cut)
    new = np.append(True, (inputs[1:] != inputs[:-1]) | (labels[1:] != labels[:-1]))
    starts = np.flatnonzero(new)
    pairs = RowPairs(
        inputs[starts],
        labels[starts],
        np.add.reduceat(counts[order], starts),
        np.minimum.reduceat(first_rows[order], starts),
        cut or len(starts) > MAX_PAIRS,
    )
    return _where(pairs, np.arange(len(pairs)) < MAX_PAIRS) if len(pairs) > MAX_PAIRS else pairs


def _sorting(inputs: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the order by inputs, then labels; sorting by both at once takes twice as long."""
    order = np.argsort(inputs)
    ordered = inputs[order]
    same = ordered[1:] == ordered[:-1]
    if not same.any():
        return order
    tied = np.append(same, False) | np.append(False, same)
    positions = np.flatnonzero(tied)
    rows = order[positions]
    order[positions] = rows[np.lexsort((labels[rows], inputs[rows]))]
    return order
