"""`granulearn audit`: find the labels of a table that are probably wrong, and why."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from granulearn.cli.options import (
    CSV_ENDINGS,
    SeedOption,
    TableArgument,
    TargetOption,
    check_can_be_written,
    check_not_an_input,
    check_outputs_differ,
    output_option,
)
from granulearn.cli.output import (
    JsonOption,
    bold,
    compiling_announced,
    console,
    print_json,
    stage_progress,
)
from granulearn.cli.output import table as new_table
from granulearn.cli.table_options import AskedTable, column_names, takes_table_options

if TYPE_CHECKING:
    import pandas as pd

    from granulearn.audit.table_audit import TableAudit
    from granulearn.tables import TableFile, Wishes

SHOWN = 10


@takes_table_options
def audit(
    table: TableArgument,
    target: TargetOption,
    output: Annotated[
        Path | None, output_option("CSV file to write, one row per sample, worst first.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="HTML page to write: the suspects and why.")
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            help="Column to copy to the output instead of all; may be repeated.",
            autocompletion=column_names,
        ),
    ] = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
    *,
    asked: AskedTable,
) -> None:
    """Find labels that are probably wrong.

    Every label is rated by trees of balls that did not see its row. The file
    has one row per row of the table, the most doubtful first: the number of the row
    and its line, the given and the suggested label, the reliability, whether it is
    flagged, and the columns of the table as they were read, those that were left out
    as well. Rows without a label come last.

    Example: granulearn audit train.csv --target label -o suspects.csv --report audit.html
    """
    from granulearn.audit.table_audit import audit_table
    from granulearn.cli.table_report import show_short
    from granulearn.tables import read_training_table

    _check_outputs(table, output, report)
    with asked.open(table) as file:
        _check_names(file, target, asked.wishes, keep)
        with compiling_announced(), stage_progress(hidden=json) as tell:
            tell(f"reading {table.name}")
            data = read_training_table(file, target, asked.wishes, keep_cells=True)
            tell(f"rating {len(data.y):,} labels")
            done = audit_table(data, random_state=seed, n_jobs=-1)
            if output is not None:
                tell(f"writing {output.name}")
                _write_listing(output, done, keep)
            if report is not None:
                tell(f"writing {report.name}")
                _write_page(report, table.name, done)
        if json:
            print_json(_facts(done, file.place))
            return
        show_short(data.report, file.place)
    _show(table.name, done)
    for written in (output, report):
        if written is not None:
            console().print("saved", bold(written))


def _check_outputs(table: Path, output: Path | None, report: Path | None) -> None:
    """Refuse, before any work is done, what could not be written after it."""
    for written in (output, report):
        check_not_an_input(written, table)
    check_outputs_differ(output, report)
    check_can_be_written(output, *CSV_ENDINGS)
    check_can_be_written(report)
    if report is not None:
        import_module("jinja2")


def _write_page(path: Path, title: str, done: TableAudit) -> None:
    from granulearn.audit.page import summarize_audit, write_audit_page

    rows = (done.table.rows + 1).tolist()
    summary = summarize_audit(
        done.audit, done.X, done.shown_cells(), title=title, row_numbers=rows, names=done.names
    )
    write_audit_page(summary, path)


def _write_listing(path: Path, done: TableAudit, keep: list[str] | None) -> None:
    from granulearn.persistence import written_atomically
    from granulearn.tables.writing import write_csv

    listing = done.listing(keep)
    with written_atomically(path) as draft:
        write_csv(listing.to_batches(), draft, listing.column_names)


def _check_names(file: TableFile, target: str, wishes: Wishes, keep: list[str] | None) -> None:
    """Refuse unknown columns to keep, together with all else that is wrong with the names."""
    from granulearn.tables import TableError
    from granulearn.tables.inspection import no_column, problems_of_names
    from granulearn.tables.messages import Setting

    unknown = [
        no_column(name, file.names, Setting("keep"))
        for name in keep or ()
        if name not in file.names
    ]
    if unknown:
        problems = (*problems_of_names(file.names, target, wishes), *unknown)
        raise TableError.about(file.path, problems)


def _worst(done: TableAudit) -> pd.DataFrame:
    """Return row number and verdict of the most doubtful labels."""
    verdict = done.audit.to_frame()
    verdict.insert(0, "row", done.table.rows[verdict.index] + 1)
    return verdict[verdict["flagged"]].head(SHOWN)


def _once(done: TableAudit) -> pd.DataFrame:
    """Return row and label where a label occurs once, in the order of the file."""
    import pandas as pd

    alone = done.audit.alone_
    return pd.DataFrame({"row": done.table.rows[alone] + 1, "given": done.audit.given_[alone]})


def _facts(done: TableAudit, place: Callable[[int], str]) -> dict[str, Any]:
    import numpy as np

    from granulearn.cli.table_facts import as_facts

    audited = done.audit
    return {
        "samples": len(audited.given_),
        "dropped_rows": done.table.dropped_rows,
        "flagged": int(audited.flagged_.sum()),
        "unknown": int(np.isnan(audited.reliability_).sum()),
        "occur_once": _once(done).to_dict("records"),
        "noise_rate": None if np.isnan(audited.noise_rate_) else audited.noise_rate_,
        "worst": _worst(done)[["row", "given", "suggested", "reliability"]].to_dict("records"),
        "table": as_facts(done.table.report, place),
    }


def _show(name: str, done: TableAudit) -> None:
    out, once, audited = console(), _once(done), done.audit
    n_labels = len(audited.given_)
    if math.isnan(audited.noise_rate_):
        out.print(bold(name), f": {n_labels} labels, none of which can be rated", sep="")
    else:
        out.print(
            bold(name),
            f": {n_labels} labels, {int(audited.flagged_.sum())} doubted; "
            f"about {100 * audited.noise_rate_:.1f} % wrong or ambiguous (estimate)",
            sep="",
        )
    if len(once):
        out.print(_about_labels_that_occur_once(once))
    out.print()
    worst = _worst(done)
    if worst.empty:
        return
    grid = new_table(
        f"the {len(worst)} most doubtful labels", "row", "given", "suggested", "reliability"
    )
    for row in worst.itertuples():
        grid.add_row(str(row.row), str(row.given), str(row.suggested), f"{row.reliability:.3f}")
    out.print(grid)


def _about_labels_that_occur_once(once: pd.DataFrame) -> str:
    """Return one line: nothing can rate such labels, and many are misspelt."""
    first = [f"{str(row.given)!r} (row {row.row})" for row in once.head(SHOWN).itertuples()]
    more = f" and {len(once) - SHOWN} more" if len(once) > SHOWN else ""
    count = "1 label occurs" if len(once) == 1 else f"{len(once)} labels occur"
    return f"{count} once and cannot be rated; worth a look first: {', '.join(first)}{more}"
