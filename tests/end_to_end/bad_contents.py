"""Files that can be read, but hold no table to learn from: rows, text, targets, own outputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.cli.commands import succeeds
from tests.end_to_end.bad_tables import PLAIN, bad, holding
from tests.end_to_end.messy_sources import bundled


@bad("ragged.csv", "line")
def ragged_rows(folder: Path) -> Path:
    lines = PLAIN.splitlines()
    lines[3] += ",more"
    lines[6] = "1.5"
    lines[18] += ",and,more"
    return holding(folder, "ragged.csv", "\n".join(lines))


@bad("zeros.csv", "NUL", "line 3")
def nul_bytes(folder: Path) -> Path:
    lines = PLAIN.encode().splitlines(keepends=True)
    lines[2] = lines[2].replace(b"red", b"r\x00d")
    return holding(folder, "zeros.csv", b"".join(lines))


@bad("quote.csv", "line 5")
def unclosed_quote(folder: Path) -> Path:
    lines = PLAIN.splitlines(keepends=True)
    lines[4] = lines[4].replace("red", '"red').replace("blue", '"blue')
    return holding(folder, "quote.csv", "".join(lines))


@bad("broad.csv", "columns")
def too_many_columns(folder: Path) -> Path:
    header = ",".join(f"c{i}" for i in range(200_000))
    row = ",".join(["1"] * 200_000)
    text = f"{header},label\n{row},a\n{row},b\n"
    return holding(folder, "broad.csv", text)


@bad("text.csv", "ascii", "line 5", options=("--encoding", "ascii"))
def wrong_encoding(folder: Path) -> Path:
    return holding(folder, "text.csv", PLAIN.replace("blue", "blüe").replace("blüe", "blue", 1))


@bad("klingon", options=("--encoding", "klingon"))
def unknown_encoding(folder: Path) -> Path:
    return holding(folder, "text.csv", PLAIN)


@bad("text.csv", "lable", "label", target="lable")
def misspelt_target(folder: Path) -> Path:
    return holding(folder, "text.csv", PLAIN)


@bad("text.csv", "Label", "'label'", target="Label")
def target_in_capitals(folder: Path) -> Path:
    return holding(folder, "text.csv", PLAIN)


@bad("prose.txt", "label")
def prose(folder: Path) -> Path:
    return holding(folder, "prose.txt", "It was the best of times.\nIt was the worst of times.\n")


@bad("same.csv", "'label'", "'a'")
def constant_target(folder: Path) -> Path:
    rows = "".join(f"{row},a\n" for row in range(30))
    return holding(folder, "same.csv", f"size,label\n{rows}")


@bad("none.csv", "'label'", "empty")
def empty_target(folder: Path) -> Path:
    rows = "".join(f"{row},\n" for row in range(30))
    return holding(folder, "none.csv", f"size,label\n{rows}")


@bad("iris.csv", "'petal width'", "regressor", target="petal width")
def measured_target(folder: Path) -> Path:
    path = folder / "iris.csv"
    table = bundled("iris", 150)
    table["petal width"] += np.arange(150) / 1000
    table.to_csv(path, index=False)
    return path


@bad("people.csv", "'name'", target="name")
def distinct_target(folder: Path) -> Path:
    rows = "".join(f"{row % 7},person {row}\n" for row in range(60))
    return holding(folder, "people.csv", f"size,name\n{rows}")


@bad("alone.csv", "'label'", "target")
def target_alone(folder: Path) -> Path:
    return holding(folder, "alone.csv", "label\n" + "a\nb\n" * 15)


@bad("nothing.csv", "id", "site")
def nothing_to_learn_from(folder: Path) -> Path:
    rows = "".join(f"K{7919 * row % 99991},north,{'ab'[row % 2]}\n" for row in range(60))
    return holding(folder, "nothing.csv", f"id,site,label\n{rows}")


@bad("'label'", "1,200 characters")
def target_of_long_texts(folder: Path) -> Path:
    rows = "".join(f"{row % 7},{'ab'[row % 2] * 1200}\n" for row in range(60))
    return holding(folder, "long.csv", f"size,label\n{rows}")


@bad("'label'")
def nested_target(folder: Path) -> Path:
    path = folder / "nested.parquet"
    pq.write_table(pa.table({"size": list(range(30)), "label": [["a"], ["b"]] * 15}), path)
    return path


@bad("listing.csv", "granulearn audit", target="given_label")
def own_suspects(folder: Path) -> Path:
    source = holding(folder, "plain.csv", PLAIN)
    succeeds("audit", source, "--target", "label", "-o", folder / "listing.csv")
    source.unlink()
    return folder / "listing.csv"


@bad("scored.csv", "granulearn predict", target="prediction")
def own_predictions(folder: Path) -> Path:
    source = holding(folder, "plain.csv", PLAIN)
    model = folder / "model.granulearn"
    succeeds("fit", source, "--target", "label", "--model", "rvfl", "-o", model)
    succeeds("predict", model, source, "--proba", "-o", folder / "scored.csv")
    source.unlink()
    model.unlink()
    return folder / "scored.csv"


@bad("fitted.granulearn", "model")
def own_model(folder: Path) -> Path:
    source = holding(folder, "plain.csv", PLAIN)
    model = folder / "fitted.granulearn"
    succeeds("fit", source, "--target", "label", "--model", "rvfl", "-o", model)
    source.unlink()
    return model


@bad("half.csv")
def half_a_character(folder: Path) -> Path:
    return holding(folder, "half.csv", PLAIN.encode("utf-16")[:-1])


@bad("several.csv", "lable", "length", "kolour", target="lable", options=(
    "--ignore", "length", "--categorical", "kolour",
))  # fmt: skip
def several_problems(folder: Path) -> Path:
    """Return a good table, asked for three columns that it lacks: all are said at once."""
    return holding(folder, "several.csv", PLAIN)
