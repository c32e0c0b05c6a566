"""Standard output, pipes and devices where a verb writes a file."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from granulearn.cli.exit_codes import UsageError
from granulearn.cli.options import check_can_be_written
from granulearn.cli.output import bold, console, note
from granulearn.persistence.atomic_files import written_atomically, written_through
from granulearn.tables.readers.streams import is_pipe_or_device

TEXT_ENDINGS = (".csv", ".tsv", ".txt", ".data")
PARQUET_ENDINGS = (".parquet", ".pq")


def is_standard_output(path: Path) -> bool:
    """Return whether an output is ``-``, or what that is called in ``/dev``.

    Parameters
    ----------
    path : Path
        As given.
    """
    return str(path) in ("-", "/dev/stdout")


def check_output(path: Path, *suffixes: str, json: bool) -> None:
    """Refuse, before any work is done, an output that could not be written after it.

    Parameters
    ----------
    path : Path
        A file, a pipe, a device, or ``-`` for standard output.
    *suffixes : str
        The endings that a file may have.
    json : bool
        Whether a JSON object goes to standard output.
    """
    if is_standard_output(path):
        if json:
            raise UsageError(
                f"--json and --output {path} both write to standard output; leave out --json, or "
                "name a file."
            )
    elif path.suffix or not is_pipe_or_device(path):
        check_can_be_written(path, *suffixes)


def tell_written(summary: str, path: Path) -> None:
    """Print what was written and where; as a remark if standard output holds the result.

    Parameters
    ----------
    summary : str
        One line.
    path : Path
        The output, as given.
    """
    if is_standard_output(path):
        note(f"{summary}.")
    else:
        console().print(f"{summary}\nsaved", bold(path))


def written_output(path: Path, suffix: str) -> AbstractContextManager[Path]:
    """Give a place to write to; what is written there becomes the output at the end.

    Parameters
    ----------
    path : Path
        A file, a pipe, a device, or ``-`` for standard output.
    suffix : str
        How the name of the place ends if that of the output has no ending.
    """
    if is_standard_output(path):
        return written_through(1, suffix)
    if is_pipe_or_device(path):
        return written_through(path, path.suffix or suffix)
    return written_atomically(path)
