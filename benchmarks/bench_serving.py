"""How fast a loaded model answers: single rows, 10,000 rows, start-up, export.

    python benchmarks/load_test.py 100000 > out/load_test.txt
    python benchmarks/soak.py 10 > out/soak.txt
    GRANULEARN_DATA=DIRECTORY python benchmarks/bench_serving.py docs/results/serving_speed.md

Times are of the processor, since other programs may run meanwhile. Linear algebra has one thread:
others wait for their next work without a pause, which would count. The page takes over what the
first two commands printed; if they were not run, what it said before. Without the data directory
there are fewer tables.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from threadpoolctl import threadpool_limits

from granulearn import TableClassifier
from granulearn.datasets import load
from granulearn.models import LoadedModel, load_model
from granulearn.models.row_reading import RowReading
from granulearn.tables import table_of

OUT = Path("out")
BASE = "import pandas, sklearn"
DATA = Path(os.environ.get("GRANULEARN_DATA", Path(__file__).parents[2] / "shared" / "data"))
N_ROWS, TRAINING_ROWS = 10_000, 2_000


class Table(NamedTuple):
    """What a model learns from, and what it is asked."""

    name: str
    X: pd.DataFrame
    y: np.ndarray
    many: pd.DataFrame


def main() -> None:
    """Measure, and write the page."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        rows = [answers(table, kind, Path(folder)) for table, kind in tables()]
        start = start_up(Path(folder))
    earlier = ""
    if len(sys.argv) > 1 and Path(sys.argv[1]).exists():
        earlier = Path(sys.argv[1]).read_text(encoding="utf-8")
    page = "\n".join(
        [
            "# Speed of serving",
            "",
            "Made by `GRANULEARN_DATA=DIRECTORY python benchmarks/bench_serving.py "
            "docs/results/serving_speed.md`, on one "
            f"core of a shared machine, Python {sys.version.split()[0]}, scikit-learn "
            f"{version('scikit-learn')}. Times are of the processor, which had other work too: "
            f"{os.getloadavg()[2]:.0f} processes waited for {os.cpu_count()} cores.",
            "",
            "## Rows",
            "",
            *ABOUT_ROWS,
            "",
            "| table | model | columns | encoded | one row, ms | model alone, ms | pipeline, ms |",
            "|---|---|---|---|---|---|---|",
            *(single for single, _ in rows),
            "",
            "| 10,000 rows | model | model alone, ms | Arrow, ms (ratio) | frame, ms (ratio) | "
            "text, ms (ratio) | dicts, ms (ratio) | handing over, ms | telling apart, ms |",
            "|---|---|---|---|---|---|---|---|---|",
            *(many for _, many in rows),
            "",
            "## Start-up",
            "",
            start,
            *kept("load_test.txt", "Load test", "python benchmarks/load_test.py 100000", earlier),
            *kept("soak.txt", "Soak", "python benchmarks/soak.py 10", earlier),
            "",
        ]
    )
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(page, encoding="utf-8")
    print(page)


ABOUT_ROWS = [
    "`load_model(path).predict_proba(rows)`: a dict, the median of 30, the shortest of 10 such; "
    "and 10,000 rows, as an Arrow table and as a frame with the types of training, as a frame "
    "in which every cell is an object of Python with its text, and as a list of dicts, beside "
    "the time that the model takes for the prepared array: the shortest of 15 times each, in "
    "turn. *pipeline* is what a single row costs where the pipeline is asked with a frame. "
    "*Handing over* is what Arrow alone takes to receive the cells of the text frame one by one; "
    "they are joined to one text and cut instead. *Telling apart* is what Arrow alone takes to "
    "find the different texts of the Arrow table's columns of text, which is how columns of many "
    "categories are read; a few short texts are looked up.",
    "",
    "In *orders*, made up, 2 of 15 columns are prices in text (`$1,234.50`, `1.234,50 €`) and 2 "
    "are dates in text (`2024-05-06`, `06.05.2024`); nearly all prices differ, and 5 columns are "
    "categories in text. In *kredit* and *hmda*, messy tables, every column comes as text, hmda "
    "with many marks of missing cells; their 10,000 rows are drawn from those of training.",
]


