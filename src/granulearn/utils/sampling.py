"""Rows that a member of the ensemble is fitted to: stratified samples and grouped folds."""

from __future__ import annotations

import numpy as np

# A hash mixes the bits of a cell by two odd constants (splitmix64).
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
# From fewer samples nothing is chosen.
FEWEST_UNIQUE = 20


def stratified_sample(codes: np.ndarray, n_wanted: int, rng: np.random.Generator) -> np.ndarray:
    """Return sorted positions of a stratified random sample, at least one of each class.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
        Class numbers.
    n_wanted : int
        About how many; all if there are no more.
    rng : Generator
        Source of random numbers.
    """
    if len(codes) <= n_wanted:
        return np.arange(len(codes))
    order = rng.permutation(len(codes))
    rank, sizes = ranks_in_class(codes[order])
    wanted = np.maximum(np.round(sizes * (n_wanted / len(codes))), np.minimum(sizes, 1))
    return np.sort(order[rank < wanted[codes[order]]])


def ranks_in_class(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how many rows of its class come before each row, and the size of each class."""
    sizes = np.bincount(codes)
    by_class = np.argsort(codes, kind="stable")
    begins = np.cumsum(sizes) - sizes
    rank = np.empty(len(codes), dtype=np.intp)
    rank[by_class] = np.arange(len(codes)) - np.repeat(begins, sizes)
    return rank, sizes


def grouped_folds(
    codes: np.ndarray, groups: np.ndarray | None, n_folds: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the fold of each row: classes are spread evenly, and a group is never divided.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
        Class numbers.
    groups : ndarray of shape (n_samples,) or None
        Group numbers from zero, all of which occur; None means that every row is its own group.
    n_folds : int
        Number of folds.
    rng : Generator
        Source of random numbers.
    """
    if groups is None:
        groups = np.arange(len(codes))
    first = np.unique(groups, return_index=True)[1]
    order = rng.permutation(len(first))
    fold = np.empty(len(first), dtype=np.intp)
    # Groups of a class are dealt out in turn, and the next class goes on where the last one ended.
    dealt = order[np.argsort(codes[first][order], kind="stable")]
    fold[dealt] = np.arange(len(first)) % n_folds
    return fold[groups]


def unique_rows(X: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return which rows can judge out-of-sample predictions: those without a duplicate.

    A member that did not see a row may have seen its duplicate. The only row of a class
    cannot be predicted by a member that did not see it. Rows that count more than once are
    duplicates too, unless fewer than 20 rows were left.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Inputs.
    codes : ndarray of shape (n_samples,)
        Class numbers.
    weights : ndarray of shape (n_samples,)
        Sample weights.
    """
    known = weights > 0
    hashes = _mixed(row_hashes(X) ^ codes.astype(np.uint64))
    _, group, counts = np.unique(hashes[known], return_inverse=True, return_counts=True)
    alone = known.copy()
    alone[known] = counts[group] == 1
    alone &= np.bincount(codes, known)[codes] > 1
    once = alone & (weights < 1.5)
    return once if once.sum() >= FEWEST_UNIQUE else alone


def row_hashes(X: np.ndarray) -> np.ndarray:
    """Return a hash of each row of numbers; rows of equal hashes are equal, nearly certainly."""
    hashes = np.zeros(len(X), dtype=np.uint64)
    for column in X.T:
        # Zero has two signs.
        hashes = _mixed(hashes ^ (column.astype(np.float64) + 0.0).view(np.uint64))
    return hashes


def _mixed(bits: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        bits = (bits ^ (bits >> np.uint64(30)) + np.uint64(1)) * _MIX_1
        bits = (bits ^ (bits >> np.uint64(27))) * _MIX_2
    return bits ^ (bits >> np.uint64(31))
