"""`granulearn decisions`: what several people decided, joined to one file."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from granulearn._words import counted
from granulearn.cli.options import (
    CSV_ENDINGS,
    check_can_be_written,
    check_not_an_input,
    output_option,
)
from granulearn.cli.output import JsonOption, bold, console, print_json, table

if TYPE_CHECKING:
    from granulearn.review import Decision
    from granulearn.review.merging import Conflict, Merged

SHOWN_CONFLICTS = 20

decisions = typer.Typer(add_completion=False, rich_markup_mode="rich", no_args_is_help=True)


class Preference(StrEnum):
    """Which of different decisions counts."""

    LATEST = "latest"


@decisions.callback()
def about_decisions() -> None:
    """Join what several people decided about the labels of a table.

    Example: granulearn decisions merge ann.csv ben.csv -o both.csv
    """


@decisions.command()
def merge(
    files: Annotated[
        list[Path],
        typer.Argument(help="Files of decisions about one table.", show_default=False),
    ],
    output: Annotated[Path, output_option("File of decisions to write.")],
    prefer: Annotated[
        Preference | None,
        typer.Option("--prefer", help="Which of different decisions counts.", show_default=False),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Join files of decisions; list where people disagree.

    Files are journals of reviews, or lists of `granulearn audit -o` with the column
    "decision" filled in. Who is unsure gives way to who is not. Rows with different
    decisions are listed and left out, so that a review with the new file asks for them again;
    with --prefer latest, the latest decision counts.

    Example: granulearn decisions merge ann.csv ben.csv -o both.csv
    """
    from granulearn.review import read_decisions
    from granulearn.review.journal import journal_text
    from granulearn.review.merging import merge_decisions
    from granulearn.utils.files import written_atomically

    check_not_an_input(output, *files)
    check_can_be_written(output, *CSV_ENDINGS)
    read = [(str(path), read_decisions(path)) for path in files]
    merged = merge_decisions(read, prefer_latest=prefer is Preference.LATEST)
    with written_atomically(output) as draft:
        draft.write_text(journal_text(merged.decisions), encoding="utf-8", newline="\n")
    if json:
        print_json({"file": str(output), **_facts(read, merged)})
        return
    _show(read, merged, preferred=prefer is not None)
    console().print("saved", bold(output))


def _facts(read: Sequence[tuple[str, list[Decision]]], merged: Merged) -> dict[str, Any]:
    return {
        "files": [{"file": name, "decisions": len(said)} for name, said in read],
        "joined": len(merged.decisions),
        "conflicts": [
            {
                "row": conflict.row,
                "given": conflict.given,
                "said": [
                    {"file": name, "who": d.who, "decision": d.decision, "new_label": d.label}
                    for name, d in conflict.said.items()
                ],
            }
            for conflict in merged.conflicts
        ],
        "agreement": [
            {
                "files": [agreement.first, agreement.second],
                "rows": agreement.rows,
                "same": agreement.same,
                "kappa": agreement.kappa,
                "words": agreement.words,
            }
            for agreement in merged.agreements
        ],
    }


def _show(read: Sequence[tuple[str, list[Decision]]], merged: Merged, *, preferred: bool) -> None:
    out = console()
    for name, said in read:
        out.print(bold(name), f": {counted(len(said), 'decision')}{_by(said)}", sep="")
    for agreement in merged.agreements:
        pair = "" if len(read) == 2 else f"{agreement.first} and {agreement.second}: "
        out.print(f"{pair}{agreement.words}")
    open_rows = counted(len(merged.conflicts), "row")
    out.print(f"joined: {counted(len(merged.decisions), 'decision')}, {open_rows} in conflict")
    if merged.conflicts:
        out.print(_listed(merged.conflicts, [name for name, _ in read]))
        hidden = len(merged.conflicts) - SHOWN_CONFLICTS
        if hidden > 0:
            out.print(f"and {hidden} more; --json has them all")
        out.print(_what_to_do(preferred=preferred))


def _by(said: Sequence[Decision]) -> str:
    """Return who decided, if the file says."""
    people = sorted({d.who for d in said if d.who})
    return f" by {', '.join(people)}" if people else ""


def _listed(conflicts: Sequence[Conflict], names: list[str]) -> Any:
    columns = list(dict.fromkeys(names))
    grid = table("rows in conflict, left out", "row", "given", *columns)
    for conflict in conflicts[:SHOWN_CONFLICTS]:
        said = [_in_words(conflict.said.get(name)) for name in columns]
        grid.add_row(str(conflict.row), conflict.given, *said)
    return grid


def _in_words(decision: Decision | None) -> str:
    if decision is None:
        return ""
    said = f"change to {decision.label}" if decision.label else decision.decision
    return f"{said} ({decision.who})" if decision.who else said


def _what_to_do(*, preferred: bool) -> str:
    if preferred:
        return "which is the latest cannot be told there: no time, or the same one"
    return "a review with the new file asks for them again; --prefer latest takes the latest"
