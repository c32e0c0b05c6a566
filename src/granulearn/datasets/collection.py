"""Load a named collection: what is there, and a word on what is not."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Iterator
from dataclasses import dataclass

from granulearn.datasets.catalogue import collections
from granulearn.datasets.loading import DataDir, load
from granulearn.datasets.records import Dataset, DatasetUnavailableError, UnknownDatasetError

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class LoadedCollection:
    """The sets of a collection that could be read, in its order.

    Examples
    --------
    >>> from granulearn.datasets import LoadedCollection
    >>> nothing = LoadedCollection("mine", datasets=(), missing={"cleve": "no source has it"})
    >>> print(nothing.describe_missing())
    no source has it
    """

    name: str
    datasets: tuple[Dataset, ...]
    missing: dict[str, str]
    """Name of each set that could not be read, with the reason and what to do."""

    def __iter__(self) -> Iterator[Dataset]:
        return iter(self.datasets)

    def __len__(self) -> int:
        return len(self.datasets)

    def describe_missing(self) -> str:
        """Return one line per missing set, or an empty text if all are there."""
        return "\n".join(self.missing.values())


def load_collection(
    name: str = "paper37", data_dir: DataDir = None, *, download: bool = False
) -> LoadedCollection:
    """Load every set of a collection that can be read here.

    Parameters
    ----------
    name : str, default="paper37"
        Name of the collection.
    data_dir : path, default=None
        As for `load`.
    download : bool, default=False
        Whether openml.org may be asked for what nothing else has.

    Returns
    -------
    LoadedCollection
        The sets; those that are missing are named there and logged as a warning.

    Examples
    --------
    >>> from granulearn.datasets import load_collection
    >>> collection = load_collection("paper37")
    >>> len(collection.datasets) + len(collection.missing)
    37
    """
    known = collections()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1) or list(known)
        raise UnknownDatasetError(f"no collection is named {name!r}; there is {near[0]!r}.")
    found, missing = [], {}
    for member in known[name].sets:
        try:
            found.append(load(member, data_dir, download=download))
        except DatasetUnavailableError as error:
            missing[member] = str(error)
    if missing:
        logger.warning(
            "%d of the %d sets of %s are missing: %s",
            len(missing),
            len(known[name].sets),
            name,
            ", ".join(missing),
        )
    return LoadedCollection(name, tuple(found), missing)
