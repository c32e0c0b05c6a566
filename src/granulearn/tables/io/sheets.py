"""Read a sheet of a workbook; as a program, try to do so in bounded memory.

The compiled reader ends its process when there is no more memory, and a small workbook may take
any amount: one text in many cells, a cell that is repeated, cells that are far apart.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import python_calamine as calamine

_OWN_BYTES = 2**27  # of the interpreter


class Sheet(NamedTuple):
    """The cells of a sheet."""

    name: str
    cells: list[list[Any]]
    start: tuple[int, int]
    """Row and column of the first cell."""


def is_filled(cells: Sequence[Any]) -> bool:
    """Return whether a cell is not blank."""
    return any(cell != "" and not (isinstance(cell, str) and cell.isspace()) for cell in cells)


def read_sheet(path: str, stated: str | None) -> tuple[list[str], Sheet | None]:
    """Return the names of all sheets; the stated sheet, or the first visible one with a cell.

    Parameters
    ----------
    path : str
        The workbook.
    stated : str or None
        Name of a sheet, or its number from 1.
    """
    with calamine.CalamineWorkbook.from_path(path) as book:
        names = book.sheet_names
        wanted = [
            sheet.name
            for sheet in book.sheets_metadata
            if sheet.visible == calamine.SheetVisibleEnum.Visible
            and sheet.typ == calamine.SheetTypeEnum.WorkSheet
        ] or names
        if stated is not None:
            is_number = stated.isdecimal() and len(stated) < 10 and 1 <= int(stated) <= len(names)
            wanted = [names[int(stated) - 1]] if is_number and stated not in names else [stated]
        for name in wanted if stated is None else set(wanted).intersection(names):
            read = book.get_sheet_by_name(name)
            sheet = Sheet(name, read.to_python(), read.start or (0, 0))
            if stated is not None or any(map(is_filled, sheet.cells)):
                return names, sheet
    return names, None


def _try(path: str, n_bytes: str, stated: str | None = None) -> None:
    """Read a sheet; end with a signal or an exit code if it takes more memory than stated."""
    with suppress(ImportError, OSError, ValueError):  # systems without such limits
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (int(n_bytes) + _OWN_BYTES,) * 2)
    try:
        read_sheet(path, stated)
    except MemoryError:
        raise
    except Exception:
        sys.exit(0)  # the caller meets the same error, and says so


if __name__ == "__main__":
    _try(*sys.argv[1:])
