"""`granulearn audit`: find the labels of a table that are probably wrong, and why."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from typer import Context, Option

from granulearn.cli import options as opt
from granulearn.cli import output as out
from granulearn.cli.check import as_facts, short_messages, show_short
from granulearn.cli.exit_codes import UsageError
from granulearn.cli.verify import verify_labels
from granulearn.utils.text import counted, listed

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from granulearn.audit import LabelAudit
    from granulearn.audit.ratings import AuditSummary
    from granulearn.audit.table_audit import TableAudit
    from granulearn.review import Decision
    from granulearn.tables import ColumnOptions, TableFile, TableReport

SHOWN = 10
SHOWN_ISSUES = 5
SHOWN_ANNOTATORS = 20


@opt.takes_table
def audit(
    ctx: Context,
    table: opt.TableArgument,
    target: opt.TargetIfAnyOption = None,
    output: Annotated[
        Path | None, opt.output_option("CSV file to write, one row per label, worst first.")
    ] = None,
    report: Annotated[
        Path | None, Option(help="HTML page to write: doubtful labels and why.")
    ] = None,
    keep: opt.KeepOption = None,
    decisions: opt.DecisionsOption = None,
    sample: Annotated[
        int, Option(min=0, help="Rows to draw at random and list first, as a sample of all.")
    ] = 0,
    worst: Annotated[
        int, Option(min=1, help="Number of rows to list, for a table read in parts.")
    ] = 10_000,
    verify: Annotated[
        int, Option(min=0, help="Labels to ask for right here: half doubtful, half at random.")
    ] = 0,
    group: opt.GroupOption = None,
    times: opt.TimesOption = None,
    seed: opt.SeedOption = 0,
    dask: opt.DaskOption = None,
    json: opt.JsonOption = False,
    *,
    options: opt.LabelOptions,
) -> None:
    """Find labels that are probably wrong.

    Trees of a ball forest rate every label without having seen its row. Each label gets a
    verdict: wrong, suspect, outlier (unusual inputs), fine or unknown. The output has one row
    per row of the table, the most doubtful first: the number of the row and its line, the given
    and the predicted label, the verdict, the probability that the label is wrong, and all columns
    of the table (--keep copies some only). Rows without a label come last.

    Without verified labels the count is little more than a guess. --verify 20 asks for 20 labels
    here, one key each, and adds the answers to the file of --decisions, NAME.decisions.csv unless
    it is named. Or fill in the column "decision" (keep, change, exclude, unsure) of the output
    and pass the file as --decisions. The audit trusts labels that were kept or changed, learns
    from them, and counts by them; rows that --sample draws at random stand for all others.

    A directory, a file larger than a quarter of the memory, and any table with --dask is
    audited in parts by a Dask cluster, which is started here unless --dask names one. The output
    then lists the --worst rows, and a folder beside it, NAME.ratings, has the ratings of all rows
    as Parquet files.

    Example: granulearn audit train.csv --target label -o suspects.csv --report audit.html
    """
    from granulearn.tables.writing import write_table
    from granulearn.utils.files import written_atomically

    is_crowd = options.is_crowd(target, verify=verify)
    if target and target in (group, times):
        raise UsageError(f"{target!r} holds the labels and can be neither --group nor --times.")
    in_parts = dask is not None or opt.is_large(table)
    ratings = output.with_name(f"{output.stem}.ratings") if output and in_parts else None
    if in_parts:
        opt.refuse_in_parts(report=report, decisions=decisions, sample=sample, verify=verify)
        opt.refuse_in_parts(group=group, times=times, keep=keep, annotators=is_crowd)
        if ratings is not None and ratings.exists() and any(ratings.iterdir()):
            raise UsageError(f"{ratings} holds files already; remove it, or name another output.")
    elif sample and output is None:
        raise UsageError("--sample puts rows first in a file: name it with -o.")
    journal = opt.journal(table, decisions) if verify else None
    opt.check_output(output, *opt.CSV_ENDINGS, others=(table, decisions, journal))
    opt.check_output(report, others=(table, decisions, journal, output))
    with options.open(table) as file:
        _check_names(file, target, options.columns, keep=keep, group=group, times=times)
        if journal is not None:
            decisions = verify_labels(
                verify, table=table, target=target, decisions=journal, keep=keep or (),
                group=group, times=times, random_state=seed, options=options.columns,
                read_options=options.read_options,
            )  # fmt: skip
        with out.stage_progress(hidden=json) as progress:
            if in_parts:
                assert target is not None
                facts, checked, listing = _rate_parts(
                    file, target, options, dask, ratings, worst, seed, progress
                )
            else:
                done = _rate(file, target, options, decisions, group, times, seed, progress)
                facts, checked = _facts(done), done.table.report
                listing = done.listing(keep, sample) if output else None
            if output is not None:
                progress(f"writing {output.name}")
                with written_atomically(output) as temporary:
                    write_table(listing, temporary)
            if report is not None:
                from granulearn.cli.correct import correct
                from granulearn.cli.review import review
                from granulearn.review.audit_page import summarize_audit, write_audit_page

                progress(f"writing {report.name}")
                messages = [*map(out.in_flags, checked.warnings)]
                messages += short_messages(checked, file.location)
                # The commands of the page are for the folder of the table.
                journal = decisions and Path(os.path.relpath(decisions, table.parent))
                summary = summarize_audit(
                    done, table.name, messages, journal,
                    for_review=opt.given_to(ctx, review, table.parent),
                    for_correct=opt.given_to(ctx, correct, table.parent),
                )  # fmt: skip
                write_audit_page(summary, report)
        if json:
            out.print_json({**facts, "table": as_facts(checked, file.location)})
            return
        show_short(checked, file.location)
    _show(table.name, facts, is_listed=output is not None)
    out.print_saved(output, ratings, report)


def _rate(
    file: TableFile, target: str | None, options: opt.LabelOptions, decisions: Path | None,
    group: str | None, times: str | None, seed: int, progress: Callable[[str], None],
) -> TableAudit:  # fmt: skip
    """Rate a table in memory."""
    from granulearn.audit.table_audit import audit_table
    from granulearn.review import verified_by
    from granulearn.tables import read_training_table

    settings: dict[str, Any] = {"groups": group, "times": times, "random_state": seed}
    columns = options.columns
    columns = replace(columns, ignore=(*columns.ignore, *filter(None, [group])))
    progress(f"reading {file.path.name}")
    given = [] if decisions is None else _decisions(decisions)
    if target is None:
        return options.audit_crowd(file, columns, given, str(decisions), **settings)
    data = read_training_table(file, target, columns, keep_cells=True)
    progress(f"rating {len(data.y):,} labels")
    verified = verified_by(given, data, str(decisions))
    return audit_table(data, verified=verified, n_jobs=-1, **settings)


def _rate_parts(
    file: TableFile, target: str, options: opt.TableOptions, dask: str | None, ratings: Path | None,
    n_worst: int, seed: int, progress: Callable[[str], None],
) -> tuple[dict[str, Any], TableReport, pa.Table]:  # fmt: skip
    """Rate a table in parts; write the ratings of all rows to a folder, return the worst rows."""
    import pyarrow as pa

    from granulearn.dask.tables import audit_on_cluster

    with TemporaryDirectory() as nowhere, opt.cluster(dask, progress):
        folder = ratings or Path(nowhere, "ratings")
        done = audit_on_cluster(
            file, target, options.columns, folder, n_worst=n_worst, seed=seed, progress=progress
        )
    worst = done.worst.reset_index()
    facts = _common_facts(done.summary.n_labels, done.counts, done.summary, worst)
    return facts, done.report, pa.Table.from_pandas(worst, preserve_index=False)


def _check_names(
    file: TableFile, target: str | None, options: ColumnOptions, **named: list[str] | str | None
) -> None:
    """Refuse unknown columns of options, together with all else that is wrong with the names."""
    from granulearn.tables import TableError
    from granulearn.tables.inspection import no_column, problems_of_names
    from granulearn.tables.messages import Setting

    unknown = [
        no_column(name, file.names, Setting(option))
        for option, names in named.items()
        for name in ([names] if isinstance(names, str) else names or ())
        if name not in file.names
    ]
    if unknown:
        problems = problems_of_names(file.names, target, options)
        raise TableError.about(file.path, (*problems, *unknown))


def _decisions(decisions: Path) -> Sequence[Decision]:
    """Read decisions, and warn of those that verify nothing."""
    from granulearn.audit.verified import CHANGE, KEEP
    from granulearn.review import read_decisions

    given = read_decisions(decisions)
    n_open = sum(decision.decision not in (KEEP, CHANGE) for decision in given)
    if n_open:
        out.warn(
            f"{decisions}: {n_open} of {len(given)} decisions say exclude or unsure, which tell "
            "the audit nothing; rows drawn at random among them are missing in the count."
        )
    return given


def _common_facts(
    n_labels: int, counts: dict[Any, int], summary: AuditSummary, frame: pd.DataFrame
) -> dict[str, Any]:
    """Return what is known of every audit, for JSON and to be shown."""
    shown = ["row", "given_label", "predicted_label", "consensus_label", "error_probability",
             "label_quality", "n_annotations", "agreement"]  # fmt: skip
    shown = [name for name in shown if name in frame]
    return {
        "samples": n_labels,
        "verdicts": counts,
        "summary": summary.to_dict(),
        "worst": frame.loc[frame["is_label_issue"], shown].head(SHOWN).to_dict("records"),
    }


def _facts(done: TableAudit) -> dict[str, Any]:
    """Return what is known of an audit in memory."""
    from granulearn.audit.ratings import VERDICTS

    audited, rows = done.audit, done.table.rows + 1
    frame = audited.to_frame().assign(row=lambda verdicts: rows[verdicts.index])
    counts = frame["verdict"].value_counts().reindex(VERDICTS, fill_value=0).to_dict()
    once = zip(rows[audited.alone_], audited.given_label_[audited.alone_], strict=True)
    return (
        _common_facts(len(frame), counts, audited.summary(), frame)
        | {
            "dropped_rows": done.table.dropped_rows,
            "verified": audited.verified_.sum(),
            "without_label_quality": np.isnan(audited.label_quality_).sum(),
            "occur_once": [{"row": row, "given_label": label} for row, label in once],
            "expected_errors": audited.expected_errors(),
            "issues": [
                {
                    "kind": issue.kind,
                    "score": issue.score,
                    "message": issue.message,
                    "rows": rows[list(issue.rows)],
                }
                for issue in audited.issues_
            ],
        }
        | (_facts_of_annotators(audited, rows) if audited.consensus_record_ else {})
    )


def _facts_of_annotators(audited: LabelAudit, rows: np.ndarray) -> dict[str, Any]:
    """Return what is known of annotators, and who to ask next."""
    agreement, following = audited.agreement_, {}
    for by in ("annotator", "expert"):
        asked = audited.next_to_label(SHOWN, by)
        following[by] = asked.assign(row=rows[asked.index]).to_dict("records")
    return {
        "annotators": audited.annotators_.reset_index().to_dict("records"),
        "agreement": {"alpha": agreement.value, "low": agreement.low, "high": agreement.high},
        "input_weight": audited.input_weight_,
        "copies": audited.copies_.to_dict("records"),
        "next_to_label": following,
    }


def _show(name: str, facts: dict[str, Any], is_listed: bool) -> None:
    from granulearn.audit.ratings import PRIOR, SUSPECT, WRONG, about

    summary, verdicts, worst = facts["summary"], facts["verdicts"], facts["worst"]
    first, fits, _ = summary["message"].partition("fits.")  # advice follows below
    out.headline(name, first + fits)
    counts = [f"{count:,} {verdict}" for verdict, count in verdicts.items() if count]
    out.say("verdicts:", ", ".join(counts))
    once = [f"{str(o['given_label'])!r} (row {o['row']})" for o in facts.get("occur_once", ())]
    if once:
        count = "1 label occurs" if len(once) == 1 else f"{len(once)} labels occur"
        out.say(f"{count} once and cannot be rated; check first: {listed(once)}")
    if "annotators" in facts:
        _show_annotators(facts)
    elif summary["expected_errors"]:
        (n, first), *more = summary["expected_errors"].items()
        line = f"check the {n} most doubtful rows: expect about {about(first)} wrong"
        out.say(line + "".join(f"; of {n} about {about(found)}" for n, found in more))
    if summary["basis"] == PRIOR and "issues" in facts:
        out.say(
            "mistakes cannot be told from overlapping classes without checks: --verify 20 asks for "
            "ten doubtful labels and ten at random, right here"
        )
    issues = _with_outliers_joined(facts.get("issues", ()))
    for issue in issues[:SHOWN_ISSUES]:
        out.say(f"{issue['kind']}:", issue["message"])
    if len(issues) > SHOWN_ISSUES:
        out.say(f"and {len(issues) - SHOWN_ISSUES} more; --report shows them")
    out.say()
    if worst:
        names = ("row", "given_label", "predicted_label", "error_probability")
        if "annotators" in facts:
            names = ("row", "consensus_label", "n_annotations", "error_probability")
        rows = [(*(row[name] for name in names[:3]), f"{row[names[3]]:.2f}") for row in worst]
        n_suspects = verdicts[WRONG] + verdicts[SUSPECT]
        out.print_table(counted(n_suspects, "doubtful label"), names, rows)
        if n_suspects > len(worst):
            hint = "" if is_listed else ": -o FILE lists them"
            out.say(f"and {n_suspects - len(worst):,} more{hint}")


def _with_outliers_joined(issues: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return issues with one in the place of all outliers, if there are several."""
    from granulearn.audit.outliers import OUTLIER

    outliers = [issue for issue in issues if issue["kind"] == OUTLIER]
    if len(outliers) < 2:
        return list(issues)
    rows = listed([str(row) for issue in outliers for row in issue["rows"]])
    message = f"rows {rows} are far from all others; check their inputs before their labels"
    joined = outliers[0] | {"message": message}
    return [joined if i is outliers[0] else i for i in issues if i not in outliers[1:]]


