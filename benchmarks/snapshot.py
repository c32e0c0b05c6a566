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
`made_with` in each record says when and with what it was written. The record of `tables` is of
0.1.0; tables that the tests do not make any more were taken out of it, nothing else was changed.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import importlib.metadata
import json
import platform
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial, reduce
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from processor_times import count_opens, run, seconds, write_mixed
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import accuracy_score, average_precision_score, log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

import granulearn  # noqa: E402
from tests.end_to_end.messy_sources import shared_directory  # noqa: E402
from tests.end_to_end.messy_tables import SHARED, TABLES  # noqa: E402

# ---- The adapter: all names of granulearn are here. ----------------------------------------


def open_and_inspect(path: Path, target: str) -> dict[str, Any]:
    """Return the schema, the labels and the messages of a table."""
    with granulearn.tables.open_table(path) as file:
        report = granulearn.tables.inspect_table(file, target)
        columns = {
            column.name: {
                "type": column.type,
                "dropped": column.dropped,
                "unit": column.number.unit,
                "features": column.feature_names,
                "missing": dict(column.missing),
                "warnings": [*map(str, column.warnings(file.location))],
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
        "notes": [*map(str, report.notes)],
        **{key: [*map(str, getattr(report, key))] for key in ("problems", "warnings")},
    }


def read_features(path: Path, target: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the typed features and the labels of a table."""
    with granulearn.tables.open_table(path) as file:
        table = granulearn.tables.read_training_table(file, target)
        return table.X, table.y


def classifiers(seed: int) -> dict[str, Any]:
    """Return the classifiers of the part `accuracy`; the first is the default one."""
    names = ("RobustClassifier", "RVFLClassifier", "SDAPGBRVFLClassifier")
    return {name: getattr(granulearn, name)(random_state=seed) for name in names}


def for_mixed_types(frame: pd.DataFrame, model: Any) -> Any:
    """Return a pipeline that prepares a frame of mixed types for a model."""
    return make_pipeline(granulearn.TablePreprocessor(), model)


def with_wrong_labels(y: np.ndarray, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Return labels of which a share is wrong, and where they are wrong."""
    noisy, wrong = granulearn.datasets.flip_labels(y, rate, random_state=0)
    return noisy, wrong


def rows_worst_first(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Return the numbers of the rows, those with the most doubtful label first."""
    return granulearn.audit_labels(X, y, random_state=seed).index.to_numpy()


def load_saved(path: Path) -> Any:
    """Return a saved model; its `predict` takes a frame of text."""
    return granulearn.load_model(path)


def command(verb: str, *arguments: object) -> list[str]:
    """Return a call of the command line."""
    return [sys.executable, "-m", "granulearn", verb, *map(str, arguments)]


# ---- Tables ----------------------------------------------------------------------------------

FOLDER = Path(__file__).with_suffix("")
MESSAGES = ("error", "notes", "problems", "warnings")
# Further real files, with the column that a user would name as the target.
REAL = {
    "02_benefits_report.csv": "Claimed benefits?", "02c_totals.csv": "Claimed benefits?",
    "03_biopsy.csv": "malignant?", "04_wages.xlsx": "union", "06_flchain.zip": "death",
    "07_movies.jsonl": "mpaa", "09_anes.dta": "vote", "09_anes.sav": "vote",
    "09_anes.xpt": "vote", "16_genres.csv": "genres", "17_titanic.csv": "survived",
    "19_weather.csv": "weather", "25_noheader.data": "benign", "34b_preise.csv": "Klima",
    "36_counties.csv": "county", "SLID__sex.csv": "sex", "films.csv": "Rating of the association",
    "tausend.csv": "Kauf",
}  # fmt: skip


def data_directory() -> Path:
    """Return the data directory, found as the tests find it."""
    return shared_directory() or sys.exit("Set GRANULEARN_DATA to the directory of the data.")


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
        summary = [float(f"{f(known):.8g}") for f in (np.min, np.mean, np.max) if len(known)]
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
    except Exception as error:
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
    failed, n_messages = False, 0
    for place, before, after in differences(old, new):
        # A message may change its words; an error may neither come nor go.
        came_or_went = place[-1] == "error" and None in (before, after)
        is_message = place[-1] in MESSAGES and not came_or_went
        n_messages += is_message
        failed |= not is_message
        print(f"{'message' if is_message else 'DIFFERS'}: {' / '.join(place)}")
        print(f"    before: {as_json(before, 9)}\n    now:    {as_json(after, 9)}")
    print(f"{len(new)} tables, {n_messages} places where messages differ")
    return failed


# ---- Scores ----------------------------------------------------------------------------------

RATES = (0.0, 0.2, 0.4)
# Splits and wrong labels are fixed, models are not: one seed moves a mean by more than is allowed.
SEEDS = range(10)
N_LARGE = 4000  # rows to train with, and rows to test with, of each large table
# By how much a mean may differ: an absolute number, or a share of what it was.
ABSOLUTE = {"accuracy": 0.002, "auroc": 0.003}
RELATIVE = {"log_loss": 0.02}


@cache
def collection() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the numbers and the labels of every set of the collection."""
    paths = sorted(data_directory().glob("*.csv"))
    tables = {path.stem: pd.read_csv(path) for path in paths if path.stem != "manifest"}
    return {
        name: (t.iloc[:, :-1].to_numpy(float), t["target"].to_numpy()) for name, t in tables.items()
    }


def combined(found: list, how: Callable[[list[float]], float]) -> Any:
    """Return one number for several, or one dictionary for several with the same keys."""
    if isinstance(found[0], dict):
        return {key: combined([one[key] for one in found], how) for key in found[0]}
    return round(how(found), 6)


def over_seeds(scores: Callable[[int], dict[str, dict]]) -> dict[str, Any]:
    """Return the scores of all sets, and of each group the mean with its standard error."""
    runs = [scores(seed) for seed in SEEDS]
    means = [
        {g: combined([*sets.values()], statistics.fmean) for g, sets in r.items()} for r in runs
    ]
    return {
        "means": combined(means, statistics.fmean),
        "standard_errors": combined(means, lambda v: statistics.stdev(v) / len(v) ** 0.5),
        "sets": combined(runs, statistics.fmean),
    }


def learned(model: Any, X: Any, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> dict:
    """Train with wrong labels at every rate; return the scores on right labels."""
    found: dict[str, dict] = {}
    for rate in RATES:
        model.fit(X.iloc[train], with_wrong_labels(y[train], rate)[0])
        scores = {"accuracy": accuracy_score(y[test], model.predict(X.iloc[test]))}
        if hasattr(model, "predict_proba"):
            proba = model.predict_proba(X.iloc[test])
            scores["log_loss"] = log_loss(y[test], proba, labels=model.classes_)
        found[f"{rate:.0%} wrong"] = scores
    return found


def accuracy_of(seed: int) -> dict[str, dict]:
    """Return accuracy and log-loss by table, model and share of wrong labels."""
    groups: dict[str, dict] = {"collection": {}, "large": {}}
    for name, (X, y) in collection().items():
        rows = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=0)
        groups["collection"][name] = {
            kind: learned(make_pipeline(StandardScaler(), model), pd.DataFrame(X), y, *rows)
            for kind, model in classifiers(seed).items()
        }
    kind, model = next(iter(classifiers(seed).items()))
    for path in sorted((data_directory() / "large").glob("*.parquet")):
        frame = pd.read_parquet(path)
        y = frame.pop("target").to_numpy()
        n_test = min(N_LARGE, len(y) - N_LARGE)
        train, test = train_test_split(
            np.arange(len(y)), train_size=N_LARGE, test_size=n_test, stratify=y, random_state=0
        )
        pipeline = for_mixed_types(frame.iloc[train], model)
        groups["large"][path.stem] = {kind: learned(pipeline, frame, y, train, test)}
    return groups


def ranking(X: np.ndarray, given: np.ndarray, wrong: np.ndarray, seed: int) -> dict[str, float]:
    """Return how well the audit puts wrong labels first."""
    doubt = np.empty(len(given))
    doubt[rows_worst_first(X, given, seed)] = np.arange(len(given), 0, -1)
    precision = average_precision_score(wrong, doubt)
    return {"auroc": roc_auc_score(wrong, doubt), "average_precision": precision}


def audit_of(seed: int) -> dict[str, dict]:
    """Return how well the audit ranks planted mistakes and real ones."""
    groups: dict[str, dict] = {"planted": {}, "real_noise": {}, "checked": {}}
    scale = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    for name, (X, y) in collection().items():
        noisy, wrong = with_wrong_labels(y, 0.2)
        groups["planted"][name] = ranking(scale.fit_transform(X), noisy, wrong, seed)
    for path in sorted((data_directory() / "real_noise").glob("*.csv.gz")):
        table = pd.read_csv(path)
        given, truth = (table[name].to_numpy(int) for name in ("HeuBug", "RealBug"))
        X = table.drop(columns=["File", "HeuBug", "HeuBugCount", "RealBug", "RealBugCount"])
        X = scale.fit_transform(np.sign(X) * np.log1p(np.abs(X)))
        groups["real_noise"][path.name] = ranking(X, given, given != truth, seed)
    for path in sorted((data_directory() / "checked").glob("*.csv*")):
        table = pd.read_csv(path)
        table = table[table["part"] == "train"] if "part" in table else table
        given, truth = (table[name].to_numpy(str) for name in ("given_label", "true_label"))
        names = [
            "given_label",
            "true_label",
            "kepoi_name",
            "title",
            "part",
            "birads_of_radiologist",
        ]
        X = scale.fit_transform(table.drop(columns=names, errors="ignore"))
        groups["checked"][path.name] = ranking(X, given, given != truth, seed)
    return groups


def compare_scores(old: dict, new: dict) -> bool:
    """Print what differs; return whether a mean leaves its tolerance, or a set is missing."""
    failed = False
    for place, before, after in differences(old, new):
        line = f"{' / '.join(place)}: {before} -> {after}"
        if not isinstance(before, float) or not isinstance(after, float):
            failed, line = True, f"DIFFERS: {line}"
        elif place[0] == "means":
            allowed = ABSOLUTE.get(place[-1], RELATIVE.get(place[-1], np.inf) * before)
            outside = abs(after - before) > allowed
            failed |= outside
            better = (after < before) == (place[-1] == "log_loss")
            # Two standard errors of a difference, if only the seeds were others.
            chance = 8**0.5 * reduce(dict.__getitem__, place[1:], old["standard_errors"])
            word = f"{'OUTSIDE' if outside else 'allowed'}, {'better' if better else 'worse'}"
            line = f"{word}: {line} (other seeds: +-{chance:.4f})"
        if place[0] != "standard_errors":
            print(line)
    return failed


# ---- Times -----------------------------------------------------------------------------------


def times() -> dict[str, Any]:
    """Return ratios of processor times, and a few plain ones.

    Those of whole commands are of one run each. That of `fit` was 123, 181 and 247 with the same
    code, the more the busier the machine was; the others repeated within about a tenth.
    """
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        big, middle, few, model = (
            Path(name, f) for f in ("b.csv", "m.csv", "f.csv", "m.granulearn")
        )
        for path, rows in ((big, 300_000), (middle, 10_000), (few, 100)):
            write_mixed(path, rows)
        outputs = {"check": [], "audit": ["-o", big.with_name("s.csv")], "fit": ["-o", model]}
        calls = {verb: ["--target", "label", *more] for verb, more in outputs.items()}
        for verb, more in calls.items():  # the first run reads files from the disk; it is not timed
            call = command(verb, middle, *more)
            run(call)
            found[f"opens of the table of 10,000 rows by {verb}"] = count_opens(call, middle)
        found["size of the model of 10,000 rows, kB"] = model.stat().st_size / 1000
        found["load the model, ms"] = 1000 * seconds(lambda: load_saved(model), 5)
        texts, loaded = pd.read_csv(middle, dtype=str).drop(columns="label"), load_saved(model)
        for rows, rounds in ((1, 50), (10_000, 5)):
            work = partial(loaded.predict, texts.head(rows))
            work()
            found[f"predict {rows:,} row(s) of text, ms"] = 1000 * seconds(work, rounds)
        predict = command("predict", model, few, "-o", few.with_name("p.csv"))
        imports = [sys.executable, "-c", "import pandas, sklearn"]
        ratios = [run(predict) / run(imports) for _ in range(5)]
        found["predict 100 rows / import pandas, sklearn"] = statistics.median(ratios)
        unit = seconds(lambda: pd.read_csv(big), 3)
        found["pandas.read_csv of the large table, s"] = unit
        found["inspect / read_csv"] = seconds(lambda: open_and_inspect(big, "label"), 3) / unit
        found["read to learn / read_csv"] = seconds(lambda: read_features(big, "label"), 3) / unit
        for verb, more in calls.items():
            found[f"whole {verb} / read_csv"] = run(command(verb, big, *more)) / unit
    for name in ("bank", "chess_krvkp"):
        ours, theirs = next(iter(classifiers(0).values())), HistGradientBoostingClassifier()
        ours.fit(*collection()["haber"])
        fits = [partial(model.fit, *collection()[name]) for model in (ours, theirs)]
        found[f"fit / HistGradientBoosting, {name}"] = seconds(fits[0], 3) / seconds(fits[1], 3)
    return {k: float(f"{v:.3g}") if isinstance(v, float) else v for k, v in found.items()}


def compare_times(old: dict, new: dict) -> bool:
    """Print the times side by side; they never fail."""
    print(f"{'':45}{'before':>10}{'now':>10}")
    for name in {**old, **new}:
        print(f"{name:45}{old.get(name)!s:>10}{new.get(name)!s:>10}")
    return False


# ---- The command line ------------------------------------------------------------------------

PARTS: dict[str, tuple[Callable[[], dict], Callable[[dict, dict], bool]]] = {
    "tables": (tables, compare_tables),
    "accuracy": (partial(over_seeds, accuracy_of), compare_scores),
    "audit": (partial(over_seeds, audit_of), compare_scores),
    "times": (times, compare_times),
}


def made_with() -> dict[str, str]:
    """Return the date, and the versions of what the results depend on."""
    packages = ("granulearn", "numpy", "scipy", "pandas", "pyarrow", "scikit-learn")
    versions = {name: importlib.metadata.version(name) for name in packages}
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return {"date": today, "python": platform.python_version(), **versions}


def as_json(value: Any, depth: int = 0) -> str:
    """Return JSON of which a difference can be read: one line per item of the upper levels."""
    if isinstance(value, dict) and value and depth < 4:
        gap = "\n" + " " * depth
        lines = (f"{gap} {as_json(k)}: {as_json(v, depth + 1)}" for k, v in value.items())
        return "{" + ",".join(lines) + gap + "}"
    return json.dumps(value, ensure_ascii=False)


def main() -> int:
    """Write or compare the parts that are asked for."""
    parser = argparse.ArgumentParser(description="Record what granulearn does, or compare with it.")
    parser.add_argument("do", choices=("write", "compare"))
    parser.add_argument("parts", nargs="*", choices=[*PARTS, "all"], default="all", help="what")
    arguments = parser.parse_args()
    failed = []
    for part in PARTS if "all" in arguments.parts else arguments.parts:
        compute, compare = PARTS[part]
        path = FOLDER / f"{part}.json"
        print(f"== {part}", flush=True)
        begin = time.process_time()
        with warnings.catch_warnings(), threadpool_limits(1):
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
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
