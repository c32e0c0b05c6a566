"""Keys of rows, and draws by them: the same rows are drawn from a table whole or in blocks.

A row of a large table has a key that depends on its values, its class and on how many equal
rows come before it. A draw gives every key a random number, and takes the rows with the
least ones. So neither the order of the rows nor how they are cut into blocks changes what
is drawn, and one pass over the blocks finds it without moving the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from granulearn.utils.validation import repetitions

# Up to so many rows a table is sorted and looked at as a whole; above, rows are drawn by key.
MANY_ROWS = 20_000
_ROWS_AT_ONCE = 8_192
_LARGEST = 2**64 - 1
# Of a draw in blocks, rows beyond the limit are lost with a probability below 1e-15.
_DEVIATIONS = 9.0

ALONE, COUNTS_MORE, HAS_TWIN = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Twins:
    """Rows of one block that equal others anywhere in the table; mostly there are none."""

    bases: np.ndarray
    """(t,) sorted keys of values and class."""
    before: np.ndarray
    """(t,) copies of equal rows in earlier blocks."""
    copies: np.ndarray
    """(t,) copies of equal rows in all blocks."""
    rows: np.ndarray
    """(t,) equal rows in all blocks."""


@dataclass(frozen=True, eq=False)
class RowKeys:
    """The keys of some rows; a row of weight two has two of them, one for each copy."""

    keys: np.ndarray
    """(m,) key of each copy."""
    rows: np.ndarray
    """(m,) the row of each copy; empty where each row has one."""
    firsts: np.ndarray
    """(n,) the first copy of each row; empty where each row has one."""
    twins: np.ndarray
    """(n,) whether a row is `ALONE`, alone but `COUNTS_MORE` than once, or `HAS_TWIN`."""

    @property
    def of_rows(self) -> np.ndarray:
        """One key for each row."""
        if not len(self.firsts):
            return self.keys
        # A row of weight zero has no key, and is never drawn.
        return self.keys[np.minimum(self.firsts, len(self.keys) - 1)]


@dataclass(frozen=True)
class Draw:
    """Which rows to take: those of each stratum whose random numbers are the least."""

    key: int
    """Of the random numbers."""
    wanted: tuple[int, ...]
    """How many of each stratum: of each class, or a single number for all copies."""
    available: tuple[int, ...]
    """How many there are in the whole table."""

    @property
    def by_class(self) -> bool:
        """Whether classes are strata, and a row is taken once, with all its weight."""
        return len(self.wanted) > 1

    def limits(self) -> np.ndarray:
        """Return the largest random number that a row of each stratum can be taken by."""
        wanted = np.array(self.wanted, dtype=float)
        enough = wanted + _DEVIATIONS * np.sqrt(wanted) + _DEVIATIONS**2
        shares = np.divide(enough, self.available, where=np.array(self.available) > 0, out=enough)
        every = [_LARGEST if share >= 1 else int(share * 2.0**64) for share in shares]
        return np.array(every, dtype=np.uint64)


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Rows that were drawn, in the order of their random numbers."""

    draws: np.ndarray
    """(m,) their random numbers."""
    X: np.ndarray
    codes: np.ndarray
    """(m,) class of each."""
    weights: np.ndarray
    """(m,) weight of each; of a copy, its part."""
    positions: np.ndarray
    """(m,) number of each row in the whole table."""
    keys: np.ndarray
    """(m,) one key of each."""
    twins: np.ndarray

    def __len__(self) -> int:
        return len(self.draws)

    @property
    def cutoff(self) -> int:
        """The largest random number."""
        return int(self.draws[-1])

    def take(self, index: np.ndarray) -> DrawnRows:
        """Return some of the rows, in the order of an index array."""
        return DrawnRows(*(getattr(self, name)[index] for name in _FIELDS))


_FIELDS = tuple(DrawnRows.__dataclass_fields__)


def value_hashes(X: np.ndarray) -> np.ndarray:
    """Return a hash of the values of each row; rows that compare equal have the same.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Finite inputs.
    """
    from granulearn.balls import _row_key_kernels

    hashes = np.empty(len(X), dtype=np.uint64)
    for part, bits in _in_bits(X):
        _row_key_kernels.hash_rows(bits, hashes[part])
    return hashes


