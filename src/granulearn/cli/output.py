"""What the verbs print and where they write: messages, tables, JSON, progress, streams."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from granulearn.utils.text import CONTROL_CHARACTERS, visible

if TYPE_CHECKING:
    from granulearn.tables.messages import Setting

# Parameters in messages of `granulearn.datasets`.
_IN_PYTHON = {
    "list_datasets()": "`granulearn datasets`",
    "data_dir=": "--data-dir",
}


# Files and pipes have no width of their own; tables must not be cut there.
_WIDTH_OF_PIPES = 120
_STANDARD_OUTPUT = 1


def error(message: str) -> None:
    """Print why a verb failed."""
    _write("error", message)


def warn(message: str) -> None:
    """Print what could lead a user to a wrong conclusion."""
    _write("warning", message)


def note(message: str) -> None:
    """Print what is neither result nor error."""
    _write("note", message)


def _write(kind: str, message: str) -> None:
    # A progress bar stands in for sys.stderr and makes room; typer.echo would write past it.
    one_line = visible(" ".join(in_flags(message).split()))
    sys.stderr.write(f"granulearn: {kind}: {one_line}\n")
    sys.stderr.flush()


def in_flags(message: str) -> str:
    """Return a sentence with its settings as options."""
    # The class `Message` is not looked up: it would have to be imported.
    spoken = getattr(message, "spoken", None)
    if spoken is not None:
        return spoken(flag)
    for in_python, option in _IN_PYTHON.items():
        message = message.replace(in_python, option)
    return message


def flag(setting: Setting) -> str:
    """Return a setting as a user types it: ``--ignore 'my zip'``."""
    option, value = option_of(setting), setting.value
    if value is None or isinstance(value, bool):
        return option
    texts = value if isinstance(value, tuple) else (str(value),)
    return " ".join(f"{option} {quoted(text)}" for text in texts)


def option_of(setting: Setting) -> str:
    """Return the option of a setting, without its value."""
    if setting.name == "day_first" and setting.value is False:
        return "--month-first"
    return "--" + setting.name.replace("_", "-")


def quoted(text: str) -> str:
    """Return a text as one word of a shell; letters of any language need no quotes."""
    return text if re.fullmatch(r"[\w.:/@%+][\w.,:/@%+-]*", text) else shlex.quote(text)


class _Console(Console):
    """Prints brackets and colons in names as they are, and control characters spelt out."""

    def __init__(self, **settings: Any):
        super().__init__(markup=False, emoji=False, highlight=False, **settings)

    def on_broken_pipe(self) -> None:
        """Let the entry point end quietly when the output is closed."""
        raise BrokenPipeError

    def render_str(self, text: str, **settings: Any) -> Text:
        """Return a text to print; characters that are spelt out here count in the layout."""
        return super().render_str(visible(text), **settings)

    def render(self, renderable: Any, options: Any = None) -> Iterator[Segment]:
        """Yield what is written; no text gets past this, however it was made."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))


def console() -> Console:
    """Return the console for results."""
    out = _Console()
    return out if out.is_terminal else _Console(width=_WIDTH_OF_PIPES)


def say(*parts: object, **settings: Any) -> None:
    """Print results; parts are separated by blanks unless `sep` says otherwise."""
    console().print(*parts, **settings)


def message_console(**settings: Any) -> Console:
    """Return the console for progress and messages; stdout is for results alone."""
    return _Console(stderr=True, **settings)


def bold(content: object) -> Text:
    """Return a text that stands out."""
    return Text(visible(str(content)), style="bold")


def print_json(content: Any) -> None:
    """Print one JSON object, and nothing else, on stdout; NaN and infinity become null."""
    in_ascii = "utf" not in (sys.stdout.encoding or "utf").lower()
    text = json.dumps(_plain(content), indent=2, ensure_ascii=in_ascii, allow_nan=False)
    # Control characters can only stand inside of strings, where JSON has escapes.
    typer.echo(CONTROL_CHARACTERS.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def _plain(value: Any) -> Any:
    """Return what JSON can hold; arrays and numbers of NumPy are taken apart."""
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return None if isinstance(value, float) and not isfinite(value) else value


def table(
    title: str, headers: Iterable[str], rows: Iterable[Iterable[object]], **later_columns: Any
) -> Table:
    """Return a table in the style that all verbs share; empty headers are not shown."""
    headers = list(headers)
    grid = Table(box=SIMPLE, header_style="cyan", show_header=any(headers))
    grid.title, grid.title_justify, grid.title_style = title, "left", "bold"
    for position, header in enumerate(headers):
        grid.add_column(header, **({"justify": "right"} | later_columns if position else {}))
    for row in rows:
        grid.add_row(*(cell if isinstance(cell, Text) else str(cell) for cell in row))
    return grid


def print_table(*content: Any, **later_columns: Any) -> None:
    """Print a `table`."""
    say(table(*content, **later_columns))


def headline(name: object, text: str) -> None:
    """Print a name that stands out, a colon and a text."""
    say(bold(name), f": {text}", sep="")


def print_saved(*paths: Path | None) -> None:
    """Say which files were written; None is no file."""
    for path in filter(None, paths):
        say("saved", bold(path))


def print_written(summary: str, path: Path) -> None:
    """Say what was written and where; on stderr if standard output holds the result."""
    if is_standard_output(path):
        note(f"{summary}.")
    else:
        say(summary)
        print_saved(path)


def stage_progress(*, hidden: bool = False) -> AbstractContextManager[Callable[[str], None]]:
    """Give a function that takes what is being done, for a terminal to show."""
    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    return _progress("description", columns, None, hidden)


def row_progress(total: int, *, hidden: bool) -> AbstractContextManager[Callable[[int], None]]:
    """Give a function that takes the number of rows done; a terminal shows a bar."""
    columns = TextColumn("rows"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    return _progress("completed", columns, total, hidden)


@contextmanager
def _progress(
    field: str, columns: Iterable[ProgressColumn], total: int | None, hidden: bool
) -> Iterator[Callable[[Any], None]]:
    out = message_console()
    settings: dict[str, Any] = {"transient": True, "redirect_stdout": False}
    with Progress(*columns, console=out, disable=hidden or not out.is_terminal, **settings) as bar:
        task = bar.add_task("starting", total=total)
        yield lambda value: bar.update(task, **{field: value})


def is_standard_output(path: Path) -> bool:
    """Return whether an output is ``-``, or its name in ``/dev``."""
    return str(path) in ("-", "/dev/stdout")


def is_shown(path: Path) -> bool:
    """Return whether an output is standard output, and that a terminal."""
    return is_standard_output(path) and os.isatty(_STANDARD_OUTPUT)


@contextmanager
def written_output(path: Path) -> Iterator[Path]:
    """Give a temporary file; at the end it becomes the output, or is sent to the stream."""
    from granulearn.utils.files import written_atomically, written_through

    stream = is_standard_output(path)
    with written_through(_STANDARD_OUTPUT) if stream else written_atomically(path) as temporary:
        yield temporary
        if is_shown(path):
            text = temporary.read_bytes().decode("utf-8", "backslashreplace").replace("\r\n", "\n")
            temporary.write_bytes(visible(text).encode())
