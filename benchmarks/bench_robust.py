"""How fast, how large and how hungry the robust classifier is: against LightGBM's defaults.

    GRANULEARN_DATA=DIRECTORY python benchmarks/bench_robust.py [PAGE] [--skip-largest]

Times are of the processor, one thread each, the least of a few rounds in which tasks
take turns; what is shown is their ratio. Three tables: `covtype` (54 columns, 7
classes), `adult` (about 105 columns once its texts are encoded one by one) and a
generated table like that of a census (400 columns of zeros and ones). Sets that are not
in the data directory are left out, and so is what they would tell.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from bench_forest import best_times
from lightgbm import LGBMClassifier
from threadpoolctl import threadpool_limits

from granulearn.datasets import flip_labels, list_datasets, load
from granulearn.ensemble import RobustClassifier
from granulearn.models import save_model
from granulearn.preprocess import TablePreprocessor

SMALL, SMALL_ROUNDS = 5_000, 4
NOISE = 0.2
CLEAN, NOISY = "clean", f"{100 * NOISE:.0f} % wrong"
FIT, PREDICT, FILE = "fit", "predict", "model file"
GROWTH, MEMORY = "growth of a fit", "peak memory of a fit"
MEASURES = (FIT, PREDICT, FILE, GROWTH, MEMORY)
LIMIT_OF_FIT, LIMIT_OF_SMALL_FIT, LIMIT_OF_PREDICT = 3, 6, 2
GROWTHS = {10_000: 11, 50_000: 10}
"""Rows from which the time of ten times as many is looked at, and the limit of the ratio."""
LIMIT_OF_GIGABYTES = 2
LIMIT_OF_FILE = 128 / 3
"""Megabytes: a third of what a file of 100,000 rows of covtype took before."""
CATEGORY_SIZES = (2, 2, 2, 3, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 22, 28, 38, 60, 140)
UNIT_OF_MAXRSS = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, eq=False)
class Table:
    """Rows to fit, rows to predict."""

    name: str
    X: np.ndarray
    y: np.ndarray
    new: np.ndarray


@dataclass(frozen=True)
class Finding:
    """A line of the page."""

    measure: str
    table: str
    rows: str
    labels: str
    value: float
    limit: float | None = None
    unit: str = ""

    def cells(self) -> list[str]:
        """Return what the line shows."""
        limit = "" if self.limit is None else f"{self.limit:.3g}{self.unit}"
        kept = "" if self.limit is None else "yes" if self.value <= self.limit else "**no**"
        found = f"{self.value:.2f}{self.unit}"
        return [self.measure, self.table, self.rows, self.labels, found, limit, kept]


def covtype(n_rows: int, n_new: int = 0) -> Table:
    """Return rows of covtype, drawn without replacement and scaled."""
    data = load("covtype", download=False)
    rows = np.random.RandomState(0).permutation(len(data.y))[: n_rows + n_new]
    fitted = rows[:n_rows]
    X = as_rows(
        TablePreprocessor(max_one_hot=None).fit(data.X.iloc[fitted]).transform(data.X.iloc[rows])
    )
    return Table("covtype", X[:n_rows], data.y[fitted], X[n_rows:])


def adult(n_rows: int) -> Table:
    """Return rows of adult, every text one column per value; all rows are predicted."""
    data = load("adult", download=False)
    fitted = np.random.RandomState(0).permutation(len(data.y))[:n_rows]
    pipeline = TablePreprocessor(max_one_hot=None).fit(data.X.iloc[fitted])
    X = as_rows(pipeline.transform(data.X))
    return Table("adult", X[fitted], data.y[fitted], X)


def census_like(n_rows: int, n_new: int) -> Table:
    """Return categories as 400 columns of zeros and ones; effects on the log odds add up.

    As in a census, a few values of a category are common and most are rare.
    """
    rng = np.random.RandomState(0)
    total = n_rows + n_new
    X = np.zeros((total, sum(CATEGORY_SIZES)))
    log_odds = np.full(total, -1.0)
    begin = 0
    for size in CATEGORY_SIZES:
        shares = 1 / np.arange(1, size + 1)
        values = rng.choice(size, total, p=shares / shares.sum())
        X[np.arange(total), begin + values] = 1
        log_odds += rng.normal(0, 0.5, size)[values]
        begin += size
    y = (rng.uniform(size=total) < 1 / (1 + np.exp(-log_odds))).astype(int)
    return Table("census-like", X[:n_rows], y[:n_rows], X[n_rows:])


def as_rows(X: np.ndarray) -> np.ndarray:
    """Return rows one after the other in memory, as both libraries want them."""
    return np.ascontiguousarray(X, dtype=np.float64)


def ours() -> RobustClassifier:
    """Return the classifier that is measured."""
    return RobustClassifier(random_state=0, n_jobs=1)


def theirs() -> LGBMClassifier:
    """Return its rival."""
    return LGBMClassifier(n_jobs=1, verbose=-1)


def against_lightgbm(table: Table, rounds: int) -> list[Finding]:
    """Return the time of fits and predictions over LightGBM's, and the size of the file."""
    few, many = min(SMALL, len(table.y)), len(table.y)
    found = []
    models: dict[tuple[str, int], RobustClassifier | LGBMClassifier] = {}
    for labels in (CLEAN, NOISY):
        y = table.y if labels == CLEAN else flip_labels(table.y, NOISE, random_state=0).labels

        def fit(maker: Callable, n_rows: int, y: np.ndarray = y) -> Callable[[], object]:
            def task() -> None:
                models[maker.__name__, n_rows] = maker().fit(table.X[:n_rows], y[:n_rows])

            return task

        for n_rows, limit in {few: LIMIT_OF_SMALL_FIT, many: LIMIT_OF_FIT}.items():
            # A fit of a tenth of a second needs more rounds to have an undisturbed one.
            n_rounds = rounds if n_rows == many else SMALL_ROUNDS * rounds
            ratio = time_over(fit(ours, n_rows), fit(theirs, n_rows), n_rounds)
            found.append(Finding(FIT, table.name, f"{n_rows:,}", labels, ratio, limit))
        our_model, their_model = models["ours", many], models["theirs", many]
        ratio = time_over(
            lambda model=our_model: model.predict(table.new),
            lambda model=their_model: model.predict(table.new),
            rounds,
        )
        n_new = f"{len(table.new):,}"
        found.append(Finding(PREDICT, table.name, n_new, labels, ratio, LIMIT_OF_PREDICT))
        limit = LIMIT_OF_FILE if table.name == "covtype" else None
        megabytes = megabytes_of_file(our_model)
        found.append(Finding(FILE, table.name, f"{many:,}", labels, megabytes, limit, " MB"))
    return found


