"""Tables whose numbers are written as people write them: by country, with units, with marks."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.end_to_end.messy_records import Planted, messy
from tests.end_to_end.messy_sources import (
    bundled,
    grouped,
    keel,
    statsmodels,
    with_decimal_commas,
    written,
)

MARKS = ["?", "NA", "n/a", "-", "#N/A", "null", "unknown", "NaN", "--", "N.A.", "<NA>", "(null)"]


@messy("German workbook export in cp1252: 1.169,00 €, 2,5 %, customer numbers, Währung = EUR")
def german_export(folder: Path) -> Planted:
    clean = keel("german")[["account", "months", "amount", "rate", "age", "label"]]
    clean.columns = ["Kontostand", "Laufzeit", "Betrag", "Zinssatz", "Alter", "Bonität"]
    clean["Zinssatz"] = clean["Zinssatz"] * 1.25
    clean["Bonität"] = clean["Bonität"].map({"good": "gut", "bad": "schlecht"})
    dirty = clean.copy()
    dirty["Betrag"] = [grouped(value, ".", ",") + " €" for value in clean["Betrag"]]
    dirty["Zinssatz"] = [f"{value:.2f} %".replace(".", ",") for value in clean["Zinssatz"]]
    dirty.insert(0, "Kunden-Nr", [f"K{100_000 + row}" for row in range(len(clean))])
    dirty.insert(5, "Währung", "EUR")
    shouted = clean.index[clean["Bonität"] == "gut"][:9]
    dirty.loc[shouted, "Bonität"] = "GUT"
    good = int((clean["Bonität"] == "gut").sum())
    return Planted(
        written(folder, "Kunden.csv", dirty, encoding="cp1252", separator=";", newline="\r\n"),
        "Bonität",
        clean,
        kinds={"Betrag": "number", "Zinssatz": "number", "Kontostand": "category"},
        left_out={"Kunden-Nr": "ID", "Währung": "constant"},
        joined={"gut": {"gut": good - 9, "GUT": 9}},
        said=("cp1252",),
    )


@messy("French numbers: 1 065,00 with no-break blanks, decimal commas, semicolons, BOM, CRLF")
def french_numbers(folder: Path) -> Planted:
    clean = bundled("wine", 178)
    clean = clean[["alcohol", "malic_acid", "color_intensity", "proline", "label"]]
    dirty = with_decimal_commas(clean)
    blanks = ["\u00a0", "\u202f"]
    dirty["proline"] = [
        grouped(value, blanks[row % 2], ",") for row, value in enumerate(clean["proline"])
    ]
    path = written(folder, "vins.csv", dirty, encoding="utf-8-sig", separator=";", newline="\r\n")
    numbers = dict.fromkeys(clean.columns[:-1], "number")
    return Planted(path, "label", clean, kinds=numbers)


@messy("US money: $17,000,000, 1,525, 62.0%, all quoted")
def us_money(folder: Path) -> Planted:
    data = statsmodels("star98")
    clean = data[["LOWINC", "PERMINTE", "PTRATIO"]].round(1)
    clean.columns = ["low income", "minority teachers", "pupils per teacher"]
    clean["budget"] = (data["PERSPENK"] * 4e6).round(-6)
    clean["pupils"] = (data["NABOVE"] + data["NBELOW"]).astype(int) * 3
    above = data["NABOVE"] / (data["NABOVE"] + data["NBELOW"])
    clean["result"] = np.where(above > above.median(), "above", "below")
    dirty = clean.copy()
    dirty["budget"] = [f"${value:,.0f}" for value in clean["budget"]]
    dirty["pupils"] = [f"{value:,}" for value in clean["pupils"]]
    for column in ("low income", "minority teachers"):
        dirty[column] = [f"{value:.1f}%" for value in clean[column]]
    path = written(folder, "schools.csv", dirty, quoting=1)
    numbers = dict.fromkeys(clean.columns[:-1], "number")
    return Planted(path, "result", clean, kinds=numbers)


@messy("one unit per column: 100 min, 255min, 1.1 ct")
def one_unit(folder: Path) -> Planted:
    clean = _journeys()
    dirty = clean.copy()
    dirty["waiting"] = [f"{value:.0f} min" for value in clean["waiting"]]
    dirty["travel"] = [f"{value:.0f}min" for value in clean["travel"]]
    dirty["cost"] = [f"{value:.1f} ct" for value in clean["cost"]]
    return Planted(
        written(folder, "journeys.csv", dirty),
        "mode",
        clean,
        kinds={"waiting": "number", "travel": "number", "cost": "number"},
        units={"waiting": "min", "travel": "min", "cost": "ct"},
    )


@messy("two units in one column: 100 min among 1.70 hours")
def two_units(folder: Path) -> Planted:
    clean = _journeys()
    dirty = clean.copy()
    dirty["travel"] = [
        f"{value / 60:.2f} hours" if row % 3 == 0 else f"{value:.0f} min"
        for row, value in enumerate(clean["travel"])
    ]
    # What is made of the column is not asked here; both units must be named.
    return Planted(
        written(folder, "travel.csv", dirty),
        "mode",
        clean.drop(columns="travel"),
        said=("travel", "min", "hours"),
    )


def _journeys():
    data = statsmodels("modechoice")
    chosen = data[data["choice"] == 1].reset_index(drop=True)
    clean = chosen[["ttme", "invt", "invc", "hinc", "psize"]].astype(int)
    clean.columns = ["waiting", "travel", "cost", "income", "party"]
    clean["cost"] = clean["cost"] / 10
    clean["mode"] = chosen["mode"].map({1.0: "air", 2.0: "train", 3.0: "bus", 4.0: "car"})
    return clean


@messy("missing cells in twelve spellings, several in each column")
def missing_marks(folder: Path) -> Planted:
    clean = keel("heart", 270)
    columns = ["age", "pressure", "cholesterol", "max_rate", "oldpeak", "vessels"]
    clean = clean[[*columns, "label"]]
    dirty = clean.astype(dict.fromkeys(columns, str))
    rng = np.random.default_rng(0)
    missing: dict[str, dict[str, int]] = {}
    clean = clean.astype(dict.fromkeys(columns, float))
    for column in columns:
        holes = rng.choice(len(clean), 40, replace=False)
        marks = rng.choice(MARKS, 40)
        dirty.loc[holes, column] = marks
        clean.loc[holes, column] = np.nan
        missing[column] = {mark: int((marks == mark).sum()) for mark in sorted(set(marks))}
    return Planted(
        written(folder, "heart.csv", dirty),
        "label",
        clean,
        kinds=dict.fromkeys(columns, "number"),
        missing=missing,
    )


@messy("three stray texts in a column of 400 numbers, forty in another")
def stray_texts(folder: Path) -> Planted:
    clean = keel("pima", 400).drop(columns=["skin", "insulin"])
    dirty = clean.astype({"glucose": str, "bmi": str})
    few, many = [7, 90, 311], range(5, 400, 10)
    dirty.loc[few, "glucose"] = "see note"
    dirty.loc[list(many), "bmi"] = [f"about {value}" for value in clean.loc[list(many), "bmi"]]
    clean = clean.astype({"glucose": float})
    clean.loc[few, "glucose"] = np.nan
    # Row 7, counted from 0, stands on line 9.
    return Planted(
        written(folder, "diabetes.csv", dirty),
        "label",
        clean.drop(columns="bmi"),
        kinds={"glucose": "number"},
        said=("see note", "line 9", "bmi"),
    )


@messy("postal codes with leading zeros, phone numbers, IBAN-like account numbers")
def codes_not_numbers(folder: Path) -> Planted:
    clean = keel("saheart", 300)
    rng = np.random.default_rng(1)
    clean.insert(0, "zip", rng.choice(["01067", "04109", "10115", "80331", "00501"], 300))
    dirty = clean.copy()
    dirty.insert(1, "phone_no", [f"+49 30 {rng.integers(10**6, 10**7)}" for _ in range(300)])
    dirty.insert(2, "iban", [f"DE{rng.integers(10**9, 10**10)}" for _ in range(300)])
    return Planted(
        written(folder, "patients.csv", dirty),
        "label",
        clean,
        kinds={"zip": "category", "pressure": "number"},
        left_out={"phone_no": "ID", "iban": "ID"},
    )
