"""The paper's sets: 35 of the 37 have a public copy; ten come with a package."""

import pytest

from granulearn.datasets import DatasetUnavailableError, list_datasets, load
from granulearn.datasets.catalogue import catalogue, collections
from tests.shared_data import shared_data_dir

PAPER = collections()["paper37"]
LACKING = {"checkerboard_data": "aus_group_file", "crossplane150": "crossplane"}


def test_35_of_the_papers_37_load_from_where_they_are_listed_with_their_figures():
    here = list_datasets(shared_data_dir())["here"]
    for name in PAPER:
        assert bool(here[name]) == (name not in LACKING)
        if here[name]:
            dataset = load(name, shared_data_dir())
            entry, facts = catalogue()[name], dataset.description
            assert facts.source == here[name]
            assert (facts.rows, facts.features) == (entry.rows, entry.features)
            assert facts.minority_rows == entry.minority_rows == (dataset.y == 1).sum()
            assert set(dataset.y) == {0, 1}


@pytest.mark.parametrize(("name", "instead"), LACKING.items())
def test_a_set_without_a_copy_names_the_nearest(name, instead):
    with pytest.raises(DatasetUnavailableError, match=rf'load\("{instead}"\)'):
        load(name, shared_data_dir())


def test_without_a_directory_ten_sets_are_here(monkeypatch):
    monkeypatch.delenv("GRANULEARN_DATA", raising=False)
    known = list_datasets()
    here = known[(known["collections"] == "paper37") & (known["here"] != "")]
    assert len(here) == 10
    assert here["here"].str.startswith("keel:").all()
    with pytest.raises(DatasetUnavailableError, match="GRANULEARN_DATA"):
        load("bank")
