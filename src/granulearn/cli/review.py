"""`granulearn review`: go through the doubtful labels of a table on a page of this machine."""

import secrets
import shlex
import webbrowser
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Annotated, Any

from typer import Context, Option

from granulearn.cli import options as opt
from granulearn.cli import output as out
from granulearn.cli.check import show_warnings
from granulearn.cli.exit_codes import UsageError
from granulearn.utils.text import counted, listed, quoted


@opt.takes_table
def review(
    ctx: Context,
    table: opt.TableArgument,
    target: opt.TargetIfAnyOption = None,
    keep: opt.KeepOption = None,
    decisions: opt.JournalOption = None,
    who: Annotated[str | None, Option(help="Who decides; default: the name of the user.")] = None,
    port: Annotated[
        int, Option(min=0, max=65535, help="Port to serve at; 0 takes a free one.")
    ] = 0,
    browser: Annotated[
        bool, Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
    group: opt.GroupOption = None,
    times: opt.TimesOption = None,
    seed: opt.SeedOption = 0,
    anonymous: Annotated[
        bool, Option("--anonymous", help="Show annotators by number.", **opt.CROWD)
    ] = False,
    *,
    options: opt.LabelOptions,
) -> None:
    """Go through doubtful labels, one key press each, and correct them.

    The page is served on this machine only, at a random address, until you press Ctrl-C. Each
    decision is in the decisions file before the page confirms it; the table is never changed.
    `granulearn correct` writes the corrected table, `granulearn fit --decisions` learns from it.

    With --annotators, a card shows all labels of its row and how accurate each annotator is, and
    decisions are about their consensus; --anonymous hides the names.

    Example: granulearn review train.csv --target label --keep name
    """
    from granulearn.review import Review
    from granulearn.review.server import bound_socket, make_server

    is_crowd = options.is_crowd(target)
    if anonymous and not is_crowd:
        raise UsageError("--anonymous hides the names of annotators; name them by --annotators.")
    opt.check_is_one_file(table)
    with bound_socket(port) as listening:
        with out.stage_progress() as progress:
            progress(f"rating the labels of {table.name}")
            labels: Any = options.annotators
            columns = options.columns
            if options.annotations is not None:
                with options.open(table) as file:
                    labels, _, columns = options.annotations_in(file, columns)
            opened = Review(
                table, target, annotations=labels, anonymous=anonymous, keep=keep or (),
                decisions=decisions, who=who, options=columns, read_options=options.read_options,
                group=group, times=times, random_state=seed, background=True,
            )  # fmt: skip
        with opened:
            token = secrets.token_urlsafe(16)
            address = f"http://127.0.0.1:{listening.getsockname()[1]}/{token}/"
            _show_start(table, opened, address)
            if browser:
                # In a thread: a browser of the terminal returns when it is closed.
                Thread(target=webbrowser.open, args=(address,), daemon=True).start()
            with suppress(KeyboardInterrupt):  # which is how a review ends
                make_server(opened, listening, token).run(sockets=[listening])
            from granulearn.cli.correct import correct

            _show_end(table, opened, opt.given_to(ctx, correct))


def _show_start(table: Path, opened: Any, address: str) -> None:
    data, source = opened.table.data, opened.source
    show_warnings(data.report)
    if opened.stale:
        rows = listed([str(row) for row in opened.stale])
        out.note(
            f"labels were edited since they were decided on (row {rows}); they are open again."
        )
    if opened.new_classes:
        out.note(
            f"rows were changed to {listed(list(map(quoted, opened.new_classes)))}, which no row "
            "is; `granulearn correct` writes such labels, the audit learns nothing of these rows."
        )
    if opened.journal.dropped:
        cut = f"{source} ended in the middle of a line, which was left out"
        out.note(f"{cut}; {opened.journal.copy} is a copy with it.")
    out.headline(table.name, f"{counted(len(data.rows), 'label')}")
    n_before = opened.summary().n_decided
    going_on = f"{counted(n_before, 'decision')} in {source}: going on from there"
    out.say(going_on if n_before else f"decisions go to {source}")
    out.say("open", out.bold(address))
    out.say("press Ctrl-C to end the review; everything decided is saved")


def _show_end(table: Path, opened: Any, flags: list[str]) -> None:
    from granulearn.review.journal import clean_name

    numbers = opened.summary()
    if not numbers.n_decided:
        out.say("\nnothing was decided")
        return
    counts = ", ".join(f"{n} {kind}" for kind, n in numbers.counts.items())
    out.say()
    out.headline(opened.source, f"{counted(numbers.n_decided, 'decision')} ({counts})")
    if numbers.counts.get("change") or numbers.counts.get("exclude"):
        clean = table.with_name(clean_name(table.name))
        command = ["granulearn", "correct", table, *flags, "--decisions", opened.source]
        command += ["-o", clean]
        out.say("next:", shlex.join(map(str, command)))
