"""Tables in workbooks, as JSON lines, Feather and Parquet."""

from __future__ import annotations

import decimal
import json
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

from tests.end_to_end.messy_records import Planted, messy
from tests.end_to_end.messy_sources import days_after, iso, keel, statsmodels


def _visits() -> pd.DataFrame:
    """Return patients with a date, a yes/no column and an ID, for workbooks."""
    table = keel("saheart", 200)[["pressure", "tobacco", "family", "age", "label"]].copy()
    table.insert(0, "visit", days_after("2023-01-02", table["age"] * 7))
    table["family"] = np.where(table["family"] == "Present", "yes", "no")
    return table


VISITS = {"visit": "date", "family": "yes/no", "tobacco": "number"}


@messy("a workbook of three sheets (the second empty): real dates, numbers as text, a serial no.")
def workbook_xlsx(folder: Path) -> Planted:
    table = _visits()
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Patients"
    sheet.append(["No.", *table.columns])
    for number, row in enumerate(table.itertuples(index=False), start=1):
        date, *others = row
        others[1] = str(others[1])
        sheet.append([number, date.to_pydatetime(), *others])
    book.create_sheet("Empty")
    book.create_sheet("Legend").append(["family", "disease of a parent"])
    path = folder / "visits.xlsx"
    book.save(path)
    return Planted(
        path,
        "label",
        table.assign(visit=iso(table["visit"])),
        kinds=VISITS,
        left_out={"No.": "row number"},
        said=("Patients",),
    )


@messy("JSON lines; keys that some objects lack, true/false, null")
def json_lines(folder: Path) -> Planted:
    clean = keel("saheart", 300)[["tobacco", "ldl", "family", "age", "label"]].copy()
    clean["family"] = np.where(clean["family"] == "Present", "yes", "no")
    clean.loc[::11, "ldl"] = np.nan
    clean.loc[::13, "tobacco"] = np.nan
    path = folder / "patients.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for row in clean.to_dict("records"):
            row["family"] = row["family"] == "yes"
            row["tobacco"] = None if pd.isna(row["tobacco"]) else row["tobacco"]
            row = {key: value for key, value in row.items() if value == value}
            file.write(json.dumps(row | {"src_sys": "clinic"}) + "\n")
    return Planted(
        path,
        "label",
        clean,
        kinds={"family": "yes/no", "ldl": "number"},
        left_out={"src_sys": "constant"},
    )


@messy("Feather with a categorical column and a row number")
def feather(folder: Path) -> Planted:
    clean = keel("german", 300)[["account", "months", "amount", "housing", "label"]]
    dirty = clean.astype({"account": "category", "housing": "category"})
    dirty.insert(0, "idx", range(len(dirty)))
    path = folder / "credit.feather"
    pyarrow.feather.write_feather(pa.Table.from_pandas(dirty, preserve_index=False), path)
    return Planted(
        path,
        "label",
        clean,
        kinds={"account": "category", "amount": "number"},
        left_out={"idx": "row number"},
    )


@messy("Parquet: categories, timestamps, decimals, truth values, a column of lists")
def parquet_types(folder: Path) -> Planted:
    data = statsmodels("fair").iloc[::20].reset_index(drop=True)
    clean = data[["age", "yrs_married"]].copy()
    clean.insert(0, "asked", iso(days_after("1974-01-01", data["age"] * 11)))
    clean["rate"] = data["rate_marriage"].map("rated {:.0f}".format)
    clean["religious"] = np.where(data["religious"] > 2, "yes", "no")
    clean["affair"] = np.where(data["affairs"] > 0, "some", "none at all")
    arrow = pa.table(
        {
            "asked": pa.array(pd.to_datetime(clean["asked"]), pa.timestamp("ms")),
            "age": pa.array([decimal.Decimal(str(v)) for v in clean["age"]], pa.decimal128(8, 2)),
            "yrs_married": clean["yrs_married"],
            "children": pa.array([[i] * int(n) for i, n in enumerate(data["children"])]),
            "rate": pa.array(clean["rate"]).dictionary_encode(),
            "religious": pa.array(data["religious"] > 2),
            "affair": clean["affair"],
        }
    )
    path = folder / "fair.parquet"
    pq.write_table(arrow, path, row_group_size=100)
    return Planted(
        path,
        "affair",
        clean,
        kinds={"asked": "date", "age": "number", "rate": "category", "religious": "yes/no"},
        left_out={"children": "nested"},
    )
