"""Tables in every kind of text file: encodings, separators, line ends, archives."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather

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


@messy("line ends of an old Macintosh: CR only")
def old_line_ends(folder: Path) -> Planted:
    clean = bundled("iris", 150)
    return Planted(written(folder, "iris_mac.csv", clean, newline="\r"), "label", clean)


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


@messy("semicolons and decimal commas, UTF-8 with BOM, CRLF")
def decimal_commas(folder: Path) -> Planted:
    clean = bundled("iris", 150)
    path = written(
        folder,
        "iris_de.csv",
        with_decimal_commas(clean),
        encoding="utf-8-sig",
        separator=";",
        newline="\r\n",
    )
    return Planted(path, "label", clean, kinds=dict.fromkeys(clean.columns[:-1], "number"))


def _packed(folder: Path, name: str) -> tuple[Path, bytes, Planted]:
    """Return a path, the bytes of a table with a constant and a leak, and what is planted."""
    clean = keel("pima", 300)
    dirty = clean.assign(
        site_code="north", outcome_cd=clean["label"].map({"positive": 1, "negative": 0})
    )
    data = dirty.to_csv(index=False).encode()
    left_out = {"site_code": "constant", "outcome_cd": "target leakage"}
    path = folder / name
    return path, data, Planted(path, "label", clean, left_out=left_out)


@messy("gzip, with a constant and a code of the target")
def packed_gz(folder: Path) -> Planted:
    path, data, planted = _packed(folder, "pima.csv.gz")
    path.write_bytes(gzip.compress(data, mtime=0))
    return planted


@messy("bzip2, with a constant and a code of the target")
def packed_bz2(folder: Path) -> Planted:
    path, data, planted = _packed(folder, "pima.csv.bz2")
    path.write_bytes(bz2.compress(data))
    return planted


@messy("xz, with a constant and a code of the target")
def packed_xz(folder: Path) -> Planted:
    path, data, planted = _packed(folder, "pima.csv.xz")
    path.write_bytes(lzma.compress(data))
    return planted


@messy("Zstandard, with a constant and a code of the target")
def packed_zst(folder: Path) -> Planted:
    path, data, planted = _packed(folder, "pima.csv.zst")
    with pa.output_stream(str(path), compression="zstd") as stream:
        stream.write(data)
    return planted


@messy("a zip with one table, with a constant and a code of the target")
def packed_zip(folder: Path) -> Planted:
    path, data, planted = _packed(folder, "pima.zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data/pima.csv", data)
    return planted
