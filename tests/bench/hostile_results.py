"""Result files that somebody else has edited: JSON of other forms, cells of other types."""

import json
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from granulearn.bench import expand, load_study
from granulearn.bench.running import draw_missing
from granulearn.bench.store import Store
from tests.bench.small_studies import FULL, fill_store, write_study

EVIL = "<script>alert(1)</script>"
VALUES = [
    None, True, -1, 0, 12, 0.5, 1e308, -1e308, 1e-320, 2**70, 10**400, "", "nan", EVIL,
    "x" * 100_000, "../../x", "$\\frac{", "\x00\x1b[31m", "\u202e", [], {},
    [[]], {"a": {"b": 1}}, ["x"] * 3,
]  # fmt: skip
TEXTS = ["", '{"', "[" * 60_000, '{"a":' * 3_000, "NaN"]
CELLS = [b"\xff\xfe", 1, 1.5, "", "z" * 10_000, "\x00", EVIL]
FACTS = ("study", "drawing", "environment")


def full_results(folder: Path) -> Path:
    """Write a result file with everything that a page can show."""
    study = load_study(write_study(folder, FULL, "full"))
    path = folder / "full.db"
    fill_store(path, study, lambda run: 0.5 + 0.004 * (int(run.key[:4], 16) % 97))
    with Store(path) as store:
        draw_missing(study, expand(study), store, None)
    return path


def edit(whole: Path, path: Path, seed: int) -> str:
    """Write a copy of a result file with one cell edited; return which."""
    rng = random.Random(seed)
    shutil.copy(whole, path)
    kind = rng.choice([*FACTS, "run", "cell"])
    table, column = ("runs", "outcome") if kind == "run" else ("facts", "content")
    with closing(sqlite3.connect(path)) as database, database:
        if kind == "cell":
            table, column = rng.choice(
                [
                    ("runs", "outcome"),
                    ("runs", "finished"),
                    ("runs", "environment"),
                    ("facts", "key"),
                ]
            )
            value = rng.choice(CELLS)
        where = f"WHERE kind = '{kind}'" if kind in FACTS else ""
        rows = database.execute(f"SELECT rowid, {column} FROM {table} {where}").fetchall()
        row, text = rng.choice(rows)
        if kind != "cell":
            value = _edited(text, rng)
        database.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (value, row))
    return kind


def _edited(text: str, rng: random.Random) -> str:
    if rng.random() < 0.1:
        return rng.choice(TEXTS)
    content = json.loads(text)
    holders = list(_holders(content))
    holder = rng.choice(holders)
    key = rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    if rng.random() < 0.15:
        del holder[key]
    elif isinstance(holder, dict) and rng.random() < 0.15:
        holder[rng.choice(["method", "dataset", "other", EVIL])] = rng.choice(VALUES)
    else:
        holder[key] = rng.choice(VALUES)
    return json.dumps(content)


def _holders(content):
    """Yield every object and list of a JSON value that holds something."""
    values = content.values() if isinstance(content, dict) else content
    if isinstance(content, dict | list) and content:
        yield content
        for value in list(values)[:6]:
            yield from _holders(value)
