"""Tables with dates, times and yes/no in the forms of many countries."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from tests.end_to_end.messy_records import Planted, messy
from tests.end_to_end.messy_sources import bundled, days_after, iso, keel, written


def _flowers() -> tuple[pd.DataFrame, pd.Series]:
    """Return irises, and a day on which each was found that depends a little on its size."""
    table = bundled("iris", 150)
    rng = np.random.default_rng(2)
    days = (table["petal length"] * 90 + rng.integers(0, 60, len(table))).round().astype(int)
    return table, days_after("2019-11-05", days)


def _dated(folder: Path, name: str, form: str, **options) -> Planted:
    """Return irises with a column of dates, written in a form of `strftime`."""
    clean, dates = _flowers()
    clean.insert(1, "picked_on", iso(dates))
    dirty = clean.assign(picked_on=dates.dt.strftime(form))
    return Planted(
        written(folder, name, dirty, **options), "label", clean, kinds={"picked_on": "date"}
    )


@messy("ISO dates, and times of the day")
def dates_iso(folder: Path) -> Planted:
    clean, dates = _flowers()
    hours = (clean["petal width"] * 60).round().astype(int)
    clean.insert(0, "picked_on", iso(dates))
    clean.insert(1, "time", [f"{8 + value // 60:02}:{value % 60:02}" for value in hours])
    return Planted(
        written(folder, "irises.csv", clean),
        "label",
        clean,
        kinds={"picked_on": "date", "time": "date"},
    )


@messy("German dates, 10.12.2020, and points in time, 10.12.2020 14:30")
def dates_dotted(folder: Path) -> Planted:
    clean, dates = _flowers()
    moments = dates + pd.to_timedelta((clean["sepal width"] * 300).round(), unit="min")
    clean.insert(0, "gefunden", iso(dates))
    clean.insert(1, "gemessen", iso(moments))
    dirty = clean.assign(
        gefunden=dates.dt.strftime("%d.%m.%Y"), gemessen=moments.dt.strftime("%d.%m.%Y %H:%M")
    )
    return Planted(
        written(folder, "lilien.csv", dirty, separator=";"),
        "label",
        clean,
        kinds={"gefunden": "date", "gemessen": "date"},
    )


@messy("day first: 25/12/2020")
def dates_day_first(folder: Path) -> Planted:
    return _dated(folder, "found_uk.csv", "%d/%m/%Y")


@messy("points in time with zones: 2020-12-10T08:30:00+02:00 and ...Z")
def dates_with_zones(folder: Path) -> Planted:
    clean, dates = _flowers()
    moments = dates + pd.to_timedelta((clean["sepal width"] * 300).round(), unit="min")
    clean.insert(0, "sent", moments.dt.strftime("%Y-%m-%dT%H:%M:%SZ"))
    clean.insert(1, "received", moments.dt.strftime("%Y-%m-%dT%H:%M:%S+02:00"))
    return Planted(
        written(folder, "log.csv", clean),
        "label",
        clean,
        kinds={"sent": "date", "received": "date"},
    )


@messy("dates that could be day first or month first: 04/05/2020, never a number above 12")
def dates_ambiguous(folder: Path) -> Planted:
    clean, _ = _flowers()
    rng = np.random.default_rng(3)
    days, months = rng.integers(1, 13, (2, len(clean)))
    dirty = clean.copy()
    dirty.insert(0, "picked_on", [f"{d:02}/{m:02}/2020" for d, m in zip(days, months, strict=True)])
    return Planted(
        written(folder, "found.csv", dirty),
        "label",
        clean,
        left_out={"picked_on": "ambiguous date"},
    )


@messy("yes/no as Ja/NEIN, oui/non, sí/no, Y/N, TRUE/False, t/f, in mixed case")
def yes_no_languages(folder: Path) -> Planted:
    votes = keel("housevotes", 232)
    words = {
        "infants": ("Ja", "NEIN"),
        "water": ("oui", "Non"),
        "budget": ("sí", "no"),
        "physician": ("Y", "N"),
        "salvador": ("TRUE", "False"),
        "religious": ("t", "f"),
        "satellite": ("yes", "NO"),
    }
    clean = votes[[*words, "label"]]
    dirty = clean.copy()
    for column, (yes, no) in words.items():
        said = np.where(clean[column] == "y", yes, no).astype(object)
        said[::7] = [word.lower() for word in said[::7]]
        dirty[column] = said
    clean = clean.replace({column: {"y": "yes", "n": "no"} for column in words})
    return Planted(
        written(folder, "votes.csv", dirty), "label", clean, kinds=dict.fromkeys(words, "yes/no")
    )
