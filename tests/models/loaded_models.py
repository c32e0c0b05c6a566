"""A model of a table with cells of every kind, for tests of what reads and predicts rows."""

from pathlib import Path

import pandas as pd
import pyarrow as pa

from granulearn.models import LoadedModel
from granulearn.training.training import train
from tests.cli.commands import people
from tests.training.small_tables import read

DAYS = pd.date_range("2020-01-01", periods=120)


def location(row):
    return f"line {row + 2}"


def messy_people() -> pd.DataFrame:
    return people().assign(
        prediction="mine",
        price=[f"{1000 + 37 * i % 311},50 €" for i in range(120)],
        day=DAYS.strftime("%d.%m.%Y"),
        member=["ja", "nein", "ja"] * 40,
    )


def write_messy_people(folder: Path) -> Path:
    path = folder / "people.csv"
    messy_people().to_csv(path, index=False)
    return path


def fitted(table: Path) -> LoadedModel:
    data = read(table, ignore=("prediction",))
    trained = train(data, "rvfl", tune=False, test=0, seed=0)
    return LoadedModel(trained.pipeline, trained.card)


def row_of(table, **cells):
    """Return the first row of the table, with some cells replaced, as often as there are."""
    first = pd.read_csv(table, dtype=str, keep_default_na=False).iloc[0].to_dict()
    n_rows = max(map(len, cells.values()))
    return pa.RecordBatch.from_pydict(
        {name: cells.get(name, [cell] * n_rows) for name, cell in first.items()}
    )
