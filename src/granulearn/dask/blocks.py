"""Blocks of Dask collections: checked on the workers, sampled to memory, and predicted lazily."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask import delayed

from granulearn.dask.cluster import compute
from granulearn.utils.validation import Samples, check_inputs, describe_samples, encode_labels

SAMPLE_SIZE = 50_000
"""About how many rows are sampled to memory."""
CLASS_ROWS = 20
"""About how many rows of a rare class are sampled; all if it has fewer."""


@dataclass(frozen=True, eq=False)
class Facts:
    """Columns, classes and rows of all blocks."""

    names: list[str] | None
    """Names of the columns, if they have some."""
    n_features: int
    n_rows: list[int]
    """Rows of each block."""
    classes: np.ndarray
    """(K,) the labels of all blocks, sorted."""
    counts: np.ndarray
    """(n_blocks, K) rows of positive weight."""


def checked_blocks(
    X: Any, y: Any, weights: Any, memberships: Any, in_memory_class: str
) -> tuple[list[Any], Facts]:
    """Return one delayed `Samples` per block of X, None for an empty one, and the facts.

    Parameters
    ----------
    X, y : Dask array, DataFrame or Series
        Inputs and labels, in blocks of the same rows.
    weights, memberships : Dask array, Series or None
        Of the samples.
    in_memory_class : str
        The class that takes data in memory, for messages.
    """
    check_collection(X, "X", in_memory_class)
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimension(s), and two are needed: rows and features.")
    names = list(X.columns) if hasattr(X, "columns") else None
    X = _in_whole_rows(X)
    n_blocks = X.numblocks[0] if isinstance(X, da.Array) else X.npartitions
    columns = [_delayed_blocks(X)]
    for name, thing in {"y": y, "sample_weight": weights, "sample_membership": memberships}.items():
        if name != "y" and thing is None:
            columns.append([None] * n_blocks)
            continue
        check_collection(thing, name, in_memory_class)
        columns.append(_delayed_blocks(_in_step(name, thing, X)))
    check = delayed(check_block)
    blocks = [check(number, *part) for number, part in enumerate(zip(*columns, strict=True))]
    found = compute(*map(delayed(facts_of_block), blocks))
    return blocks, _joined_facts(found, names)


def check_collection(thing: Any, name: str, in_memory_class: str) -> None:
    """Raise a TypeError that names the class for data in memory, unless this is a collection."""
    if not isinstance(thing, da.Array | dd.DataFrame | dd.Series):
        raise TypeError(
            f"{name} is a {type(thing).__module__.partition('.')[0]} {type(thing).__name__}, and a "
            f"Dask array, DataFrame or Series is needed; for data in memory use {in_memory_class}."
        )


def _delayed_blocks(thing: Any) -> list[Any]:
    # Optimised one by one, X and y could be cut differently, and what they have in
    # common, such as the reading of a file, would be done once for each.
    return np.ravel(thing.to_delayed(optimize_graph=False)).tolist()


def _in_whole_rows(X: Any) -> Any:
    cut = isinstance(X, da.Array) and X.ndim == 2 and X.numblocks[1] > 1
    return X.rechunk({1: -1}) if cut else X


def _in_step(name: str, thing: Any, X: Any) -> Any:
    if all(isinstance(one, da.Array) and not np.isnan(one.shape[0]) for one in (thing, X)):
        if thing.shape[0] != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows and {name} has {thing.shape[0]}.")
        return thing.rechunk({0: X.chunks[0]})
    n_own, n_wanted = (
        one.numblocks[0] if isinstance(one, da.Array) else one.npartitions for one in (thing, X)
    )
    if n_own != n_wanted:
        raise ValueError(
            f"X has {n_wanted} blocks of rows and {name} has {n_own}, and "
            "their lengths are not known, so they cannot be brought into step; call "
            "compute_chunk_sizes() on the arrays first, or take both from one DataFrame."
        )
    return thing


def check_block(number: int, X: Any, y: Any, weights: Any, memberships: Any) -> Samples | None:
    """Return the rows of a block as the classifiers in memory check theirs; None without rows."""
    if len(X) == len(y) == 0:
        return None
    try:
        X, y = check_inputs(X, y, "fit")
        return describe_samples(X, *encode_labels(y), weights, memberships)
    except (TypeError, ValueError) as error:
        raise ValueError(f"block {number} ({len(X)} rows): {error}") from error


def facts_of_block(samples: Samples | None) -> tuple | None:
    """Return shape, classes, and rows of each class."""
    if samples is None:
        return None
    weights = None if samples.weights is None else samples.weights > 0
    counts = np.bincount(samples.codes, weights, minlength=len(samples.classes))
    return samples.X.shape, samples.classes, counts


def _joined_facts(found: Sequence[tuple | None], names: list[str] | None) -> Facts:
    known = [(number, *own) for number, own in enumerate(found) if own is not None]
    if not known:
        raise ValueError("X has no rows: every block is empty; there is nothing to learn from.")
    types = {own[2].dtype.kind in "iufb": (own[0], own[2].dtype) for own in known}
    if len(types) > 1:
        (one, its), (other, others) = types.values()
        raise ValueError(
            f"labels differ in type between blocks: block {one} holds {its}, block {other} "
            f"{others}; give all blocks one type, for instance with y.astype(str)."
        )
    classes = np.unique(np.concatenate([own[2] for own in known]))
    counts, n_rows = np.zeros((len(found), len(classes))), [0] * len(found)
    for number, shape, own, own_counts in known:
        n_rows[number] = shape[0]
        counts[number, np.searchsorted(classes, own)] = own_counts
    present = classes[counts.any(axis=0)].tolist()
    if len(present) < 2:
        raise ValueError(
            f"y holds only one class ({', '.join(map(repr, present))}) among the samples of "
            "positive weight, and a classifier needs two or more; check that y is the column of "
            "labels."
        )
    return Facts(names, known[0][1][1], n_rows, classes, counts)


def with_classes(samples: Samples, classes: np.ndarray) -> Samples:
    """Return samples with codes by the classes of all blocks."""
    codes = np.searchsorted(classes, samples.classes)[samples.codes].astype(np.int32)
    return replace(samples, codes=codes, classes=classes)


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
    """Rows that were sampled from all blocks."""

    X: Any
    """Numbers, or cells by column."""
    y: np.ndarray
    weights: np.ndarray | None
    number: np.ndarray
    """Block of each row."""
    position: np.ndarray
    """Position of each row in its block."""


def sample_blocks(blocks: Sequence[Any], facts: Facts, sample_size: int, seed: int) -> Sample:
    """Return a sample of the rows, stratified by class; all rows if there are no more.

    Parameters
    ----------
    blocks : sequence of Delayed
        Of `Samples`.
    facts : Facts
        About all of them.
    sample_size : int
        About how many rows.
    seed : int
        Of the sample.
    """
    rates, draw = sampling_rates(facts.counts.sum(axis=0), sample_size), delayed(sample_of_block)
    found = compute(
        *(draw(block, number, facts.classes, rates, seed) for number, block in enumerate(blocks))
    )
    parts = [part for part in found if part is not None]
    number = np.repeat(np.arange(len(found)), [0 if p is None else len(p) for p in found])
    weights = None if parts[0].weights is None else np.concatenate([p.weights for p in parts])
    X, codes, position = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("X", "codes", "positions")
    )
    return Sample(X, facts.classes[codes], weights, number, position)


def sample_of_block(
    samples: Samples | None, number: int, classes: np.ndarray, rates: np.ndarray, seed: int
) -> Samples | None:
    """Return the sampled rows of a block."""
    if samples is None:
        return None
    samples = with_classes(samples, classes)
    drawn = drawn_rows(seed, number, samples.codes, rates)
    return samples.take(np.flatnonzero(drawn)).that_count()


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
        meta = _predict_block(X._meta, light, method)
        return X.map_partitions(_predict_block, light, method, meta=meta)
    X = _in_whole_rows(X)
    if empty.ndim == 1:
        return X.map_blocks(_predict_block, light, method, dtype=empty.dtype, drop_axis=1)
    chunks = (X.chunks[0], (empty.shape[1],))
    return X.map_blocks(_predict_block, light, method, dtype=empty.dtype, chunks=chunks)


def _predict_block(X: Any, estimator: Any, method: str) -> Any:
    rows, n_rows = X, len(X)
    if not n_rows:  # Dask needs the type and the columns of a prediction without rows
        names = getattr(estimator, "feature_names_in_", None)
        rows = np.zeros((1, estimator.n_features_in_))
        rows = rows if names is None else pd.DataFrame(rows, columns=names)
    values = getattr(estimator, method)(rows)[:n_rows]
    if not hasattr(X, "index"):
        return values
    if values.ndim == 1:
        return pd.Series(values, index=X.index)
    return pd.DataFrame(values, index=X.index, columns=estimator.classes_)
