"""The audit of a table in parts: its labels rated on a Dask cluster, its worst rows listed.

Ratings of all rows are written where they are made. Only sums and the most doubtful rows
come back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from dask import delayed

from granulearn._words import counted
from granulearn.audit.noise_rate import NoiseRate
from granulearn.distributed.label_audit import (
    AuditTotals,
    audit_blocks,
    joined_totals,
    written_part,
)
from granulearn.tables.column_options import ColumnOptions
from granulearn.tables.inspection import TableReport
from granulearn.tables.io.table_file import TableFile, TablePart
from granulearn.tables.parse.cells import as_text, is_nested
from granulearn.tables.row_hashes import row_hashes
from granulearn.training.cluster_training import survey_on_cluster
from granulearn.training.part_rows import Request, RowReading, read_part
from granulearn.utils.files import folder_written_atomically


@dataclass(frozen=True, eq=False)
class PartsAudit:
    """What an audit says about the labels of a table in parts."""

    noise: NoiseRate
    n_labels: int
    counts: dict[str, int]
    """How many labels have each verdict."""
    worst: pd.DataFrame
    """The most doubtful labels, the worst first: ``row`` (number of the data row, from 1),
    ``hash`` of its cells, what ratings have, ``decision`` and ``new_label`` to be filled in,
    and the columns of the table as text."""
    report: TableReport


def audit_on_cluster(
    file: TableFile,
    target: str,
    options: ColumnOptions,
    ratings: Path,
    *,
    n_worst: int,
    seed: int,
    tell: Callable[[str], None],
) -> PartsAudit:
    """Survey a table, rate every label, and write the ratings as Parquet files.

    Parameters
    ----------
    file : TableFile
        The table.
    target : str
        The column of labels; rows without one are not rated.
    options : ColumnOptions
        What the user says about the columns.
    ratings : Path
        The folder to make, on a disk that every worker sees; it is there when all files are.
    n_worst : int
        How many of the most doubtful labels to return.
    seed : int
        Seed of the audit.
    tell : callable
        Told what is being done.

    Raises
    ------
    TableError
        Says all that is wrong with the table at once.
    """
    surveyed = survey_on_cluster(file, target, options, Request(target, 0.0, seed), tell)
    n_labels = int(surveyed.n_training.sum())
    tell(f"learning from {counted(n_labels, 'label')}")
    rated = audit_blocks(surveyed.blocks(), None, seed)
    tell(f"rating {counted(n_labels, 'label')}")
    write, reading = delayed(rated_part), delayed(surveyed.reading.rows)
    with folder_written_atomically(ratings) as draft:
        tasks = [
            write(frame, part, number, reading, str(draft), n_worst)
            for number, (frame, part) in enumerate(zip(rated.parts, surveyed.parts, strict=True))
        ]
        totals = joined_totals(tasks, n_worst)
    return PartsAudit(rated.noise, n_labels, totals.counts, totals.worst, surveyed.report)


def rated_part(
    frame: pd.DataFrame,
    part: TablePart,
    number: int,
    reading: RowReading,
    folder: str,
    n_worst: int,
) -> AuditTotals:
    """Write the ratings of a part; return its sums, and its most doubtful rows with their cells.

    Parameters
    ----------
    frame : DataFrame
        Ratings of the rows with a label.
    part : TablePart
        The rows.
    number : int
        Number of the part.
    reading : RowReading
        How they are read.
    folder : str
        Where ratings are written.
    n_worst : int
        How many rows to return at most.
    """
    places = read_part(part, reading).training
    own = frame.set_axis(pd.Index(part.first_row + places + 1, name="row"))
    totals = written_part(own, folder, number, n_worst)
    at = totals.worst.index.to_numpy() - part.first_row - 1
    cells = pa.Table.from_batches(list(part.batches())) if len(at) else None
    if cells is None:
        return totals
    cells = cells.take(pa.array(at))
    worst = totals.worst
    worst.insert(0, "hash", row_hashes(cells, reading.request.target))
    worst["decision"], worst["new_label"] = "", ""
    shown = {
        f"{name} (column)" if name in worst or name == "row" else name: np.asarray(
            as_text(cells[name].combine_chunks()).to_pandas()
        )
        for name in cells.column_names
        if not is_nested(cells[name].type)
    }
    return AuditTotals(
        totals.counts, pd.concat([worst, pd.DataFrame(shown, worst.index, dtype=object)], axis=1)
    )
