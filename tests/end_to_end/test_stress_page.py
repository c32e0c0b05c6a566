"""The page of the study `stress`, from a store without a computation."""

import pytest

from benchmarks.stress import BENCHMARKS
from granulearn.bench import Store, expand, load_study
from tests.bench.small_studies import fill_store


def balanced_accuracy(run) -> float:
    """Return a score that falls with every disturbance; of F-GBRVFL it falls only a little."""
    condition = run.unit.condition
    steps = 0 if str(condition) == "clean" else 1 + condition.kind.count("+") + condition.rate
    slower = 0.2 if run.method.name == "F-GBRVFL" else 1.0
    return 0.9 - 0.05 * slower * steps


def verdicts(path) -> list[str]:
    stress = BENCHMARKS["stress"]
    found, *_ = stress.results(path)
    page = "\n".join(stress.tables(found))
    section = page.partition("## The paper's promise")[2].partition("\n## ")[0]
    _head, _rule, *rows = [line for line in section.splitlines() if line.startswith("| ")]
    return [row.removesuffix(" |").split(" | ")[2] for row in rows]


@pytest.mark.slow
def test_the_promise_has_verdicts_and_missing_runs_have_none(tmp_path):
    study = load_study("stress")
    path = fill_store(tmp_path / "stress.db", study, balanced_accuracy)
    assert verdicts(path) == ["reproduced", "not reproduced"] * 6

    def is_left_out(run):
        names = (run.unit.dataset, str(run.unit.condition), run.method.name)
        return names == ("vehicle2", "outliers 5 %", "RVFL")

    with Store(path) as store:
        store.forget([run.key for run in expand(study) if is_left_out(run)])
    assert verdicts(path) == ["inconclusive"] * 4 + ["reproduced", "not reproduced"] * 4
