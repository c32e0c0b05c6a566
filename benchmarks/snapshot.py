"""Record what granulearn does today, and compare later code with the record.

    GRANULEARN_DATA=DIRECTORY python benchmarks/snapshot.py write [PART ...]
    GRANULEARN_DATA=DIRECTORY python benchmarks/snapshot.py compare [PART ...]

`write` stores one file per part in benchmarks/snapshot; `compare` computes the same again and
prints what differs. The parts:

- `tables`: schema, typed values, labels and messages of every dirty table that the tests make,
  and of the real dirty files of the data directory.
- `accuracy`: accuracy and log-loss of classifiers that learn from wrong labels.
- `audit`: how well the label audit ranks planted and real mistakes.
- `times`: ratios of processor times, and how often a command opens its table.

The exit code of `compare` is 1 if a schema, a typed value or a label differs, or if a mean
score leaves its tolerance. Messages and times are shown side by side and never fail.
The data may not be copied: of real files the record holds digests and summaries, and no rows.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import importlib.metadata
import json
import platform
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.end_to_end.messy_sources import shared_directory  # noqa: E402
from tests.end_to_end.messy_tables import SHARED, TABLES  # noqa: E402

# ---- The adapter: all names of granulearn stand here. ----------------------------------------


def open_and_inspect(path: Path, target: str) -> dict[str, Any]:
    """Return the schema, the labels and the messages of a table."""
    from granulearn.tables import inspect_table, open_table

    with open_table(path) as file:
        report = inspect_table(file, target)
        columns = {
            column.name: {
                "kind": column.kind,
                "left_out": column.left_out,
                "unit": column.number.unit,
                "features": column.feature_names,
                "missing": dict(column.missing),
                "odd": [str(text) for text in column.oddities(file.place)],
            }
            for column in report.schema.columns
        }
    labels, findings = report.labels, report.findings
    return {
        "rows": report.rows,
        "columns": columns,
        "classes": labels and dict(labels.classes),
        "joined": labels and labels.joined,
        "unlabelled": labels and sum(labels.unlabelled.values()),
        "duplicates": findings and findings.duplicates,
        "conflicts": findings and findings.conflicts,
        "remarks": [str(text) for text in report.remarks],
        "problems": [str(text) for text in report.problems],
        "warnings": [str(text) for text in report.warnings],
    }


def read_features(path: Path, target: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the typed features and the labels of a table."""
    from granulearn.tables import open_table, read_training_table

    with open_table(path) as file:
        table = read_training_table(file, target)
        return table.X, table.y


def classifiers() -> dict[str, Any]:
    """Return the classifiers of the part `accuracy`; the first is the default one."""
    from granulearn import RobustClassifier, RVFLClassifier, SDAPGBRVFLClassifier

    models = (RobustClassifier, RVFLClassifier, SDAPGBRVFLClassifier)
    return {model.__name__: model(random_state=0) for model in models}


def for_mixed_types(frame: pd.DataFrame, model: Any) -> Any:
    """Return a pipeline that prepares a frame of mixed types for a model."""
    from granulearn.datasets import make_pipeline_for

    return make_pipeline_for(frame, model)


