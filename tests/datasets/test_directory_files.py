"""Files of a data directory by path: larger tables, and labels that are wrong without a plan."""

import numpy as np
import pandas as pd
import pytest

from granulearn.datasets import DatasetUnavailableError, list_datasets, load
from granulearn.datasets.catalogue import SourceUnavailableError, catalogue
from granulearn.datasets.sources import load_file
from tests.shared_data import shared_data_dir

# Rows, columns, text columns and classes, as the directory's own description states them.
LARGE = {
    "adult": (48_842, 14, 8, 2),
    "churn": (7_043, 19, 10, 2),
    "covtype": (581_012, 54, 0, 7),
    "diamonds": (53_940, 9, 2, 5),
}
RELEASES = [
    name
    for name, entry in catalogue().items()
    if any(source.startswith("directory:real_noise/") for source in entry.sources)
]


def shared_file(relative_path):
    """Return a path of the data directory, or skip the test with the reason."""
    path = shared_data_dir() / relative_path
    if not path.is_file():
        pytest.skip(f"the data directory has no {relative_path}")
    return path


@pytest.fixture
def own_dir(tmp_path):
    (tmp_path / "manifest.csv").write_text("name,rows,features,minority_rows\n")
    return tmp_path


@pytest.mark.parametrize("name", LARGE)
def test_a_larger_table_has_its_stated_shape(name):
    shared_file(f"large/{name}.parquet")
    rows, columns, texts, classes = LARGE[name]
    dataset = load(name, shared_data_dir())
    assert dataset.X.shape == (rows, columns)
    assert (dataset.X.dtypes == "category").sum() == texts
    assert set(dataset.y) == set(range(classes))
    assert dataset.truth is None
    assert dataset.description.source == f"directory:large/{name}.parquet"


@pytest.mark.parametrize("name", RELEASES[::5])
def test_a_release_has_65_measures_and_two_kinds_of_labels(name):
    shared_file(f"real_noise/{name}.csv.gz")
    dataset = load(name, shared_data_dir())
    assert dataset.X.shape[1] == 65
    assert set(dataset.y) == set(dataset.truth) == {0, 1}
    assert not {"File", "HeuBug", "HeuBugCount", "RealBug", "RealBugCount"} & set(dataset.X)
    wrong = (dataset.y != dataset.truth).sum()
    assert 0.02 < wrong / len(dataset.y) < 0.3
    assert dataset.description.quirks[0].startswith(f"{wrong} of the given labels")


def test_measures_are_the_signed_logarithms_of_the_file():
    plain = pd.read_csv(shared_file("real_noise/camel-1.4.0.csv.gz"))
    dataset = load("camel-1.4.0", shared_data_dir())
    for name in ("CountLine", "ADEV"):
        expected = [np.sign(x) * np.log(1 + abs(x)) for x in plain[name]]
        np.testing.assert_allclose(dataset.X[name], expected, atol=1e-12)
    np.testing.assert_array_equal(dataset.y, plain["HeuBug"])
    np.testing.assert_array_equal(dataset.truth, plain["RealBug"])


def test_texts_are_categories_and_empty_cells_are_missing(own_dir):
    frame = pd.DataFrame({"f0": ["u", None, "v"], "f1": [1.0, 2.0, None], "target": [0, 1, 0]})
    frame.to_parquet(own_dir / "mine.parquet")
    X, y, truth = load_file("mine.parquet", own_dir)
    assert X["f0"].dtype == "category"
    assert X.isna().to_numpy().tolist() == [[False, False], [True, False], [False, True]]
    assert (y.tolist(), truth) == ([0, 1, 0], None)


def test_a_file_that_is_not_there_is_named(own_dir):
    with pytest.raises(DatasetUnavailableError, match=r"has no large/adult\.parquet"):
        load("adult", own_dir)
    assert list_datasets(own_dir).loc["adult", "here"] == ""


@pytest.mark.parametrize("name", ["broken.parquet", "broken.csv.gz"])
def test_a_file_of_another_form_is_named(own_dir, name):
    (own_dir / name).write_bytes(b"neither Parquet nor gzip")
    with pytest.raises(SourceUnavailableError, match=f"{name} cannot be read"):
        load_file(name, own_dir)


def test_a_table_without_a_target_is_named(own_dir):
    pd.DataFrame({"f0": [1, 2]}).to_parquet(own_dir / "bare.parquet")
    with pytest.raises(SourceUnavailableError, match=r"bare\.parquet cannot be read: 'target'"):
        load_file("bare.parquet", own_dir)


def test_a_file_with_other_figures_is_refused(own_dir):
    (own_dir / "large").mkdir()
    frame = pd.DataFrame({"f0": [1, 2], "target": [0, 1]})
    frame.to_parquet(own_dir / "large" / "churn.parquet")
    with pytest.raises(DatasetUnavailableError, match="rows=2, but the set has 7043"):
        load("churn", own_dir)
