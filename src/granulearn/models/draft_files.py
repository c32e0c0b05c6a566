"""Files and folders under way: their names, who holds them, and the end of those that nobody holds.

A process that is killed cannot tidy up. The next one that writes the same file does,
and must not take away what a living process is writing: a draft is held by a lock
that ends with its process, however that ends.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import string
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no such locks: there nothing is taken for left behind
    fcntl = None  # type: ignore[assignment]

# A name has at most 255 bytes; a letter may have four.
_LETTERS_OF_STEM = 50
_GONE = ".gone"
_LETTERS, _N_LETTERS = string.ascii_lowercase + string.digits, 8
_LOOKS, _BETWEEN_LOOKS = 20, 0.01
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
    _remove_leftovers(target.parent, beginning, end, _remove_file_left_behind)
    with _held(_new_name(target.parent, beginning, end), _held_file) as draft:
        yield draft


@contextmanager
def held_folder(target: Path) -> Iterator[Path]:
    """Give an empty folder beside a target, as `held_draft` gives a file.

    Parameters
    ----------
    target : Path
        The folder that is to be made.

    Yields
    ------
    Path
        The draft.
    """
    beginning, end = f".{target.name[:_LETTERS_OF_STEM]}.granulearn-", ".parts"
    for ending in (end, end + _GONE):
        _remove_leftovers(target.parent, beginning, ending, _remove_folder_left_behind)
    with _held(_new_name(target.parent, beginning, end), _held_folder) as draft:
        yield draft


@contextmanager
def _held(draft: Path, make: Callable[[Path], int | None]) -> Iterator[Path]:
    """Give a draft that is made now, and removed if the body raises."""
    handle: int | None = None
    try:
        # The name is known before there is a file: a signal may come at any moment.
        _open_drafts.add(draft)
        handle = make(draft)
        yield draft
    except BaseException:
        _remove(draft)
        raise
    finally:
        _open_drafts.discard(draft)
        if handle is not None:
            os.close(handle)


def remove_open_drafts() -> None:
    """Remove the drafts of this process, which is about to end without a further word."""
    for draft in [*_open_drafts]:
        with suppress(OSError):
            _remove(draft)


def _remove(draft: Path) -> None:
    if draft.is_dir():
        _remove_folder(draft)
    else:
        draft.unlink(missing_ok=True)


def _remove_folder(folder: Path) -> None:
    """Remove a folder under another name: who still adds files finds no place.

    A folder to which a worker that has not heard of the end adds a file cannot be removed. A file
    that was being added at that moment is in the renamed folder a little later, so that a second
    look is needed.
    """
    gone = folder.with_name(folder.name.removesuffix(_GONE) + _GONE)
    with suppress(OSError):
        folder.rename(gone)
    for left in (folder, gone):
        for _ in range(_LOOKS):
            shutil.rmtree(left, ignore_errors=True)
            if not left.exists():
                break
            time.sleep(_BETWEEN_LOOKS)


def _new_name(folder: Path, beginning: str, end: str) -> Path:
    letters = "".join(random.SystemRandom().choices(_LETTERS, k=_N_LETTERS))
    return folder / f"{beginning}{letters}{end}"


def _held_file(draft: Path) -> int | None:
    """Make an empty file; return the descriptor that holds it."""
    while True:
        handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        if fcntl is None:  # a file that is open could not be renamed
            os.close(handle)
            return None
        _hold(handle, fcntl.LOCK_EX)
        # Another process may have taken it for left behind before it was held.
        if _is_at(handle, draft):
            return handle
        os.close(handle)


def _held_folder(draft: Path) -> int | None:
    """Make an empty folder; return the descriptor that holds it."""
    while True:
        draft.mkdir()
        if fcntl is None:
            return None
        # Another process may take it for left behind until it is held.
        with suppress(FileNotFoundError):
            handle = os.open(draft, os.O_RDONLY | os.O_DIRECTORY)
            _hold(handle, fcntl.LOCK_EX)
            if _is_at(handle, draft):
                return handle
            os.close(handle)


def _remove_leftovers(
    folder: Path, beginning: str, end: str, remove: Callable[[Path], None]
) -> None:
    if fcntl is None:
        return
    pattern = re.compile(re.escape(beginning) + "[a-z0-9_]{8}" + re.escape(end))
    # A folder that may be written to but not listed is none of our business.
    with suppress(OSError):
        for name in filter(pattern.fullmatch, os.listdir(folder)):
            with suppress(OSError):
                remove(folder / name)


def _remove_file_left_behind(path: Path) -> None:
    _remove_if_left_behind(path, os.open(path, os.O_RDWR | os.O_NOFOLLOW))


def _remove_folder_left_behind(path: Path) -> None:
    _remove_if_left_behind(path, os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY))


def _remove_if_left_behind(path: Path, handle: int) -> None:
    try:
        if _hold(handle, fcntl.LOCK_EX | fcntl.LOCK_NB) and _is_at(handle, path):
            _remove(path)
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
