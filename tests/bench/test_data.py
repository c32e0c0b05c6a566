"""Splits, disturbed training parts, scaling: what every method of a unit is given."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import FunctionTransformer

from granulearn.bench import (
    Store,
    Study,
    StudyError,
    data,
    expand,
    load_study,
    run_study,
    summarize,
)
from granulearn.bench.data import (
    ImpossibleSplitError,
    load_dataset,
    prepare,
    sample_rows,
    split_rows,
)
from granulearn.bench.runs import Condition, Part, Unit, conditions
from granulearn.bench.study import Split
from granulearn.datasets import load

HOLDOUT = Split(kind="holdout", repeats=2)


def unit(condition=Condition(), dataset="circles", split=HOLDOUT, repeat=0, fold=None, rows=None):  # noqa: B008
    return Unit(dataset, condition, Part(split, repeat, fold), 0, rows)


def test_the_papers_split_is_its_own_permutation():
    y = np.arange(101) % 2
    train, test = split_rows(y, Part(Split(kind="paper"), 0, None), seed=9)
    order = np.random.RandomState(0).permutation(101)
    assert train.tolist() == order[:70].tolist()
    assert test.tolist() == order[70:].tolist()


def test_a_holdout_keeps_the_shares_of_the_classes():
    y = np.repeat(["a", "b"], [80, 20])
    train, test = split_rows(y, Part(HOLDOUT, 0, None), seed=1)
    assert (len(train), len(test)) == (70, 30)
    assert (y[test] == "b").sum() == 6
    assert sorted([*train, *test]) == list(range(100))


def test_folds_of_a_repeat_divide_the_rows():
    y = np.arange(40) % 2
    split = Split(kind="kfold", folds=4)
    tests = [split_rows(y, Part(split, 0, fold), seed=1)[1] for fold in range(4)]
    assert sorted(np.concatenate(tests)) == list(range(40))


@pytest.mark.parametrize("split", [HOLDOUT, Split(kind="kfold", folds=3)])
def test_a_class_with_one_row_is_an_impossible_split(split):
    y = np.array([0] * 30 + [1])
    with pytest.raises(ImpossibleSplitError, match=r"class 1 has 1 row.*at least [23]"):
        split_rows(y, Part(split, 0, 0), seed=0)


def test_the_papers_split_says_when_a_class_is_not_in_training():
    y = np.zeros(30, dtype=int)
    y[np.random.RandomState(0).permutation(30)[-1]] = 1
    with pytest.raises(ImpossibleSplitError, match="no row in the training part"):
        split_rows(y, Part(Split(kind="paper"), 0, None), seed=0)


@pytest.mark.parametrize("kind", ["uniform", "pair", "boundary"])
def test_label_noise_changes_training_labels_only(kind):
    clean, noisy = prepare(unit(), None), prepare(unit(Condition(kind, 0.2)), None)
    np.testing.assert_array_equal(clean.X_train, noisy.X_train)
    np.testing.assert_array_equal(clean.X_test, noisy.X_test)
    np.testing.assert_array_equal(clean.y_test, noisy.y_test)
    changed = (clean.y_train != noisy.y_train).sum()
    assert changed == noisy.n_disturbed
    assert abs(changed - 0.2 * len(clean.y_train)) <= 2


def test_outliers_lie_in_training_features_before_scaling():
    clean, moved = prepare(unit(), None), prepare(unit(Condition("outliers", 0.1)), None)
    assert moved.n_disturbed == round(0.1 * len(clean.y_train))
    np.testing.assert_array_equal(clean.y_train, moved.y_train)
    # The scale is learned from rows among which outliers lie: the others shrink together.
    assert np.abs(moved.X_test).max() < np.abs(clean.X_test).max()
    assert moved.X_train.std(axis=0) == pytest.approx([1, 1])


def test_cells_are_missing_in_both_parts_and_all_else_stays():
    clean, holed = prepare(unit(), None), prepare(unit(Condition("missing", 0.2)), None)
    for part in ("X_train", "X_test"):
        whole, left = getattr(clean, part), getattr(holed, part)
        missing = np.isnan(left)
        assert missing.mean() == pytest.approx(0.2, abs=0.05)
        np.testing.assert_array_equal(left[~missing], whole[~missing])
    np.testing.assert_array_equal(holed.y_train, clean.y_train)
    assert holed.n_disturbed == np.isnan(holed.X_train).any(axis=1).sum()


def test_no_stress_changes_a_test_part(monkeypatch):
    """Without scaling, which is learned from training rows, the rows are those of the set."""
    monkeypatch.setattr(data, "TablePreprocessor", lambda **_: FunctionTransformer())
    whole = load("circles")
    _, test = split_rows(whole.y, unit().part, unit().split_seed)
    for condition in conditions(load_study("stress")):
        prepare.cache_clear()
        part = prepare(unit(condition), None)
        np.testing.assert_array_equal(part.X_test, whole.X.iloc[test])
        np.testing.assert_array_equal(part.y_test, whole.y[test])
        assert (part.n_disturbed > 0) == (condition.kind != "clean")
    prepare.cache_clear()


def test_features_are_scaled_by_training_statistics():
    whole = load("circles")
    part = prepare(unit(), None)
    rows = split_rows(whole.y, unit().part, unit().split_seed)
    train, test = (whole.X.iloc[positions].to_numpy() for positions in rows)
    expected = (test - train.mean(axis=0)) / train.std(axis=0)
    np.testing.assert_allclose(part.X_test, expected)


@given(
    st.lists(st.integers(10, 90), min_size=2, max_size=5),
    st.floats(0.3, 1),
    st.integers(0, 2**31 - 1),
)
def test_a_sample_has_each_row_once_and_each_class_by_its_share(sizes, share, seed):
    y = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    rows = round(share * len(y))
    kept = sample_rows(y, rows, seed)
    assert len(np.unique(kept)) == len(kept) == rows
    assert (np.diff(kept) > 0).all()
    counts = np.bincount(y[kept], minlength=len(sizes))
    assert (np.abs(counts - np.array(sizes) * rows / len(y)) < 1 + 1e-9).all()
    np.testing.assert_array_equal(kept, sample_rows(y, rows, seed))


def test_a_sample_that_loses_a_class_is_refused():
    y = np.repeat(["a", "b"], [999, 1])
    with pytest.raises(ImpossibleSplitError, match="20 rows has none of class 'b'"):
        sample_rows(y, 20, seed=0)


@pytest.fixture
def two_kinds_of_labels(monkeypatch):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.standard_normal(200), "b": rng.standard_normal(200)})
    truth = (X["a"] > 0).to_numpy().astype(int)
    given_labels = np.where(rng.random(200) < 0.2, 1 - truth, truth)
    dataset = dataclasses.replace(load("circles"), X=X, y=given_labels, truth=truth)
    monkeypatch.setattr(data, "load_dataset", lambda *asked: (dataset, "own"))
    prepare.cache_clear()
    yield dataset
    prepare.cache_clear()


def test_given_labels_train_and_right_labels_test(two_kinds_of_labels):
    dataset = two_kinds_of_labels
    given_part, clean_part = prepare(unit(Condition("given")), None), prepare(unit(), None)
    train, test = split_rows(dataset.truth, unit().part, unit().split_seed)
    np.testing.assert_array_equal(given_part.y_train, dataset.y[train])
    np.testing.assert_array_equal(clean_part.y_train, dataset.truth[train])
    for part in (given_part, clean_part):
        np.testing.assert_array_equal(part.y_test, dataset.truth[test])
    assert given_part.n_disturbed == (dataset.y != dataset.truth)[train].sum() > 0
    assert clean_part.n_disturbed == 0


STUDY = """
question = "Is a table of one's own read?"
datasets = ["two_moons", { path = "data/own.csv", target = "label" }]
scores = ["accuracy", "balanced_accuracy"]
split = { kind = "holdout" }

