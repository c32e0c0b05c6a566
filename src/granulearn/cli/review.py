"""`granulearn review`: go through the doubtful labels of a table on a page of this machine."""

from __future__ import annotations

import secrets
import shlex
import webbrowser
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated

import typer

from granulearn._words import counted
from granulearn.cli.exit_codes import UsageError
from granulearn.cli.options import (
    GroupOption,
    OrderOption,
    SeedOption,
    TableArgument,
    TargetOption,
)
from granulearn.cli.output import bold, console, note, stage_progress, warn
from granulearn.cli.table_options import AskedTable, column_names, takes_table_options

if TYPE_CHECKING:
    from granulearn.review import Review

_SHOWN = 5


@takes_table_options
def review(
    table: TableArgument,
    target: TargetOption,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            help="Column to show first on every card; may be repeated.",
            autocompletion=column_names,
        ),
    ] = None,
    decisions: Annotated[
        Path | None,
        typer.Option(
            "--decisions",
            help="CSV file that decisions are added to; NAME.decisions.csv beside the table "
            "unless named.",
            show_default=False,
        ),
    ] = None,
    who: Annotated[
        str | None,
        typer.Option(
            "--who", help="Who decides; the name of the user unless named.", show_default=False
        ),
    ] = None,
    port: Annotated[
        int,
        typer.Option(
            "--port", min=0, max=65535, help="Port of this machine to serve at; 0 takes a free one."
        ),
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
    group: GroupOption = None,
    order: OrderOption = None,
    seed: SeedOption = 0,
    *,
    asked: AskedTable,
) -> None:
    """Go through doubtful labels, one key press each, and correct them.

    The page is served on this machine alone, at an address that nobody can guess, until you press
    Ctrl-C. What you decide is in the decisions file before the page says so; the
    table itself is never changed. `granulearn correct` writes the corrected table, and
    `granulearn fit --decisions` learns from it.

    Example: granulearn review train.csv --target label --keep name
    """
    from granulearn.review import Review
    from granulearn.review.server import bound_socket, make_server

    _check_is_a_file(table)
    listening = bound_socket(port)
    with listening:
        with stage_progress(hidden=False) as tell:
            tell(f"rating the labels of {table.name}")
            opened = Review(
                table,
                target,
                keep=keep or (),
                decisions=decisions,
                who=who,
                options=asked.options,
                reading=asked.reading,
                group=group,
                order=order,
                random_state=seed,
                background=True,
            )
        with opened:
            for warning in opened.table.data.report.warnings:
                warn(warning)
            if opened.stale:
                note(_about_stale(opened.stale))
            if opened.journal.dropped:
                note(f"{opened.source} ended in the middle of a line, which was left out.")
            token = secrets.token_urlsafe(16)
            address = f"http://127.0.0.1:{listening.getsockname()[1]}/{token}/"
            _say_where(table, opened, address)
            if browser:
                # In a thread: a browser of the terminal returns when it is closed.
                Thread(target=webbrowser.open, args=(address,), daemon=True).start()
            with suppress(KeyboardInterrupt):  # which is how a review ends
                make_server(opened, listening, token).run(sockets=[listening])
            _say_what_is_next(table, target, opened)


def _about_stale(rows: list[int]) -> str:
    named = ", ".join(map(str, rows[:_SHOWN])) + (", ..." if len(rows) > _SHOWN else "")
    return (
        f"labels were edited since they were decided on (row {named}); these rows are open again."
    )


def _check_is_a_file(table: Path) -> None:
    if str(table) == "-" or table.is_dir():
        is_folder = str(table) != "-"
        what = f"{table}, a folder," if is_folder else "standard input"
        instead = f" List its worst rows with `granulearn audit {table} -o FILE`, and review FILE."
        raise UsageError(
            f"{what} cannot be reviewed; decisions need a file that they are about."
            f"{instead if is_folder else ''}"
        )


def _say_where(table: Path, opened: Review, address: str) -> None:
    out, n_labels = console(), len(opened.table.data.rows)
    out.print(bold(table.name), f": {counted(n_labels, 'label')}", sep="")
    n_before = opened.summary().n_decided
    if n_before:
        out.print(f"{counted(n_before, 'decision')} in {opened.source}: going on from there")
    else:
        out.print(f"decisions go to {opened.source}")
    out.print("open", bold(address))
    out.print("press Ctrl-C to end the review; everything decided is saved")


def _say_what_is_next(table: Path, target: str, opened: Review) -> None:
    out, numbers = console(), opened.summary()
    out.print()
    if not numbers.n_decided:
        out.print("nothing was decided")
        return
    said = ", ".join(f"{n} {kind}" for kind, n in numbers.counts.items())
    out.print(bold(opened.source), f": {counted(numbers.n_decided, 'decision')} ({said})", sep="")
    if numbers.counts.get("change") or numbers.counts.get("exclude"):
        stem, ending = table.name.partition(".")[::2]
        clean = table.with_name(f"{stem}.clean.{ending}" if ending else f"{stem}.clean")
        command = ["granulearn", "correct", table, "--decisions", opened.source, "-o", clean]
        out.print("next:", shlex.join(map(str, command)))
