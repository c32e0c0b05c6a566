"""Summaries for tests of the page: every kind of figure, made-up scores, real balls."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from granulearn.bench import Store, expand, load_study, summarize, summarize_paper
from granulearn.bench.studies.drawings import draw_missing
from tests.bench.studies.made_up_results import fill_store
from tests.bench.studies.paper_results import paper_store
from tests.bench.studies.small_studies import SMALL, write_study

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


def accuracy(cell) -> float | str:
    if cell.method.name == "tree" and cell.unit.dataset == "crossplane":
        return "ValueError: <b>a reason</b> & more"
    spread = 0.01 * (int(cell.key[:4], 16) % 10) + 0.02 * cell.unit.part.repeat
    return 0.6 + 0.1 * (cell.method.name == "RVFL") - 0.5 * cell.unit.condition.rate + spread


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


def _table1_accuracy(cell) -> float:
    return 0.7 + 0.02 * (int(cell.key[:4], 16) % 10)


@cache
def paper_summary() -> dict[str, Any]:
    """Return a summary of the whole paper, from a run that has not come to its last study."""
    with TemporaryDirectory() as directory:
        path = paper_store(
            Path(directory) / "paper.db",
            leave_out=lambda cell: "n_hidden" in cell.method.fixed,
        )
        with Store(path, readonly=True) as store:
            return summarize_paper(store)