def time_over(task: Callable[[], object], other: Callable[[], object], rounds: int) -> float:
    """Return the time of a task over that of another one."""
    mine, its = best_times([task, other], rounds)
    print(f"  {mine:.2f} s over {its:.2f} s", flush=True)
    return mine / its


def megabytes_of_file(model: RobustClassifier) -> float:
    """Return how large a saved model is."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "model.granulearn"
        save_model(model, path)
        return path.stat().st_size / 1e6


def growth(n_rows: int, limit: float, rounds: int) -> Finding:
    """Return the time of a fit over that of a tenth of the rows."""
    table = covtype(n_rows)
    tenth = n_rows // 10
    ratio = time_over(
        lambda: ours().fit(table.X, table.y),
        lambda: ours().fit(table.X[:tenth], table.y[:tenth]),
        rounds,
    )
    return Finding(GROWTH, "covtype", f"{tenth:,} to {n_rows:,}", CLEAN, ratio, limit)


def memory(n_rows: int) -> Finding:
    """Return the peak memory of a fit above that of a process which only loads its rows.

    Every step has a process of its own: the peak of one that prepares rows, or that has
    done anything else before, would hide what the fit takes.
    """
    with tempfile.TemporaryDirectory() as directory:
        peaks = {}
        for step in ("prepare", "load", "fit"):
            command = [sys.executable, __file__, "--step", step, directory, str(n_rows)]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
            peaks[step] = json.loads(done.stdout)
    gigabytes = (peaks["fit"] - peaks["load"]) / 1e9
    print(f"  {peaks['load'] / 1e9:.2f} GB to load, {peaks['fit'] / 1e9:.2f} GB to fit", flush=True)
    limit = LIMIT_OF_GIGABYTES
    return Finding(MEMORY, "covtype", f"{n_rows:,}", CLEAN, gigabytes, limit, " GB")


def run_step(step: str, directory: Path, n_rows: int) -> None:
    """Do one step of `memory`, and print the peak of this process in bytes."""
    if step == "prepare":
        table = covtype(n_rows)
        np.save(directory / "X.npy", table.X)
        np.save(directory / "y.npy", table.y)
    else:
        X, y = np.load(directory / "X.npy"), np.load(directory / "y.npy")
        if step == "fit":
            ours().fit(X, y)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT_OF_MAXRSS)


def warm_up(table: Table) -> None:
    """Import all modules, so that no time includes it."""
    for model in (ours(), theirs()):
        model.fit(table.X[:2_000], table.y[:2_000]).predict(table.new[:2_000])


def findings(n_rows: int, rounds: int, skip_largest: bool) -> list[Finding]:
    """Measure all, one table in memory at a time."""
    found = []
    if is_here("covtype") and not skip_largest:
        print("== memory", flush=True)
        # Processes inherit the peak of the one that starts them, so this comes first.
        found.append(memory(5 * n_rows))
    tables = {
        "covtype": lambda: covtype(n_rows, n_rows),
        "adult": lambda: adult(min(39_000, n_rows)),
        "census-like": lambda: census_like(n_rows, n_rows),
    }
    for name, make in tables.items():
        print(f"== {name}", flush=True)
        if name != "census-like" and not is_here(name):
            print("  left out: it is not in a data directory (GRANULEARN_DATA)")
            continue
        table = make()
        warm_up(table)
        found += against_lightgbm(table, rounds)
        del table
    for tenth, limit in GROWTHS.items():
        most = tenth * n_rows // 10_000
        if is_here("covtype") and (most <= n_rows or not skip_largest):
            print("== growth", flush=True)
            found.append(growth(most, limit, rounds))
    return found


def is_here(name: str) -> bool:
    """Return whether a set can be read without a download."""
    return bool(list_datasets().loc[name, "here"])


def page(found: list[Finding]) -> str:
    """Return the findings as Markdown."""
    heads = ["measure", "table", "rows", "labels", "found", "limit", "kept"]
    in_order = sorted(found, key=lambda finding: MEASURES.index(finding.measure))
    rows = [heads, ["---"] * len(heads), *(finding.cells() for finding in in_order)]
    lines = [
        "# Speed, memory and files of the robust classifier",
        "",
        "Made by `python benchmarks/bench_robust.py`. Fits and predictions: processor time over "
        "that of LightGBM's defaults, one thread, in one run. Growth: over a tenth of the rows. "
        "Memory: above the data.",
        "",
        *(f"| {' | '.join(cells)} |" for cells in rows),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print the page, and write it where the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", nargs="?", type=Path, help="Markdown file to write")
    parser.add_argument("--rows", type=int, default=100_000, help="of the larger fits")
    parser.add_argument("--rounds", type=int, default=2, help="of which the least time counts")
    parser.add_argument(
        "--skip-largest", action="store_true", help="leave out five times as many rows: minutes"
    )
    parser.add_argument("--step", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    with threadpool_limits(1):
        if arguments.step:
            step, directory, n_rows = arguments.step
            run_step(step, Path(directory), int(n_rows))
            return
        text = page(findings(arguments.rows, arguments.rounds, arguments.skip_largest))
    print(text, end="")
    if arguments.output is not None:
        arguments.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
