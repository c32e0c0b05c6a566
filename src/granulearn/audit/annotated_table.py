"""The audit of a raw table with several annotators: their labels read, the consensus a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from granulearn.audit.annotations import read_annotations, refuse_second_labels
from granulearn.audit.label_audit import LabelAudit
from granulearn.audit.table_audit import TableAudit, encoded_inputs, groups_and_times
from granulearn.tables import ColumnOptions, ReadOptions, TableError, TableFile, open_table
from granulearn.tables.io.frames import text_of
from granulearn.tables.io.table_file import known_columns
from granulearn.tables.labels import decide_labels, profile_labels, read_labels
from granulearn.tables.parse.cells import as_text
from granulearn.tables.training_table import (
    TrainingTable,
    as_labels,
    read_training_table,
    with_target,
)
from granulearn.utils.text import listed

CONSENSUS = "consensus"


def annotations_of_columns(
    file: TableFile, patterns: Sequence[str], *, exact: bool = False
) -> tuple[pd.DataFrame, list[str]]:
    """Return the labels in some columns, one row per label, and the names of these columns.

    Parameters
    ----------
    file : TableFile
        The table.
    patterns : sequence of str
        Names of columns; ``*`` stands for any letters, ``?`` for one.
    exact : bool, default=False
        Whether labels that differ only in case, blanks or Unicode form are kept apart.
    """
    found = {p: [name for name in file.names if fnmatchcase(name, p)] for p in patterns}
    missing = [repr(pattern) for pattern, names in found.items() if not names]
    if missing:
        raise TableError(
            f"{file.path}: no column fits {', '.join(missing)}; the table has {listed(file.names)}"
        )
    names = [name for name in file.names if any(name in own for own in found.values())]
    cells = pa.Table.from_batches(list(file.batches(names)))
    texts = [as_text(cells[name].combine_chunks(), trimmed=False) for name in names]
    rows = np.tile(np.arange(file.n_rows), len(names))
    who = np.repeat(np.array(names, dtype=object), file.n_rows)
    return _long(rows, who, pa.concat_arrays(texts), ", ".join(patterns), exact), names


def annotations_of_file(
    file: TableFile, path: Path, columns: Sequence[str], *, exact: bool = False,
    options: ReadOptions | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Return the labels of another file, which has one row per label.

    Parameters
    ----------
    file : TableFile
        The table. If it has the column of rows, its cells name the rows; else rows are numbered
        from 1.
    path : Path
        The file of labels.
    columns : sequence of str
        Its columns of rows, annotators and labels.
    exact : bool, default=False
        As for `annotations_of_columns`.
    options : ReadOptions, default=None
        How to read the file of labels.
    """
    with open_table(path, options) as long:
        cells = pa.Table.from_batches(list(long.batches(known_columns(path, long.names, columns))))
    row, who, labels = (as_text(cells[name].combine_chunks()) for name in columns)
    if columns[0] in file.names:
        own = pa.Table.from_batches(list(file.batches([columns[0]])))[columns[0]]
        index = pd.Index(as_text(own.combine_chunks()).to_pylist())
    else:
        index = pd.RangeIndex(1, file.n_rows + 1).map(str)
    if not index.is_unique:
        raise TableError(f"{file.path}: two rows have one {columns[0]!r}; it must name one row.")
    rows = index.get_indexer(pd.Index(row.to_pylist()))
    if (rows < 0).any():
        unknown = pd.unique(np.array(row.to_pylist(), dtype=object)[rows < 0])
        raise TableError(
            f"{path}: {(rows < 0).sum()} labels are of rows that {file.path} does not have: "
            f"{listed([repr(name) for name in unknown], most=5)}"
        )
    found = _long(rows, np.array(who.to_pylist(), dtype=object), labels, columns[2], exact)
    refuse_second_labels(index[found["row"]], found["annotator"].to_numpy(), f"{path}: ")
    return found


def _long(
    rows: np.ndarray, who: np.ndarray, texts: pa.Array, name: str, exact: bool
) -> pd.DataFrame:
    """Return the labels that are not missing; refuse what cannot be classes."""
    labels = decide_labels(profile_labels(texts, name), name, exact=exact)
    if labels.problems:
        raise TableError(" ".join(labels.problems))
    names = read_labels(texts, labels)
    known = names.is_valid().to_numpy(zero_copy_only=False)
    columns = {"row": rows[known], "annotator": who[known]}
    return pd.DataFrame(columns | {"label": as_labels(names.drop_null(), labels)})


def voted_table(
    file: TableFile, annotations: Any, options: ColumnOptions, annotators: Sequence[str] = ()
) -> TrainingTable:
    """Read a table with the most frequent annotation of each row as its label, in a last column.

    Columns are typed, inputs encoded and decisions read with these labels; `audit_annotations`
    puts the consensus in their place.

    Parameters
    ----------
    file : TableFile
        The table.
    annotations : DataFrame
        ``row`` (its number from 0), ``annotator`` and ``label``; or one column per annotator.
    options : ColumnOptions
        Options for the columns.
    annotators : sequence of str, default=()
        Columns of annotators; they are no inputs.
    """
    given, _ = read_annotations(annotations, n_rows=file.n_rows)
    # Of as many votes, or none, the most frequent class.
    share = given.votes.sum(axis=0) / (given.votes.sum() + 1)
    labels = given.classes[(given.votes + share).argmax(axis=1)]
    cells = pa.Table.from_batches(list(file.batches()))
    table, name = with_target(cells, pd.Series(labels, name=CONSENSUS), _texts(labels), file.path)
    options = replace(options, ignore=tuple(dict.fromkeys((*options.ignore, *annotators))))
    data = read_training_table(table, name, options, keep_cells=True)
    return replace(
        data, y=labels, lines=file.lines(), classes=given.classes, annotators=tuple(annotators)
    )


def audit_annotations(
    voted: TrainingTable, annotations: Any, *, verified: Any = None, groups: Any = None,
    times: Any = None, **settings: Any,
) -> TableAudit:  # fmt: skip
    """Audit the consensus of annotators, which is the labels of the result.

    Parameters
    ----------
    voted : TrainingTable
        As `voted_table` reads it.
    annotations : DataFrame
        As for `voted_table`.
    verified, groups, times : optional
        As for `audit_table`.
    **settings : object
        Of `LabelAudit`.
    """
    X, names, origins = encoded_inputs(voted)
    units = groups_and_times(voted, groups, times)
    audit = LabelAudit(categorical_features=None, **settings).fit(
        X, annotations=annotations, verified=verified, names=names, rows=voted.rows + 1, **units
    )
    assert voted.cells is not None
    labels, last = audit.given_label_, voted.cells.num_columns - 1
    cells = voted.cells.set_column(last, voted.target, _texts(labels))
    return TableAudit(replace(voted, y=labels, cells=cells), X, origins, audit)


def _texts(labels: np.ndarray) -> pa.Array:
    return pa.array([text_of(label) for label in labels.tolist()], pa.string())
