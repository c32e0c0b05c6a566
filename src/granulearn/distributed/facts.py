"""Facts about the blocks of a table: their rows, columns and classes, joined block by block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from granulearn.utils.validation import check_enough_to_learn

# Types of labels that can be compared with each other.
_LABEL_KINDS = {"i": "numbers", "u": "numbers", "f": "numbers", "b": "truth values"}


@dataclass(frozen=True, eq=False)
class BlockFacts:
    """What is known about the rows of one block, or of several."""

    first_block: int
    """Number of the block that messages name."""
    n_rows: int
    n_counting: int
    """Rows of positive weight."""
    names: tuple[str, ...] | None
    """Names of the columns of X; None if they have none."""
    kinds: tuple[str, ...]
    """How each column of X is stored: "numbers" or "objects"."""
    classes: np.ndarray
    """(K,) the labels, sorted."""
    counting: np.ndarray
    """(K,) rows of positive weight of each class."""
    alone: np.ndarray
    """(K,) how many of these rows lie in blocks without any other class."""
    totals: np.ndarray
    """(K,) weight of each class."""
    any_membership: bool
    """Whether a sample's membership is above zero, or none were given."""

    @property
    def label_kind(self) -> str:
        """What the labels are; only labels of one kind can be sorted together."""
        return _LABEL_KINDS.get(self.classes.dtype.kind, "text")


def align(values: np.ndarray, classes: np.ndarray, all_classes: np.ndarray) -> np.ndarray:
    """Return one entry per class of `all_classes`, zero for those not among `classes`.

    Parameters
    ----------
    values : ndarray of shape (K, ...)
        One entry per class.
    classes : ndarray of shape (K,)
        Those classes, all of them in `all_classes`.
    all_classes : ndarray
        All classes, sorted.
    """
    aligned = np.zeros((len(all_classes), *values.shape[1:]), dtype=values.dtype)
    aligned[np.searchsorted(all_classes, classes)] = values
    return aligned


def sum_by_class(
    parts: Sequence[tuple[np.ndarray, np.ndarray]], all_classes: np.ndarray
) -> np.ndarray:
    """Return the sum of entries per class, over parts that may lack classes.

    Parameters
    ----------
    parts : sequence of tuple
        Values, one entry per class, and those classes; added in this order.
    all_classes : ndarray
        All classes, sorted.
    """
    return reduce(np.add, [align(values, classes, all_classes) for values, classes in parts])


def join_facts(first: BlockFacts, second: BlockFacts) -> BlockFacts:
    """Return the facts about both parts; raise where they are not of one table.

    Parameters
    ----------
    first, second : BlockFacts
        Facts about earlier and about later blocks.
    """
    if second.n_rows == 0:
        return first
    if first.n_rows == 0:
        return second
    _check_same_columns(first, second)
    if first.label_kind != second.label_kind:
        raise ValueError(
            f"labels differ in type between blocks: block {first.first_block} holds "
            f"{first.classes.dtype}, block {second.first_block} {second.classes.dtype}; "
            "give all blocks one type, for instance with y.astype(str)."
        )
    classes = np.unique(np.concatenate([first.classes, second.classes]))
    return BlockFacts(
        first_block=first.first_block,
        n_rows=first.n_rows + second.n_rows,
        n_counting=first.n_counting + second.n_counting,
        names=first.names,
        kinds=first.kinds,
        classes=classes,
        counting=sum_by_class(
            [(first.counting, first.classes), (second.counting, second.classes)], classes
        ),
        totals=sum_by_class(
            [(first.totals, first.classes), (second.totals, second.classes)], classes
        ),
        alone=sum_by_class([(first.alone, first.classes), (second.alone, second.classes)], classes),
        any_membership=first.any_membership or second.any_membership,
    )


def check_facts(facts: BlockFacts) -> None:
    """Raise unless there is something to learn from in all rows together.

    Parameters
    ----------
    facts : BlockFacts
        Facts about all blocks.
    """
    if facts.n_rows == 0:
        raise ValueError("X has no rows: every block is empty; there is nothing to learn from.")
    if len(facts.classes) < 2:
        raise ValueError(
            f"y holds only one class ({facts.classes.tolist()[0]!r}), and a classifier needs two "
            "or more; check that y is the column of labels."
        )
    check_enough_to_learn(
        n_classes=int(np.count_nonzero(facts.counting)), any_membership=facts.any_membership
    )


def _check_same_columns(first: BlockFacts, second: BlockFacts) -> None:
    blocks = f"block {first.first_block}", f"block {second.first_block}"
    if len(first.kinds) != len(second.kinds):
        raise ValueError(
            f"{blocks[0]} has {len(first.kinds)} features and {blocks[1]} {len(second.kinds)}; "
            "all blocks need the same columns."
        )
    if first.names != second.names:
        raise ValueError(
            f"the column names of {blocks[0]} and {blocks[1]} differ; all blocks need the same "
            "columns in the same order."
        )
    for column, (one, other) in enumerate(zip(first.kinds, second.kinds, strict=True)):
        if one != other:
            name = first.names[column] if first.names else column
            raise ValueError(
                f"column {name!r} holds {one} in {blocks[0]} and {other} in {blocks[1]}; give it "
                "one type in all blocks, for instance with X.astype(float)."
            )
