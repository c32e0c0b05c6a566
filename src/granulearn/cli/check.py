"""`granulearn check`: everything to know about a table before it is used."""

from __future__ import annotations

from typing import Annotated

import typer

from granulearn.cli.options import TableArgument
from granulearn.cli.output import JsonOption, print_json, stage_progress
from granulearn.cli.table_options import AskedTable, column_names, takes_table_options


@takes_table_options
def check(
    table: TableArgument,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            help="Column of labels, if there is one.",
            autocompletion=column_names,
            show_default=False,
        ),
    ] = None,
    json: JsonOption = False,
    *,
    asked: AskedTable,
) -> None:
    """Say what each column of a table is and becomes, what is odd, and which flag changes it.

    With --target also the classes, spellings of labels that are joined, columns that
    give the target away, repeated rows, and everything else that could lead to a
    wrong conclusion. Nothing is written. The exit code is 3 if nothing could be
    learned from the table; all the reasons are named.

    Example: granulearn check train.csv --target label
    """
    from granulearn.cli.table_facts import as_facts
    from granulearn.cli.table_report import say_warnings, show_whole
    from granulearn.tables import TableError, inspect_table

    with asked.open(table) as file:
        with stage_progress(hidden=json) as tell:
            tell(f"reading {table.name}")
            report = inspect_table(file, target, asked.options)
        if json:
            print_json(as_facts(report, file.place))
        else:
            show_whole(report, file.place)
            say_warnings(report)
    if report.problems:
        raise TableError.about(file.path, report.problems)
