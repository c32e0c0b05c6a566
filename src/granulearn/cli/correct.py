"""`granulearn correct`: the table with the labels that a person changed, and all else as it was."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from granulearn._words import counted
from granulearn.cli.exit_codes import UsageError
from granulearn.cli.options import TableArgument, check_not_an_input, output_option
from granulearn.cli.output import JsonOption, print_json
from granulearn.cli.table_options import AskedTable, column_names, takes_file_options

if TYPE_CHECKING:
    from granulearn.review.correction import Correction


@takes_file_options
def correct(
    table: TableArgument,
    output: Annotated[
        Path, output_option("Table to write, in the format of TABLE; - is standard output.")
    ],
    decisions: Annotated[
        Path | None,
        typer.Option(
            "--decisions",
            help="CSV file of decisions; NAME.decisions.csv beside the table unless given.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            help="Column of labels, if the decisions do not name it.",
            autocompletion=column_names,
            show_default=False,
        ),
    ] = None,
    drop_excluded: Annotated[
        bool, typer.Option("--drop-excluded", help="Leave out the rows that were excluded.")
    ] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Change the labels back to what they were.")
    ] = False,
    json: JsonOption = False,
    *,
    asked: AskedTable,
) -> None:
    """Write a table again with the labels that were changed.

    All else stays as it was, byte for byte in a text file: format, encoding, separators,
    order. Each decision is held against its row first: if the row's other cells are not
    those that the decision was about, or its label is neither the old nor the new one,
    nothing is written. --undo gives the table of before.

    Example: granulearn correct credit.csv --decisions suspects.csv --target class -o clean.csv
    """
    from granulearn.cli.streams import check_output, tell_written, written_output
    from granulearn.review import read_decisions
    from granulearn.review.correction import correct_table, decided_column

    if undo and drop_excluded:
        raise UsageError("--undo brings labels back and no rows; leave out --drop-excluded.")
    _check_is_one_file(table)
    path = decisions or _beside(table)
    check_not_an_input(output, table, path)
    check_output(output, json=json)
    said = read_decisions(path)
    if said and decided_column(said, str(path), target) is None:
        raise UsageError(f"{path} does not say which column holds the labels; name it by --target.")
    with written_output(output, table.suffix) as draft:
        done = correct_table(
            table,
            draft,
            said,
            source=str(path),
            target=target,
            drop_excluded=drop_excluded,
            undo=undo,
            reading=asked.reading,
        )
    if json:
        print_json({"file": str(output), **asdict(done)})
    else:
        tell_written(f"{table.name}: {_in_words(done, undo=undo)}", output)


def _check_is_one_file(table: Path) -> None:
    from granulearn.tables.io.files import is_pipe_or_device, is_standard_input

    if is_standard_input(table) or is_pipe_or_device(table) or table.is_dir():
        kind = "a folder" if table.is_dir() else "no file"
        raise UsageError(
            f"{table} is {kind}, and a table is written back as the file it was read from; name "
            "one file."
        )
    if not table.is_file():
        raise FileNotFoundError(f"{table} is not a file; check the path.")


def _beside(table: Path) -> Path:
    """Return the decisions that a review of the table has left beside it."""
    from granulearn.review.journal import default_journal

    found = default_journal(table)
    if found is None or not found.is_file():
        raise UsageError(
            f"there are no decisions about {table.name}: {found} is not there; name their file by "
            "--decisions."
        )
    return found


def _in_words(done: Correction, *, undo: bool) -> str:
    if not done.decisions:
        return "there are no decisions, and the table is copied as it is"
    parts = [f"{counted(done.changed, 'label')} changed{' back' if undo else ''}"]
    if done.already:
        were = "was" if done.already == 1 else "were"
        parts[0] += f" ({done.already} {were} so already)"
    if done.excluded and not undo:
        kept = "left out" if done.dropped else "kept; --drop-excluded leaves them out"
        parts.append(f"{counted(done.excluded, 'row')} excluded ({kept})")
    return ", ".join(parts)