[[method]]
name = "tree"
estimator = "sklearn.tree.DecisionTreeClassifier"
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "data").mkdir()
    sizes = [(37 * x) % 50 / 10 + x % 7 for x in range(60)]
    lines = [f"{x:.1f},{'red' if x > 4 else 'blue'},{'ill' if x > 5 else 'well'}" for x in sizes]
    (tmp_path / "data" / "own.csv").write_text("\n".join(["size,colour,label", *lines]) + "\n")
    (tmp_path / "own.toml").write_text(STUDY)
    return tmp_path / "own.toml"


def test_a_table_is_read_by_its_path_from_the_study_file_on(file, tmp_path):
    study = load_study(file)
    assert study.dataset_names == ("two_moons", "own")
    with Store(tmp_path / "a.db") as store:
        result = run_study(study, expand(study), store, jobs=1)
        summary = summarize(store)
    assert (result.computed, result.failed) == (2, ())
    assert summary["datasets"] == ["two_moons", "own"]
    ((_, outcome),) = summary["runs"]["own", "clean", "tree"]
    assert outcome.source == "file:own.csv"
    assert outcome.scores["accuracy"] > 0.9


def test_a_changed_table_is_another_run_and_a_store_knows_it_without_the_file(file):
    first = expand(load_study(file))
    table = file.parent / "data" / "own.csv"
    table.write_text(table.read_text() + "61,red,ill\n")
    changed = load_study(file)
    second = expand(changed)
    assert [a.key == b.key for a, b in zip(first, second, strict=True)] == [True, False]
    text = changed.to_json()
    assert str(file.parent) not in text
    assert [run.key for run in expand(Study.from_json(text))] == [run.key for run in second]


