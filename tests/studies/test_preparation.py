"""Splits, disturbed training parts, scaling: what every method of a unit is given."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from granulearn.datasets import load
from granulearn.studies import preparation
from granulearn.studies.cells import Condition, SplitPart, Unit
from granulearn.studies.preparation import (
    ImpossibleSplitError,
    disturb,
    load_dataset,
    prepare,
    split_rows,
)
from granulearn.studies.spec import Split

HOLDOUT = Split(kind="holdout", repeats=2)


def unit(condition=Condition(), dataset="circles", split=HOLDOUT, repeat=0, fold=None):  # noqa: B008
    return Unit(dataset, condition, SplitPart(split, repeat, fold), 0)


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


def test_imbalance_leaves_out_a_share_of_the_smaller_class():
    y = np.repeat([0, 1], [60, 40])
    X = pd.DataFrame({"x": np.arange(100.0)})
    thinned, labels, left_out = disturb(X, y, Condition("imbalance", 0.75), seed=0)
    assert np.bincount(labels).tolist() == [60, 10]
    assert (left_out, len(thinned)) == (30, 70)


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
    monkeypatch.setattr(preparation, "load_dataset", lambda name, data_dir: (dataset, "own"))
    for kind in ("uniform", "boundary"):
        prepare.cache_clear()
        part = prepare(unit(Condition(kind, 0.3)), None)
        assert part.X_train.shape[1] == part.X_test.shape[1] == 2
        assert abs(np.corrcoef(part.X_train[:, 1], part.y_train)[0, 1]) < 0.25
    prepare.cache_clear()
