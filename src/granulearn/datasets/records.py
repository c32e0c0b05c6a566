"""What loading gives: a data set with its description, or a reason why not."""

from dataclasses import dataclass

import numpy as np
import pandas as pd


class UnknownDatasetError(LookupError):
    """No set has this name; the message suggests the nearest ones.

    Examples
    --------
    >>> from granulearn.datasets import UnknownDatasetError, load
    >>> try:
    ...     load("two-mons")
    ... except UnknownDatasetError as error:
    ...     print(error)
    no data set is named 'two-mons'; did you mean 'two_moons'?
    """


class DatasetUnavailableError(LookupError):
    """The set is known, but none of its sources can be read here.

    Examples
    --------
    >>> from granulearn.datasets import DatasetUnavailableError, load
    >>> try:
    ...     load("cleve", data_dir="no/such/folder")
    ... except (DatasetUnavailableError, FileNotFoundError):
    ...     print("not here")
    not here
    """


class SourceUnavailableError(LookupError):
    """One source cannot serve one set; another source may."""


@dataclass(frozen=True)
class DatasetDescription:
    """Where a set comes from and what to know before using it.

    Examples
    --------
    >>> from granulearn.datasets import load
    >>> description = load("two_moons").description
    >>> description.rows, description.classes, description.minority_share
    (400, 2, 0.5)
    """

    name: str
    rows: int
    features: int
    classes: int
    minority_rows: int
    """Rows of the smallest class."""
    source: str
    """Where this copy was read from, as ``kind:place``."""
    origin: str
    """Who made or collected the set."""
    licence: str
    quirks: tuple[str, ...]
    """What is odd about the set; read before comparing results."""

    @property
    def minority_share(self) -> float:
        """Share of the rows that belong to the smallest class."""
        return self.minority_rows / self.rows


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A data set: features, labels and a description.

    Examples
    --------
    >>> from granulearn.datasets import load
    >>> data = load("two_moons")
    >>> data.X.shape, data.name
    ((400, 2), 'two_moons')
    """

    X: pd.DataFrame
    """(n, d); numeric columns as numbers, the others as categories."""
    y: np.ndarray
    """(n,) class labels."""
    description: DatasetDescription
    truth: np.ndarray | None = None
    """(n,) the right labels, for a set whose `y` is wrong in places; else None."""

    @property
    def name(self) -> str:
        """Name of the set."""
        return self.description.name

    def __repr__(self) -> str:
        # All labels of all rows would fill the screen.
        facts = self.description
        return (
            f"<Dataset {facts.name}: {facts.rows} rows, {facts.features} features, "
            f"{facts.classes} classes>"
        )
