"""Files that are either there in full or not there at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_atomically(path: str | os.PathLike) -> Iterator[Path]:
    """Give a place to write to; what is written there becomes `path` at the end.

    The place is a new file in the folder of `path`, so that the last step is a
    rename and never a copy. If the body raises, or is interrupted, that file is
    removed and whatever stood at `path` before stays as it was.

    Parameters
    ----------
    path : path
        The file to make or to replace.

    Yields
    ------
    Path
        Where to write; the name ends as that of `path` does.
    """
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder; name a file in it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"the folder {target.parent} does not exist; make it first.")
    handle, name = tempfile.mkstemp(
        dir=target.parent, prefix=f".{target.stem[:50]}-", suffix=f".part{target.suffix}"
    )
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
        draft.chmod(_usual_mode(target))
        os.replace(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _usual_mode(target: Path) -> int:
    """Return the mode of the file that is replaced, or what a new file would get."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)  # the only way to read the mask is to set it
    os.umask(mask)
    return 0o666 & ~mask
