"""The statistics of a study are those of `compare`."""

import pandas as pd
import pytest

from granulearn.bench import Store, compare, expand, load_study, paper_accuracy_table
from granulearn.bench.studies.comparing import compare_methods
from granulearn.bench.studies.methods import variants
from granulearn.bench.studies.score_tables import cell_table
from tests.bench.studies.made_up_results import fill_store
from tests.bench.studies.small_studies import small_study

PAPER = paper_accuracy_table()


@pytest.fixture(scope="module")
def paper_as_a_run(tmp_path_factory):
    """The paper's own table, as if this library had computed it."""
    study = load_study("table1")
    path = fill_store(
        tmp_path_factory.mktemp("paper") / "table1.db",
        study,
        lambda cell: PAPER.loc[cell.unit.dataset, cell.method.name] / 100,
    )
    with Store(path, readonly=True) as store:
        return study, cell_table(expand(study), store.rows())


def test_the_main_comparison_is_that_of_the_table(paper_as_a_run):
    study, table = paper_as_a_run
    found = compare_methods(study, table, list(PAPER.columns))[0]
    expected = compare(PAPER.loc[list(study.datasets)])
    assert found["n_sets"] == 35
    assert found["ranks"] == pytest.approx(expected.ranks.to_dict())
    assert found["critical_difference"] == pytest.approx(expected.critical_difference)
    assert found["friedman"]["statistic"] == pytest.approx(expected.friedman.statistic)


def test_duplicated_sets_are_left_out_of_the_second(paper_as_a_run):
    study, table = paper_as_a_run
    once = compare_methods(study, table, list(PAPER.columns))[1]
    kept = [name for name in study.datasets if name not in ("haber", "haberman", "wpbc")]
    assert once["n_sets"] == 32
    assert once["ranks"] == pytest.approx(compare(PAPER.loc[kept]).ranks.to_dict())


def test_each_condition_is_compared_on_its_own(tmp_path):
    study = small_study(tmp_path)
    base = {"RVFL": 0.8, "GB-RVFL": 0.7, "tree": 0.5}
    path = fill_store(
        tmp_path / "a.db",
        study,
        # With noise the order turns round.
        lambda cell: abs(base[cell.method.name] - (cell.unit.condition.rate > 0)),
    )
    with Store(path, readonly=True) as store:
        table = cell_table(expand(study), store.rows())
    found = {item["title"]: item["ranks"] for item in compare_methods(study, table, list(base))}
    assert found["clean"] == {"RVFL": 1, "GB-RVFL": 2, "tree": 3}
    assert found["uniform 20 %"] == {"RVFL": 3, "GB-RVFL": 2, "tree": 1}


def test_variants_of_a_method_are_not_ranked():
    study = load_study("sensitivity-activation")
    names = [variant.name for method in study.method for variant in variants(method)]
    assert len(names) == 18
    assert compare_methods(study, pd.DataFrame({"a": [1]}), names) == []
