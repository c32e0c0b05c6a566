"""Tables in every kind of text file: encodings, separators, line ends, archives."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.end_to_end.messy_records import Planted, messy
from tests.end_to_end.messy_sources import bundled, keel, with_decimal_commas, written


@messy("Polish text in cp1250, semicolons, decimal commas")
def polish_cp1250(folder: Path) -> Planted:
    clean = keel("saheart", 300)[["tobacco", "ldl", "age", "label"]]
    clean.columns = ["tytoń", "cholesterol", "wiek", "chory"]
    towns = ["Łódź", "Kraków", "Gdańsk", "Wrocław", "Rzeszów", "Białystok", "Świdnica", "Zakopane"]
    clean.insert(0, "miasto", np.random.default_rng(10).choice(towns, len(clean)))
    clean["chory"] = clean["chory"].map({"healthy": "nie", "diseased": "tak"})
    dirty = with_decimal_commas(clean)
    return Planted(
        written(folder, "zdrowie.csv", dirty, encoding="cp1250", separator=";"),
        "chory",
        clean,
        kinds={"miasto": "category", "tytoń": "number"},
        said=("--encoding",),
    )


@messy("French text in ISO 8859-15, tab-separated")
def french_latin(folder: Path) -> Planted:
    clean = bundled("wine", 178)[["alcohol", "malic_acid", "hue", "proline", "label"]]
    clean.columns = ["degré", "acidité", "teinte", "proline", "cépage"]
    names = {"class_0": "Grenache élevé", "class_1": "Sémillon", "class_2": "Gewürztraminer"}
    clean["cépage"] = clean["cépage"].map(names)
    return Planted(
        written(folder, "vins.txt", clean, encoding="iso-8859-15", separator="\t"),
        "cépage",
        clean,
        kinds={"degré": "number"},
        said=("--encoding",),
    )


@messy("Excel's Unicode text: UTF-16 with tabs, CRLF")
def unicode_text(folder: Path) -> Planted:
    clean = keel("heart", 270)
    clean = clean.rename(columns={"pressure": "Blutdrück", "label": "Befund"})
    path = written(folder, "Herz.txt", clean, encoding="utf-16", separator="\t", newline="\r\n")
    return Planted(path, "Befund", clean, kinds={"Blutdrück": "number"})


@messy("separated by |, with commas in the cells, ending .dat")
def pipes(folder: Path) -> Planted:
    clean = keel("german", 300)[["account", "months", "amount", "age", "label"]]
    clean.insert(1, "purpose", np.where(clean["months"] > 20, "house, car", "study, other"))
    return Planted(
        written(folder, "credit.dat", clean, separator="|"),
        "label",
        clean,
        kinds={"purpose": "category", "amount": "number"},
    )


@messy("gzip, with a constant and a code of the target")
def packed_gz(folder: Path) -> Planted:
    clean = keel("pima", 300)
    codes = clean["label"].map({"positive": 1, "negative": 0})
    path = folder / "pima.csv.gz"
    clean.assign(site_code="north", outcome_cd=codes).to_csv(path, index=False)
    left_out = {"site_code": "constant", "outcome_cd": "target leakage"}
    return Planted(path, "label", clean, left_out=left_out)
