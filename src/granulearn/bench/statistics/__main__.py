"""Print the paper's own statistics from its tables, or those of any table.

``python -m granulearn.bench.statistics`` prints the paper's;
``python -m granulearn.bench.statistics results.csv`` prints those of a CSV file with
one row per data set, its first column the name, the others one model each.
"""

import argparse
import sys
from pathlib import Path

import pandas as pd

from granulearn.bench.statistics.comparison import compare
from granulearn.bench.statistics.description import describe
from granulearn.bench.statistics.paper_tables import (
    paper_accuracy_table,
    paper_noise_table,
    printed_noise_averages,
)


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status.

    Parameters
    ----------
    arguments : list of str, default=None
        The words after the command; those of the process if None.

    Returns
    -------
    int
        0, or 2 if the table cannot be read or compared.
    """
    options = _parser().parse_args(arguments)
    try:
        text = _own_table(options) if options.table else _paper(options)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201 (this is the command's output)
        return 2
    print(text)  # noqa: T201 (this is the command's output)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m granulearn.bench.statistics",
        description="Compare models over data sets. Without a table: the paper's own.",
    )
    parser.add_argument("table", nargs="?", type=Path, help="CSV file, one row per data set")
    parser.add_argument(
        "--index", nargs="+", metavar="COLUMN", help="columns that name a row (default: the first)"
    )
    parser.add_argument("--alpha", type=float, default=0.05, help="level of the tests (0.05)")
    parser.add_argument("--lower-is-better", action="store_true", help="for errors and times")
    parser.add_argument(
        "--missing",
        choices=["error", "drop"],
        default="error",
        help="a set without all scores: stop, or leave it out (default: error)",
    )
    return parser


def _paper(options: argparse.Namespace) -> str:
    accuracy, noise = paper_accuracy_table(), paper_noise_table()
    averages = pd.DataFrame({"as printed": printed_noise_averages(), "exact": noise.mean()})
    return "\n".join(
        [
            f"The paper's Table 1: accuracy on {len(accuracy)} data sets",
            "",
            describe(compare(accuracy, alpha=options.alpha)),
            "",
            f"The paper's Table S.1: mean accuracy under label noise, {len(noise)} rows",
            "(as printed: the mean of the five sets' averages, each rounded first)",
            "",
            averages.to_string(float_format="{:.2f}".format),
        ]
    )


def _own_table(options: argparse.Namespace) -> str:
    table = _read(options.table, options.index)
    result = compare(
        table,
        alpha=options.alpha,
        higher_is_better=not options.lower_is_better,
        missing=options.missing,
    )
    title = f"{options.table.name}: {table.shape[1]} models on {len(result.sets)} data sets"
    return f"{title}\n\n{describe(result)}"


def _read(path: Path, index: list[str] | None) -> pd.DataFrame:
    try:
        table = pd.read_csv(path)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is no readable CSV table: {error}") from error
    names = index or list(table.columns[:1])
    unknown = [name for name in names if name not in table.columns]
    if unknown:
        raise ValueError(f"{path} has no column {unknown[0]!r}; it has {list(table.columns)}.")
    return table.set_index(names if len(names) > 1 else names[0])


if __name__ == "__main__":
    sys.exit(main())
