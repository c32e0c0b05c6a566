"""The page of the study `stress`, from a store without a computation."""

import subprocess
import sys
from pathlib import Path

import pytest

from granulearn.bench import Store, expand, load_study
from tests.bench.small_studies import fill_store

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "compare_stress.py"


def page_of(store: Path) -> str:
    page = store.with_suffix(".md")
    subprocess.run([sys.executable, SCRIPT, store, page], check=True)
    return page.read_text("utf-8")


def balanced_accuracy(cell) -> float:
    """Return a score that falls with every disturbance; of F-GBRVFL it falls only a little."""
    condition = cell.unit.condition
    steps = 0 if str(condition) == "clean" else 1 + condition.kind.count("+") + condition.rate
    slower = 0.2 if cell.method.name == "F-GBRVFL" else 1.0
    return 0.9 - 0.05 * slower * steps


def verdicts(page: str) -> list[str]:
    section = page.partition("## What becomes of the paper's promise")[2].partition("\n## ")[0]
    _head, *rows = [line for line in section.splitlines() if line.startswith("| ")]
    return [row.removesuffix(" |").split(" | ")[2] for row in rows]


@pytest.mark.slow
def test_the_promise_has_verdicts_and_what_is_not_whole_has_none(tmp_path):
    study = load_study("stress")
    path = fill_store(tmp_path / "stress.db", study, balanced_accuracy)
    assert verdicts(page_of(path)) == ["found again", "not found"] * 6
    # One split of one set lacks one method under outliers.
    last = study.split.repeats

    def is_left_out(cell):
        unit = cell.unit
        return (unit.dataset, str(unit.condition), cell.method.name) == (
            "vehicle2", "outliers 5 %", "RVFL",
        ) and unit.part.repeat == last - 1  # fmt: skip

    with Store(path) as store:
        store.forget([cell.key for cell in expand(study) if is_left_out(cell)])
    page = page_of(path)
    assert verdicts(page) == ["cannot be told"] * 4 + ["found again", "not found"] * 4
    assert "Not run yet: 1 of 6300 cells" in page
