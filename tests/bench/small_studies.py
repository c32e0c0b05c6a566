"""Studies small enough for a test: generated sets, few and fast runs."""

import multiprocessing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from granulearn.bench import (
    Outcome,
    Store,
    Study,
    expand,
    load_study,
    paper_accuracy_table,
    paper_noise_table,
    running,
    summarize,
    summarize_paper,
)
from granulearn.bench.running import draw_missing
from granulearn.bench.study_files import PAPER_STUDIES
from tests.processes import copies

SMALL = """
question = "Does a test of the studies work?"
seed = 3
datasets = ["two_moons", "circles", "crossplane"]
scores = ["accuracy", "log_loss", "fit_seconds"]
split = { kind = "holdout", repeats = 2 }
noise = [{ kind = "uniform", rates = [0.0, 0.2] }]
tuning = { folds = 3 }
draw = ["two_moons"]

[[method]]
name = "RVFL"
estimator = "RVFLClassifier"
fixed = { n_hidden = 12 }
grid = { C = [0.01, 1.0] }

[[method]]
name = "GB-RVFL"
estimator = "GBRVFLClassifier"
fixed = { n_hidden = 12 }
grid = { C = [0.01, 1.0] }

[[method]]
name = "tree"
estimator = "sklearn.tree.DecisionTreeClassifier"
fixed = { max_depth = 4 }
"""
N_RUNS = 3 * 2 * 2 * 3


def use_warm_workers(patch: pytest.MonkeyPatch) -> None:
    """Let workers begin with the library imported; those of runs that are stopped are new ones."""
    warm = copies()  # workers are started while signals wait, which those after them would inherit
    own = SimpleNamespace(
        get_context=lambda _: warm, active_children=multiprocessing.active_children
    )
    patch.setattr(running, "multiprocessing", own)


def write_study(directory: Path, text: str = SMALL, name: str = "small") -> Path:
    path = directory / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return path


def small_study(directory: Path, *changes: tuple[str, str]) -> Study:
    text = SMALL
    for old, new in changes:
        assert old in text, f"the small study has no {old!r}"
        text = text.replace(old, new)
    return load_study(write_study(directory, text))


MACHINE = {
    "python": "3",
    "system": "Linux x86_64",
    "processor": "a processor",
    "cores": 2,
    "packages": {"granulearn": "0.1.0", "numpy": "2"},
}


def fill_store(path: Path, study: Study, accuracy, *, leave_out=lambda run: False) -> Path:
    """Write one row per run; ``accuracy`` is a function of the run, or a reason to fail."""
    with Store(path) as store:
        # No disk is waited for after each of thousands of rows: nothing here ends half-way.
        store._database.execute("PRAGMA synchronous = OFF")
        store.save_study(study.name, study.to_json())
        for run in expand(study):
            if leave_out(run):
                continue
            value = accuracy(run)
            value = value if isinstance(value, str) else float(value)
            outcome = (
                Outcome(run.key, run.unit.seed, reason=value)
                if isinstance(value, str)
                else Outcome(
                    run.key,
                    run.unit.seed,
                    scores={
                        name: value if name != "log_loss" else 1 - value
                        for name in run.scores
                        if not name.endswith("_seconds")
                    },
                    chosen={"C": 0.1},
                    fold_scores=[value, value],
                    fit_seconds=0.5,
                    predict_seconds=0.01,
                    n_balls=12 if "GB" in run.method.name else None,
                    n_train=70,
                    n_test=30,
                    n_disturbed=0,
                    source="made up",
                    fingerprint="none",
                )
            )
            store.save(run, outcome, MACHINE)
    return path


TABLE1, NOISE = paper_accuracy_table(), paper_noise_table()


def papers_own_accuracy(run) -> float:
    """What the paper reports of a run; something plain where it prints no number."""
    unit = run.unit
    place = (unit.dataset, round(100 * unit.condition.rate))
    if unit.part.split.kind == "paper":
        return TABLE1.loc[unit.dataset, run.method.name] / 100
    if place in NOISE.index and run.method.name in NOISE:
        return NOISE.loc[place, run.method.name] / 100
    return 0.8 + 0.01 * (int(run.key[:4], 16) % (3 if "SDAP" in run.method.name else 9))


def paper_store(path: Path, *, leave_out=lambda run: False, one_split: bool = True) -> Path:
    """Write a store that holds the paper's own figures; one split of each, to be quick."""
    for name in PAPER_STUDIES:
        study = load_study(name)
        if one_split:
            split = replace(study.split, repeats=1)
            study = replace(study, split=split)
        fill_store(path, study, papers_own_accuracy, leave_out=leave_out)
    return path


def empty_paper_store(path: Path) -> Path:
    """Write the store of a run that was interrupted at once."""
    with Store(path) as store:
        for name in PAPER_STUDIES:
            store.save_study(name, load_study(name).to_json())
    return path


# One study with everything a page can show, though no real one needs all of it.
FULL = (
    SMALL.replace('draw = ["two_moons"]', 'draw = ["two_moons", "circles"]')
    + """
[[method]]
name = "F-GBRVFL"
estimator = "FGBRVFLClassifier"
vary = { activation = ["relu", "sine", "sigmoid"] }

[[method]]
name = "edRVFL"
estimator = "EnsembleDeepRVFLClassifier"
vary = { n_layers = [1, 2, 5] }

[[method]]
name = "SDAP-GBRVFL"
estimator = "SDAPGBRVFLClassifier"
vary = { C = [0.01, 1.0], n_hidden = [3, 23, 43] }
"""
)


def accuracy(run) -> float | str:
    if run.method.name == "tree" and run.unit.dataset == "crossplane":
        return "ValueError: <b>a reason</b> & more"
    spread = 0.01 * (int(run.key[:4], 16) % 10) + 0.02 * run.unit.part.repeat
    return 0.6 + 0.1 * (run.method.name == "RVFL") - 0.5 * run.unit.condition.rate + spread


@cache
def full_summary() -> dict[str, Any]:
    """Return a summary with ranks, curves, layers, bars, a surface, balls and failures."""
    with TemporaryDirectory() as directory:
        study = load_study(write_study(Path(directory), FULL, "full"))
        path = fill_store(Path(directory) / "full.db", study, accuracy)
        with Store(path) as store:
            draw_missing(study, expand(study), store, None)
            return summarize(store)


@cache
def table1_summary() -> dict[str, Any]:
    """Return a summary of table 1, for what stands beside the paper."""
    with TemporaryDirectory() as directory:
        study = load_study("table1")
        path = fill_store(Path(directory) / "table1.db", study, _table1_accuracy)
        with Store(path, readonly=True) as store:
            return summarize(store)


def _table1_accuracy(run) -> float:
    return 0.7 + 0.02 * (int(run.key[:4], 16) % 10)


@cache
def paper_summary() -> dict[str, Any]:
    """Return a summary of the whole paper, from a run that has not come to its last study."""
    with TemporaryDirectory() as directory:
        path = paper_store(
            Path(directory) / "paper.db",
            leave_out=lambda run: "n_hidden" in run.method.fixed,
        )
        with Store(path, readonly=True) as store:
            return summarize_paper(store)
