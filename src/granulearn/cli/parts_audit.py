"""`granulearn audit` of a table in parts: rated on a Dask cluster, the worst rows listed."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from granulearn.cli.exit_codes import UsageError
from granulearn.cli.options import (
    CSV_ENDINGS,
    check_can_be_written,
    check_not_an_input,
    cluster,
)
from granulearn.cli.output import bold, console, print_json, stage_progress

if TYPE_CHECKING:
    from granulearn.cli.table_options import AskedTable
    from granulearn.training.cluster_audit import PartsAudit


def audit_in_parts(
    table: Path,
    target: str,
    output: Path | None,
    given: dict[str, Any],
    n_worst: int,
    seed: int,
    dask: str | None,
    json: bool,
    asked: AskedTable,
) -> None:
    """Rate the labels of a table that is not read as a whole.

    Parameters
    ----------
    table : Path
        The table.
    target : str
        The column of labels.
    output : Path or None
        CSV file of the most doubtful rows; ratings of all rows go to a folder beside it.
    given : dict
        Options that need all rows at once, by name; None where they were left out.
    n_worst : int
        Rows to list.
    seed : int
        Seed of the audit.
    dask : str or None
        The cluster, as given.
    json : bool
        Whether to print JSON.
    asked : AskedTable
        What the user says about file and columns.
    """
    needs_all = [f"--{name}" for name, value in given.items() if value]
    if needs_all:
        raise UsageError(
            f"{', '.join(needs_all)} needs the whole table in memory, and this one is read in "
            "parts; leave it out, or audit a sample of the rows."
        )
    check_not_an_input(output, table)
    check_can_be_written(output, *CSV_ENDINGS)
    with TemporaryDirectory() as nowhere:
        ratings = Path(nowhere, "ratings") if output is None else ratings_beside(output)
        if output is not None and ratings.exists() and any(ratings.iterdir()):
            raise UsageError(f"{ratings} holds files already; remove it, or name another output.")
        _audit(table, target, output, ratings, n_worst, seed, dask, json, asked)


def ratings_beside(output: Path) -> Path:
    """Return the folder for the ratings of all rows, beside the list of the worst."""
    return output.with_name(f"{output.stem}.ratings")


def _audit(table, target, output, ratings, n_worst, seed, dask, json, asked) -> None:
    from granulearn.cli.audit import SHOWN, show_verdicts, show_worst
    from granulearn.cli.table_report import show_short
    from granulearn.training.cluster_audit import audit_on_cluster

    with asked.open(table) as file:
        with stage_progress(hidden=json) as tell:
            tell("starting the cluster" if dask in (None, "local") else "connecting")
            with cluster(dask or "local"):
                done = audit_on_cluster(
                    file,
                    target,
                    asked.options,
                    ratings,
                    n_worst=n_worst,
                    seed=seed,
                    tell=tell,
                )
            if output is not None:
                tell(f"writing {output.name}")
                _write(output, done)
        if json:
            print_json(_facts(done, file.place))
            return
        show_short(done.report, file.place)
    show_verdicts(table.name, done.n_labels, done.noise, done.counts)
    console().print()
    worst = done.worst[done.worst["flagged"]].head(SHOWN).reset_index()
    show_worst(worst[["row", "given", "suggested", "reliability"]])
    if output is not None:
        console().print("saved", bold(output), "and", bold(ratings))


def _write(output: Path, done: PartsAudit) -> None:
    import pyarrow as pa

    from granulearn.tables.writing import write_csv
    from granulearn.utils.files import written_atomically

    listing = pa.Table.from_pandas(done.worst.reset_index(), preserve_index=False)
    with written_atomically(output) as draft:
        write_csv(listing.to_batches(), draft, listing.column_names)


def _facts(done: PartsAudit, place) -> dict[str, Any]:
    from granulearn.cli.audit import SHOWN, facts_of_noise
    from granulearn.cli.table_facts import as_facts

    worst = done.worst[done.worst["flagged"]].head(SHOWN).reset_index()
    shown = ["row", "given", "suggested", "wrong_probability", "reliability"]
    return {
        "samples": done.n_labels,
        "verdicts": done.counts,
        "noise": facts_of_noise(done.noise),
        "worst": worst[shown].to_dict("records"),
        "table": as_facts(done.report, place),
    }
