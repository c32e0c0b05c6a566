"""What the verbs print: tables for people on stdout, one JSON object for machines."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Annotated, Any

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from granulearn.cli.flags import in_flags
from granulearn.cli.terminal_text import visible, visible_in_json

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object instead of tables.")
]

PATIENCE = 2.0
"""Seconds after which silent work counts as long."""

# Files and pipes have no width of their own; tables must not be cut there.
_WIDTH_OF_PIPES = 120


class _Console(Console):
    """Prints brackets and colons in names as they are, and control characters spelt out."""

    def __init__(self, **settings: Any):
        super().__init__(markup=False, emoji=False, highlight=False, **settings)

    def on_broken_pipe(self) -> None:
        """Let the entry point end quietly when the output is closed."""
        raise BrokenPipeError

    def render_str(self, text: str, **settings: Any) -> Text:
        """Return a text to print; what is spelt out here has its place in the layout."""
        return super().render_str(visible(text), **settings)

    def render(self, renderable: Any, options: Any = None) -> Iterator[Segment]:
        """Yield what is written; no text gets past this, however it was made."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield segment._replace(text=visible(segment.text))


def console() -> Console:
    """Return the console for results."""
    out = _Console()
    return out if out.is_terminal else _Console(width=_WIDTH_OF_PIPES)


def message_console(**settings: Any) -> Console:
    """Return the console for progress and remarks; stdout is for results alone.

    Parameters
    ----------
    **settings
        Of `rich.console.Console`.
    """
    return _Console(stderr=True, **settings)


def as_shown(content: object, style: str = "") -> Text:
    """Return a text for the console, with control characters spelt out.

    Parameters
    ----------
    content : object
        A name, for example.
    style : str, default=""
        As rich calls it.
    """
    return Text(visible(str(content)), style=style)


def bold(content: object) -> Text:
    """Return what stands out among what is printed.

    Parameters
    ----------
    content : object
        A name, for example.
    """
    return as_shown(content, "bold")


def print_json(content: Any) -> None:
    """Print one JSON object, and nothing else, on stdout.

    Parameters
    ----------
    content : object
        What JSON can hold, and numpy numbers.
    """
    written = json.dumps(content, indent=2, ensure_ascii=False, default=_plain)
    typer.echo(visible_in_json(written))


def note(message: str) -> None:
    """Print a remark on stderr that is neither result nor error.

    Parameters
    ----------
    message : str
        One line.
    """
    _remark("note", message)


def warn(message: str) -> None:
    """Print on stderr what could lead a user to a wrong conclusion.

    Parameters
    ----------
    message : str
        One line.
    """
    _remark("warning", message)


def _remark(kind: str, message: str) -> None:
    # A bar that is being drawn stands in for stderr, and makes room for what is written to it;
    # typer.echo would write past it, into the line of the bar.
    sys.stderr.write(f"granulearn: {kind}: {visible(in_flags(message))}\n")
    sys.stderr.flush()


def table(title: str, *headers: str) -> Table:
    """Return an empty table in the one style that all verbs share.

    Parameters
    ----------
    title : str
        What it shows.
    *headers : str
        Its columns; all but the first are aligned to the right. Where all are
        empty, there is no line of names.
    """
    grid = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        header_style="cyan",
        box=SIMPLE,
        show_header=any(headers),
    )
    for position, header in enumerate(headers):
        grid.add_column(header, justify="right" if position else "left")
    return grid


@contextmanager
def stage_progress(*, hidden: bool) -> Iterator[Callable[[str], None]]:
    """Give a function that is told what is being done; shown on a terminal if it takes long.

    Parameters
    ----------
    hidden : bool
        Show nothing.
    """
    messages = message_console()
    if hidden or not messages.is_terminal:
        yield lambda stage: None
        return
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
        console=messages,
        transient=True,
        redirect_stdout=False,
    )
    task = bar.add_task("starting", total=None)
    later = Timer(PATIENCE, bar.start)
    later.start()
    try:
        yield lambda stage: bar.update(task, description=stage)
    finally:
        later.cancel()
        later.join()
        if bar.live.is_started:
            bar.stop()


@contextmanager
def row_progress(total: int, *, hidden: bool) -> Iterator[Any]:
    """Give a function that is told how many rows are done; draws a bar on a terminal.

    Parameters
    ----------
    total : int
        Rows to come, about.
    hidden : bool
        Draw nothing.
    """
    messages = message_console()
    if hidden or not messages.is_terminal:
        yield lambda done: None
        return
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=messages,
        transient=True,
    )
    with bar:
        task = bar.add_task("rows", total=total)
        yield lambda done: bar.update(task, completed=done)


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no form in JSON")
