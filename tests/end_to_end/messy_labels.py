"""Tables whose labels are dirty: spellings, typing errors, holes, rare and conflicting ones."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import numpy as np
import pandas as pd

from tests.end_to_end.messy_records import Planted, messy
from tests.end_to_end.messy_sources import bundled, keel, written


def _rows_of(table: pd.DataFrame, label: str, n: int) -> pd.Index:
    return table.index[table["label"] == label][:n]


@messy("labels that look the same: é as one character and as e with an accent")
def label_unicode_forms(folder: Path) -> Planted:
    clean = bundled("wine", 178)
    names = {"class_0": "Bérgamo", "class_1": "Cesena", "class_2": "Forlì"}
    clean["label"] = clean["label"].map(names)
    dirty = clean.copy()
    counts = clean["label"].value_counts()
    joined = {}
    for name in ("Bérgamo", "Forlì"):
        apart = unicodedata.normalize("NFD", name)
        dirty.loc[_rows_of(clean, name, 12), "label"] = apart
        joined[name] = {name: int(counts[name]) - 12, apart: 12}
    return Planted(written(folder, "vini.csv", dirty), "label", clean, joined=joined)


@messy("typing errors in labels: malignat, beningn")
def label_typing_errors(folder: Path) -> Planted:
    clean = bundled("breast_cancer", 300)
    clean = clean[[*clean.columns[:8], "label"]]
    clean.loc[_rows_of(clean, "malignant", 2), "label"] = "malignat"
    clean.loc[_rows_of(clean, "benign", 1), "label"] = "beningn"
    return Planted(
        written(folder, "tumours.csv", clean),
        "label",
        clean,
        misspelt=(("malignat", "malignant"), ("beningn", "benign")),
    )


@messy("rows without a label: empty, ?, NA")
def unlabelled_rows(folder: Path) -> Planted:
    clean = keel("heart", 270)
    dirty = clean.copy()
    rng = np.random.default_rng(9)
    rows = rng.choice(len(clean), 45, replace=False)
    dirty.loc[rows, "label"] = rng.choice(["", "?", "NA"], 45)
    clean.loc[rows, "label"] = np.nan
    return Planted(written(folder, "heart.csv", dirty), "label", clean, unlabelled=45, said=("45",))


@messy("a class of one row, and one of two")
def rare_classes(folder: Path) -> Planted:
    clean = bundled("iris", 150)
    clean.loc[10, "label"] = "pseudacorus"
    clean.loc[[20, 21], "label"] = "germanica"
    return Planted(
        written(folder, "garden.csv", clean),
        "label",
        clean,
        small=("germanica", "pseudacorus"),
        said=("pseudacorus", "germanica"),
    )


@messy("25 repeated rows, and 8 rows whose inputs occur under another label")
def repeated_and_conflicting(folder: Path) -> Planted:
    table = keel("saheart", 300)
    again = table.iloc[50:75]
    against = table.iloc[100:104].copy()
    swap = {"healthy": "diseased", "diseased": "healthy"}
    against["label"] = against["label"].map(swap)
    clean = pd.concat([table, again, against], ignore_index=True)
    return Planted(
        written(folder, "heart_disease.csv", clean), "label", clean, duplicates=25, conflicts=8
    )


@messy("labels Yes/yes/NO/no and a column named after a mark, NA")
def yes_no_labels(folder: Path) -> Planted:
    clean = keel("pima", 300).rename(columns={"skin": "NA"})
    clean["label"] = clean["label"].map({"positive": "yes", "negative": "no"})
    dirty = clean.copy()
    dirty.loc[_rows_of(clean, "yes", 15), "label"] = "Yes"
    dirty.loc[_rows_of(clean, "no", 5), "label"] = "NO"
    counts = clean["label"].value_counts()
    joined = {
        "yes": {"yes": int(counts["yes"]) - 15, "Yes": 15},
        "no": {"no": int(counts["no"]) - 5, "NO": 5},
    }
    return Planted(
        written(folder, "diabetes.csv", dirty),
        "label",
        clean,
        kinds={"NA": "number"},
        joined=joined,
    )