def with_wrong_labels(y: np.ndarray, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Return labels of which a share is wrong, and where they are wrong."""
    from granulearn.datasets import flip_labels

    noisy, wrong = flip_labels(y, rate, random_state=0)
    return noisy, wrong


def rows_worst_first(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the numbers of the rows, those with the most doubtful label first."""
    from granulearn import audit_labels

    return audit_labels(X, y, random_state=0).index.to_numpy()


def load_saved(path: Path) -> Any:
    """Return a saved model; its `predict` takes a frame of text."""
    from granulearn import load_model

    return load_model(path)


def command(verb: str, *arguments: object) -> list[str]:
    """Return a call of the command line."""
    return [sys.executable, "-m", "granulearn", verb, *map(str, arguments)]


# ---- Tables ----------------------------------------------------------------------------------

FOLDER = Path(__file__).with_suffix("")
MESSAGES = ("error", "odd", "remarks", "problems", "warnings")
# Further real files, with the column that a user would name as the target.
REAL = {
    "02_benefits_report.csv": "Claimed benefits?",
    "02c_totals.csv": "Claimed benefits?",
    "03_biopsy.csv": "malignant?",
    "04_wages.xlsx": "union",
    "06_flchain.zip": "death",
    "07_movies.jsonl": "mpaa",
    "09_anes.dta": "vote",
    "09_anes.sav": "vote",
    "09_anes.xpt": "vote",
    "16_genres.csv": "genres",
    "17_titanic.csv": "survived",
    "19_weather.csv": "weather",
    "25_noheader.data": "benign",
    "34b_preise.csv": "Klima",
    "36_counties.csv": "county",
    "SLID__sex.csv": "sex",
    "films.csv": "Rating of the association",
    "tausend.csv": "Kauf",
}


def data_directory() -> Path:
    """Return the data directory, found as the tests find it."""
    directory = shared_directory()
    if directory is None:
        sys.exit("There is no manifest.csv: set GRANULEARN_DATA to the directory of the data.")
    return directory


def digest(values: np.ndarray | list[str]) -> str:
    """Return a digest of numbers, by their bytes with one kind of NaN, or of texts."""
    if isinstance(values, list):
        content = "\n".join(repr(value) for value in values).encode()
    else:
        numbers = np.asarray(values, dtype="<f8") + 0.0  # there is one zero
        numbers[np.isnan(numbers)] = np.nan
        content = numbers.tobytes()
    return hashlib.sha256(content).hexdigest()[:20]


def typed_column(column: pd.Series, *, show: bool) -> dict[str, Any]:
    """Return the digest and the summary of a feature, and its first values if they may be shown."""
    found: dict[str, Any] = {"missing": int(column.isna().sum())}
    if pd.api.types.is_numeric_dtype(column):
        numbers = column.to_numpy(float)
        first = [f"{value:.10g}" for value in numbers[:5]]
        known = numbers[~np.isnan(numbers)]
        summary = (
            [float(f"{f(known):.8g}") for f in (np.min, np.mean, np.max)] if len(known) else []
        )
        found |= {"type": "number", "digest": digest(numbers), "min_mean_max": summary}
    else:
        texts = [None if pd.isna(value) else str(value) for value in column]
        first = [str(text) for text in texts[:5]]
        found |= {"type": "category", "digest": digest(texts), "distinct": len({*texts} - {None})}
    return found | ({"first": first} if show else {})


def table_facts(path: Path, target: str, folder: Path, *, show: bool) -> dict[str, Any]:
    """Return everything that is recorded about a table; paths in messages are relative."""
    facts: dict[str, Any] = {"target": target}
    try:
        facts |= open_and_inspect(path, target)
        X, y = read_features(path, target)
        facts["features"] = {name: typed_column(X[name], show=show) for name in X.columns}
        counts = pd.Series(y).value_counts().sort_index()
        facts["labels"] = {
            "type": {"b": "truth", "i": "integer"}.get(y.dtype.kind, "text"),
            "digest": digest([str(label) for label in y]),
            "counts": {str(label): int(count) for label, count in counts.items()},
        }
    except (ValueError, OSError, ImportError) as error:
        facts["error"] = f"{type(error).__name__}: {error}"
    text = json.dumps(facts, ensure_ascii=False, default=str)
    return json.loads(text.replace(f"{json.dumps(str(folder), ensure_ascii=False)[1:-1]}/", ""))


def tables() -> dict[str, Any]:
    """Return the facts of all tables."""
    found = {}
    with tempfile.TemporaryDirectory() as name:
        for table in TABLES.values():
            folder = Path(name, table.name)
            folder.mkdir()
            planted = table.make(folder)
            found[table.name] = table_facts(planted.path, planted.target, folder, show=True)
    directory = data_directory()
    targets = {file: target for file, (target, *_) in SHARED.items()}
    targets |= {f"messy/{file}": target for file, target in REAL.items()}
    for file, target in targets.items():
        found[file] = table_facts(directory / file, target, directory, show=False)
    return found


def differences(old: Any, new: Any, place: tuple[str, ...] = ()) -> Iterator[tuple]:
    """Yield the place, the old and the new value of everything that differs."""
    if isinstance(old, dict) and isinstance(new, dict) and "digest" not in old:
        for key in [*old, *(key for key in new if key not in old)]:
            yield from differences(old.get(key), new.get(key), (*place, key))
        if list(old) != list(new) and sorted(old) == sorted(new):
            yield (*place, "order"), list(old), list(new)
    elif old != new:
        yield place, old, new


def compare_tables(old: dict, new: dict) -> bool:
    """Print what differs; return whether more than messages does."""
    failed = False
    n_messages = 0
    for place, before, after in differences(old, new):
        # A message may change its words; an error may neither come nor go.
        is_message = place[-1] in MESSAGES and not (
            place[-1] == "error" and (before is None or after is None)
        )
        n_messages += is_message
        failed |= not is_message
        print(f"{'message' if is_message else 'DIFFERS'}: {' / '.join(place)}")
        print(f"    before: {json.dumps(before, ensure_ascii=False)}")
        print(f"    now:    {json.dumps(after, ensure_ascii=False)}")
    print(f"{len(new)} tables, {n_messages} places where messages differ")
    return failed


# ---- The command line ------------------------------------------------------------------------

PARTS: dict[str, tuple[Callable[[], dict], Callable[[dict, dict], bool]]] = {
    "tables": (tables, compare_tables),
}


def made_with() -> dict[str, str]:
    """Return the date, and the versions of what the results depend on."""
    packages = ("granulearn", "numpy", "scipy", "pandas", "pyarrow", "scikit-learn", "numba")
    versions = {name: importlib.metadata.version(name) for name in packages}
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return {"date": today, "python": platform.python_version(), **versions}


def as_json(value: Any, depth: int = 0) -> str:
    """Return JSON of which a difference can be read: one line per item of the upper levels."""
    if isinstance(value, dict) and value and depth < 4:
        lines = (
            f"{json.dumps(k, ensure_ascii=False)}: {as_json(value[k], depth + 1)}" for k in value
        )
        return (
            "{\n"
            + ",\n".join(" " * (depth + 1) + line for line in lines)
            + "\n"
            + " " * depth
            + "}"
        )
    return json.dumps(value, ensure_ascii=False)


def main() -> int:
    """Write or compare the parts that are asked for."""
    parser = argparse.ArgumentParser(description="Record what granulearn does, or compare with it.")
    parser.add_argument("do", choices=("write", "compare"))
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; or all")
    arguments = parser.parse_args()
    unknown = {*arguments.parts} - {*PARTS}
    if unknown:
        parser.error(f"there is no part {', '.join(sorted(unknown))}; take {', '.join(PARTS)}.")
    failed = []
    for part in arguments.parts or PARTS:
        compute, compare = PARTS[part]
        path = FOLDER / f"{part}.json"
        print(f"== {part}", flush=True)
        begin = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = json.loads(json.dumps(compute()))
        print(f"{time.process_time() - begin:.0f} s of processor time")
        if arguments.do == "write":
            path.parent.mkdir(exist_ok=True)
            text = as_json({"made_with": made_with(), part: found})
            path.write_text(text + "\n", encoding="utf-8")
        elif compare(json.loads(path.read_text(encoding="utf-8"))[part], found):
            failed.append(part)
    if failed:
        print(f"outside what is allowed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
