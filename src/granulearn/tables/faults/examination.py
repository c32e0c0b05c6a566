"""What could give a false all-clear: leaks, repeated rows, contradictions; batch by batch."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from granulearn.tables.faults.leaks import MIN_KNOWN, MIN_ROWS, Leak, find_leak, near_share
from granulearn.tables.faults.named_labels import naming_share
from granulearn.tables.faults.row_repeats import (
    UNLABELLED,
    RowRepeats,
    count_repeats,
    join_repeats,
    row_repeats,
)
from granulearn.tables.parse.hashes import hash_rows, hash_text

# A column of few values that names the class has hardly more pairs than values.
MAX_PAIRS = 100_000
# A class of fewer rows lies apart from the others by chance.
SEPARATED_ROWS = 5

_Counts = dict[tuple[float | str | None, str], int]


@dataclass(frozen=True)
class Range:
    """The numbers of a column in the rows of one class."""

    lowest: float
    highest: float
    rows: int

    def joined(self, other: Range | None) -> Range:
        """Return the range of these numbers and of the other ones, if there are any."""
        if other is None:
            return self
        return Range(
            min(self.lowest, other.lowest),
            max(self.highest, other.highest),
            self.rows + other.rows,
        )


@dataclass(frozen=True, eq=False)
class Examination:
    """What is known of a stretch of rows; `join_examinations` adds the next one."""

    repeats: RowRepeats
    counts: dict[str, _Counts | None] = field(default_factory=dict)
    """Of each column, how often a value occurs with a label; None if there are too many pairs.
    Of a column of many values, only whether a cell is there."""
    ranges: dict[str, dict[str, Range]] = field(default_factory=dict)
    """Of each column of numbers, its range in each class."""


@dataclass(frozen=True)
class Findings:
    """What was found in a table."""

    leaks: tuple[Leak, ...]
    """Columns that alone give the target away."""
    separated: tuple[str, ...]
    """Columns of numbers whose ranges in the classes do not overlap, and that are no leaks."""
    duplicates: int
    """Rows that repeat an earlier one, label and all."""
    conflicts: int
    """Labelled rows whose inputs occur under another label as well."""
    conflict_rows: tuple[tuple[int, int], ...]
    """Pairs of rows with equal inputs and different labels: the first few."""
    exact: bool
    """Whether all rows were counted; else duplicates and conflicts are estimates."""
    named: Mapping[str, float] = field(default_factory=dict)
    """Columns of texts that name the label, and that are no leaks, with the share of cells."""
    near: Mapping[str, float] = field(default_factory=dict)
    """Columns that are nearly leaks, and none of the above, with the share of cells."""


def examine(
    cells: Mapping[str, np.ndarray | pa.Array],
    labels: pa.Array | None,
    *,
    few: Collection[str],
) -> Examination:
    """Examine a stretch of rows.

    Parameters
    ----------
    cells : mapping of str to ndarray or pyarrow Array
        Columns by name: float64 with NaN for a missing cell, or strings with null.
    labels : pyarrow Array of strings, or None
        Class of each row, null for none; None if the table has no target.
    few : collection of str
        Columns with few different values in the whole table, a thousand or so.
    """
    n_rows = len(labels) if labels is not None else max((len(c) for c in cells.values()), default=0)
    inputs = hash_rows(cells, n_rows)
    if labels is None:
        return Examination(row_repeats(inputs, np.full(n_rows, UNLABELLED)))
    encoded = labels.dictionary_encode()
    classes = encoded.dictionary.to_pylist()
    codes = np.asarray(encoded.indices.fill_null(len(classes))).astype(np.int64)
    # A label's hash is never that of a missing one.
    hashes = np.array([hash_text(name) | 1 for name in classes] + [int(UNLABELLED)], np.uint64)
    groups = _Groups.of(codes, len(classes))
    counts: dict[str, _Counts | None] = {}
    ranges = {}
    for name, column in cells.items():
        counts[name] = _limited(_count(column, codes, classes, by_value=name in few))
        if isinstance(column, np.ndarray):
            ranges[name] = _ranges(column, groups, classes)
    return Examination(row_repeats(inputs, hashes[codes]), counts, ranges)


def join_examinations(a: Examination, b: Examination) -> Examination:
    """Return the examination of a's rows followed by b's.

    Parameters
    ----------
    a, b : Examination
        Of stretches of one table, b after a.
    """
    counts = dict(a.counts)
    for name, other in b.counts.items():
        counts[name] = _added(counts.get(name, {}), other)
    ranges = dict(a.ranges)
    for name, of_class in b.ranges.items():
        joined = dict(ranges.get(name, {}))
        for label, found in of_class.items():
            joined[label] = found.joined(joined.get(label))
        ranges[name] = joined
    return Examination(join_repeats(a.repeats, b.repeats), counts, ranges)


def find(examination: Examination) -> Findings:
    """Return what was found.

    Parameters
    ----------
    examination : Examination
        Of the whole table.
    """
    found = (find_leak(name, counts) for name, counts in examination.counts.items() if counts)
    leaks = tuple(leak for leak in found if leak is not None)
    known_leaks = {leak.name for leak in leaks}
    separated = tuple(
        name
        for name, of_class in examination.ranges.items()
        if name not in known_leaks and _are_apart(of_class, examination.counts.get(name))
    )
    shares = {
        name: naming_share(counts)
        for name, counts in examination.counts.items()
        if counts and name not in known_leaks and name not in examination.ranges
    }
    named = {name: share for name, share in shares.items() if share is not None}
    told = {*known_leaks, *separated, *named}
    nearly = {
        name: near_share(counts)
        for name, counts in examination.counts.items()
        if counts and name not in told
    }
    repeats = count_repeats(examination.repeats)
    return Findings(
        leaks,
        separated,
        repeats.duplicates,
        repeats.conflicts,
        repeats.conflict_rows,
        repeats.exact,
        named,
        {name: share for name, share in nearly.items() if share is not None},
    )


@dataclass(frozen=True, eq=False)
class _Groups:
    """The labelled rows, class after class."""

    rows: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, codes: np.ndarray, n_classes: int) -> _Groups:
        rows = np.argsort(codes, kind="stable")
        sizes = np.bincount(codes, minlength=n_classes + 1)[:n_classes]
        return cls(rows[: sizes.sum()], np.cumsum(sizes) - sizes)


def _count(
    column: np.ndarray | pa.Array, codes: np.ndarray, classes: list[str], *, by_value: bool
) -> _Counts:
    """Return how often each value, or any value at all, occurs with each label."""
    value_codes, values = _values(column) if by_value else _known(column)
    n_labels = len(classes) + 1
    pairs = value_codes * n_labels + codes
    size = len(values) * n_labels
    if size <= max(len(pairs), 1000):
        rows = np.bincount(pairs, minlength=size)
        seen = np.flatnonzero(rows)
        rows = rows[seen]
    else:
        seen, rows = np.unique(pairs, return_counts=True)
    return {
        (values[pair // n_labels], classes[pair % n_labels]): count
        for pair, count in zip(seen.tolist(), rows.tolist(), strict=True)
        if pair % n_labels < len(classes)
    }


def _values(column: np.ndarray | pa.Array) -> tuple[np.ndarray, list[float | str | None]]:
    """Return the code of each cell and the value of each code; None for a missing one."""
    if isinstance(column, np.ndarray):
        # Zero has one sign, and NaN one pattern of bits, or a value would be several.
        plain = np.where(np.isnan(column), np.nan, column + 0.0)
        column = pa.Array.from_buffers(pa.float64(), len(plain), [None, pa.py_buffer(plain)])
    encoded = column.dictionary_encode()
    values = [None if value != value else value for value in encoded.dictionary.to_pylist()]
    codes = np.asarray(encoded.indices.fill_null(len(values))).astype(np.int64)
    return codes, [*values, None]


def _known(column: np.ndarray | pa.Array) -> tuple[np.ndarray, list[float | str | None]]:
    """Return 0 and a stand-in for any value where a cell is there, 1 and None where not."""
    missing = np.isnan(column) if isinstance(column, np.ndarray) else np.asarray(column.is_null())
    return missing.astype(np.int64), ["", None]


def _limited(counts: _Counts) -> _Counts | None:
    return counts if len(counts) <= MAX_PAIRS else None


def _added(a: _Counts | None, b: _Counts | None) -> _Counts | None:
    if a is None or b is None:
        return None
    total = dict(a)
    for pair, rows in b.items():
        total[pair] = total.get(pair, 0) + rows
    return _limited(total)


def _ranges(column: np.ndarray, groups: _Groups, classes: list[str]) -> dict[str, Range]:
    if not classes:
        return {}
    values = column[groups.rows]
    known = np.add.reduceat(~np.isnan(values), groups.starts, dtype=np.int64)
    lowest = np.fmin.reduceat(values, groups.starts)
    highest = np.fmax.reduceat(values, groups.starts)
    return {
        name: Range(float(lowest[code]), float(highest[code]), int(known[code]))
        for code, name in enumerate(classes)
        if known[code]
    }


def _are_apart(of_class: Mapping[str, Range], counts: _Counts | None) -> bool:
    ranges = sorted(
        (r for r in of_class.values() if r.rows >= SEPARATED_ROWS), key=lambda r: r.lowest
    )
    known = sum(r.rows for r in ranges)
    labelled = sum(counts.values()) if counts else known
    if len(ranges) < 2 or known < max(MIN_ROWS, MIN_KNOWN * labelled):
        return False
    return all(a.highest < b.lowest for a, b in itertools.pairwise(ranges))
