"""Tables of one's own in a study: looked for when the file is read, loaded as any other set."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from granulearn.bench.studies.spec import OwnTable, StudyError, hint_for
from granulearn.datasets import Dataset, DatasetDescription, list_datasets
from granulearn.tables import (
    ColumnOptions,
    TableError,
    inspect_table,
    open_table,
    read_training_table,
)

if TYPE_CHECKING:
    from granulearn.bench.studies.cells import TablePlace

# How the names of tables end, packed ones before their last ending. What a table is, its content
# says; this is for telling a path from the name of a data set.
_ENDINGS = {
    ".csv", ".tsv", ".txt", ".data", ".xlsx", ".xls", ".xlsb", ".ods", ".parquet", ".pq",
    ".feather", ".arrow", ".json", ".jsonl", ".ndjson",
}  # fmt: skip


def refuse_path_as_name(name: str, directory: Path) -> None:
    """Refuse a path where the name of a data set is wanted, and say how a table is written.

    Parameters
    ----------
    name : str
        What stands for a data set. One that does not look like a path is left to whoever
        loads the set, who knows which directories have sets.
    directory : Path
        The folder of the study file.

    Raises
    ------
    StudyError
        If a file of this name is there, or the name ends like that of a table.
    """
    is_there = os.path.isfile(directory / name)
    if not is_there and not _ENDINGS & {end.lower() for end in PurePath(name).suffixes}:
        return
    if name in {known for full in list_datasets().index for known in (full, PurePath(full).name)}:
        return
    path = json.dumps(name, ensure_ascii=False)  # text in TOML is written as in JSON
    found = _said_columns(directory / name) if is_there else ", and no such file is there"
    raise StudyError(
        f"{name!r} is a path, not the name of a data set{found}; write "
        f'{{ path = {path}, target = "COLUMN" }} with the column of labels.'
    )


def target_is_missing(table: dict[str, Any], directory: Path) -> str:
    """Return what to say of a table whose column of labels is not named.

    Parameters
    ----------
    table : dict
        As the file states it.
    directory : Path
        The folder of the study file.
    """
    path = table.get("path")
    found = _said_columns(directory / path) if isinstance(path, str) else ""
    return f'the column of labels is not named{found}; add target = "COLUMN"'


def look_at_table(table: OwnTable, directory: Path) -> str:
    """Check that a table is there with the columns that are named, and hash its content.

    Parameters
    ----------
    table : OwnTable
        As the study states it.
    directory : Path
        The folder of the study file.

    Returns
    -------
    str
        Hash of the file.

    Raises
    ------
    StudyError
        Begins with the key that is wrong.
    """
    path = directory / table.path
    if path.is_dir():
        raise StudyError(f"path: {path} is a folder; name a file.")
    if not path.is_file():
        raise StudyError(f"path: {path} does not exist; a relative path begins at the study file.")
    try:
        with open_table(path) as opened:
            names = list(opened.names)
    except (TableError, OSError) as error:
        raise StudyError(f"path: {error}") from error
    for key, wanted in [
        ("target", (table.target,)),
        ("ignore", table.ignore),
        ("categorical", table.categorical),
    ]:
        for name in wanted:
            if name not in names:
                hint = hint_for(name, names, f"it has {_shown(names)}.")
                raise StudyError(f"{key}: {table.path} has no column {name!r}; {hint}")
    return _hash(path)


def read_own_table(name: str, place: TablePlace) -> Dataset:
    """Read a table of one's own as a data set.

    Parameters
    ----------
    name : str
        Name of the set.
    place : TablePlace
        The table and where it is.

    Returns
    -------
    Dataset
        Columns read as `granulearn check` shows them; ``source`` names the file without
        its folder.

    Raises
    ------
    StudyError
        If the file changed, or nothing can be learned from it; then the key is named.
    """
    table = place.table
    path = Path(place.directory or ".") / table.path
    if not path.is_file():
        raise StudyError(f"{path} does not exist any more.")
    if _hash(path) != place.digest:
        raise StudyError(
            f"{path} was changed while the study ran; the same command begins anew with its cells."
        )
    options = ColumnOptions(ignore=table.ignore, categorical=table.categorical)
    try:
        with open_table(path) as opened:
            data = read_training_table(opened, table.target, options)
    except TableError as error:
        key = ".target" if _is_about_target(path, table.target, options) else ""
        raise StudyError(f"{place.where}{key}: {error}") from error
    counts = np.unique(data.y, return_counts=True)[1]
    description = DatasetDescription(
        name=name,
        rows=len(data.y),
        features=data.X.shape[1],
        classes=len(counts),
        minority_rows=int(counts.min()),
        source=f"file:{path.name}",
        origin="a table of one's own",
        licence="not stated",
        quirks=tuple(map(str, data.report.warnings)),
    )
    return Dataset(data.X, data.y, description)


def _is_about_target(path: Path, target: str, options: ColumnOptions) -> bool:
    """Return whether it is the labels that nothing can be learned from."""
    with open_table(path) as opened:
        labels = inspect_table(opened, target, options).labels
    return labels is not None and bool(labels.problems)


def _said_columns(path: Path) -> str:
    """Return which columns a table has; nothing if that cannot be read."""
    try:
        with open_table(path) as opened:
            return f"; {path.name} has the columns {_shown(list(opened.names))}"
    except (TableError, OSError, ImportError):
        return ""


def _shown(names: list[str]) -> str:
    return ", ".join(map(repr, names[:12])) + (", ..." if len(names) > 12 else "")


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:20]