def test_a_table_that_changes_during_a_run_fails_its_runs(file, tmp_path):
    study = load_study(file)
    (file.parent / "data" / "own.csv").write_text("size,colour,label\n1,red,ill\n")
    with Store(tmp_path / "a.db") as store:
        ((run, reason),) = run_study(study, expand(study), store, jobs=1).failed
    assert run.unit.dataset == "own"
    assert "was changed while the study ran" in reason


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("own.csv", "none.csv", "datasets[1].path"),
        ("own.csv", "none.csv", "none.csv is no file"),
        ("data/own.csv", ".", "is no file"),
        ('"label"', '"lable"', "datasets[1].target: data/own.csv has no column 'lable'; did you"),
        ("target =", "taget =", "datasets[1]: 'taget' is no key here; did you mean 'target'?"),
        ('"label" }', '"label", ignore = ["x"] }', "datasets[1].ignore: data/own.csv has no"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_key(file, old, new, said):
    file.write_text(STUDY.replace(old, new))
    with pytest.raises(StudyError) as caught:
        load_study(file)
    assert said in str(caught.value)
    assert str(file) in str(caught.value)


def test_a_file_in_the_place_of_a_name_is_told_how_a_table_is_written(file):
    file.write_text(STUDY.replace('"two_moons"', '"data/own.csv"'))
    with pytest.raises(StudyError) as caught:
        load_study(file)
    assert f"{file}, datasets[0]: 'data/own.csv' is a file" in str(caught.value)
    assert '{ path = "data/own.csv", target = "COLUMN" }' in str(caught.value)


@pytest.mark.parametrize(
    ("labels", "ignored"),
    [
        (["x"] * 30, []),
        ([f"{number / 7:.5f}" for number in range(30)], []),
        (["x", "y"] * 15, ["size"]),
    ],
)
def test_a_table_without_labels_or_features_is_named_by_its_key(file, labels, ignored):
    lines = [f"{number},{label}" for number, label in enumerate(labels)]
    table = file.parent / "data" / "own.csv"
    table.write_text("\n".join(["size,label", *lines]) + "\n")
    file.write_text(STUDY.replace('"label" }', f'"label", ignore = {ignored} }}'))
    unit = expand(load_study(file))[1].unit
    with pytest.raises(StudyError) as caught:
        load_dataset(unit.dataset, None, unit.file)
    assert str(caught.value).startswith(f"{file}, datasets[1]: {table}")
