"""`granulearn balls`: see a table's balls, and how far each is trusted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from granulearn._extras import check_installed
from granulearn.cli import options as opt
from granulearn.cli import output as out
from granulearn.cli.check import as_facts, show_short
from granulearn.utils.text import counted

if TYPE_CHECKING:
    import pandas as pd

    from granulearn.balls import BallSet
    from granulearn.tables import TrainingTable

SHOWN_AT_EACH_END = 5


def _membership_names() -> list[str]:
    from granulearn.balls import membership_names

    return [name for name in membership_names() if name != "precomputed"]  # no table has these


def _generator_names() -> list[str]:
    from granulearn.balls.generators import generator_names

    return generator_names()


@opt.takes_table
def balls(
    table: opt.TableArgument,
    target: opt.TargetOption,
    output: Annotated[
        Path | None, opt.output_option("CSV file to write, one row per ball.")
    ] = None,
    plot: Annotated[Path | None, Option(help="Picture to write (png, pdf, svg).")] = None,
    generator: Annotated[
        str,
        Option(help="Generator; an unknown name lists all.", **opt.one_of(_generator_names)),
    ] = "two-means",
    purity: Annotated[
        float,
        Option(
            min=0.01, max=1.0, help="Balls of lower purity are split, if the generator does so."
        ),
    ] = 0.985,
    membership: Annotated[
        str,
        Option(help="Membership; an unknown name lists all.", **opt.one_of(_membership_names)),
    ] = "sdap",
    seed: opt.SeedOption = 0,
    json: opt.JsonOption = False,
    *,
    options: opt.TableOptions,
) -> None:
    """List the granular balls of a table: sizes, purities, memberships.

    The output has one row per ball, the highest membership first: its label, size,
    purity, membership, the number of its first row, and the mean (of numbers) or
    most frequent value (of categories) of every column.

    Example: granulearn balls train.csv --target label --plot balls.png -o balls.csv
    """
    import numpy as np
    import pyarrow as pa

    from granulearn.balls import generate_balls, resolve_membership
    from granulearn.preprocess import TablePreprocessor
    from granulearn.tables import read_training_table
    from granulearn.tables.writing import write_table
    from granulearn.utils.files import written_atomically

    opt.check_output(output, *opt.CSV_ENDINGS, others=[table])
    opt.check_output(plot, ".png", ".pdf", ".svg", others=(table, output))
    if plot is not None:
        check_installed("matplotlib")
    with options.open(table) as file:
        with out.stage_progress(hidden=json) as progress:
            progress(f"reading {table.name}")
            data = read_training_table(file, target, options.columns)
            progress(f"making and rating balls of {len(data.y)} rows")
            X = TablePreprocessor(data.schema.feature_types).fit_transform(data.typed.cells, data.y)
            found = generate_balls(X, data.y, balls=generator, purity=purity, random_state=seed)
            codes = np.searchsorted(found.classes, data.y)
            rated = resolve_membership(membership)(found, X, codes)
            progress(f"describing {counted(len(found), 'ball')}")
            listing = ball_listing(data, found, rated)
            if plot is not None:
                progress(f"drawing {plot.name}")
                with written_atomically(plot) as temporary:
                    _draw(temporary, found, X, data.y, rated)
            if output is not None:
                with written_atomically(output) as temporary:
                    write_table(pa.Table.from_pandas(listing, preserve_index=False), temporary)
        facts = _summary(found, rated)
        if json:
            about = {
                "dropped_rows": data.dropped_rows,
                "table": as_facts(data.report, file.location),
            }
            out.print_json({**facts, **about})
            return
        show_short(data.report, file.location)
    _show(table.name, facts, listing)
    out.print_saved(plot, output)


def ball_listing(table: TrainingTable, balls: BallSet, membership: Any) -> pd.DataFrame:
    """Return one row per ball, the most trusted first, in the units of the table.

    ``first_row`` is the number, from 1, of the ball's first row in the file.
    """
    import numpy as np
    import pandas as pd

    _, first = np.unique(balls.assignment, return_index=True)
    columns: dict[str, Any] = {
        "ball": np.arange(len(balls)),
        "label": balls.classes[balls.labels],
        "samples": balls.counts,
        "purity": balls.purities,
        "radius": balls.radii,
        "membership": membership,
        "first_row": table.rows[first] + 1,
    }
    for name, cells in table.X.items():
        typical = "mean" if cells.dtype.kind == "f" else _most_frequent
        columns[f"typical_{name}"] = cells.groupby(balls.assignment).agg(typical).to_numpy()
    # Among equally trusted balls, the larger one says more.
    return pd.DataFrame(columns).sort_values(
        ["membership", "samples", "ball"], ascending=[False, False, True], ignore_index=True
    )


def _most_frequent(cells: pd.Series) -> Any:
    return next(iter(cells.astype(object).value_counts().index), None)


def _summary(balls: BallSet, membership: Any) -> dict[str, Any]:
    counts, labels = balls.counts, balls.labels
    return {
        "balls": len(balls),
        "samples": len(balls.assignment),
        "balls_of_one_sample": (counts == 1).sum(),
        "largest": counts.max(),
        "mean_purity": balls.purities.mean(),
        "mean_membership": membership.mean(),
        "balls_by_class": {name: (labels == code).sum() for code, name in enumerate(balls.classes)},
    }


def _draw(path: Path, balls: BallSet, X: Any, y: Any, membership: Any) -> None:
    from matplotlib.figure import Figure

    from granulearn.bench import plot_balls

    figure = Figure(figsize=(7.5, 5.5), layout="constrained")
    plot_balls(balls, X, y, color=membership, ax=figure.subplots())
    figure.savefig(path, dpi=150)


def _show(name: str, facts: dict[str, Any], listing: pd.DataFrame) -> None:
    out.headline(
        name,
        f"{counted(facts['balls'], 'ball')} of {counted(facts['samples'], 'sample')}; "
        f"{facts['balls_of_one_sample']} of one sample, largest {facts['largest']}\n"
        f"mean purity {facts['mean_purity']:.3f}, mean membership {facts['mean_membership']:.3f}\n",
    )
    n_shown = min(SHOWN_AT_EACH_END, len(listing))
    names = ["ball", "label", "samples", "purity", "membership", "first_row"]
    shown = listing[names].map(lambda cell: f"{cell:.3f}" if isinstance(cell, float) else cell)
    for which, part in (("most", shown.head(n_shown)), ("least", shown.tail(n_shown))):
        title = f"the {counted(n_shown, f'{which} trusted ball')}"
        out.print_table(title, [*names[:5], "first row"], part.itertuples(index=False))
