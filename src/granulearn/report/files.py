"""Write a file as a whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_atomically(path: Path, text: str) -> None:
    """Replace a file's content; whoever reads it sees the old or the new one.

    Parameters
    ----------
    path : Path
        The file; its directory is made if it is not there.
    text : str
        The new content, written as UTF-8.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(draft, 0o666 & ~_umask())
        os.replace(draft, path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def _umask() -> int:
    # mkstemp makes files for the owner only; a report is as readable as any other file.
    mask = os.umask(0)
    os.umask(mask)
    return mask
