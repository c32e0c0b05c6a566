"""Blocks of Dask collections: checked where they are, sampled, and predicted lazily."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from numbers import Real
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask import delayed
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from granulearn.dask.cluster import compute, tree_reduce
from granulearn.utils.validation import Samples, check_enough_to_learn, describe_samples

SAMPLE_SIZE = 50_000
"""Rows that are sampled to memory, about."""
CLASS_ROWS = 20
"""Of a rare class so many rows are sampled, about, or all."""

# Labels of one kind can be sorted together.
_LABEL_KINDS = {"i": "numbers", "u": "numbers", "f": "numbers", "b": "booleans"}


@dataclass(frozen=True, eq=False)
class Block:
    """The rows of one block, checked as the classifiers in memory check theirs."""

    number: int
    X: np.ndarray
    classes: np.ndarray
    """(K,) the labels of the block, sorted."""
    codes: np.ndarray
    """(n,) class of each row."""
    weights: np.ndarray | None
    memberships: np.ndarray | None
    names: tuple[str, ...] | None
    """Names of the columns, if they have some."""
    types: tuple[str, ...]
    """How each column is stored: "numbers" or "objects"."""

    def samples(self, classes: np.ndarray) -> Samples:
        """Return the rows of positive weight, with codes by the classes of all blocks."""
        codes = np.searchsorted(classes, self.classes)[self.codes].astype(np.int32)
        return describe_samples(self.X, codes, classes, self.weights, self.memberships).that_count()


@dataclass(frozen=True, eq=False)
class Facts:
    """Columns, classes and number of rows of one block, or of several."""

    number: int
    """Number of the block that messages name."""
    n_rows: dict[int, int]
    """Rows of each block that has some."""
    names: tuple[str, ...] | None
    types: tuple[str, ...]
    classes: np.ndarray
    """(K,) the labels, sorted."""
    counts: np.ndarray
    """(K, 3) rows of positive weight, their weight, and how many are in blocks of one class."""
    any_membership: bool
    """Whether a membership is above zero, or none were given."""

    def __add__(self, later: Facts) -> Facts:
        """Return the facts about both; raise where they are not of one table."""
        _check_one_table(self, later)
        classes = np.union1d(self.classes, later.classes)
        counts = np.zeros((len(classes), 3))
        for part in (self, later):
            counts[np.searchsorted(classes, part.classes)] += part.counts
        any_membership = self.any_membership or later.any_membership
        n_rows = self.n_rows | later.n_rows
        return Facts(self.number, n_rows, self.names, self.types, classes, counts, any_membership)


def checked_blocks(
    X: Any, y: Any, weights: Any, memberships: Any, instead: str
) -> tuple[list[Any], Facts]:
    """Return one delayed `Block` per block of X, and the facts about all of them.

    Parameters
    ----------
    X, y : Dask array, DataFrame or Series
        Inputs and labels, in blocks of the same rows.
    weights, memberships : Dask array, Series, float or None
        Of the samples.
    instead : str
        The class that takes data in memory, for messages.
    """
    check_collection(X, "X", instead)
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimension(s), and two are needed: rows and features.")
    check = delayed(check_block)
    parts = blocks_in_step(X, instead, y=y, sample_weight=weights, sample_membership=memberships)
    blocks = [check(number, *part) for number, part in enumerate(parts)]
    (facts,) = compute(tree_reduce(Facts.__add__, list(map(delayed(facts_of_block), blocks))))
    if facts is None:
        raise ValueError("X has no rows: every block is empty; there is nothing to learn from.")
    if len(facts.classes) < 2:
        raise ValueError(
            f"y holds only one class ({facts.classes.tolist()[0]!r}), and a classifier needs two "
            "or more; check that y is the column of labels."
        )
    check_enough_to_learn(
        n_classes=int(np.count_nonzero(facts.counts[:, 0])), any_membership=facts.any_membership
    )
    return blocks, facts


def check_collection(thing: Any, name: str, instead: str) -> None:
    """Raise a TypeError that names the class for data in memory, unless this is a collection."""
    if not isinstance(thing, da.Array | dd.DataFrame | dd.Series):
        raise TypeError(
            f"{name} is a {type(thing).__module__.partition('.')[0]} {type(thing).__name__}, and a "
            f"Dask array, DataFrame or Series is needed; for data in memory use {instead}."
        )


def blocks_in_step(X: Any, instead: str, **others: Any) -> list[tuple[Any, ...]]:
    """Return, for each block of X, a tuple of it and of the same rows of the others.

    Parameters
    ----------
    X : Dask array, DataFrame or Series
        The collection that decides the blocks.
    instead : str
        The class that takes data in memory, for messages.
    **others : Dask array, DataFrame, Series, number or None
        Further columns of the same rows; a number or None stands for every row.
    """
    collections = {"X": _in_whole_rows(X)}
    for name, thing in others.items():
        if name == "y" or not _is_one_for_all(thing):
            check_collection(thing, name, instead)
            collections[name] = _in_step(name, thing, collections["X"])
    # Optimised one by one, X and y could be cut differently, and what they have in
    # common, such as the reading of a file, would be done once for each.
    blocks = {
        name: np.ravel(thing.to_delayed(optimize_graph=False)).tolist()
        for name, thing in collections.items()
    }
    n_blocks = len(blocks["X"])
    columns = [blocks["X"]]
    columns += [blocks.get(name, [thing] * n_blocks) for name, thing in others.items()]
    return list(zip(*columns, strict=True))


def _is_one_for_all(thing: Any) -> bool:
    return thing is None or isinstance(thing, Real)


def _in_whole_rows(X: Any) -> Any:
    cut = isinstance(X, da.Array) and X.ndim == 2 and X.numblocks[1] > 1
    return X.rechunk({1: -1}) if cut else X


def _in_step(name: str, thing: Any, X: Any) -> Any:
    if _has_known_rows(thing) and _has_known_rows(X):
        if thing.shape[0] != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows and {name} has {thing.shape[0]}.")
        return thing.rechunk({0: X.chunks[0]})
    if _n_blocks(thing) != _n_blocks(X):
        raise ValueError(
            f"X has {_n_blocks(X)} blocks of rows and {name} has {_n_blocks(thing)}, and "
            "their lengths are not known, so they cannot be brought into step; call "
            "compute_chunk_sizes() on the arrays first, or take both from one DataFrame."
        )
    return thing


def _has_known_rows(thing: Any) -> bool:
    return isinstance(thing, da.Array) and not np.isnan(thing.chunks[0]).any()


def _n_blocks(thing: Any) -> int:
    return thing.numblocks[0] if isinstance(thing, da.Array) else thing.npartitions


def check_block(number: int, X: Any, y: Any, weights: Any, memberships: Any) -> Block | None:
    """Check the rows of one block; return None if there are none.

    Parameters
    ----------
    number : int
        Number of the block, from 0, for messages.
    X, y : ndarray, DataFrame or Series
        Inputs and labels.
    weights, memberships : ndarray, Series, float or None
        Of the samples.
    """
    for name, thing in (("y", y), ("sample_weight", weights), ("sample_membership", memberships)):
        if not _is_one_for_all(thing) and len(thing) != len(X):
            raise ValueError(
                f"block {number}: X has {len(X)} rows and {name} has {len(thing)}; divide them "
                "alike: call compute_chunk_sizes() on arrays and rechunk one like the other."
            )
    if len(X) == 0:
        return None
    dtypes = list(X.dtypes) if hasattr(X, "dtypes") else [X.dtype] * X.shape[1]
    types = tuple("numbers" if dtype.kind in "biuf" else "objects" for dtype in dtypes)
    probe = BaseEstimator()
    try:
        X, y = validate_data(probe, X, y, dtype=[np.float64, np.float32], order="C")
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        checked = describe_samples(X, codes.astype(np.int32), classes, weights, memberships)
    except (TypeError, ValueError) as error:
        raise ValueError(f"block {number} ({len(X)} rows): {error}") from error
    names = getattr(probe, "feature_names_in_", None)
    return Block(
        number,
        X,
        classes,
        checked.codes,
        checked.weights,
        checked.memberships,
        None if names is None else tuple(names),
        types,
    )


def facts_of_block(block: Block | None) -> Facts | None:
    """Return what is known of a block; None if it has no rows."""
    if block is None:
        return None
    weights = np.ones(len(block.X)) if block.weights is None else block.weights
    n_classes = len(block.classes)
    counts = np.zeros((n_classes, 3))
    counts[:, 0] = np.bincount(block.codes, weights > 0, minlength=n_classes)
    counts[:, 1] = np.bincount(block.codes, weights, minlength=n_classes)
    if np.count_nonzero(counts[:, 0]) == 1:
        counts[:, 2] = counts[:, 0]
    trusted = block.memberships is None or bool(block.memberships.any())
    n_rows = {block.number: len(block.X)}
    return Facts(block.number, n_rows, block.names, block.types, block.classes, counts, trusted)


def _check_one_table(first: Facts, second: Facts) -> None:
    blocks = f"block {first.number}", f"block {second.number}"
    if len(first.types) != len(second.types):
        raise ValueError(
            f"{blocks[0]} has {len(first.types)} features and {blocks[1]} {len(second.types)}; "
            "all blocks need the same columns."
        )
    if first.names != second.names:
        raise ValueError(
            f"the column names of {blocks[0]} and {blocks[1]} differ; all blocks need the same "
            "columns in the same order."
        )
    for column, (one, other) in enumerate(zip(first.types, second.types, strict=True)):
        if one != other:
            name = first.names[column] if first.names else column
            raise ValueError(
                f"column {name!r} holds {one} in {blocks[0]} and {other} in {blocks[1]}; give it "
                "one type in all blocks, for instance with X.astype(float)."
            )
    one, other = (_LABEL_KINDS.get(part.classes.dtype.kind, "text") for part in (first, second))
    if one != other:
        raise ValueError(
            f"labels differ in type between blocks: {blocks[0]} holds {first.classes.dtype}, "
            f"{blocks[1]} {second.classes.dtype}; give all blocks one type, for instance with "
            "y.astype(str)."
        )


# ---- sampling --------------------------------------------------------------------------------


def sampling_rates(counts: np.ndarray, sample_size: int) -> np.ndarray:
    """Return the probability with which a row of each class is sampled.

    Parameters
    ----------
    counts : ndarray of shape (n_classes,)
        Rows of each class.
    sample_size : int
        About how many rows to sample; all if there are no more.
    """
    share = sample_size / max(counts.sum(), 1)
    return np.clip(np.maximum(share, CLASS_ROWS / np.maximum(counts, 1)), 0, 1)


def drawn_rows(seed: int, number: int, codes: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Return which rows of a block are in the sample, the same ones whenever it is asked.

    Parameters
    ----------
    seed, number : int
        Of the sample, and of the block.
    codes : ndarray of shape (n,)
        Class of each row.
    rates : ndarray of shape (n_classes,)
        As of `sampling_rates`.
    """
    return np.random.default_rng([seed, number]).random(len(codes)) < rates[codes]


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of one block, or of all, that were sampled."""

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray | None
    number: np.ndarray
    """Block of each row."""
    position: np.ndarray
    """Position of each row in its block."""


def sample_blocks(blocks: Sequence[Any], facts: Facts, sample_size: int, seed: int) -> Sample:
    """Return about so many rows of all blocks, or all if there are no more; classes are stratified.

    Parameters
    ----------
    blocks : sequence of Delayed
        One `Block` each.
    facts : Facts
        About all of them.
    sample_size : int
        About how many rows.
    seed : int
        Of the sample.
    """
    rates, draw = sampling_rates(facts.counts[:, 0], sample_size), delayed(sample_of_block)
    parts = compute(*(draw(block, facts.classes, rates, seed) for block in blocks))
    known = [part for part in parts if part is not None]
    X, y, numbers, positions = (
        np.concatenate([getattr(part, name) for part in known])
        for name in ("X", "y", "number", "position")
    )
    weights = [part.weights for part in known if part.weights is not None]
    return Sample(X, y, np.concatenate(weights) if weights else None, numbers, positions)


def sample_of_block(
    block: Block | None, classes: np.ndarray, rates: np.ndarray, seed: int
) -> Sample | None:
    """Return the sampled rows of a block."""
    if block is None:
        return None
    codes = np.searchsorted(classes, block.classes)[block.codes]
    drawn = drawn_rows(seed, block.number, codes, rates)
    if block.weights is not None:
        drawn &= block.weights > 0
    rows = np.flatnonzero(drawn)
    weights = None if block.weights is None else block.weights[rows]
    numbers = np.full(len(rows), block.number)
    return Sample(block.X[rows], classes[codes[rows]], weights, numbers, rows)


# ---- predictions -----------------------------------------------------------------------------


def predict_lazily(estimator: Any, method: str, X: Any) -> Any:
    """Return what a method of a fitted classifier gives for each block, not yet computed.

    Parameters
    ----------
    estimator : fitted classifier
        An ordinary one, in memory.
    method : str
        ``"predict"``, ``"predict_proba"`` or ``"decision_function"``.
    X : Dask array or DataFrame
        Inputs.

    Returns
    -------
    Dask array, Series or DataFrame
        An array for an array; for a DataFrame, a Series of labels or a
        DataFrame of one column per class, with its index.
    """
    check_collection(X, "X", f"estimator_.{method}")
    # Every task would carry the balls, and none needs them.
    light = copy(estimator)
    for name in ("balls_", "membership_"):
        vars(light).pop(name, None)
    empty = _predict_block(np.zeros((0, estimator.n_features_in_)), light, method)
    if not isinstance(X, da.Array):
        meta = _like_frame(empty, X._meta.index[:0], estimator.classes_)
        return X.map_partitions(_predict_frame, light, method, meta=meta)
    X = _in_whole_rows(X)
    if empty.ndim == 1:
        return X.map_blocks(_predict_block, light, method, dtype=empty.dtype, drop_axis=1)
    chunks = (X.chunks[0], (empty.shape[1],))
    return X.map_blocks(_predict_block, light, method, dtype=empty.dtype, chunks=chunks)


def _predict_block(X: Any, estimator: Any, method: str) -> np.ndarray:
    if len(X):
        return getattr(estimator, method)(X)
    # There is no row to predict, but Dask needs the type and the columns of a prediction.
    names = getattr(estimator, "feature_names_in_", None)
    one_row = np.zeros((1, estimator.n_features_in_))
    row = one_row if names is None else pd.DataFrame(one_row, columns=names)
    return getattr(estimator, method)(row)[:0]


def _predict_frame(X: pd.DataFrame, estimator: Any, method: str) -> Any:
    return _like_frame(_predict_block(X, estimator, method), X.index, estimator.classes_)


def _like_frame(values: np.ndarray, index: pd.Index, classes: np.ndarray) -> Any:
    if values.ndim == 1:
        return pd.Series(values, index=index)
    return pd.DataFrame(values, index=index, columns=classes)
