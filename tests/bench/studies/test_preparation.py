"""Splits, disturbed training parts, scaling: what every method of a unit is given."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import FunctionTransformer

from granulearn.bench import load_study
from granulearn.bench.studies import preparation
from granulearn.bench.studies.cells import Condition, SplitPart, Unit, conditions
from granulearn.bench.studies.preparation import (
    ImpossibleSplitError,
    disturb,
    load_dataset,
    prepare,
    sample_rows,
    split_rows,
)
from granulearn.bench.studies.spec import Split
from granulearn.datasets import load

HOLDOUT = Split(kind="holdout", repeats=2)


def unit(condition=Condition(), dataset="circles", split=HOLDOUT, repeat=0, fold=None, rows=None):  # noqa: B008
    return Unit(dataset, condition, SplitPart(split, repeat, fold), 0, rows)


def test_the_papers_split_is_its_own_permutation():
    y = np.arange(101) % 2
    train, test = split_rows(y, SplitPart(Split(kind="paper"), 0, None), seed=9)
    order = np.random.RandomState(0).permutation(101)
    assert train.tolist() == order[:70].tolist()
    assert test.tolist() == order[70:].tolist()


def test_a_holdout_keeps_the_shares_of_the_classes():
    y = np.repeat(["a", "b"], [80, 20])
    train, test = split_rows(y, SplitPart(HOLDOUT, 0, None), seed=1)
    assert (len(train), len(test)) == (70, 30)
    assert (y[test] == "b").sum() == 6
    assert sorted([*train, *test]) == list(range(100))


def test_folds_of_a_repeat_divide_the_rows():
    y = np.arange(40) % 2
    split = Split(kind="kfold", folds=4)
    tests = [split_rows(y, SplitPart(split, 0, fold), seed=1)[1] for fold in range(4)]
    assert sorted(np.concatenate(tests)) == list(range(40))


@pytest.mark.parametrize("split", [HOLDOUT, Split(kind="kfold", folds=3)])
def test_a_class_with_one_row_is_an_impossible_split(split):
    y = np.array([0] * 30 + [1])
    with pytest.raises(ImpossibleSplitError, match=r"class 1 has 1 row.*at least [23]"):
        split_rows(y, SplitPart(split, 0, 0), seed=0)


def test_the_papers_split_says_when_a_class_is_not_in_training():
    y = np.zeros(30, dtype=int)
    y[np.random.RandomState(0).permutation(30)[-1]] = 1
    with pytest.raises(ImpossibleSplitError, match="no row in the training part"):
        split_rows(y, SplitPart(Split(kind="paper"), 0, None), seed=0)


@pytest.mark.parametrize("kind", ["uniform", "pair", "boundary"])
def test_label_noise_changes_training_labels_only(kind):
    clean, noisy = prepare(unit(), None), prepare(unit(Condition(kind, 0.2)), None)
    np.testing.assert_array_equal(clean.X_train, noisy.X_train)
    np.testing.assert_array_equal(clean.X_test, noisy.X_test)
    np.testing.assert_array_equal(clean.y_test, noisy.y_test)
    changed = (clean.y_train != noisy.y_train).sum()
    assert changed == noisy.n_disturbed
    assert abs(changed - 0.2 * len(clean.y_train)) <= 2


def test_uniform_noise_is_exactly_the_rounded_share():
    noisy = prepare(unit(Condition("uniform", 0.3)), None)
    assert noisy.n_disturbed == round(0.3 * len(noisy.y_train))


def test_outliers_lie_in_training_features_before_scaling():
    clean, moved = prepare(unit(), None), prepare(unit(Condition("outliers", 0.1)), None)
    assert moved.n_disturbed == round(0.1 * len(clean.y_train))
    np.testing.assert_array_equal(clean.y_train, moved.y_train)
    # The scale is learned from rows among which outliers lie: the others shrink together.
    assert np.abs(moved.X_test).max() < np.abs(clean.X_test).max()
    assert moved.X_train.std(axis=0) == pytest.approx([1, 1])


def test_the_smaller_class_is_thinned_to_a_share_of_the_larger_one():
    y = np.repeat([0, 1], [60, 40])
    X = pd.DataFrame({"x": np.arange(100.0)})
    thinned, labels, left_out = disturb(X, y, Condition("rare", 0.1), seed=0)
    assert np.bincount(labels).tolist() == [60, 6]
    assert (left_out, len(thinned)) == (34, 66)
    as_it_is = disturb(X, y, Condition("rare", 0.9), seed=0)
    assert (as_it_is[1].tolist(), as_it_is[2]) == (y.tolist(), 0)


def test_disturbances_follow_one_another():
    y = np.repeat([0, 1], [60, 40])
    X = pd.DataFrame({"x": np.random.default_rng(0).normal(size=100)})
    rest, labels, n_disturbed = disturb(X, y, Condition("rare+outliers+uniform", 0.1), seed=0)
    thinned, thinned_labels, _ = disturb(X, y, Condition("rare", 0.1), seed=0)
    n_left = len(thinned)
    assert (rest["x"].to_numpy() != thinned["x"].to_numpy()).sum() == round(0.1 * n_left)
    assert (labels != thinned_labels).sum() == round(0.1 * n_left)
    assert n_disturbed == 100 - n_left + 2 * round(0.1 * n_left)


def test_no_stress_changes_a_test_part(monkeypatch):
    """Without scaling, which is learned from training rows, the rows are those of the set."""
    monkeypatch.setattr(preparation, "TablePreprocessor", lambda **_: FunctionTransformer())
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


def test_repeats_are_different_splits_and_the_same_unit_is_the_same_rows():
    first, second = prepare(unit(repeat=0), None), prepare(unit(repeat=1), None)
    assert first.y_test.tolist() != second.y_test.tolist()
    prepare.cache_clear()
    np.testing.assert_array_equal(prepare(unit(repeat=0), None).X_train, first.X_train)


def test_the_fingerprint_tells_data_sets_apart():
    assert load_dataset("circles", None)[1] != load_dataset("two_moons", None)[1]
    load_dataset.cache_clear()
    assert load_dataset("circles", None)[1] == prepare(unit(), None).fingerprint


def test_columns_of_many_categories_are_encoded_by_disturbed_labels_of_other_rows(monkeypatch):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"street": [f"street {k % 100}" for k in range(400)], "n": rng.random(400)})
    dataset = dataclasses.replace(load("circles"), X=X, y=rng.integers(0, 2, 400))
    monkeypatch.setattr(preparation, "load_dataset", lambda *asked: (dataset, "own"))
    for kind in ("uniform", "boundary"):
        prepare.cache_clear()
        part = prepare(unit(Condition(kind, 0.3)), None)
        assert part.X_train.shape[1] == part.X_test.shape[1] == 2
        assert abs(np.corrcoef(part.X_train[:, 1], part.y_train)[0, 1]) < 0.25
    prepare.cache_clear()


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


def test_another_seed_is_another_sample():
    y = np.arange(200) % 2
    assert not np.array_equal(sample_rows(y, 50, 0), sample_rows(y, 50, 1))


@pytest.mark.parametrize("rows", [None, 40, 1000])
def test_a_set_within_the_limit_is_used_whole(rows):
    assert sample_rows(np.arange(40) % 2, rows, 0).tolist() == list(range(40))


def test_a_sample_that_loses_a_class_is_refused():
    y = np.repeat(["a", "b"], [999, 1])
    with pytest.raises(ImpossibleSplitError, match="20 rows has none of class 'b'"):
        sample_rows(y, 20, seed=0)


def test_one_sample_serves_every_split_noise_and_method(monkeypatch):
    asked = []
    whole = load("circles")
    monkeypatch.setattr(
        preparation, "split_rows", lambda y, *rest: asked.append(y) or split_rows(y, *rest)
    )
    units = [
        unit(rows=100),
        unit(rows=100, repeat=1),
        unit(Condition("uniform", 0.2), rows=100),
        unit(rows=100, split=Split(kind="kfold", folds=4), fold=1),
    ]
    prepare.cache_clear()
    parts = [prepare(each, None) for each in units]
    prepare.cache_clear()
    assert [len(y) for y in asked] == [100] * 4
    for part in parts:
        assert len(part.y_train) + len(part.y_test) == 100
    kept = sample_rows(whole.y, 100, units[0].sample_seed)
    assert len({each.sample_seed for each in units}) == 1
    for y in asked:
        np.testing.assert_array_equal(y, whole.y[kept])


@pytest.fixture
def two_kinds_of_labels(monkeypatch):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.standard_normal(200), "b": rng.standard_normal(200)})
    truth = (X["a"] > 0).to_numpy().astype(int)
    given_labels = np.where(rng.random(200) < 0.2, 1 - truth, truth)
    dataset = dataclasses.replace(load("circles"), X=X, y=given_labels, truth=truth)
    monkeypatch.setattr(preparation, "load_dataset", lambda *asked: (dataset, "own"))
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


def test_planted_noise_starts_from_right_labels(two_kinds_of_labels):
    noisy = prepare(unit(Condition("uniform", 0.1)), None)
    clean = prepare(unit(), None)
    assert (noisy.y_train != clean.y_train).sum() == noisy.n_disturbed == 14


def test_a_set_with_one_kind_of_labels_has_no_given_ones():
    with pytest.raises(ValueError, match="'circles' has one kind of labels"):
        prepare(unit(Condition("given")), None)
