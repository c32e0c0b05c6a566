"""`granulearn decisions`: what several people decided, joined to one file."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from granulearn.cli import options as opt
from granulearn.cli import output as out
from granulearn.utils.text import counted

SHOWN = 20

decisions = typer.Typer(add_completion=False, rich_markup_mode="markdown", no_args_is_help=True)


@decisions.callback()
def about_decisions() -> None:
    """Merge the decisions of several people about one table.

    Example: granulearn decisions merge ann.csv ben.csv -o both.csv
    """


@decisions.command()
def merge(
    files: Annotated[list[Path], typer.Argument(help="Files of decisions about one table.")],
    output: Annotated[Path, opt.output_option("File of decisions to write.")],
    prefer: Annotated[
        Literal["latest"] | None, typer.Option(help="Which of different decisions counts.")
    ] = None,
    json: opt.JsonOption = False,
) -> None:
    """Merge files of decisions; list where people disagree.

    Files are journals of reviews, or lists of `granulearn audit -o` with the column
    "decision" filled in. A decision outranks unsure. Rows with different
    decisions are listed and left out, so that a review with the new file asks for them again;
    with --prefer latest, the latest decision counts.

    Example: granulearn decisions merge ann.csv ben.csv -o both.csv
    """
    from granulearn.review import read_decisions
    from granulearn.review.decisions import journal_text
    from granulearn.review.merging import merge_decisions
    from granulearn.utils.files import written_atomically

    opt.check_output(output, *opt.CSV_ENDINGS, others=files)
    read = [(str(path), read_decisions(path)) for path in files]
    merged = merge_decisions(read, prefer_latest=prefer is not None)
    with written_atomically(output) as temporary:
        temporary.write_text(journal_text(merged.decisions), encoding="utf-8", newline="\n")
    facts = _facts(output, read, merged)
    if json:
        out.print_json(facts)
        return
    for name, own in read:
        who = ", ".join(sorted({d.who for d in own if d.who}))
        out.headline(name, counted(len(own), "decision") + (f" by {who}" if who else ""))
    for agreement in facts["agreement"][:SHOWN]:
        pair = len(agreement["files"]) < len(read)
        out.say(f"{' and '.join(agreement['files'])}: " * pair + agreement["message"])
    if len(facts["agreement"]) > SHOWN:
        out.say(f"and {len(facts['agreement']) - SHOWN} more pairs; --json has them all")
    joined, open_rows = counted(facts["joined"], "decision"), counted(len(merged.conflicts), "row")
    out.say(f"joined: {joined}, {open_rows} in conflict")
    if merged.conflicts:
        _show_conflicts(facts["conflicts"], list(dict.fromkeys(name for name, _ in read)))
        if prefer is None:
            out.say("a review with the new file asks for them; --prefer latest takes the latest")
        else:
            out.say("which is the latest cannot be told there: no time, or the same one")
    out.print_saved(output)


def _facts(output: Path, read: list[tuple[str, list]], merged: Any) -> dict[str, Any]:
    conflicts = []
    for conflict in merged.conflicts:
        decided = [
            {"file": name, "who": d.who, "decision": d.decision, "new_label": d.new_label}
            for name, d in conflict.decisions.items()
        ]
        conflicts.append(
            {"row": conflict.row, "given_label": conflict.given_label, "decisions": decided}
        )
    return {
        "file": str(output),
        "files": [{"file": name, "decisions": len(own)} for name, own in read],
        "joined": len(merged.decisions),
        "conflicts": conflicts,
        "agreement": [
            {
                **{name: getattr(one, name) for name in ("files", "rows", "same")},
                one.name: one.value,
                **{name: getattr(one, name) for name in ("low", "high", "message")},
            }
            for one in merged.agreements
        ],
    }


def _show_conflicts(conflicts: list[dict[str, Any]], names: list[str]) -> None:
    rows = []
    for conflict in conflicts[:SHOWN]:
        cells = dict.fromkeys(names, "")
        for one in conflict["decisions"]:
            label, who = one["new_label"], one["who"]
            cell = f"change to {label}" if label else one["decision"]
            cells[one["file"]] = f"{cell} ({who})" if who else cell
        rows.append((conflict["row"], conflict["given_label"], *cells.values()))
    out.print_table("rows in conflict, left out", ("row", "given_label", *names), rows)
    if len(conflicts) > SHOWN:
        out.say(f"and {len(conflicts) - SHOWN} more; --json has them all")