def _in_bits(X: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield stretches of rows, and their numbers as they are in memory."""
    for begin in range(0, len(X), _ROWS_AT_ONCE):
        part = slice(begin, begin + _ROWS_AT_ONCE)
        # Zero is added so that minus zero becomes zero.
        yield part, np.add(X[part], 0.0, dtype=np.float64, order="C").view(np.uint64)


def in_single_precision(X: np.ndarray) -> np.ndarray:
    """Return inputs rounded to single precision, as doubles.

    Columns that were scaled by sums over parts differ in their last bits from those scaled as a
    whole, and a key hangs on every bit. Rounded, about one value in a hundred million differs.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Scaled inputs.
    """
    return X.astype(np.float32).astype(np.float64)


def copies_of(weights: np.ndarray | None) -> np.ndarray:
    """Return how often each row counts; empty where each counts once."""
    if weights is None:
        return np.empty(0, dtype=np.intp)
    copies = repetitions(weights)
    return np.empty(0, dtype=np.intp) if (copies == 1).all() else copies


def class_sums(
    hashes: np.ndarray, codes: np.ndarray, copies: np.ndarray, n_classes: int
) -> np.ndarray:
    """Return the sum of the hashes of each class, modulo 2^64."""
    from granulearn.balls import _row_key_kernels

    sums = np.zeros(n_classes, dtype=np.uint64)
    _row_key_kernels.add_hashes(hashes, codes, copies, sums)
    return sums


def class_numbers(counts: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """Return a number for each class that depends on its rows alone, not on its name.

    Parameters
    ----------
    counts : ndarray of shape (n_classes,)
        Copies of rows of each class.
    sums : ndarray of shape (n_classes,)
        Sums of their hashes.
    """
    numbers = np.empty(len(counts), dtype=np.int64)
    numbers[np.lexsort((sums, counts))] = np.arange(len(counts))
    return numbers


def base_keys(hashes: np.ndarray, codes: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Return a key of the values and the class of each row.

    Parameters
    ----------
    hashes : ndarray of shape (n_rows,)
        From `value_hashes`.
    codes : ndarray of shape (n_rows,)
        Class of each row.
    numbers : ndarray of shape (n_classes,)
        From `class_numbers`.
    """
    from granulearn.balls import _row_key_kernels

    keys = np.empty_like(hashes)
    _row_key_kernels.mix_keys(hashes, numbers[codes], keys)
    return keys


def find_twins(blocks: Sequence[tuple[np.ndarray, np.ndarray]]) -> list[Twins]:
    """Return, for each block, its rows that equal others, in whichever block.

    Parameters
    ----------
    blocks : sequence of tuple
        Base keys of the rows of a block, and how often each of them counts; empty for once.
    """
    # A row that does not count is no twin.
    blocks = [
        (own[copies > 0], copies[copies > 0]) if len(copies) else (own, copies)
        for own, copies in blocks
    ]
    bases = np.concatenate([bases for bases, _ in blocks])
    counted = [
        copies if len(copies) else np.ones(len(own), dtype=np.intp) for own, copies in blocks
    ]
    order = np.argsort(bases, kind="stable")
    ordered = bases[order]
    is_first = np.ones(len(order), dtype=bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    repeated = ~(is_first & np.append(is_first[1:], True))
    # Nearly always there are few: the rest is about these alone.
    order, group = order[repeated], np.cumsum(is_first[repeated]) - 1
    times = np.concatenate(counted)[order]
    owner = np.repeat(np.arange(len(blocks)), [len(own) for own, _ in blocks])[order]
    totals = np.bincount(group, times).astype(np.intp)
    sizes = np.bincount(group)
    ends = np.cumsum(times)
    starts = (ends - times)[is_first[repeated]]
    found = []
    for number in range(len(blocks)):
        at = np.flatnonzero(owner == number)
        own, first = np.unique(group[at], return_index=True)
        at = at[first]
        found.append(
            Twins(
                bases=bases[order[at]],
                before=(ends - times)[at] - starts[own],
                copies=totals[own],
                rows=sizes[own],
            )
        )
    return found


def keys_of_rows(bases: np.ndarray, copies: np.ndarray, twins: Twins) -> RowKeys:
    """Return the keys of the rows of a block.

    Parameters
    ----------
    bases : ndarray of shape (n_rows,)
        From `base_keys`.
    copies : ndarray of shape (n_rows,)
        How often each row counts; empty for once.
    twins : Twins
        Its rows that equal others.
    """
    from granulearn.balls import _row_key_kernels

    before = np.zeros(len(bases), dtype=np.intp)
    state = np.zeros(len(bases), dtype=np.uint8)
    if len(copies):
        state[copies > 1] = COUNTS_MORE
    if len(twins.bases):
        at = np.minimum(np.searchsorted(twins.bases, bases), len(twins.bases) - 1)
        has_twin = np.flatnonzero(twins.bases[at] == bases)
        state[has_twin] = HAS_TWIN
        group = at[has_twin]
        order = np.argsort(group, kind="stable")
        rows, group = has_twin[order], group[order]
        times = copies[rows] if len(copies) else np.ones(len(rows), dtype=np.intp)
        ends = np.cumsum(times)
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        of_group = np.repeat((ends - times)[starts], np.diff(np.append(starts, len(group))))
        before[rows] = (ends - times) - of_group + twins.before[group]
    nothing = np.empty(0, dtype=np.intp)
    rows, firsts, occurrence = nothing, nothing, before
    if len(copies):
        rows = np.repeat(np.arange(len(bases)), copies)
        firsts = np.cumsum(copies) - copies
        occurrence = before[rows] + np.arange(len(rows)) - firsts[rows]
    keys = np.empty(len(occurrence), dtype=np.uint64)
    _row_key_kernels.mix_keys(bases[rows] if len(rows) else bases, occurrence, keys)
    return RowKeys(keys, rows, firsts, state)


def key_of_draw(seed: int, number: int) -> int:
    """Return the key of the random numbers of a draw; trees have such keys, too."""
    from granulearn.balls import _forest_kernels

    return int(_forest_kernels.tree_key(np.uint64(seed), number))


def rows_below(
    keys: np.ndarray, key: int, limits: np.ndarray, codes: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of keys whose random numbers are not above a limit, and these.

    Parameters
    ----------
    keys : ndarray of shape (n,)
        Keys of rows.
    key : int
        Of the draw.
    limits : ndarray
        One for each stratum.
    codes : ndarray of shape (n,), default=None
        Stratum of each key; None means that there is one.
    """
    from granulearn.balls import _row_key_kernels

    rows, draws = np.empty(len(keys), dtype=np.intp), np.empty(len(keys), dtype=np.uint64)
    own = np.empty(0, dtype=np.int32) if codes is None else codes
    found = _row_key_kernels.rows_below(keys, own, np.uint64(key), limits, rows, draws)
    return rows[:found], draws[:found]


def draws_of(keys: np.ndarray, key: int) -> np.ndarray:
    """Return the random number that a draw gives each key: 64 bits.

    Parameters
    ----------
    keys : ndarray of shape (n,)
        Keys of rows.
    key : int
        Of the draw.
    """
    return rows_below(keys, key, np.array([_LARGEST], dtype=np.uint64))[1]


def least_draws(keys: np.ndarray, key: int, n_wanted: int) -> tuple[np.ndarray, int]:
    """Return the positions of the keys with the least random numbers, the least first.

    Parameters
    ----------
    keys : ndarray of shape (n,)
        Keys of all copies of the rows of a table.
    key : int
        Of the draw.
    n_wanted : int
        How many.

    Returns
    -------
    tuple of ndarray and int
        The positions, and the largest random number among them.
    """
    draw = Draw(key, (n_wanted,), (len(keys),))
    rows, draws = rows_below(keys, key, draw.limits())
    order = np.argsort(draws, kind="stable")[:n_wanted]
    return rows[order], int(draws[order[-1]])


def drawn_by(draw: Draw, X, codes, weights, keyed: RowKeys, first_row: int = 0) -> DrawnRows:
    """Return the rows of a block that a draw may take: somewhat more than it will.

    Parameters
    ----------
    draw : Draw
        Which rows to take of the whole table.
    X, codes, weights : ndarray
        The rows of the block; weights may be None.
    keyed : RowKeys
        Their keys.
    first_row : int, default=0
        Number of the first row of the block in the whole table.
    """
    if draw.by_class:
        keys = keyed.of_rows
        rows, draws = rows_below(keys, draw.key, draw.limits(), codes)
        if weights is not None:
            rows, draws = rows[weights[rows] > 0], draws[weights[rows] > 0]
        own = keys[rows]
        share = np.ones(len(rows)) if weights is None else weights[rows]
    else:
        places, draws = rows_below(keyed.keys, draw.key, draw.limits())
        own = keyed.keys[places]
        rows = keyed.rows[places] if len(keyed.rows) else places
        share = np.ones(len(rows))
        if weights is not None:
            share = weights[rows] / np.maximum(repetitions(weights[rows]), 1)
    positions = rows + first_row
    return DrawnRows(draws, X[rows], codes[rows], share, positions, own, keyed.twins[rows])


def joined_rows(parts: Sequence[DrawnRows]) -> DrawnRows:
    """Return what blocks offer to a draw as one, block after block."""
    if len(parts) == 1:
        return parts[0]
    return DrawnRows(*(np.concatenate([getattr(part, name) for part in parts]) for name in _FIELDS))


def settled(draw: Draw, parts: Sequence[DrawnRows]) -> DrawnRows:
    """Return the rows that a draw takes, from what the blocks offer.

    Parameters
    ----------
    draw : Draw
        Which rows to take.
    parts : sequence of DrawnRows
        From `drawn_by`, block by block.
    """
    every = joined_rows(parts)
    order = np.argsort(every.draws, kind="stable")
    if not draw.by_class:
        return every.take(order[: draw.wanted[0]])
    codes = every.codes[order]
    taken = [order[codes == code][:wanted] for code, wanted in enumerate(draw.wanted)]
    chosen = np.concatenate(taken)
    return every.take(chosen[np.argsort(every.draws[chosen], kind="stable")])


def spread_over(counts: np.ndarray, numbers: np.ndarray, n_wanted: int) -> np.ndarray:
    """Return how many of so many rows each class has, if all are taken at even steps.

    Parameters
    ----------
    counts : ndarray of shape (n_classes,)
        Rows of each class.
    numbers : ndarray of shape (n_classes,)
        The order of the classes.
    n_wanted : int
        How many rows, of all classes together.
    """
    total = int(counts.sum())
    if total <= n_wanted:
        return counts.copy()
    by_number = np.argsort(numbers)
    places = np.arange(n_wanted) * total // n_wanted
    own = np.searchsorted(np.cumsum(counts[by_number]), places, side="right")
    wanted = np.zeros(len(counts), dtype=counts.dtype)
    wanted[by_number] = np.bincount(own, minlength=len(counts))
    return wanted


def exact_sums(X: np.ndarray, copies: np.ndarray) -> np.ndarray:
    """Return sums of columns without rounding, so that sums of parts can be added.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Finite inputs.
    copies : ndarray of shape (n_rows,)
        How often each row counts; empty for once.

    Returns
    -------
    ndarray of shape (n_features, n_limbs)
        Whole numbers, see `exact_means`.
    """
    from granulearn.balls import _row_key_kernels

    sums = np.zeros((X.shape[1], _row_key_kernels.LIMBS), dtype=np.int64)
    for part, bits in _in_bits(X):
        _row_key_kernels.add_exactly(bits, copies[part] if len(copies) else copies, sums)
    return sums


def exact_means(sums: np.ndarray, n_rows: int) -> np.ndarray:
    """Return the mean of each column, rounded once.

    Parameters
    ----------
    sums : ndarray of shape (n_features, n_limbs)
        From `exact_sums`.
    n_rows : int
        How many rows were added.
    """
    return np.array([float(total / n_rows) for total in exact_totals(sums)])


def exact_totals(sums: np.ndarray) -> list[Fraction]:
    """Return the sum of each column, without rounding.

    Parameters
    ----------
    sums : ndarray of shape (n_features, n_limbs)
        From `exact_sums`.
    """
    totals = [sum(int(limb) << 32 * at for at, limb in enumerate(limbs)) for limbs in sums]
    return [Fraction(total, 1 << 1074) for total in totals]


def seen_by_trees(bags: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Return where trees saw rows that count once: (n_trees, n_rows).

    Parameters
    ----------
    bags : ndarray of shape (n_trees, 2)
        Key of each tree's draw, and the largest random number that it took.
    keys : ndarray of shape (n_rows,)
        Key of each row.
    """
    from granulearn.balls import _row_key_kernels

    seen = np.zeros((len(bags), len(keys)), dtype=bool)
    for own, (key, cutoff) in zip(seen, bags, strict=True):
        _row_key_kernels.mark_drawn(keys, key, cutoff, own)
    return seen
