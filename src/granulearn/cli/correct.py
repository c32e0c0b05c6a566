"""`granulearn correct`: the table with the labels that a person changed, and all else as it was."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import numpy as np
from typer import Option

from granulearn.cli import options as opt
from granulearn.cli import output as out
from granulearn.cli.exit_codes import UsageError
from granulearn.utils.text import counted, listed, quoted


@opt.takes_table
def correct(
    table: opt.TableArgument,
    output: Annotated[
        Path, opt.output_option("Table to write, in the format of TABLE; - is standard output.")
    ],
    decisions: opt.JournalOption = None,
    target: opt.TargetIfAnyOption = None,
    drop_excluded: Annotated[
        bool, Option("--drop-excluded", help="Leave out the rows that were excluded.")
    ] = False,
    undo: Annotated[bool, Option("--undo", help="Change the labels back.")] = False,
    json: opt.JsonOption = False,
    *,
    options: opt.LabelOptions,
) -> None:
    """Write a table with its labels corrected.

    Everything else stays the same, byte for byte in a text file: format, encoding, order. Each
    decision is compared with its row first. If other cells of the row differ from those that
    were decided on, or if the label is neither the old nor the new one, nothing is written.
    --undo restores the original table.

    With --annotators, the consensus of several annotators becomes a new last column, with what
    --decisions say of it; the other columns keep their content.

    Example: granulearn correct credit.csv --decisions suspects.csv --target class -o clean.csv
    """
    from granulearn.review import read_decisions
    from granulearn.review.correction import correct_table
    from granulearn.review.decisions import decided_column

    if options.annotators or options.annotations:
        options.is_crowd(target, undo=undo)
        _add_consensus(table, output, decisions, options, drop_excluded, json)
        return
    if undo and drop_excluded:
        raise UsageError("--undo brings labels back and no rows; leave out --drop-excluded.")
    path = opt.journal(table, decisions)
    if not (decisions or path.is_file()):
        about = f"there are no decisions about {table.name}: {path} is not there"
        raise UsageError(f"{about}; name their file by --decisions.")
    opt.check_output(output, others=(table, path), json=json)
    given = read_decisions(path)
    if given and decided_column(given, str(path), target) is None:
        raise UsageError(f"{path} does not say which column holds the labels; name it by --target.")
    with out.written_output(output) as temporary:
        done = correct_table(
            table, temporary, given, source=str(path), target=target, drop_excluded=drop_excluded,
            undo=undo, read_options=options.read_options,
        )  # fmt: skip
    if json:
        out.print_json({"file": str(output), **asdict(done)})
        return
    summary = f"{counted(done.changed, 'label')} changed{' back' if undo else ''}"
    if done.already:
        summary += f" ({done.already} {'was' if done.already == 1 else 'were'} so already)"
    if done.excluded and not undo:
        kept = "left out" if done.dropped else "kept; --drop-excluded leaves them out"
        summary += f", {counted(done.excluded, 'row')} excluded ({kept})"
    if done.new_classes:
        summary += f"; no row was {listed(list(map(quoted, done.new_classes)))} before"
    if not done.decisions:
        summary = "there are no decisions; the table is copied unchanged"
    out.print_written(f"{table.name}: {summary}", output)


def _add_consensus(
    table: Path, output: Path, decisions: Path | None, options: opt.LabelOptions,
    drop_excluded: bool, json: bool,
) -> None:  # fmt: skip
    """Write a table with the consensus of its annotators as its last column."""
    import pyarrow as pa

    from granulearn.audit.verified import CHANGE
    from granulearn.review import read_decisions
    from granulearn.review.decisions import EXCLUDE, decided_column
    from granulearn.review.verified_labels import class_names
    from granulearn.tables.io.frames import text_of
    from granulearn.tables.writing import write_table

    endings = (*opt.TEXT_ENDINGS, *opt.PARQUET_ENDINGS)
    opt.check_output(output, *endings, others=(table, decisions), json=json)
    given, source = read_decisions(decisions) if decisions else [], str(decisions)
    with options.open(table) as file:
        done = options.audit_crowd(file, options.columns, given, source, random_state=0)
    cells, target = done.table.cells, done.table.target
    assert cells is not None
    decided_column(given, source, target)
    texts = [text_of(label) for label in done.audit.consensus_.tolist()]
    names = class_names(done.table)
    for decision in given:
        if decision.decision == CHANGE and names.code(decision.new_label) is None:
            texts[decision.row - 1] = decision.new_label
    cells = cells.set_column(cells.num_columns - 1, target, pa.array(texts))
    if drop_excluded:
        excluded = [d.row - 1 for d in given if d.decision == EXCLUDE]
        cells = cells.take(pa.array(np.setdiff1d(np.arange(cells.num_rows), excluded)))
    with out.written_output(output) as temporary:
        write_table(cells, temporary)
    if json:
        out.print_json({"file": str(output), "rows": cells.num_rows})
    else:
        rows = counted(cells.num_rows, "row")
        out.print_written(f"{table.name}: consensus of {rows} added", output)
