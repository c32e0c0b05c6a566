"""Tables of one's own in a study: looked for when the file is read, loaded as any other set."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from granulearn.datasets import Dataset, DatasetDescription
from granulearn.studies.spec import OwnTable, StudyError, hint_for
from granulearn.tables import TableError, Wishes, open_table, read_training_table

if TYPE_CHECKING:
    from granulearn.studies.cells import TablePlace


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
                shown = ", ".join(map(repr, names[:12])) + (", ..." if len(names) > 12 else "")
                hint = hint_for(name, names, f"it has {shown}.")
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
    """
    table = place.table
    path = Path(place.directory or ".") / table.path
    if not path.is_file():
        raise StudyError(f"{path} does not exist any more.")
    if _hash(path) != place.digest:
        raise StudyError(
            f"{path} was changed while the study ran; the same command begins anew with its cells."
        )
    wishes = Wishes(ignore=table.ignore, categorical=table.categorical)
    with open_table(path) as opened:
        data = read_training_table(opened, table.target, wishes)
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


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:20]
