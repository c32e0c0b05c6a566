"""A directory with a manifest: found, read, and held against the manifest."""

import pytest

from granulearn.datasets.catalogue import SourceUnavailableError
from granulearn.datasets.sources import (
    ENVIRONMENT_VARIABLE,
    find_data_dir,
    load_from_directory,
    read_manifest,
)
from tests.shared_data import load_shared, shared_data_dir, shared_names

HEADER = "name,rows,features,minority_rows,source,notes\n"


@pytest.fixture
def small_dir(tmp_path):
    (tmp_path / "manifest.csv").write_text(
        HEADER + "mine,4,2,1,my desk,shuffled\nlost,9 (inferred),2,,nowhere,never found\n"
    )
    (tmp_path / "mine.csv").write_text("f1,f2,target\n1,2,0\n3,4,0\n5,6,1\n7,8,0\n")
    (tmp_path / "with_missing").mkdir()
    (tmp_path / "with_missing" / "mine.csv").write_text("f1,f2,target\n1,,0\n3,4,0\n5,6,1\n7,8,0\n")
    (tmp_path / "extra").mkdir()
    (tmp_path / "extra" / "manifest.csv").write_text(HEADER + "more,2,1,1,,\n")
    (tmp_path / "extra" / "more.csv").write_text("f1,target\n1,a\n2,b\n")
    return tmp_path


def test_every_set_of_the_manifest_has_the_figures_it_states():
    directory = shared_data_dir()
    manifest = read_manifest(directory)
    names = [name for name, entry in manifest.items() if entry.sources]
    assert set(shared_names()) <= set(names)
    assert len(names) == 37  # 35 of the paper's, 2 beside them
    for name in names:
        line = manifest[name]
        X, y = load_from_directory(name, directory)
        assert X.shape == (line.rows, line.features), name
        assert set(y) == {0, 1}, name
        assert min((y == 0).sum(), (y == 1).sum()) == line.minority_rows, name


@pytest.mark.parametrize("name", ["bank", "votes", "hill_valley"])
def test_values_agree_with_a_plain_reader(name):
    X, y = load_from_directory(name, shared_data_dir())
    values, labels = load_shared(name)
    assert (X.to_numpy() == values).all()
    assert (y == labels).all()


def test_the_copy_with_missing_values_differs_only_there():
    directory = shared_data_dir()
    counts = {"breast_cancer": 9, "votes": 392, "horse_colic": 1927, "cylinder_bands": 618}
    for name, count in counts.items():
        X, y = load_from_directory(name, directory)
        holed, labels = load_from_directory(name, directory, with_missing=True)
        assert holed.isna().sum().sum() == count
        assert (holed.fillna(X) == X).all(axis=None)
        assert (X.to_numpy()[holed.isna().to_numpy()] == 0).all()
        assert (y == labels).all()


def test_subdirectories_with_a_manifest_belong(small_dir):
    manifest = read_manifest(small_dir)
    assert list(manifest) == ["mine", "lost", "more"]
    assert manifest["more"].sources == ("directory",)
    X, y = load_from_directory("more", small_dir)
    assert (len(X), list(y)) == (2, ["a", "b"])


def test_a_line_without_a_file_has_no_figures(small_dir):
    line = read_manifest(small_dir)["lost"]
    assert (line.sources, line.rows, line.minority_rows) == ((), None, None)
    with pytest.raises(SourceUnavailableError, match=r"has no lost\.csv"):
        load_from_directory("lost", small_dir)


def test_a_set_without_a_copy_with_missing_values_says_so(small_dir):
    X, _ = load_from_directory("mine", small_dir, with_missing=True)
    assert X.isna().sum().sum() == 1
    with pytest.raises(SourceUnavailableError, match="no copy with its missing values"):
        load_from_directory("more", small_dir, with_missing=True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("f1,f2,target\n1,2,0\n3,4,1\n5,6,0\n", "rows=3, but its manifest states 4"),
        ("f1,target\n1,0\n3,0\n5,1\n7,0\n", "features=1, but its manifest states 2"),
        ("f1,f2,target\n1,2,0\n3,4,1\n5,6,1\n7,8,0\n", "minority_rows=2, but"),
    ],
)
def test_a_file_that_is_not_what_the_manifest_states_is_refused(small_dir, content, message):
    (small_dir / "mine.csv").write_text(content)
    with pytest.raises(ValueError, match=message):
        load_from_directory("mine", small_dir)


def test_a_manifest_without_a_needed_column_is_refused(small_dir):
    (small_dir / "manifest.csv").write_text("name,rows,features\nmine,4,2\n")
    with pytest.raises(ValueError, match="lacks the column 'minority_rows'"):
        read_manifest(small_dir)


def test_the_argument_wins_over_the_environment(small_dir, tmp_path_factory, monkeypatch):
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(tmp_path_factory.mktemp("other")))
    assert find_data_dir(small_dir) == small_dir
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(small_dir))
    assert find_data_dir(None) == small_dir


def test_a_directory_that_is_not_named_or_has_no_manifest_is_refused(tmp_path, monkeypatch):
    monkeypatch.delenv(ENVIRONMENT_VARIABLE, raising=False)
    with pytest.raises(SourceUnavailableError, match=ENVIRONMENT_VARIABLE):
        find_data_dir(None)
    with pytest.raises(FileNotFoundError, match=r"data_dir=.* has no manifest\.csv"):
        find_data_dir(tmp_path)
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(tmp_path / "gone"))
    with pytest.raises(SourceUnavailableError, match=r"GRANULEARN_DATA='.*gone' has no"):
        find_data_dir(None)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"f1,target\n1,0\n2,1,3,4\n", "mine.csv cannot be read"),
        (b"", "mine.csv cannot be read"),
        (b"f1,target\n\xff,0\n", "mine.csv cannot be read"),
        (b"f1,label\n1,0\n", "mine.csv has no column 'target'"),
    ],
    ids=["ragged", "empty", "no UTF-8", "no target"],
)
def test_a_file_that_is_no_set_is_named(small_dir, content, said):
    (small_dir / "mine.csv").write_bytes(content)
    with pytest.raises(SourceUnavailableError, match=said):
        load_from_directory("mine", small_dir)


def test_texts_are_categories_and_marks_are_missing(small_dir):
    (small_dir / "mine.csv").write_text("f1,f2,target\n1,NA,0\n?,u,0\n5,,1\n7,v,0\n")
    X, _ = load_from_directory("mine", small_dir)
    assert X["f1"].isna().tolist() == [False, True, False, False]
    assert X["f2"].dtype == "category"
    assert X["f2"].tolist()[:2] == ["NA", "u"]
