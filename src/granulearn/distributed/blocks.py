"""Blocks of a Dask collection, checked one by one where they are."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask import delayed
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from granulearn.distributed.facts import BlockFacts
from granulearn.distributed.single_tasks import single_tasks
from granulearn.rvfl.base import sample_rows
from granulearn.utils.validation import Samples, describe_samples


@dataclass(frozen=True, eq=False)
class Block:
    """The samples of one block, checked as the in-memory classifiers check theirs."""

    number: int
    samples: Samples
    """Samples of positive weight; codes are indices into ``facts.classes``."""
    facts: BlockFacts


def is_collection(thing: Any) -> bool:
    """Return whether `thing` is a Dask array, DataFrame or Series."""
    return isinstance(thing, da.Array | dd.DataFrame | dd.Series)


def check_collection(thing: Any, name: str, instead: str) -> None:
    """Raise a TypeError that says what to use instead, unless `thing` is a Dask collection.

    Parameters
    ----------
    thing : object
        What was passed.
    name : str
        Name of the argument.
    instead : str
        Name of the class or method that takes data in memory.
    """
    if not is_collection(thing):
        raise TypeError(
            f"{name} is a {type(thing).__module__.partition('.')[0]} {type(thing).__name__}, and a "
            f"Dask array, DataFrame or Series is needed; for data in memory use {instead}."
        )


def checked_blocks(X: Any, y: Any, weights: Any, memberships: Any, instead: str) -> list[Any]:
    """Return one delayed `Block` per block of X.

    Parameters
    ----------
    X, y : Dask array, DataFrame or Series
        Inputs and labels, in blocks of the same rows.
    weights : Dask array, Series, float or None
        Sample weights.
    memberships : Dask array, Series or None
        Sample memberships.
    instead : str
        Name of the class or method that takes data in memory, for messages.
    """
    check_collection(X, "X", instead)
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimension(s), and two are needed: rows and features.")
    check = delayed(check_block)
    parts = blocks_in_step(X, instead, y=y, sample_weight=weights, sample_membership=memberships)
    return single_tasks([check(number, *part) for number, part in enumerate(parts)])


def _is_one_for_all(thing: Any) -> bool:
    return thing is None or isinstance(thing, Real)


def blocks_in_step(X: Any, instead: str, **others: Any) -> list[tuple[Any, ...]]:
    """Return, for each block of X, a tuple of it and of the same rows of the others.

    Parameters
    ----------
    X : Dask array, DataFrame or Series
        The collection that decides the blocks.
    instead : str
        Name of the class or method that takes data in memory, for messages.
    **others : Dask array, DataFrame, Series, number or None
        Further columns of the same rows; a number or None stands for every row.
    """
    collections = {"X": _in_whole_rows(X)}
    for name, thing in others.items():
        if not (name != "y" and _is_one_for_all(thing)):
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


def _in_whole_rows(X: Any) -> Any:
    cut = isinstance(X, da.Array) and X.ndim == 2 and X.numblocks[1] > 1
    return X.rechunk({1: -1}) if cut else X


def _in_step(name: str, thing: Any, X: Any) -> Any:
    if _has_known_rows(thing) and _has_known_rows(X):
        if thing.shape[0] != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows and {name} has {thing.shape[0]}.")
        return thing.rechunk({0: X.chunks[0]})
    if _n_row_blocks(thing) != _n_row_blocks(X):
        raise ValueError(
            f"X has {_n_row_blocks(X)} blocks of rows and {name} has {_n_row_blocks(thing)}, and "
            "their lengths are not known, so they cannot be brought into step; call "
            "compute_chunk_sizes() on the arrays first, or take both from one DataFrame."
        )
    return thing


def _has_known_rows(thing: Any) -> bool:
    return isinstance(thing, da.Array) and not np.isnan(thing.chunks[0]).any()


def _n_row_blocks(thing: Any) -> int:
    return thing.numblocks[0] if isinstance(thing, da.Array) else thing.npartitions


def check_block(number: int, X: Any, y: Any, weights: Any, memberships: Any) -> Block:
    """Check the rows of one block; messages name the number of the block.

    Parameters
    ----------
    number : int
        Number of the block, from 0.
    X : ndarray or DataFrame
        Inputs.
    y : ndarray or Series
        Labels.
    weights : ndarray, Series, float or None
        Sample weights.
    memberships : ndarray, Series or None
        Sample memberships.
    """
    for name, thing in (("y", y), ("sample_weight", weights), ("sample_membership", memberships)):
        if not _is_one_for_all(thing) and len(thing) != len(X):
            raise ValueError(
                f"block {number}: X has {len(X)} rows and {name} has {len(thing)}; divide them "
                "alike: call compute_chunk_sizes() on arrays and rechunk one like the other."
            )
    if len(X) == 0:
        return _empty_block(number, X.shape[1])
    try:
        return _checked(number, X, y, weights, memberships)
    except (TypeError, ValueError) as error:
        raise ValueError(f"block {number} ({len(X)} rows): {error}") from error


def _checked(number: int, X: Any, y: Any, weights: Any, memberships: Any) -> Block:
    probe = BaseEstimator()
    kinds = _column_kinds(X)
    X, y = validate_data(probe, X, y, dtype=[np.float64, np.float32], order="C")
    if y.dtype.kind == "f":
        check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    codes = codes.astype(np.int32)
    samples = describe_samples(X, codes, classes, weights, memberships).that_count()
    names = getattr(probe, "feature_names_in_", None)
    counting = np.bincount(samples.codes, minlength=len(classes))
    facts = BlockFacts(
        first_block=number,
        n_rows=len(X),
        n_counting=len(samples.X),
        names=None if names is None else tuple(names),
        kinds=kinds,
        classes=classes,
        counting=counting,
        totals=np.bincount(samples.codes, sample_rows(samples).weights, minlength=len(classes)),
        alone=counting if np.count_nonzero(counting) == 1 else np.zeros_like(counting),
        any_membership=samples.memberships is None or bool(samples.memberships.any()),
    )
    return Block(number, samples, facts)


def _empty_block(number: int, n_features: int) -> Block:
    nothing = np.empty(0)
    samples = describe_samples(np.empty((0, n_features)), np.empty(0, np.int32), nothing)
    facts = BlockFacts(number, 0, 0, None, (), nothing, nothing, nothing, nothing, False)
    return Block(number, samples, facts)


def _column_kinds(X: Any) -> tuple[str, ...]:
    dtypes = list(X.dtypes) if hasattr(X, "dtypes") else [X.dtype] * X.shape[1]
    return tuple("numbers" if dtype.kind in "biuf" else "objects" for dtype in dtypes)
