"""Reductions in a fixed tree: the same result in whatever order tasks end, or are repeated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from dask import delayed

# Parts that are gathered before they are divided anew: each of n parts and m receivers would be a
# task, each of n / 16 groups and m receivers is few.
LARGEST_GROUP = 16
# One task joins so many partial results: few, so that a worker holds few at a time.
SPLIT_EVERY = 8


def tree_reduce(join: Callable[[Any, Any], Any], parts: Sequence[Any]) -> Any:
    """Return the delayed result of joining neighbours, level by level.

    Parameters
    ----------
    join : callable
        Takes an earlier and a later part, returns both as one.
    parts : sequence of Delayed
        At least one; a single one is its own result.
    """
    level = list(parts)
    join_all = delayed(join_in_order)
    while len(level) > 1:
        level = [
            join_all(join, level[start : start + SPLIT_EVERY])
            for start in range(0, len(level), SPLIT_EVERY)
        ]
    return level[0]


def join_in_order(join: Callable[[Any, Any], Any], parts: Sequence[Any]) -> Any:
    """Join parts from the first to the last.

    Parameters
    ----------
    join : callable
        Takes an earlier and a later part, returns both as one.
    parts : sequence
        At least one.
    """
    return reduce(join, parts)


def in_groups(parts: Sequence[Any], size: int) -> list[Sequence[Any]]:
    """Return neighbours in groups of one to `LARGEST_GROUP`.

    Parameters
    ----------
    parts : sequence
        What to group.
    size : int
        As many as a group has room for.
    """
    step = min(max(size, 1), LARGEST_GROUP)
    return [parts[start : start + step] for start in range(0, len(parts), step)]
