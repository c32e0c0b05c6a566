"""`granulearn balls`: see what a table's balls are, and how far each is trusted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from granulearn._extras import check_installed
from granulearn._words import counted
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
    console,
    print_json,
    stage_progress,
)
from granulearn.cli.output import table as new_table
from granulearn.cli.table_options import AskedTable, takes_table_options

if TYPE_CHECKING:
    import pandas as pd

    from granulearn.cli.ball_table import RatedBalls

SHOWN_AT_EACH_END = 5


def _scheme_names(incomplete: str = "") -> list[str]:
    from granulearn.memberships import membership_names

    # The rest comes from the table; memberships that samples were given do not.
    return [name for name in membership_names() if name != "given" and name.startswith(incomplete)]


def _check_scheme(name: str) -> str:
    if name not in _scheme_names():
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(_scheme_names())}.")
    return name


def _maker_names(incomplete: str = "") -> list[str]:
    from granulearn.balls import maker_names

    return [name for name in maker_names() if name.startswith(incomplete)]


def _check_maker(name: str) -> str:
    if name not in _maker_names():
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(_maker_names())}.")
    return name


@takes_table_options
def balls(
    table: TableArgument,
    target: TargetOption,
    output: Annotated[Path | None, output_option("CSV file to write, one row per ball.")] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Picture to write (png, pdf, svg).")
    ] = None,
    maker: Annotated[
        str,
        typer.Option(
            "--maker",
            callback=_check_maker,
            autocompletion=_maker_names,
            help="How balls are made; an unknown name lists those there are.",
        ),
    ] = "two-means",
    purity: Annotated[
        float,
        typer.Option(
            "--purity", min=0.01, max=1.0, help="Balls below it are split, by makers that ask."
        ),
    ] = 0.985,
    membership: Annotated[
        str,
        typer.Option(
            "--membership",
            callback=_check_scheme,
            autocompletion=_scheme_names,
            help="How balls are rated; an unknown name lists those there are.",
        ),
    ] = "sdap",
    seed: SeedOption = 0,
    json: JsonOption = False,
    *,
    asked: AskedTable,
) -> None:
    """See the balls of a table: sizes, purities, memberships, the most and least trusted.

    The file has one row per ball, the most trusted first: its label, size,
    purity, membership, the number of its first row, and the mean (of numbers) or
    most frequent value (of categories) of every column.

    Example: granulearn balls train.csv --target label --plot balls.png -o balls.csv
    """
    from granulearn.cli.ball_table import make_rated_balls
    from granulearn.cli.table_facts import as_facts
    from granulearn.cli.table_report import show_short
    from granulearn.tables import read_training_table
    from granulearn.tables.writing import write_frame
    from granulearn.utils.files import written_atomically

    for written in (output, plot):
        check_not_an_input(written, table)
    check_outputs_differ(output, plot)
    check_can_be_written(output, *CSV_ENDINGS)
    check_can_be_written(plot, ".png", ".pdf", ".svg")
    if plot is not None:
        check_installed("matplotlib")
    with asked.open(table) as file:
        with stage_progress(hidden=json) as tell:
            tell(f"reading {table.name}")
            data = read_training_table(file, target, asked.options)
            tell(f"making balls of {len(data.y)} rows and rating them")
            rated = make_rated_balls(
                data, maker=maker, purity=purity, membership=membership, seed=seed
            )
            tell(f"describing {counted(len(rated.balls), 'ball')}")
            listing = rated.listing()
            if plot is not None:
                tell(f"drawing {plot.name}")
                with written_atomically(plot) as draft:
                    rated.draw(draft)
            if output is not None:
                with written_atomically(output) as draft:
                    write_frame(listing, draft)
        if json:
            facts = {"dropped_rows": data.dropped_rows, "table": as_facts(data.report, file.place)}
            print_json({**rated.summary(), **facts})
            return
        show_short(data.report, file.place)
    _show(rated, listing, table.name)
    for written in (plot, output):
        if written is not None:
            console().print("saved", bold(written))


def _show(rated: RatedBalls, listing: pd.DataFrame, name: str) -> None:
    out, facts = console(), rated.summary()
    out.print(
        bold(name),
        f": {counted(facts['balls'], 'ball')} of {counted(facts['samples'], 'sample')}; "
        f"{facts['balls_of_one_sample']} of one sample, largest {facts['largest']}\n"
        f"mean purity {facts['mean_purity']:.3f}, mean membership {facts['mean_membership']:.3f}\n",
        sep="",
    )
    n_shown = min(SHOWN_AT_EACH_END, len(listing))
    for title, part in (
        (f"the {counted(n_shown, 'most trusted ball')}", listing.head(n_shown)),
        (f"the {counted(n_shown, 'least trusted ball')}", listing.tail(n_shown)),
    ):
        grid = new_table(title, "ball", "label", "samples", "purity", "membership", "first row")
        for row in part.itertuples():
            grid.add_row(
                str(row.ball),
                str(row.label),
                str(row.samples),
                f"{row.purity:.3f}",
                f"{row.membership:.3f}",
                str(row.first_row),
            )
        out.print(grid)
