"""What a loaded model takes: one row, 10,000 rows in four forms, and the start of a command."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from benchmarks.harness import Benchmark, Row, Task, least_times, markdown
from benchmarks.processor_times import run
from granulearn import TableClassifier
from granulearn.datasets import load
from granulearn.models import load_model

ABOUT = """\
`load_model(path).predict_proba(rows)` in processor time on one thread: one row as a dict, the
least of 10 medians of 30 calls; and 10,000 rows as an Arrow table, as a frame with the types of
training, as a frame of texts and as dicts, the least of 10 rounds, as ratios to the time that the
model takes for the prepared array. In *orders*, a synthetic table, 2 of 15 columns are prices in
text (`$1,234.50`, `1.234,50 €`) and 2 are dates in text (`2024-05-06`, `06.05.2024`); nearly all
prices differ. *Start-up* is `granulearn predict` of 100 rows over `import pandas, sklearn`."""
N_ROWS, TRAINING_ROWS = 10_000, 2_000


def orders() -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
    """Return a table with prices and dates in text: rows, labels, and rows to predict."""
    rng = np.random.default_rng(0)
    n_rows = TRAINING_ROWS + N_ROWS
    y = rng.integers(2, size=n_rows)
    prices = np.exp(rng.normal(6, 2, (2, n_rows)) + y)
    days = rng.integers(15_000, 20_000, (2, n_rows)).astype("datetime64[D]")
    columns = {
        "price": [f"${price:,.2f}" for price in prices[0]],
        "Preis": [f"{price:,.2f} €".translate(str.maketrans(",.", ".,")) for price in prices[1]],
        "ordered": np.datetime_as_string(days[0]),
        "Datum": pd.Series(days[1]).dt.strftime("%d.%m.%Y"),
        **{f"category {k}": rng.choice(list("abcdefgh"), n_rows) for k in range(5)},
    }
    texts = pd.DataFrame(columns).astype("string[pyarrow]")
    numbers = pd.DataFrame({f"number {k}": rng.normal(size=n_rows) + y for k in range(6)})
    X, labels = pd.concat([texts, numbers], axis=1), np.where(y, "yes", "no")
    later = X[TRAINING_ROWS:].reset_index(drop=True)
    return X[:TRAINING_ROWS], labels[:TRAINING_ROWS], later


def table_named(name: str) -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
    """Return rows to learn, their labels, and rows to predict."""
    if name == "orders":
        return orders()
    data = load(name)
    X = data.X[:TRAINING_ROWS]
    many = X.sample(N_ROWS, replace=True, random_state=0).reset_index(drop=True)
    return X, np.asarray(data.y)[:TRAINING_ROWS], many


def dicts(X: pd.DataFrame) -> list[dict]:
    """Return rows as a request has them."""
    return [
        {key: None if pd.isna(cell) else cell for key, cell in row.items()}
        for row in X.astype(object).to_dict("records")
    ]


def median_ms(call: Callable[[int], object], n_calls: int = 30, n_times: int = 10) -> float:
    """Return the median milliseconds of calls, the least of some such medians."""
    call(0)
    times = np.empty((n_times, n_calls))
    for own in times:
        for number in range(n_calls):
            began = time.process_time()
            call(number)
            own[number] = time.process_time() - began
    return 1e3 * float(np.median(times, axis=1).min())


def answers(name: str, kind: str, rounds: int) -> Row:
    """Return the cost of one row and of 10,000 rows."""
    X, y, many = table_named(name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.granulearn"
        TableClassifier(kind, random_state=0).fit(X, y).save(path)
        model = load_model(path)
    records = dicts(X.head(30))
    texts = many.astype(str).astype(object)
    forms = {
        "Arrow": pa.Table.from_pandas(many), "frame": many, "texts": texts, "dicts": dicts(many),
    }  # fmt: skip
    preprocessor, final = model.pipeline[:-1], model.pipeline[-1]
    array = np.ascontiguousarray(preprocessor.transform(typed(model, many)))
    times = least_times(
        {"model": lambda: final.predict_proba(array)}
        | {form: partial(model.predict_proba, rows, warn=False) for form, rows in forms.items()},
        rounds,
    )
    return {
        "one row, ms": median_ms(lambda i: model.predict_proba(records[i], warn=False)),
        "model alone, one row, ms": median_ms(lambda i: final.predict_proba(array[i : i + 1])),
        "model alone, 10,000 rows, ms": 1e3 * times["model"],
        **{f"{form} / model": times[form] / times["model"] for form in forms},
    }


def typed(model, rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with the types that the preprocessor takes."""
    from granulearn.models.row_reader import RowReader
    from granulearn.tables import table_of

    with table_of(rows) as file:
        (batch,) = file.batches(model.inputs.names)
        return RowReader(model.inputs).read(batch, file.location).to_frame()


def start_up(rounds: int) -> Row:
    """Return the cost of `granulearn predict` over that of its imports."""
    with tempfile.TemporaryDirectory() as name:
        folder, data = Path(name), load("crx")
        TableClassifier(random_state=0).fit(data.X, data.y).save(folder / "model.granulearn")
        data.X.head(100).to_csv(folder / "new.csv", index=False)
        files = [str(folder / one) for one in ("model.granulearn", "new.csv", "out.csv")]
        command = [sys.executable, "-m", "granulearn", "predict", *files[:2], "-o", files[2]]
        imports = [sys.executable, "-c", "import pandas, sklearn"]
        pairs = [(run(command), run(imports)) for _ in range(rounds)]
    return {"start-up / imports": float(np.median([ours / theirs for ours, theirs in pairs]))}


def tasks(quick: bool) -> Iterator[Task]:
    """Yield tables and kinds of models, and the start of the command."""
    rounds = 2 if quick else 10
    wanted = [("crx", "rvfl"), ("crx", "robust"), ("adult", "robust")]
    wanted += [("orders", "rvfl"), ("orders", "robust")]
    for name, kind in wanted[3:4] if quick else wanted:
        yield {"table": name, "model": kind}, partial(answers, name, kind, rounds)
    yield {"table": "crx", "model": "granulearn predict"}, partial(start_up, rounds)


def tables(found: pd.DataFrame) -> Iterator[str]:
    """Yield rows, and the start."""
    found.index = pd.Index(found.pop("table") + ", " + found.pop("model"), name="table, model")
    start = found.pop("start-up / imports")
    yield "## Rows"
    yield markdown(found[start.isna()], 2)
    yield "## Start-up"
    yield markdown(start.dropna().to_frame(), 2)


BENCHMARKS = {"serving-speed": Benchmark("Speed of serving", ABOUT, tasks, tables)}
