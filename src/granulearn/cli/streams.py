"""Standard output, pipes and devices where a verb writes a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from granulearn.cli.exit_codes import UsageError
from granulearn.cli.options import check_can_be_written
from granulearn.cli.output import bold, console, note
from granulearn.cli.terminal_text import visible
from granulearn.tables.io.files import is_pipe_or_device
from granulearn.utils.files import written_atomically, written_through

TEXT_ENDINGS = (".csv", ".tsv", ".txt", ".data")
PARQUET_ENDINGS = (".parquet", ".pq")
_STANDARD_OUTPUT = 1


def is_standard_output(path: Path) -> bool:
    """Return whether an output is ``-``, or what that is called in ``/dev``.

    Parameters
    ----------
    path : Path
        As given.
    """
    return str(path) in ("-", "/dev/stdout")


def is_terminal(path: Path) -> bool:
    """Return whether an output is a terminal, which a person looks at.

    Parameters
    ----------
    path : Path
        As given.
    """
    if is_standard_output(path):
        return os.isatty(_STANDARD_OUTPUT)
    if not path.is_char_device():
        return False
    with path.open("wb") as device:
        return device.isatty()


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
    if is_terminal(path):
        return _shown(path, suffix)
    return _written(path, suffix)


def _written(path: Path, suffix: str) -> AbstractContextManager[Path]:
    if is_standard_output(path):
        return written_through(_STANDARD_OUTPUT, suffix)
    if is_pipe_or_device(path):
        return written_through(path, path.suffix or suffix)
    return written_atomically(path)


@contextmanager
def _shown(path: Path, suffix: str) -> Iterator[Path]:
    """Give a place to write to; a terminal gets it with what could command it spelt out."""
    with _written(path, suffix) as draft:
        yield draft
        shown = draft.with_name("shown")
        with (
            draft.open(encoding="utf-8", errors="backslashreplace", newline="\n") as written,
            shown.open("w", encoding="utf-8", newline="\n") as spelt_out,
        ):
            for line in written:
                spelt_out.write(visible(line.replace("\r\n", "\n")))
        shown.replace(draft)
