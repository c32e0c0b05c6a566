"""`granulearn audit`: find the labels of a table that are probably wrong, and why."""

from __future__ import annotations

import math
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from granulearn._words import counted
from granulearn.cli.options import (
    CSV_ENDINGS,
    CategoricalOption,
    IgnoreOption,
    SeedOption,
    TableArgument,
    TargetOption,
    check_can_be_written,
    check_not_an_input,
    check_outputs_differ,
    check_target_is_kept,
    output_option,
)
from granulearn.cli.output import (
    JsonOption,
    bold,
    compiling_announced,
    console,
    note,
    print_json,
    stage_progress,
)
from granulearn.cli.output import table as new_table

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from sklearn.compose import ColumnTransformer

    from granulearn.audit import LabelAudit
    from granulearn.audit.explanation import FeatureName
    from granulearn.learning.training_table import TrainingTable

SHOWN = 10


def audit(
    table: TableArgument,
    target: TargetOption,
    output: Annotated[
        Path | None, output_option("CSV file to write, one row per sample, worst first.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="HTML page to write: the suspects and why.")
    ] = None,
    categorical: CategoricalOption = None,
    ignore: IgnoreOption = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Find labels that are probably wrong.

    Every label is rated by trees of balls that did not see its row. The file
    has one row per sample, the most doubtful first: the row's number, the given
    and the suggested label, the reliability, whether it is flagged, and the
    columns of the table.

    Example: granulearn audit train.csv --target label -o suspects.csv --report audit.html
    """
    from granulearn.cli.streams import check_is_no_stream
    from granulearn.learning.training_table import read_training_table
    from granulearn.persistence import written_atomically

    _check_outputs(table, output, report)
    check_is_no_stream(table)
    check_target_is_kept(target, ignore)
    with compiling_announced(), stage_progress(hidden=json) as tell:
        tell(f"reading {table.name}")
        data = read_training_table(
            table, target, categorical=categorical or (), ignore=ignore or ()
        )
        tell(f"rating {len(data.y):,} labels")
        X, names, audited = _audited(data, seed)
        listing = _listing(data, audited)
        if output is not None:
            tell(f"writing {output.name}")
            with written_atomically(output) as draft:
                listing.to_csv(draft, index=False)
        if report is not None:
            tell(f"writing {report.name}")
            _write_page(report, table.name, data, X, names, audited)
    if data.dropped_rows:
        left_out = counted(data.dropped_rows, "row")
        note(f"{left_out} without a label left out; the others keep their row.")
    if json:
        print_json(_facts(data, audited, listing))
        return
    _show(table.name, audited, listing)
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


def _audited(data: TrainingTable, seed: int) -> tuple[np.ndarray, list[FeatureName], LabelAudit]:
    """Return the prepared inputs, their names, and the audit of the labels."""
    import numpy as np

    from granulearn.audit import LabelAudit
    from granulearn.datasets import make_pipeline_for

    pipeline = make_pipeline_for(data.X)
    # Not fit and transform: a label must not be vouched for by an encoding that holds it.
    X = np.asarray(pipeline.fit_transform(data.X, data.y), dtype=float)
    names = _feature_names(pipeline["prepare"])
    return X, names, LabelAudit(random_state=seed, n_jobs=-1).fit(X, data.y)


def _feature_names(prepare: ColumnTransformer) -> list[FeatureName]:
    """Return the name of each encoded feature.

    It is a column of numbers, (column, category), or, for a column of many categories,
    what they are encoded by: the share of a class.
    """
    names: list[FeatureName] = [str(name) for name in prepare.get_feature_names_out()]
    for kind, steps, columns in prepare.transformers_:
        if kind == "categories" and columns:
            names[prepare.output_indices_[kind]] = [
                (str(column), str(category))
                for column, categories in zip(columns, steps[-1].categories_, strict=True)
                for category in categories
            ]
        elif kind == "many categories" and columns:
            classes = steps[-2].classes_
            names[prepare.output_indices_[kind]] = [
                f"share of {label} by {column}"
                for column in columns
                for label in (classes[1:] if len(classes) == 2 else classes)
            ]
    return names


def _write_page(
    path: Path,
    title: str,
    data: TrainingTable,
    X: np.ndarray,
    names: list[FeatureName],
    audited: LabelAudit,
) -> None:
    from granulearn.audit.page import summarize_audit, write_audit_page

    rows = (data.rows + 1).tolist()
    write_audit_page(
        summarize_audit(audited, X, data.X, title=title, row_numbers=rows, names=names), path
    )


def _listing(data: TrainingTable, audited: LabelAudit) -> pd.DataFrame:
    """Return one row per sample, worst first, with the table's own columns after the verdict."""
    table = audited.to_frame()
    verdict = table.reset_index(drop=True)
    verdict.insert(0, "row", data.rows[table.index] + 1)
    cells = data.X.iloc[table.index].reset_index(drop=True)
    # Two columns of the file must not have one name.
    cells = cells.rename(columns={name: f"{name} (column)" for name in verdict.columns})
    return verdict.join(cells)


def _once(audited: LabelAudit, listing: pd.DataFrame) -> pd.DataFrame:
    """Return row and label where a label occurs once, in the order of the file."""
    labels = audited.given_[audited.alone_]
    return listing[listing["given"].isin(labels)].sort_values("row")[["row", "given"]]


def _facts(data: TrainingTable, audited: LabelAudit, listing: pd.DataFrame) -> dict[str, Any]:
    import numpy as np

    worst = listing[listing["flagged"]].head(SHOWN)
    return {
        "samples": len(data.y),
        "dropped_rows": data.dropped_rows,
        "flagged": int(audited.flagged_.sum()),
        "unknown": int(np.isnan(audited.reliability_).sum()),
        "occur_once": _once(audited, listing).to_dict("records"),
        "noise_rate": None if np.isnan(audited.noise_rate_) else audited.noise_rate_,
        "worst": worst[["row", "given", "suggested", "reliability"]].to_dict("records"),
    }


def _show(name: str, audited: LabelAudit, listing: pd.DataFrame) -> None:
    out, once = console(), _once(audited, listing)
    if math.isnan(audited.noise_rate_):
        out.print(bold(name), f": {len(listing)} labels, none of which can be rated", sep="")
    else:
        out.print(
            bold(name),
            f": {len(listing)} labels, {int(audited.flagged_.sum())} doubted; "
            f"about {100 * audited.noise_rate_:.1f} % wrong or ambiguous (estimate)",
            sep="",
        )
    if len(once):
        out.print(_about_labels_that_occur_once(once))
    out.print()
    worst = listing[listing["flagged"]].head(SHOWN)
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