def tables() -> Iterator[tuple[Table, str]]:
    """Yield the tables to learn from, and the kind of model."""
    small = load("crx")
    crx = drawn("crx, 653 rows", small.X, small.y)
    yield from ((crx, kind) for kind in ("rvfl", "robust"))
    large = DATA / "large" / "adult.parquet"
    if large.exists():
        adult = pd.read_parquet(large).sample(TRAINING_ROWS, random_state=0)
        adult = adult.reset_index(drop=True)
        X, y = adult.iloc[:, :-1], adult.iloc[:, -1].to_numpy()
        yield drawn("adult, 2,000 rows", X, y), "robust"
    yield from ((orders(), kind) for kind in ("rvfl", "robust"))
    for name, encoding, sign, target in (
        ("kredit.csv", "cp1252", ";", "Bonität"),
        ("hmda.tsv", "utf-8", "\t", "deny"),
    ):
        if (DATA / "messy" / name).exists():
            yield messy(DATA / "messy" / name, encoding, sign, target), "rvfl"


def drawn(name: str, X: pd.DataFrame, y: np.ndarray) -> Table:
    """Return a table that is asked its own rows, some of them several times."""
    return Table(name, X, y, X.sample(N_ROWS, replace=True, random_state=0).reset_index(drop=True))


def orders() -> Table:
    """Return a table with prices and dates in text."""
    rng = np.random.default_rng(0)
    n_rows = TRAINING_ROWS + N_ROWS
    y = rng.integers(2, size=n_rows)
    prices = np.exp(rng.normal(6, 2, (2, n_rows)) + y)
    days = rng.integers(15_000, 20_000, (2, n_rows)).astype("datetime64[D]")
    to_german = str.maketrans(",.", ".,")
    columns = {
        "price": [f"${price:,.2f}" for price in prices[0]],
        "Preis": [f"{price:,.2f} €".translate(to_german) for price in prices[1]],
        "ordered": np.datetime_as_string(days[0]),
        "Datum": pd.Series(days[1]).dt.strftime("%d.%m.%Y"),
        **{f"category {k}": rng.choice(list("abcdefgh"), n_rows) for k in range(5)},
    }
    texts = pd.DataFrame(columns).astype("string[pyarrow]")
    numbers = pd.DataFrame({f"number {k}": rng.normal(size=n_rows) + y for k in range(6)})
    X, own = pd.concat([texts, numbers], axis=1), slice(TRAINING_ROWS, None)
    learnt = X[:TRAINING_ROWS], np.where(y, "yes", "no")[:TRAINING_ROWS]
    return Table("orders, 2,000 rows", *learnt, X[own].reset_index(drop=True))


def messy(path: Path, encoding: str, sign: str, target: str) -> Table:
    """Return a table of text; rows without one of the two usual labels are left out."""
    frame = pd.read_csv(path, sep=sign, encoding=encoding, dtype=str, keep_default_na=False)
    labels = frame[target].str.strip().str.lower()
    usual = labels.isin(labels.value_counts().index[:2])
    X = frame.drop(columns=target)[usual].astype("string[pyarrow]").reset_index(drop=True)
    return drawn(f"{path.stem}, {len(X):,} rows", X, labels[usual].to_numpy())