def _show_annotators(facts: dict[str, Any]) -> None:
    """Print the annotators, and the rows to have labelled next."""
    alpha = facts["agreement"]
    agree = f"agreement of annotators: alpha {alpha['alpha']:.2f}"
    says = "say nothing" if facts["input_weight"] == 0 else "count as a witness"
    out.say(f"{agree} ({alpha['low']:.2f} to {alpha['high']:.2f}); the inputs {says}")
    rows = [
        (
            one["annotator"], one["n_labels"],
            f"{one['accuracy']:.2f} ({one['accuracy_low']:.2f} to {one['accuracy_high']:.2f})",
            f"{one['information']:.2f}", f"{one['agreement']:.2f}",
            f"{one['cost_of_leaving_out']:.1f}",
        )
        for one in sorted(facts["annotators"], key=lambda one: -one["n_labels"])[:SHOWN_ANNOTATORS]
    ]  # fmt: skip
    headers = ("", "labels", "accuracy", "information", "agreement", "labels lost without")
    out.print_table(counted(len(facts["annotators"]), "annotator"), headers, rows)
    for by, whom in (("annotator", "one more annotator"), ("expert", "an expert")):
        asked = ", ".join(str(one["row"]) for one in facts["next_to_label"][by])
        out.say(f"ask {whom} about rows {asked}")
