"""A directory of CSV files with a manifest.

``manifest.csv`` has one line per set with at least ``name``, ``rows``,
``features`` and ``minority_rows``; the set itself is ``NAME.csv`` beside it,
with a column ``target``. Subdirectories with a manifest of their own belong to
it; ``with_missing/NAME.csv`` holds the same rows with empty cells where the
source says that a value is missing.
"""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from granulearn.datasets.records import SourceUnavailableError

ENVIRONMENT_VARIABLE = "GRANULEARN_DATA"
_REQUIRED = ("name", "rows", "features", "minority_rows")


@dataclass(frozen=True)
class ManifestLine:
    """What the manifest states about one set; figures are None if it has no file."""

    name: str
    path: Path
    rows: int | None
    features: int | None
    minority_rows: int | None
    source: str
    notes: str

    @property
    def has_file(self) -> bool:
        """Whether the set itself is in the directory."""
        return self.path.is_file()


def find_data_dir(data_dir: str | os.PathLike | None) -> Path:
    """Return the directory to read from.

    Parameters
    ----------
    data_dir : path or None
        The caller's choice; None asks the environment variable GRANULEARN_DATA.

    Returns
    -------
    Path
        A directory with a manifest.

    Raises
    ------
    FileNotFoundError
        If ``data_dir`` has no manifest.
    SourceUnavailableError
        If it is None and the environment names no directory with a manifest.
    """
    if data_dir is not None:
        directory = Path(data_dir)
        if not (directory / "manifest.csv").is_file():
            # The caller named it: reading the set elsewhere would hide the mistake.
            raise FileNotFoundError(
                f"data_dir={str(directory)!r} has no manifest.csv; name a directory that has one."
            )
        return directory
    named = os.environ.get(ENVIRONMENT_VARIABLE)
    if not named:
        raise SourceUnavailableError(
            "no data directory is named: pass data_dir= or set the environment variable "
            f"{ENVIRONMENT_VARIABLE} to a directory with a manifest.csv"
        )
    if not (Path(named) / "manifest.csv").is_file():
        raise SourceUnavailableError(f"{ENVIRONMENT_VARIABLE}={named!r} has no manifest.csv")
    return Path(named)


def read_manifest(directory: Path) -> dict[str, ManifestLine]:
    """Read the manifest of a directory and those of its subdirectories.

    Parameters
    ----------
    directory : Path
        A directory with a ``manifest.csv``.

    Returns
    -------
    dict
        Name to line; the directory's own line wins over a subdirectory's.
    """
    manifests = [directory / "manifest.csv", *sorted(directory.glob("*/manifest.csv"))]
    lines: dict[str, ManifestLine] = {}
    for path in manifests:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            absent = [name for name in _REQUIRED if name not in (reader.fieldnames or ())]
            if absent:
                raise ValueError(f"{path} lacks the column {absent[0]!r}; it needs {_REQUIRED}.")
            for row in reader:
                lines.setdefault(row["name"], _manifest_line(row, path.parent))
    return lines


def load_from_directory(
    name: str, directory: Path, *, with_missing: bool = False
) -> tuple[pd.DataFrame, np.ndarray]:
    """Read one set and hold it against what the manifest states.

    Parameters
    ----------
    name : str
        Name of the set in the manifest.
    directory : Path
        A directory with a manifest.
    with_missing : bool, default=False
        Read the copy in which missing values are empty, if there is one.

    Returns
    -------
    X : DataFrame
        Features.
    y : ndarray
        Labels.
    """
    line = read_manifest(directory).get(name)
    if line is None or not line.has_file:
        raise SourceUnavailableError(f"the data directory {str(directory)!r} has no {name}.csv")
    path = line.path
    if with_missing:
        path = line.path.parent / "with_missing" / line.path.name
        if not path.is_file():
            raise SourceUnavailableError(f"{name} has no copy with its missing values ({path})")
    X = _read_set(path)
    y = X.pop("target").to_numpy()
    _check_against_manifest(X, y, line, path)
    return X, y


def _read_set(path: Path) -> pd.DataFrame:
    """Read a set of the one form that such a directory has; users' tables go by `tables`."""
    try:
        frame = pd.read_csv(path, keep_default_na=False, na_values=["", "?"], low_memory=False)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise SourceUnavailableError(f"{path} cannot be read: {error}") from error
    if "target" not in frame.columns:
        raise SourceUnavailableError(f"{path} has no column 'target'")
    texts = frame.select_dtypes(exclude="number").columns.drop("target", errors="ignore")
    return frame.astype(dict.fromkeys(texts, "category"))


def _check_against_manifest(X: pd.DataFrame, y: np.ndarray, line: ManifestLine, path: Path) -> None:
    found = {
        "rows": len(X),
        "features": X.shape[1],
        "minority_rows": int(np.unique(y, return_counts=True)[1].min()),
    }
    for key, value in found.items():
        stated = getattr(line, key)
        if stated is not None and stated != value:
            raise ValueError(
                f"{path} has {key}={value}, but its manifest states {stated}; "
                "the file or the manifest was changed: restore one of them."
            )


def _manifest_line(row: dict[str, str], directory: Path) -> ManifestLine:
    return ManifestLine(
        name=row["name"],
        path=directory / f"{row['name']}.csv",
        rows=_whole_number(row["rows"]),
        features=_whole_number(row["features"]),
        minority_rows=_whole_number(row["minority_rows"]),
        source=row.get("source") or "",
        notes=row.get("notes") or "",
    )


def _whole_number(text: str | None) -> int | None:
    """Return the number, or None for what is no plain one (empty, "690 (inferred)")."""
    return int(text) if text and text.strip().isdigit() else None