def answers(table: Table, kind: str, folder: Path) -> tuple[str, str]:
    """Return a line of each table: what one row costs, and what 10,000 cost."""
    name, X, y, many = table
    path = folder / f"{name.partition(',')[0]}-{kind}.granulearn"
    TableClassifier(kind, random_state=0).fit(X, y).save(path)
    model = load_model(path)
    records = dicts(X.head(100))
    prepared = [prepare(model, row) for row in records]
    final = model.pipeline[-1]
    one = 1e3 * median(lambda i: model.predict_proba(records[i % 100]), 30)
    alone = 1e3 * median(lambda i: final.predict_proba(prepared[i % 100]), 30)
    frames = [pd.DataFrame(prepared_frame(model, row)) for row in records[:20]]
    asked = 1e3 * median(lambda i: model.pipeline.predict_proba(frames[i % 20]), 5)
    array, text = prepare(model, many), many.astype(str).astype(object)
    columns = [text[name].to_numpy() for name in text]
    stored = pa.Table.from_pandas(many)
    used = [stored[name].combine_chunks() for name in model.inputs.names]
    texts = [
        cells
        for cells in used
        if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)
    ]
    of_model, received, told_apart, *forms = shortest(
        lambda: final.predict_proba(array),
        lambda: [pa.array(cells) for cells in columns],
        lambda: [cells.dictionary_encode() for cells in texts],
        *(
            partial(model.predict_proba, rows, warn=False)
            for rows in (stored, many, text, dicts(many))
        ),
    )
    each = " | ".join(f"{1e3 * spent:.1f} ({spent / of_model:.2f})" for spent in forms)
    return (
        f"| {name} | {kind} | {X.shape[1]} | {array.shape[1]} | {one:.2f} | {alone:.2f} | "
        f"{asked:.1f} |",
        f"| {name} | {kind} | {1e3 * of_model:.1f} | {each} | "
        f"{1e3 * received:.1f} | {1e3 * told_apart:.1f} |",
    )


def dicts(X: pd.DataFrame) -> list[dict]:
    """Return rows as a request has them."""
    return [
        {key: None if cell != cell else cell for key, cell in row.items()}
        for row in X.astype(object).to_dict("records")
    ]


def read(model: LoadedModel, rows):
    """Return rows as the model reads them."""
    with table_of([rows] if isinstance(rows, dict) else rows) as file:
        (batch,) = file.batches(model.inputs.names)
        return RowReading(model.inputs).read(batch, file.place)


def prepare(model: LoadedModel, rows) -> np.ndarray:
    """Return the array that the last step of the pipeline gets."""
    return np.ascontiguousarray(model.pipeline[:-1].transform(prepared_frame(model, rows)))


def prepared_frame(model: LoadedModel, rows) -> pd.DataFrame:
    """Return the frame that the pipeline gets."""
    return read(model, rows).to_frame()


def median(call: Callable[[int], object], n_calls: int, n_times: int = 10) -> float:
    """Return the median of the processor time of calls, the shortest of some such medians."""
    call(0)
    times = np.empty((n_times, n_calls))
    for own in times:
        for number in range(n_calls):
            begun = time.process_time()
            call(number)
            own[number] = time.process_time() - begun
    return float(np.median(times, axis=1).min())


def shortest(*calls: Callable[[], object], n_rounds: int = 15) -> list[float]:
    """Return the shortest processor time of each call; they are made in turn, again and again."""
    times = np.empty((n_rounds, len(calls)))
    for call in calls:
        call()
    for own in times:
        for number, call in enumerate(calls):
            begun = time.process_time()
            call()
            own[number] = time.process_time() - begun
    return times.min(axis=0).tolist()


def start_up(folder: Path) -> str:
    """Return a sentence: what `granulearn predict` of 100 rows costs from start to end."""
    data, table = load("crx"), folder / "new.csv"
    data.X.head(100).to_csv(table, index=False)
    output = str(folder / "out.csv")
    predict = ["-m", "granulearn", "predict", str(folder / "crx-robust.granulearn"), str(table)]
    ratios = []
    for _ in range(5):
        base, own = cost(["-c", BASE]), cost([*predict, "-o", output])
        ratios.append((own / base, own, base))
    ratio, own, base = sorted(ratios)[len(ratios) // 2]
    return (
        f"`granulearn predict` of 100 rows of crx takes {ratio:.2f} times as long as `{BASE}` "
        f"({own:.2f} s and {base:.2f} s of processor time; the median of {len(ratios)} pairs)."
    )


def cost(arguments: list[str]) -> float:
    """Return the processor time of a Python process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def kept(file: str, title: str, command: str, earlier: str) -> list[str]:
    """Return a section with what a command printed, now or for the earlier page."""
    path = OUT / file
    if path.exists():
        content = path.read_text(encoding="utf-8").strip()
    else:
        content = earlier.partition(f"## {title}\n")[2].partition("```\n")[2].partition("\n```")[0]
    return ["", f"## {title}", "", f"`{command}`:", "", "```", content, "```"] if content else []


if __name__ == "__main__":
    main()
