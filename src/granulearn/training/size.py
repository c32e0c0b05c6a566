"""Which tables are too large to be read as a whole."""

from __future__ import annotations

import math
import os
from pathlib import Path

# A file above this share of the machine's memory is not read as a whole.
LARGE_SHARE = 0.25
# The memory is not asked for a smaller file: that takes longer than reading it.
SMALL_BYTES = 32 * 2**20


def is_large(path: Path) -> bool:
    """Return whether a table is to be read in parts: a directory, or a very large file.

    Parameters
    ----------
    path : Path
        The table.
    """
    if path.is_dir():
        return True
    size = path.stat().st_size if path.is_file() else 0
    return size > SMALL_BYTES and size > LARGE_SHARE * _memory()


def _memory() -> float:
    """Return the bytes that this process may use; infinity if the system does not tell."""
    try:
        # Knows the limits of containers and batch systems, too, on every platform.
        from distributed.system import MEMORY_LIMIT
    except ImportError:
        if not hasattr(os, "sysconf"):  # Windows
            return math.inf
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return float(MEMORY_LIMIT)
