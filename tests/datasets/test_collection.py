"""A collection loads what is there and says what is not."""

import logging

import numpy as np
import pytest

from granulearn.datasets import UnknownDatasetError, load_collection
from granulearn.datasets.catalogue import catalogue, collections
from tests.shared_data import shared_data_dir


def test_35_of_the_papers_37_load_with_their_figures():
    loaded = load_collection("paper37", shared_data_dir())
    assert len(loaded) == 35
    for dataset in loaded:
        entry, facts = catalogue()[dataset.name], dataset.description
        assert (facts.rows, facts.features) == (entry.rows, entry.features)
        assert facts.minority_rows == entry.minority_rows == np.sum(dataset.y == 1)
        assert set(dataset.y) == {0, 1}
    assert list(loaded.missing) == ["checkerboard_data", "crossplane150"]


def test_missing_sets_are_named_with_what_to_do():
    loaded = load_collection("paper37", shared_data_dir())
    checkerboard, crossplane = loaded.describe_missing().splitlines()
    assert 'load("aus_group_file")' in checkerboard
    assert 'load("crossplane")' in crossplane


def test_without_a_directory_the_rest_still_loads(monkeypatch, caplog):
    monkeypatch.delenv("GRANULEARN_DATA", raising=False)
    with caplog.at_level(logging.WARNING):
        loaded = load_collection()
    assert [dataset.name for dataset in loaded] == [
        name
        for name in collections()["paper37"].sets
        if any(source.startswith("keel:") for source in catalogue()[name].sources)
    ]
    assert len(loaded) == 10
    assert "27 of the 37 sets of paper37 are missing" in caplog.text
    assert "GRANULEARN_DATA" in loaded.missing["bank"]
    assert "openml:1558" in loaded.missing["bank"]


def test_an_unknown_collection_names_a_known_one():
    with pytest.raises(UnknownDatasetError, match="'paper37'"):
        load_collection("paper38")
