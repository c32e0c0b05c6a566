"""Files that are either there in full or not there at all."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from granulearn._full_disk import is_disk_full
from granulearn.models.draft_files import held_draft, held_folder

_STANDARD_OUTPUT = 1


@contextmanager
def written_atomically(path: str | os.PathLike) -> Iterator[Path]:
    """Give a place to write to; what is written there becomes `path` at the end.

    The place is a new file in the folder of `path`, so that the last step is a
    rename and never a copy. If the body raises, or is interrupted, that file is
    removed, and a file that stood at `path` before stays as it was. What a killed
    process has left of the same file is removed first. Where `path` is a
    symbolic link, the file that it leads to is replaced. A device or a pipe is never
    replaced but written to, see `written_through`.

    Parameters
    ----------
    path : path
        The file to make or to replace.

    Yields
    ------
    Path
        Where to write; the name ends as that of `path` does.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from granulearn.models import written_atomically
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "note.txt")
    ...     with written_atomically(path) as draft:
    ...         _ = draft.write_text("all of it")
    ...         path.exists()
    ...     path.read_text()
    False
    'all of it'
    """
    named = Path(path)
    if named.is_dir():
        raise IsADirectoryError(f"{named} is a folder; name a file in it.")
    found = _found(named)
    if found is not None and _is_written_to(found):
        with written_through(named, named.suffix) as draft:
            yield draft
        return
    target = Path(os.path.realpath(named))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"the folder {named.parent} does not exist; make it first.")
    with ExitStack() as until_renamed:
        with _errors_name(named):
            draft = until_renamed.enter_context(held_draft(target, named.suffix))
        with _errors_name(named, draft):
            yield draft
            # The content must be on the disk first: a rename may outlive a power cut.
            with draft.open("rb+") as written:
                os.fsync(written.fileno())
            draft.chmod(_usual_mode(found))
            os.replace(draft, target)
    _sync_folder(target.parent)


def write_text_atomically(path: str | os.PathLike, text: str) -> Path:
    """Write a text as a whole or not at all.

    Parameters
    ----------
    path : path
        The file to make or to replace; its folder is made if it is not there.
    text : str
        The content, written as UTF-8.

    Returns
    -------
    Path
        The file.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with written_atomically(target) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")
    return target


@contextmanager
def folder_written_atomically(path: str | os.PathLike) -> Iterator[Path]:
    """Give a new folder to write to, beside `path`; it becomes `path` at the end.

    If the body raises, the folder and what is in it are removed. What a killed process
    has left of the same folder is removed first.

    Parameters
    ----------
    path : path
        The folder to make; one without files may be there.

    Yields
    ------
    Path
        The folder to write to.
    """
    target = Path(path)
    with ExitStack() as until_renamed:
        with _errors_name(target):
            draft = until_renamed.enter_context(held_folder(target))
        yield draft
        draft.rename(target)


@contextmanager
def written_through(target: str | os.PathLike | int, suffix: str = "") -> Iterator[Path]:
    """Give a place to write to; what is written there is copied to `target` at the end.

    The place is a temporary file elsewhere. If the body raises, `target` is never
    opened, so its reader gets everything or nothing.

    Parameters
    ----------
    target : path or int
        A device, a pipe, or the number of a descriptor that is open for writing.
    suffix : str, default=""
        How the name of the place is to end.

    Yields
    ------
    Path
        Where to write.
    """
    name = "standard output" if target == _STANDARD_OUTPUT else str(target)
    with tempfile.TemporaryDirectory(prefix="granulearn-") as folder:
        draft = Path(folder) / f"draft{suffix}"
        draft.touch()
        with _errors_name(name, draft):
            yield draft
            with draft.open("rb") as content, open(_descriptor(target), "wb") as end:
                shutil.copyfileobj(content, end)


def _sync_folder(folder: Path) -> None:
    """Let the new name survive a power cut, too, where a folder can be synced."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _found(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _is_written_to(found: os.stat_result) -> bool:
    """Return whether a file must not be replaced: a device, a pipe, or where our output goes."""
    return not stat.S_ISREG(found.st_mode) or _is_standard_output(found)


def _is_standard_output(found: os.stat_result) -> bool:
    try:
        return os.path.samestat(found, os.fstat(_STANDARD_OUTPUT))
    except OSError:  # there is none
        return False


def _descriptor(target: str | os.PathLike | int) -> int:
    """Return a new descriptor of the target; nothing is created or cut short."""
    if isinstance(target, int):
        return os.dup(target)
    if _is_standard_output(os.stat(target)):
        return os.dup(_STANDARD_OUTPUT)  # keeps its position in a file
    return os.open(target, os.O_WRONLY)


@contextmanager
def _errors_name(target: str | os.PathLike, draft: Path | None = None) -> Iterator[None]:
    """Let errors about the draft name the file that was asked for."""
    try:
        yield
    except OSError as error:
        ours = draft is None or error.filename == str(draft)
        # Errors of a full disk often come without the name of a file.
        if error.errno is None or not (ours or (not error.filename and is_disk_full(error))):
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(target)) from error


def _usual_mode(found: os.stat_result | None) -> int:
    """Return the mode of the file that is replaced, or what a new file would get."""
    if found is not None:
        return found.st_mode & 0o777
    mask = os.umask(0)  # the only way to read the mask is to set it
    os.umask(mask)
    return 0o666 & ~mask
