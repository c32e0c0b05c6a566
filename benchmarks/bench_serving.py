"""How fast a loaded model answers: single rows, 10,000 rows, start-up, export.

    python benchmarks/load_test.py 100000 > out/load_test.txt
    python benchmarks/soak.py 10 > out/soak.txt
    python benchmarks/bench_serving.py docs/results/serving_speed.md

Times are of the processor, since other programs may run meanwhile. Linear algebra has one thread:
others wait for their next work without a pause, which would count. The page takes over what the
first two commands printed, if they were run.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from threadpoolctl import threadpool_limits

from granulearn import TableClassifier
from granulearn.datasets import load
from granulearn.persistence import LoadedModel, load_model
from granulearn.persistence.row_reading import RowReading
from granulearn.tables import table_of

OUT = Path("out")
BASE = "import pandas, sklearn"
LARGE = Path(__file__).parents[2] / "shared" / "data" / "large" / "adult.parquet"


def main() -> None:
    """Measure, and write the page."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        rows = [answers(name, X, y, kind, Path(folder)) for name, X, y, kind in tables()]
        start = start_up(Path(folder))
    page = "\n".join(
        [
            "# Speed of serving",
            "",
            "Made by `python benchmarks/bench_serving.py docs/results/serving_speed.md`, on one "
            f"core of a shared machine, Python {sys.version.split()[0]}, scikit-learn "
            f"{version('scikit-learn')}. Times are of the processor, which had other work too: "
            f"{os.getloadavg()[2]:.0f} processes waited for {os.cpu_count()} cores.",
            "",
            "## Rows",
            "",
            "`load_model(path).predict_proba(rows)`: a dict, the median of 300; and 10,000 rows, "
            "as an Arrow table and as a frame with the types of training, as a frame in which "
            "every cell is an object of Python with its text, and as a list of dicts, beside the "
            "time that the model takes for the prepared array. *pipeline* is what a single row "
            "costs where the pipeline is asked with a frame. *Handing over* is what Arrow alone "
            "takes to receive the cells of the text frame, before anything is done with them: "
            "with objects of Python no more can be saved than what stands above it.",
            "",
            "| table | model | columns | encoded | one row, ms | model alone, ms | pipeline, ms |",
            "|---|---|---|---|---|---|---|",
            *(single for single, _ in rows),
            "",
            "| 10,000 rows | model | model alone, ms | Arrow, ms (ratio) | frame, ms (ratio) | "
            "text, ms (ratio) | dicts, ms (ratio) | handing over, ms |",
            "|---|---|---|---|---|---|---|---|",
            *(many for _, many in rows),
            "",
            "## Start-up",
            "",
            start,
            *kept("load_test.txt", "Load test", "python benchmarks/load_test.py 100000"),
            *kept("soak.txt", "Soak", "python benchmarks/soak.py 10"),
            "",
        ]
    )
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(page, encoding="utf-8")
    print(page)


def tables() -> list[tuple[str, pd.DataFrame, np.ndarray, str]]:
    """Return the tables to learn from, and the kind of model."""
    small = load("crx")
    found = [("crx, 653 rows", small.X, small.y, kind) for kind in ("rvfl", "robust")]
    if LARGE.exists():
        adult = pd.read_parquet(LARGE).sample(2000, random_state=0).reset_index(drop=True)
        X, y = adult.iloc[:, :-1], adult.iloc[:, -1].to_numpy()
        found.append(("adult, 2,000 rows", X, y, "robust"))
    return found


def answers(name: str, X: pd.DataFrame, y: np.ndarray, kind: str, folder: Path) -> tuple[str, str]:
    """Return a line of each table: what one row costs, and what 10,000 cost."""
    path = folder / f"{name.partition(',')[0]}-{kind}.skops"
    TableClassifier(kind, random_state=0).fit(X, y).save(path)
    model = load_model(path)
    records = dicts(X.head(100))
    many = X.sample(10_000, replace=True, random_state=0).reset_index(drop=True)
    prepared = [prepare(model, row) for row in records]
    final = model.pipeline[-1]
    one = 1e3 * median(lambda i: model.predict_proba(records[i % 100]), 300)
    alone = 1e3 * median(lambda i: final.predict_proba(prepared[i % 100]), 300)
    frames = [pd.DataFrame(prepared_frame(model, row)) for row in records[:20]]
    asked = 1e3 * median(lambda i: model.pipeline.predict_proba(frames[i % 20]), 40)
    array = prepare(model, many)
    of_model = median(lambda _: final.predict_proba(array), 9)
    text = many.astype(str)
    forms = [
        median(lambda _, rows=rows: model.predict_proba(rows, warn=False), 9)
        for rows in (pa.Table.from_pandas(many), many, text, dicts(many))
    ]
    columns = [text[name].to_numpy() for name in text]
    received = 1e3 * median(lambda _: [pa.array(cells) for cells in columns], 9)
    each = " | ".join(f"{1e3 * spent:.1f} ({spent / of_model:.2f})" for spent in forms)
    return (
        f"| {name} | {kind} | {X.shape[1]} | {array.shape[1]} | {one:.2f} | {alone:.2f} | "
        f"{asked:.1f} |",
        f"| {name} | {kind} | {1e3 * of_model:.1f} | {each} | {received:.1f} |",
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
    return read(model, rows).typed.to_frame()


def median(call: Callable[[int], object], n_calls: int) -> float:
    """Return the median of the processor time of calls, after one that does not count."""
    call(0)
    times = []
    for number in range(n_calls):
        begun = time.process_time()
        call(number)
        times.append(time.process_time() - begun)
    return float(np.median(times))


def start_up(folder: Path) -> str:
    """Return a sentence: what `granulearn predict` of 100 rows costs from start to end."""
    data, table = load("crx"), folder / "new.csv"
    data.X.head(100).to_csv(table, index=False)
    output = str(folder / "out.csv")
    predict = ["-m", "granulearn", "predict", str(folder / "crx-robust.skops"), str(table)]
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


def kept(file: str, title: str, command: str) -> list[str]:
    """Return a section with what a command printed; none if it was not run."""
    path = OUT / file
    if not path.exists():
        return []
    content = path.read_text(encoding="utf-8").strip()
    return ["", f"## {title}", "", f"`{command}`:", "", "```", content, "```"]


if __name__ == "__main__":
    main()
