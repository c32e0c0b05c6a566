"""What all benchmarks share: keeping results, timing, and writing a page.

A benchmark is a list of tasks. A task has a key and a function that returns its rows. The results
of a task are one line of a JSON lines file, with the version, date and machine that made them:
what is in the file is not computed again. The page is made from the file.
"""

from __future__ import annotations

import gc
import json
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from granulearn.bench import Store, Study, StudyError, expand, load_study, run_study
from granulearn.bench.running import describe_environment
from granulearn.bench.runs import Run
from granulearn.bench.summary import run_table

PAGES = Path(__file__).resolve().parents[1] / "docs" / "results"
SHOWN_PACKAGES = ("numpy", "scikit-learn", "pandas", "lightgbm", "cleanlab")

Row = dict[str, Any]
Task = tuple[Row, Callable[[], Row | list[Row]]]


@dataclass(frozen=True)
class Benchmark:
    """Tasks, and the page about their results."""

    title: str
    about: str
    tasks: Callable[[bool], Iterable[Task]]
    """Takes whether a quick run is wanted; a task is its key and a function that computes rows."""
    tables: Callable[[pd.DataFrame], Iterable[str]]
    """Takes all rows; returns the blocks of the page in Markdown."""
    suffix = ".jsonl"

    def measure(self, path: Path, quick: bool) -> None:
        """Run the tasks whose results the file does not hold."""
        done = {json.dumps(line["key"]) for line in _lines(path)}
        made_by = {
            "date": datetime.now(UTC).strftime("%Y-%m-%d"),
            **describe_environment(),
        }
        with path.open("a", encoding="utf-8") as file, threadpool_limits(1):
            for key, task in self.tasks(quick):
                if json.dumps(key) in done:
                    continue
                began = time.perf_counter()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = task()
                rows = found if isinstance(found, list) else [found]
                line = {"key": key, "rows": rows, "made_by": made_by}
                file.write(json.dumps(line, default=_plain) + "\n")
                file.flush()
                seconds = time.perf_counter() - began
                print(f"{seconds:7.1f} s  {', '.join(map(str, key.values()))}", flush=True)

    def page(self, path: Path, command: str) -> str:
        """Return the page of a file of results."""
        lines = _lines(path)
        if not lines:
            raise SystemExit(f"{path} has no results: run the benchmark first")
        rows = [line["key"] | row for line in lines for row in line["rows"]]
        made_by = [line["made_by"] for line in lines]
        blocks = self.tables(pd.DataFrame(rows))
        dates = [one["date"] for one in made_by]
        return page(self.title, self.about, command, stamp(made_by, dates), blocks)


@dataclass(frozen=True)
class StudyBenchmark:
    """Studies that `granulearn bench` runs too, and the page about their results."""

    title: str
    about: str
    studies: Sequence[str]
    tables: Callable[[list[tuple[Study, pd.DataFrame]]], Iterable[str]]
    """Takes each study with its finished runs; returns the blocks of the page in Markdown."""
    suffix = ".db"

    def loaded(self) -> Iterator[Study]:
        """Yield the studies whose methods are installed."""
        for name in self.studies:
            try:
                yield load_study(name)
            except StudyError as error:
                print(f"{name} is left out: {error}", flush=True)

    def runs(self, study: Study, quick: bool) -> list[Run]:
        """Return the runs of a study; of a quick one two sets, one split, clean rows."""
        runs = expand(study)
        if not quick:
            return runs
        sets, condition = [*study.dataset_names][:2], str(runs[0].unit.condition)
        return [
            run
            for run in runs
            if run.unit.dataset in sets
            and run.unit.part.repeat == 0
            and str(run.unit.condition) == condition
        ]

    def measure(self, path: Path, quick: bool) -> None:
        """Run what the store does not hold."""
        for study in self.loaded():
            name = study.name
            with Store(path) as store:
                result = run_study(study, self.runs(study, quick), store)
            print(f"{name}: {result.computed} computed, {result.found} found", flush=True)
            for run, reason in result.failed:
                print(f"failed: {run}: {reason}", flush=True)

    def results(self, path: Path) -> tuple[list[tuple[Study, pd.DataFrame]], list[Row], list[str]]:
        """Return each study with its finished runs, and the machines and dates of these."""
        found, made_by, dates = [], [], []
        with Store(path, readonly=True) as store:
            environments = store.environments()
            for study in self.loaded():
                runs = expand(study)
                rows = store.rows(run.key for run in runs)
                found.append((study, run_table(runs, rows)))
                made_by += [environments[key] for key in {r.environment for r in rows.values()}]
                dates += [row.finished[:10] for row in rows.values()]
        return found, made_by, dates

    def page(self, path: Path, command: str) -> str:
        """Return the page of a store."""
        found, made_by, dates = self.results(path)
        if not dates:
            raise SystemExit(f"{path} has no results: run the benchmark first")
        blocks = self.tables(found)
        return page(self.title, self.about, command, stamp(made_by, dates), blocks)


def page(title: str, about: str, command: str, stamped: str, blocks: Iterable[str]) -> str:
    """Return a page of results."""
    head = [f"# {title}", about.strip(), f"```sh\n{command}\n```", stamped]
    return "\n\n".join([*head, *blocks]) + "\n"


def stamp(made_by: list[Row], dates: list[str]) -> str:
    """Return with which version, when and on which machine results were made."""
    machines = dict.fromkeys(
        f"{one['processor']}, {one['cores']} cores, Python {one['python']}, "
        + ", ".join(f"{p} {one['packages'][p]}" for p in SHOWN_PACKAGES if p in one["packages"])
        for one in made_by
    )
    versions = sorted({one["packages"]["granulearn"] for one in made_by})
    days = sorted({min(dates), max(dates)})
    return (
        f"*Measured with version {' and '.join(versions)}, {' to '.join(days)}, on "
        f"{'; '.join(machines)}.*"
    )


def markdown(frame: pd.DataFrame, digits: int = 3) -> str:
    """Return a frame as a table, the index first; floats rounded, missing cells empty."""
    rows = [[frame.index.name or "", *frame.columns]]
    rows += [[name, *row] for name, row in zip(frame.index, frame.to_numpy(object), strict=True)]
    texts = [[_text(cell, digits).replace("|", "\\|") for cell in row] for row in rows]
    texts.insert(1, ["---"] * len(rows[0]))
    return "\n".join(f"| {' | '.join(row)} |" for row in texts)


def least_times(
    tasks: dict[str, Callable[[], object]], rounds: int, clock: Callable = time.process_time
) -> dict[str, float]:
    """Return the least seconds of each task; tasks take turns, so that a busy moment hits all."""
    least = dict.fromkeys(tasks, np.inf)
    for _ in range(rounds):
        for name, task in tasks.items():
            gc.collect()
            began = clock()
            task()
            least[name] = min(least[name], clock() - began)
    return least


def _lines(path: Path) -> list[Row]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)


def _text(cell: Any, digits: int) -> str:
    if isinstance(cell, float):
        return "" if np.isnan(cell) else f"{cell:.{digits}f}"
    return "" if cell is None else str(cell)
