"""Read the cells of a CSV file, or say which line is wrong.

pandas would shift ragged rows, rename repeated columns and guess an encoding;
a table of somebody's own data deserves an error with a line number instead.
"""

from __future__ import annotations

import csv
from array import array
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from granulearn.tables import TableError

MISSING_MARKS = ("", "?", "NA", "N/A", "n/a", "NaN", "nan", "-nan", "NULL", "null", "None", "<NA>")
SEPARATORS = (",", ";", "\t", "|")


@dataclass(frozen=True)
class CsvCells:
    """The cells of a CSV file, with numbers where a whole column is numeric."""

    frame: pd.DataFrame
    lines: np.ndarray
    """Line of the file on which each row ends."""


def read_csv_cells(path: Path, *, encoding: str, separator: str | None) -> CsvCells:
    """Read a CSV file with a header, after checking its structure.

    Parameters
    ----------
    path : Path
        The file.
    encoding : str
        Its encoding; a byte-order mark is skipped.
    separator : str or None
        What stands between cells; None takes the one of ``, ; tab |`` that the
        header has most of.

    Returns
    -------
    CsvCells
        Rows in file order; empty lines are skipped.
    """
    _check_encoding(path, encoding)
    separator = separator or _separator_of(path, encoding)
    lines = _check_rows(path, encoding, separator)
    frame = pd.read_csv(
        path,
        sep=separator,
        encoding=encoding,
        keep_default_na=False,
        na_values=list(MISSING_MARKS),
        skipinitialspace=True,
        low_memory=False,
    )
    if len(frame) != len(lines):
        raise TableError(
            f"{path} has {len(lines)} rows by one reading and {len(frame)} by another; "
            "look for a stray quotation mark."
        )
    frame.columns = frame.columns.str.strip()
    return CsvCells(frame, lines)


def _check_encoding(path: Path, encoding: str) -> None:
    content = path.read_bytes()
    if not content.strip():
        raise TableError(f"{path} is empty; it needs a header line and data rows.")
    try:
        content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        name = encoding.upper().removesuffix("-SIG")
        raise TableError(
            f"{path}, line {line}: byte {content[error.start]:#04x} is not {name} text; "
            'pass the right encoding, for example encoding="latin-1".'
        ) from error
    except LookupError as error:
        raise TableError(f"encoding={encoding!r} is unknown to Python; try 'utf-8'.") from error


def _separator_of(path: Path, encoding: str) -> str:
    with path.open(encoding=encoding, newline="") as file:
        header = next(line for line in file if line.strip())
    return max(SEPARATORS, key=header.count)


def _check_rows(path: Path, encoding: str, separator: str) -> np.ndarray:
    """Return the line of each row; raise if the header or a row has a bad form."""
    lines = array("q")
    with path.open(encoding=encoding, newline="") as file:
        reader = csv.reader(file, delimiter=separator, skipinitialspace=True)
        try:
            header = next(row for row in reader if row)
            check_header(path, [name.strip() for name in header])
            for row in reader:
                if not row:
                    continue
                if len(row) != len(header):
                    raise TableError(
                        f"{path}, line {reader.line_num}: {len(row)} cells, but the header "
                        f"has {len(header)}; add or remove cells, or quote a cell that "
                        f"holds {separator!r}."
                    )
                lines.append(reader.line_num)
        except csv.Error as error:
            raise TableError(f"{path}, line {reader.line_num}: {error}.") from error
    if not lines:
        raise TableError(f"{path} has a header but no data rows.")
    return np.asarray(lines)


def check_header(path: Path, names: list[str]) -> None:
    """Raise if a column has no name, or two columns have the same.

    Parameters
    ----------
    path : Path
        The file, for the message.
    names : list of str
        Its columns.
    """
    for position, name in enumerate(names, start=1):
        if not name:
            raise TableError(
                f"{path}: column {position} has no name; name it, or write the file "
                "without its row numbers (pandas: index=False)."
            )
    check_unique(path, names)


def check_unique(path: Path, names: list[str]) -> None:
    """Raise if two columns have the same name.

    Parameters
    ----------
    path : Path
        The file, for the message.
    names : list of str
        Its columns.
    """
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        places = [str(i) for i, name in enumerate(names, start=1) if name == repeated[0]]
        raise TableError(
            f"{path}: columns {' and '.join(places)} are both named {repeated[0]!r}; "
            "rename all but one."
        )
