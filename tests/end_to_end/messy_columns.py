"""Tables with columns that carry no meaning, or too much of it."""

from __future__ import annotations

import uuid
from pathlib import Path

import numpy as np
import pandas as pd

from tests.end_to_end.messy_records import Planted, messy
from tests.end_to_end.messy_sources import bundled, keel, shuffled, statsmodels, written

LEAK = "target leakage"
WORDS = [
    "cells", "seen", "under", "the", "lens", "round", "small", "large", "dark", "pale", "grouped",
    "apart", "few", "many",
]  # fmt: skip


@messy("pandas' index as a column without a name; sorted by the label")
def unnamed_index(folder: Path) -> Planted:
    clean = bundled("iris")
    dirty = clean.rename_axis("").reset_index()
    return Planted(
        written(folder, "iris.csv", dirty),
        "label",
        clean,
        left_out={"column 1": "row number"},
        said=("without a name",),
    )


@messy("three IDs: customer number, UUID, e-mail address")
def many_ids(folder: Path) -> Planted:
    clean = keel("saheart", 300)
    dirty = clean.copy()
    rng = np.random.default_rng(5)
    numbers = rng.choice(900_000, 300, replace=False) + 100_000
    dirty.insert(0, "customer_no", [f"C-{number}" for number in numbers])
    dirty.insert(1, "uuid", [str(uuid.UUID(bytes=rng.bytes(16))) for _ in range(300)])
    dirty["e-mail"] = [f"p{number}@example.org" for number in numbers]
    dirty = dirty[[*(name for name in dirty if name != "label"), "label"]]
    return Planted(
        written(folder, "customers.csv", dirty),
        "label",
        clean,
        left_out={"customer_no": "ID", "uuid": "ID", "e-mail": "ID"},
    )


@messy("constants, an empty column, and a separator at the end of every line")
def trailing_separator(folder: Path) -> Planted:
    clean = keel("pima", 300)
    dirty = clean.assign(country_code="US", sw_version=3, comment_1="")
    path = written(folder, "export.csv", dirty)
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("".join(f"{line},\n" for line in lines), encoding="utf-8")
    left_out = {"country_code": "constant", "sw_version": "constant", "comment_1": "empty"}
    return Planted(path, "label", clean, left_out={**left_out, "column 13": "empty"})


@messy("free text with quoted line breaks, quotes and separators")
def free_text(folder: Path) -> Planted:
    clean = bundled("breast_cancer", 250)
    clean = clean[[*clean.columns[:6], "label"]]
    dirty = clean.copy()
    rng = np.random.default_rng(6)
    dirty.insert(2, "lab_notes", [_note(rng) for _ in range(len(clean))])
    return Planted(
        written(folder, "biopsies.csv", dirty), "label", clean, left_out={"lab_notes": "free text"}
    )


def _note(rng: np.random.Generator) -> str:
    said = [" ".join(rng.choice(WORDS, rng.integers(4, 9))) for _ in range(rng.integers(2, 4))]
    return f'Dr. "A", report:\n{", ".join(said)}.'


@messy("a code of the target, known for 70 % of the rows, and a text that tells it")
def leak_code_and_text(folder: Path) -> Planted:
    clean = keel("german", 400)[["account", "months", "amount", "age", "housing", "label"]]
    rng = np.random.default_rng(8)
    code = clean["label"].map({"good": "A", "bad": "R"})
    dirty = clean.copy()
    dirty["decision_cd"] = code.where(rng.random(len(clean)) > 0.3, "")
    dirty["letter_sent"] = clean["label"].map(
        {"good": "We are glad to lend you the sum.", "bad": "We regret that we cannot lend."}
    )
    dirty = shuffled(dirty)
    clean = shuffled(clean)
    return Planted(
        written(folder, "loans.csv", dirty),
        "label",
        clean,
        left_out={"decision_cd": LEAK, "letter_sent": LEAK},
    )


@messy("a number that leaks the target: a count that is 0 for one class only")
def leak_count(folder: Path) -> Planted:
    data = statsmodels("fair").iloc[::16].reset_index(drop=True)
    clean = data[["rate_marriage", "age", "yrs_married", "religious"]].copy()
    clean["affair"] = np.where(data["affairs"] > 0, "yes", "no")
    dirty = clean.copy()
    # Counts, not shares: few different values, each of one class.
    dirty.insert(4, "affairs", np.ceil(data["affairs"]).clip(upper=9).astype(int))
    return Planted(
        written(folder, "affairs.csv", dirty), "affair", clean, left_out={"affairs": LEAK}
    )


@messy("300 columns, 12 of them constant")
def wide(folder: Path) -> Planted:
    data = bundled("breast_cancer", 120)
    inputs = data.drop(columns="label")
    columns = {f"m{i}": inputs.iloc[:, i] for i in range(inputs.shape[1])}
    for i in range(inputs.shape[1]):
        for j in range(i):
            if len(columns) < 288:
                columns[f"m{i} by m{j}"] = (inputs.iloc[:, i] / (1 + inputs.iloc[:, j])).round(6)
    clean = pd.DataFrame(columns).assign(label=data["label"])
    dirty = clean.copy()
    constants = {f"setting {i}": i for i in range(12)}
    dirty = pd.concat([pd.DataFrame(constants, index=dirty.index), dirty], axis=1)
    return Planted(
        written(folder, "measures.csv", dirty),
        "label",
        clean,
        left_out=dict.fromkeys(constants, "constant"),
    )
