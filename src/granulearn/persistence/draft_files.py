"""Files under way: how they are named, who holds them, and the end of those that nobody holds.

A process that is killed cannot tidy up. The next one that writes the same file does,
and must not take away what a living process is writing: a draft is held by a lock
that ends with its process, however that ends.
"""

from __future__ import annotations

import os
import random
import re
import string
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no such locks: there nothing is taken for left behind
    fcntl = None  # type: ignore[assignment]

# A name has at most 255 bytes; a letter may have four.
_LETTERS_OF_STEM = 50
_LETTERS, _N_LETTERS = string.ascii_lowercase + string.digits, 8
_open_drafts: set[Path] = set()


@contextmanager
def held_draft(target: Path, suffix: str) -> Iterator[Path]:
    """Give an empty file beside a target; what killed processes left there is removed first.

    The file is removed if the body raises; else it is for the body to rename it.

    Parameters
    ----------
    target : Path
        The file that is to be made or replaced.
    suffix : str
        How the name of the draft is to end.

    Yields
    ------
    Path
        The draft. No other process takes it for left behind until the body has ended.
    """
    beginning, end = f".{target.stem[:_LETTERS_OF_STEM]}.granulearn-", f".part{suffix}"
    _remove_leftovers(target.parent, beginning, end)
    handle: int | None = None
    # The name is known before there is a file: a signal may come at any moment.
    draft = _new_name(target.parent, beginning, end)
    try:
        _open_drafts.add(draft)
        handle = _held(draft)
        if fcntl is None:  # a file that is open could not be renamed
            os.close(handle)
            handle = None
        yield draft
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    finally:
        _open_drafts.discard(draft)
        if handle is not None:
            os.close(handle)


def remove_open_drafts() -> None:
    """Remove the drafts of this process, which is about to end without a further word."""
    for draft in [*_open_drafts]:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _new_name(folder: Path, beginning: str, end: str) -> Path:
    letters = "".join(random.SystemRandom().choices(_LETTERS, k=_N_LETTERS))
    return folder / f"{beginning}{letters}{end}"


def _held(draft: Path) -> int:
    """Return the descriptor that holds a new file."""
    while True:
        handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        if fcntl is None:
            return handle
        _hold(handle, fcntl.LOCK_EX)
        # Another process may have taken it for left behind before it was held.
        if _is_at(handle, draft):
            return handle
        os.close(handle)


def _remove_leftovers(folder: Path, beginning: str, end: str) -> None:
    if fcntl is None:
        return
    pattern = re.compile(re.escape(beginning) + "[a-z0-9_]{8}" + re.escape(end))
    # A folder that may be written to but not listed is none of our business.
    with suppress(OSError):
        for name in filter(pattern.fullmatch, os.listdir(folder)):
            with suppress(OSError):
                _remove_if_left_behind(folder / name)


def _remove_if_left_behind(path: Path) -> None:
    handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    try:
        if _hold(handle, fcntl.LOCK_EX | fcntl.LOCK_NB) and _is_at(handle, path):
            path.unlink()
    finally:
        os.close(handle)


def _hold(handle: int, how: int) -> bool:
    """Return whether the file is locked; some file systems have no locks."""
    try:
        fcntl.flock(handle, how)
    except OSError:
        return False
    return True


def _is_at(handle: int, path: str | os.PathLike) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False
