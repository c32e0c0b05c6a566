"""Files and folders that appear whole or not at all.

They are written under a temporary name beside their target, synced and renamed. A process that
is killed cannot remove its temporary file, so the next one that writes the same target does:
names of temporary files tell the machine and the process.
"""

from __future__ import annotations

import errno
import os
import platform
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# The disk is full, a file may not grow, a user's share is used up.
FULL_DISK = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
_STDOUT = 1
_HOST = re.sub(r"[^\w.]", "_", platform.node())[:20]
_LONGEST_STEM = 40  # a file name has at most 255 bytes, a character at most four
_open_paths: set[Path] = set()


@contextmanager
def written_atomically(path: str | os.PathLike) -> Iterator[Path]:
    """Give a temporary file to write to; it becomes `path` at the end.

    The temporary file is in the folder of `path`, so that the last step is a rename. If the
    body raises or is interrupted, the temporary file is removed and `path` stays as it was. Of
    a symbolic link, the file it leads to is replaced. Devices and pipes are written to, see
    `written_through`.

    Parameters
    ----------
    path : path
        The file to make or to replace.

    Yields
    ------
    Path
        Where to write; its name ends as that of `path` does.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from granulearn.utils.files import written_atomically
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "note.txt")
    ...     with written_atomically(path) as temporary:
    ...         _ = temporary.write_text("all of it")
    ...         path.exists()
    ...     path.read_text()
    False
    'all of it'
    """
    named = Path(path)
    if named.is_dir():
        raise IsADirectoryError(f"{named} is a folder; name a file in it.")
    found = named.stat() if named.exists() else None
    if found is not None and (not stat.S_ISREG(found.st_mode) or _is_stdout(found)):
        with written_through(named, named.suffix) as temporary:
            yield temporary
        return
    target = Path(os.path.realpath(named))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"the folder {named.parent} does not exist; make it first.")
    mode = 0o666 if found is None else found.st_mode & 0o777
    with _temporary(named, target, f".part{named.suffix}", mode) as temporary:
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())  # a rename may outlive a power cut
        if found is not None:
            temporary.chmod(mode)
        os.replace(temporary, target)


def write_text_atomically(path: str | os.PathLike, text: str) -> Path:
    """Write a text in UTF-8 as a whole or not at all; its folder is made if it is missing.

    Parameters
    ----------
    path : path
        The file to make or to replace.
    text : str
        The content.

    Returns
    -------
    Path
        The file.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with written_atomically(target) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return target


@contextmanager
def folder_written_atomically(path: str | os.PathLike) -> Iterator[Path]:
    """Give a temporary folder beside `path` to write to; it becomes `path` at the end.

    Parameters
    ----------
    path : path
        The folder to make; an empty one may be there.

    Yields
    ------
    Path
        The folder to write to; it is removed with its files if the body raises.
    """
    target = Path(path)
    with _temporary(target, target, ".parts") as folder:
        yield folder
        folder.rename(target)


@contextmanager
def written_through(target: str | os.PathLike | int, suffix: str = "") -> Iterator[Path]:
    """Give a temporary file to write to; it is copied to `target` at the end.

    If the body raises, `target` is never opened: its reader gets everything or nothing.

    Parameters
    ----------
    target : path or int
        A device, a pipe, or 1 for standard output.
    suffix : str, default=""
        How the name of the temporary file ends.

    Yields
    ------
    Path
        Where to write.
    """
    name = "standard output" if target == _STDOUT else str(target)
    with tempfile.TemporaryDirectory(prefix="granulearn-") as folder:
        temporary = Path(folder) / f"output{suffix}"
        temporary.touch()
        with _errors_name(name, temporary):
            yield temporary
            if _is_stdout(os.stat(target)):
                handle = os.dup(_STDOUT)  # which keeps its position in a file
            else:
                handle = os.open(str(target), os.O_WRONLY)
            with temporary.open("rb") as content, open(handle, "wb") as end:
                shutil.copyfileobj(content, end)


def remove_temporary_files() -> None:
    """Remove the temporary files and folders of this process, which is about to end."""
    for path in [*_open_paths]:
        with suppress(OSError):
            _remove(path)


@contextmanager
def _temporary(named: Path, target: Path, suffix: str, mode: int | None = None) -> Iterator[Path]:
    """Give a new file, or folder without a mode; it is removed if the body raises."""
    stem = target.name if mode is None else target.stem
    prefix = f".{stem[:_LONGEST_STEM]}.granulearn-{_HOST}-"
    _remove_leftovers(target.parent, prefix, suffix)
    path = target.parent / f"{prefix}{os.getpid()}-{os.urandom(4).hex()}{suffix}"
    _open_paths.add(path)  # before there is a file: a signal may come at any moment
    try:
        with _errors_name(named, path):
            path.mkdir() if mode is None else path.touch(mode, exist_ok=False)
            yield path
    except BaseException:
        _remove(path)
        raise
    finally:
        _open_paths.discard(path)


def _remove_leftovers(folder: Path, prefix: str, suffix: str) -> None:
    name = re.compile(rf"{re.escape(prefix)}(\d{{1,9}})-[0-9a-f]{{8}}{re.escape(suffix)}")
    with suppress(OSError):  # a folder that may be written to but not listed
        for path in folder.iterdir():
            found = name.fullmatch(path.name)
            if found and path not in _open_paths and not _is_running(int(found[1])):
                _remove(path)


def _is_running(process: int) -> bool:
    """Return whether another process is running; where that cannot be asked, it is."""
    try:
        os.kill(process, 0) if os.name == "posix" else None  # which only asks
    except ProcessLookupError:
        return False
    except PermissionError:  # it is that of another user
        return True
    return process != os.getpid()


def _remove(path: Path) -> None:
    if path.is_dir():
        # Tasks that still write into the folder do not find it under its new name.
        shutil.rmtree(path.rename(f"{path}.removed"), ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _is_stdout(found: os.stat_result) -> bool:
    with suppress(OSError):  # there is none
        return os.path.samestat(found, os.fstat(_STDOUT))
    return False


@contextmanager
def _errors_name(target: str | os.PathLike, temporary: Path) -> Iterator[None]:
    """Let errors about the temporary file name the file that was asked for."""
    try:
        yield
    except OSError as error:
        # Errors of a full disk often come without the name of a file.
        unnamed = not error.filename and error.errno in FULL_DISK
        if error.errno is None or not (unnamed or error.filename == str(temporary)):
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(target)) from error
