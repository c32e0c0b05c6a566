"""What commands make of tables of every format whose bytes are damaged at random.

A worker process runs the commands, so that a crash or a hang ends nothing else. The law: the exit
code is 0 or 3.
"""

import bz2
import gzip
import io
import lzma
import sys
import warnings
import zipfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet

from granulearn.cli.main import run
from tests.models.damage import damaged
from tests.models.mutations import RAISED, REFUSED, VALID, answer
from tests.tables.io.test_workbooks import WRITERS

N_ROWS, SECONDS = 60, 20


def save_tables(folder: Path) -> list[str]:
    """Write the same table in every format, with a model of it; return the formats."""
    rows = range(N_ROWS)
    frame = pd.DataFrame(
        {
            "size": [float(row % 17) for row in rows],
            "colour": [("red", "blue", "grün")[row % 3] for row in rows],
            "day": [f"2020-03-{1 + row % 28:02}" for row in rows],
            "label": ["ab"[row % 2] for row in rows],
        }
    )
    table = pa.Table.from_pandas(frame, preserve_index=False)
    text = frame.to_csv(index=False)
    files = {name: folder / f"table.{name}" for name in FORMATS}
    files["csv"].write_text(text)
    files["utf-16.csv"].write_bytes(text.encode("utf-16"))
    for name, module in (("csv.gz", gzip), ("csv.bz2", bz2), ("csv.xz", lzma)):
        files[name].write_bytes(module.compress(text.encode()))
    files["csv.zst"].write_bytes(pa.compress(text.encode(), "zstd", asbytes=True))
    with zipfile.ZipFile(files["csv.zip"], "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table.csv", text)
    frame.to_json(files["json"], orient="records")
    frame.to_json(files["jsonl"], orient="records", lines=True)
    coded = table.set_column(1, "colour", table["colour"].dictionary_encode())
    for name, compression in (("parquet", "snappy"), ("zstd.parquet", "zstd")):
        options = {"data_page_version": "2.0"} if compression == "zstd" else {}
        parquet.write_table(table, files[name], compression=compression, **options)
    for name in ("lz4", "zstd", "uncompressed"):
        feather.write_feather(coded, files[f"{name}.feather"], compression=name)
    with pa.ipc.new_stream(str(files["arrows"]), coded.schema) as writer:
        writer.write_table(coded)
    cells = [list(frame), *frame.values.tolist()]
    for kind, write in WRITERS.items():
        write(files[kind], {"Data": cells})
    with redirect_stdout(io.StringIO()):
        fit = ["fit", str(files["csv"]), "-t", "label", "--model", "rvfl"]
        assert run([*fit, "-o", str(folder / "model.granulearn")]) == 0
    return [*FORMATS]


FORMATS = (
    "csv", "utf-16.csv", "csv.gz", "csv.bz2", "csv.xz", "csv.zst", "csv.zip", "json", "jsonl",
    "parquet", "zstd.parquet", "lz4.feather", "zstd.feather", "uncompressed.feather", "arrows",
    *WRITERS,
)  # fmt: skip


def outcome_of(path: Path, folder: Path) -> tuple[str, str]:
    """Return what comes of a file, and a word about it."""
    output = folder / f"out{path.suffix}"
    decisions = folder / "decisions.csv"
    decisions.write_text("row,decision,new_label\n1,change,b\n")
    commands = {
        "check": ["check", path, "-t", "label"],
        "predict": ["predict", folder / "model.granulearn", path, "-o", folder / "out.csv"],
        "correct": ["correct", path, "-t", "label", "--decisions", decisions, "-o", output],
    }
    codes = {}
    for verb, arguments in commands.items():
        err = io.StringIO()
        with redirect_stdout(io.StringIO()), redirect_stderr(err):
            codes[verb] = run([str(argument) for argument in arguments])
        if codes[verb] not in (0, 3):
            return RAISED, f"{verb} ended with {codes[verb]}: {err.getvalue()[-300:]}"
    return (REFUSED if codes["check"] else VALID), str(codes)


def serve(folder: Path) -> None:
    """Note, line by line, what comes of a format after the damage of each of some seeds."""
    warnings.simplefilter("ignore")
    files = {name: (folder / f"table.{name}").read_bytes() for name in FORMATS}
    for name in FORMATS:
        word, said = outcome_of(folder / f"table.{name}", folder)
        assert word == VALID, (name, word, said)

    def try_one(name: str, seed: int) -> tuple[str, str]:
        path = folder / f"damaged.{name}"
        path.write_bytes(damaged(files[name], seed))
        return outcome_of(path, folder)

    answer(try_one, SECONDS)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
