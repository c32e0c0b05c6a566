"""`granulearn audit`: find the labels of a table that are probably wrong, and why."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from granulearn.cli.options import (
    CSV_ENDINGS,
    DaskOption,
    GroupOption,
    OrderOption,
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
    console,
    print_json,
    stage_progress,
)
from granulearn.cli.output import table as new_table
from granulearn.cli.table_options import AskedTable, column_names, takes_table_options

if TYPE_CHECKING:
    import pandas as pd

    from granulearn.audit.noise_rate import NoiseRate
    from granulearn.audit.table_audit import TableAudit
    from granulearn.audit.verified import VerifiedLabels
    from granulearn.review import Decision
    from granulearn.tables import ColumnOptions, TableFile, TrainingTable

SHOWN = 10
WORST = 10_000
SHOWN_ISSUES = 5


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
    decisions: Annotated[
        Path | None,
        typer.Option(
            "--decisions",
            help="CSV file of labels a person has looked at: row, decision, new_label.",
        ),
    ] = None,
    sample: Annotated[
        int,
        typer.Option(
            "--sample",
            min=0,
            help="Rows to draw at random and put first in the output: checked, they stand for all.",
        ),
    ] = 0,
    worst: Annotated[
        int,
        typer.Option(
            "--worst", min=1, help="Of a table in parts: rows to list, the most doubtful ones."
        ),
    ] = WORST,
    group: GroupOption = None,
    order: OrderOption = None,
    seed: SeedOption = 0,
    dask: DaskOption = None,
    json: JsonOption = False,
    *,
    asked: AskedTable,
) -> None:
    """Find labels that are probably wrong.

    Every label is rated by trees of balls that did not see its row, and gets a verdict:
    wrong, ambiguous, strange (its inputs are), fine or unknown. The file has one row per
    row of the table, the most doubtful first: the number of the row and its line, the given
    and the suggested label, the verdict, how probable it is that the label is wrong, and the
    columns of the table as they were read, those that were left out as well. Rows without a
    label come last. Fill in the column "decision" (keep, change, exclude, unsure) and pass the
    file as --decisions: what was kept or changed is never doubted again, teaches the trees,
    and, for rows that --sample drew at random, says how many labels are wrong.

    A directory, a file larger than a quarter of the memory, and any table with --dask is
    rated in parts by a Dask cluster, one on this machine unless --dask names another. The file
    then lists the most doubtful rows (--worst), and the ratings of all rows are Parquet files in
    a folder beside it: NAME.ratings.

    Example: granulearn audit train.csv --target label -o suspects.csv --report audit.html
    """
    from granulearn.audit.table_audit import audit_table
    from granulearn.cli.parts_audit import audit_in_parts
    from granulearn.cli.table_report import show_short
    from granulearn.review import read_decisions
    from granulearn.tables import read_training_table
    from granulearn.training.size import is_large

    if target in (group, order):
        raise typer.BadParameter(
            f"{target!r} holds the labels and can be neither --group nor --order."
        )
    if dask is not None or is_large(table):
        given: dict[str, Any] = {"report": report, "decisions": decisions, "sample": sample or None}
        given |= {"group": group, "order": order, "keep": keep}
        audit_in_parts(table, target, output, given, worst, seed, dask, json, asked)
        return
    if sample and output is None:
        raise typer.BadParameter("--sample puts rows first in a file: name it with -o.")
    _check_outputs(table, output, report, decisions)
    said = None if decisions is None else read_decisions(decisions)
    options = asked.options
    if group is not None:
        options = replace(options, ignore=(*options.ignore, group))
    with asked.open(table) as file:
        named = {"keep": keep or [], "group": [group or target], "order": [order or target]}
        _check_names(file, target, options, named)
        with stage_progress(hidden=json) as tell:
            tell(f"reading {table.name}")
            data = read_training_table(file, target, options, keep_cells=True)
            tell(f"rating {len(data.y):,} labels")
            verified = None if said is None else _verified(data, said, decisions)
            done = audit_table(
                data, verified=verified, groups=group, order=order, random_state=seed, n_jobs=-1
            )
            if output is not None:
                tell(f"writing {output.name}")
                _write_listing(output, done, keep, sample)
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


def _check_outputs(
    table: Path, output: Path | None, report: Path | None, decisions: Path | None
) -> None:
    """Refuse, before any work is done, what could not be written after it."""
    for written in (output, report):
        check_not_an_input(written, table)
        if decisions is not None:
            check_not_an_input(written, decisions)
    check_outputs_differ(output, report)
    check_can_be_written(output, *CSV_ENDINGS)
    check_can_be_written(report)


def _write_page(path: Path, title: str, done: TableAudit) -> None:
    from granulearn.review.audit_page import LabelOrigin, summarize_audit, write_audit_page

    summary = summarize_audit(
        done.audit,
        done.X,
        done.shown_cells(),
        title=title,
        row_numbers=(done.table.rows + 1).tolist(),
        names=done.names,
        origin=LabelOrigin(done.table.target, done.hashes, done.table.label_cells),
    )
    write_audit_page(summary, path)


def _write_listing(path: Path, done: TableAudit, keep: list[str] | None, sample: int) -> None:
    from granulearn.tables.writing import write_csv
    from granulearn.utils.files import written_atomically

    listing = done.listing(keep, sample)
    with written_atomically(path) as draft:
        write_csv(listing.to_batches(), draft, listing.column_names)


def _check_names(
    file: TableFile, target: str, options: ColumnOptions, named: dict[str, list[str]]
) -> None:
    """Refuse unknown columns of options, together with all else that is wrong with the names."""
    from granulearn.tables import TableError
    from granulearn.tables.inspection import no_column, problems_of_names
    from granulearn.tables.messages import Setting

    unknown = [
        no_column(name, file.names, Setting(option))
        for option, names in named.items()
        for name in names
        if name not in file.names and name != target
    ]
    if unknown:
        # A column of groups is left out of the inputs, and must not be told of twice.
        groups = set(named["group"])
        options = replace(options, ignore=tuple(n for n in options.ignore if n not in groups))
        problems = (*problems_of_names(file.names, target, options), *unknown)
        raise TableError.about(file.path, problems)


def _verified(data: TrainingTable, said: list[Decision], source: Path | None) -> VerifiedLabels:
    """Return the labels that decisions settle."""
    import numpy as np

    from granulearn.audit.verified import CHANGE, KEEP
    from granulearn.review import verified_by
    from granulearn.tables.row_hashes import row_hashes

    n_open = sum(decision.decision not in (KEEP, CHANGE) for decision in said)
    if n_open:
        warnings.warn(
            f"{source}: {n_open} of {len(said)} decisions say exclude or unsure, which tell the "
            "audit nothing; rows drawn at random among them are missing in the count.",
            UserWarning,
            stacklevel=2,
        )
    classes, given = np.unique(data.y, return_inverse=True)
    assert data.cells is not None
    return verified_by(
        said,
        rows=data.rows,
        hashes=row_hashes(data.cells, data.target),
        given=given,
        classes=classes,
        source=str(source),
    )


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
        "verdicts": _counts(done),
        "verified": int(audited.verified_.sum()),
        "without_reliability": int(np.isnan(audited.reliability_).sum()),
        "occur_once": _once(done).to_dict("records"),
        "noise": facts_of_noise(audited.noise_),
        "expected_yield": {str(n): found for n, found in audited.expected_yield().items()},
        "worst": _worst(done)[
            ["row", "given", "suggested", "wrong_probability", "reliability"]
        ].to_dict("records"),
        "issues": [
            {"kind": issue.kind, "score": issue.score, "words": issue.words}
            for issue in audited.issues_
        ],
        "table": as_facts(done.table.report, place),
    }


def facts_of_noise(noise: NoiseRate) -> dict[str, Any]:
    """Return the share of wrong labels for JSON, without a number where none is known.

    Parameters
    ----------
    noise : NoiseRate
        What an audit says.
    """
    judged = not math.isnan(noise.rate)
    return {
        "rate": noise.rate if judged else None,
        "low": noise.low if judged else None,
        "high": noise.high if judged else None,
        "basis": noise.basis,
        "words": noise.words,
    }


def _counts(done: TableAudit) -> dict[str, int]:
    from granulearn.audit.ratings import VERDICTS

    return {name: int((done.audit.verdict_ == name).sum()) for name in VERDICTS}


def _show(name: str, done: TableAudit) -> None:
    out, once, audited = console(), _once(done), done.audit
    noise = audited.noise_
    show_verdicts(name, len(audited.given_), noise, _counts(done))
    if len(once):
        out.print(_about_labels_that_occur_once(once))
    expected = audited.expected_yield()
    if expected and not math.isnan(noise.rate):
        out.print(_about_yield(expected))
    for issue in audited.issues_[:SHOWN_ISSUES]:
        out.print(f"{issue.kind}:", issue.words)
    if len(audited.issues_) > SHOWN_ISSUES:
        out.print(f"and {len(audited.issues_) - SHOWN_ISSUES} more; --report shows them")
    out.print()
    show_worst(_worst(done))


def show_verdicts(name: str, n_labels: int, noise: NoiseRate, counts: dict[str, int]) -> None:
    """Print how many labels are wrong, and how many have each verdict.

    Parameters
    ----------
    name : str
        Of the table.
    n_labels : int
        How many labels were rated.
    noise : NoiseRate
        The share of wrong ones.
    counts : dict of str to int
        Labels of each verdict.
    """
    out = console()
    out.print(bold(name), f": {n_labels:,} labels, {_headline(noise)}", sep="")
    out.print(noise.sentence, style="dim")
    some = {verdict: count for verdict, count in counts.items() if count}
    out.print("verdicts:", ", ".join(f"{count:,} {verdict}" for verdict, count in some.items()))


def show_worst(worst: pd.DataFrame) -> None:
    """Print the most doubtful labels.

    Parameters
    ----------
    worst : DataFrame
        With the columns that are shown, the worst first.
    """
    if worst.empty:
        return
    grid = new_table(
        f"the {len(worst)} most doubtful labels", "row", "given", "suggested", "reliability"
    )
    for row in worst.itertuples():
        grid.add_row(str(row.row), str(row.given), str(row.suggested), f"{row.reliability:.3f}")
    console().print(grid)


def _headline(noise: NoiseRate) -> str:
    from granulearn.audit.noise_rate import SURE_REGIONS

    if math.isnan(noise.rate):
        return "which cannot be judged"
    low, rate, high = (f"{100 * value:.1f}" for value in (noise.low, noise.rate, noise.high))
    if noise.basis == SURE_REGIONS:
        return f"{low} to {high} % of them wrong, about {rate} % if mistakes fall at random"
    return f"about {rate} % of them wrong ({low} to {high} %)"


def _about_yield(expected: dict[int, float]) -> str:
    """Return one line: what looking at more rows will find."""
    parts = [f"{n} hold about {found:.0f} wrong" for n, found in expected.items()]
    return f"looked at worst first, the next {', the next '.join(parts)}"


def _about_labels_that_occur_once(once: pd.DataFrame) -> str:
    """Return one line: nothing can rate such labels, and many are misspelt."""
    first = [f"{str(row.given)!r} (row {row.row})" for row in once.head(SHOWN).itertuples()]
    more = f" and {len(once) - SHOWN} more" if len(once) > SHOWN else ""
    count = "1 label occurs" if len(once) == 1 else f"{len(once)} labels occur"
    return f"{count} once and cannot be rated; worth a look first: {', '.join(first)}{more}"
