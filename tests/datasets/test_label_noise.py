"""Label noise: how many, where, to which class."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import make_blobs

from granulearn.datasets import flip_labels

seeds = st.integers(0, 2**32 - 1)
rates = st.floats(0, 1)


@st.composite
def labels(draw, min_size=4):
    classes = draw(st.sampled_from([["a", "b"], [0, 1], [3, 5, 9], ["x", "y", "z", "w"]]))
    rest = draw(st.lists(st.sampled_from(classes), min_size=min_size, max_size=40))
    return np.array(classes + rest)


def confusion(clean, noisy):
    return pd.crosstab(clean, noisy).to_numpy()


@settings(deadline=None)
@given(labels(), rates, seeds)
def test_uniform_noise_flips_exactly_round_rate_n_labels(y, rate, seed):
    noisy, mask = flip_labels(y, rate, random_state=seed)
    assert mask.sum() == round(rate * len(y))
    np.testing.assert_array_equal(mask, noisy != y)
    assert set(noisy) <= set(y)
    assert noisy.dtype == y.dtype


@settings(deadline=None)
@given(labels(min_size=6), rates, seeds)
def test_boundary_noise_flips_exactly_round_rate_n_labels(y, rate, seed):
    X = np.random.default_rng(seed).normal(size=(len(y), 2)).round(1)
    noisy, mask = flip_labels(y, rate, "boundary", seed, X=X, n_neighbors=3)
    assert mask.sum() == round(rate * len(y))
    np.testing.assert_array_equal(mask, noisy != y)


@settings(deadline=None)
@given(labels(), rates, seeds)
def test_the_seed_decides_and_the_given_labels_stay(y, rate, seed):
    before = y.copy()
    first, second = (flip_labels(y, rate, random_state=seed) for _ in range(2))
    np.testing.assert_array_equal(first.labels, second.labels)
    np.testing.assert_array_equal(y, before)


def test_uniform_noise_chooses_samples_and_classes_evenly():
    y = np.repeat([0, 1, 2], [600, 300, 100])
    table = np.zeros((3, 3))
    for seed in range(200):
        noisy, mask = flip_labels(y, 0.3, random_state=seed)
        table += confusion(y[mask], noisy[mask]) if set(noisy[mask]) == {0, 1, 2} else 0
    flipped = table.sum(axis=1)
    assert stats.chisquare(flipped, flipped.sum() * np.array([0.6, 0.3, 0.1])).pvalue > 1e-3
    for row in range(3):
        others = np.delete(table[row], row)
        assert table[row, row] == 0
        assert stats.chisquare(others).pvalue > 1e-3


@settings(deadline=None)
@given(labels(), seeds, st.integers(0, 2**32 - 1))
def test_a_transition_matrix_is_met_to_within_one_sample(y, seed, matrix_seed):
    n_classes = len(np.unique(y))
    matrix = np.random.default_rng(matrix_seed).dirichlet(np.ones(n_classes), n_classes)
    noisy, mask = flip_labels(y, kind="transition", transition=matrix, random_state=seed)
    np.testing.assert_array_equal(mask, noisy != y)
    classes, sizes = np.unique(y, return_counts=True)
    for i, label in enumerate(classes):
        counts = np.array([np.sum(noisy[y == label] == other) for other in classes])
        assert counts.sum() == sizes[i]
        assert (np.abs(counts - matrix[i] * sizes[i]) < 1 + 1e-9).all()


def test_the_identity_matrix_changes_nothing_and_a_permutation_everything():
    y = np.array(["a", "b", "c"] * 5)
    assert not flip_labels(y, kind="transition", transition=np.eye(3)).mask.any()
    turned = flip_labels(y, kind="transition", transition=np.roll(np.eye(3), 1, axis=1))
    assert turned.labels.tolist() == ["b", "c", "a"] * 5


@settings(deadline=None)
@given(labels(), st.sampled_from([0.0, 0.2, 0.5, 1.0]), seeds)
def test_a_pair_flip_goes_to_the_next_class_only(y, rate, seed):
    noisy, mask = flip_labels(y, rate, "pair", seed)
    classes = list(np.unique(y))
    for before, after in zip(y[mask], noisy[mask], strict=True):
        assert after == classes[(classes.index(before) + 1) % len(classes)]
    for label in classes:
        expected = rate * np.sum(y == label)
        assert abs(mask[y == label].sum() - expected) < 1 + 1e-9


def test_named_pairs_flip_and_others_stay():
    y = np.array(["cat", "dog", "fish"] * 100)
    noisy, mask = flip_labels(y, 0.25, "pair", 0, pairs={"cat": "dog"})
    assert mask.sum() == 25
    assert set(y[mask]) == {"cat"}
    assert set(noisy[mask]) == {"dog"}


def overlap_by_counting(X, y, n_neighbors):
    """Follow the definition: the share of other labels among the nearest others."""
    shares = []
    for i in range(len(y)):
        distance = np.linalg.norm(X - X[i], axis=1)
        distance[i] = np.inf
        nearest = np.argsort(distance)[:n_neighbors]
        shares.append(np.mean(y[nearest] != y[i]))
    return np.array(shares)


@settings(deadline=None)
@given(seeds, st.floats(0, 1))
def test_boundary_noise_takes_overlapping_samples_before_others(seed, rate):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], 30)
    X = rng.normal(size=(60, 2)) + 2 * y[:, None]
    _, mask = flip_labels(y, rate, "boundary", seed, X=X, n_neighbors=5)
    overlap = overlap_by_counting(X, y, 5)
    if mask[overlap == 0].any():
        assert mask[overlap > 0].all()
        # Beyond the overlap, those nearest to the other class come first.
        gap = np.array([np.linalg.norm(X[y != y[i]] - X[i], axis=1).min() for i in range(60)])
        apart = overlap == 0
        assert gap[apart & mask].max() <= gap[apart & ~mask].min(initial=np.inf)


@pytest.mark.slow
def test_boundary_noise_is_drawn_in_proportion_to_the_overlap():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    X = rng.normal(size=(80, 2)) + y[:, None]
    overlap = overlap_by_counting(X, y, 10)
    hits = np.zeros(80)
    for seed in range(1000):
        hits += flip_labels(y, 1 / 80, "boundary", seed, X=X).mask
    drawn = overlap > 0
    expected = overlap[drawn] / overlap.sum() * 1000
    assert hits[~drawn].sum() == 0
    assert stats.chisquare(hits[drawn], expected).pvalue > 1e-3


def test_boundary_noise_flips_to_the_class_on_the_other_side():
    X, y = make_blobs(300, centers=[[0, 0], [2, 0], [20, 0], [22, 0]], random_state=0)
    noisy, mask = flip_labels(y, 0.2, "boundary", 0, X=X)
    across = {0: 1, 1: 0, 2: 3, 3: 2}
    assert mask.sum() == 60
    assert all(across[a] == b for a, b in zip(y[mask], noisy[mask], strict=True))


def test_boundary_noise_takes_the_commonest_class_around_not_the_nearest():
    X = np.array([[0.0], [1.0], [2.0], [2.1], [9.0]])
    y = np.array([0, 2, 1, 1, 0])
    noisy, _ = flip_labels(y, 1.0, "boundary", 0, X=X, n_neighbors=3)
    assert noisy[0] == 1


def test_duplicates_with_other_labels_overlap():
    X = np.array([[0.0], [0.0], [5.0], [6.0], [7.0]])
    y = np.array([0, 1, 1, 1, 1])
    noisy, mask = flip_labels(y, 0.4, "boundary", 0, X=X, n_neighbors=1)
    assert mask.tolist() == [True, True, False, False, False]
    assert noisy.tolist() == [1, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rate": 1.5}, "rate=1.5"),
        ({"rate": float("nan")}, "rate=nan"),
        ({}, "rate=None"),
        ({"rate": 0.1, "kind": "random"}, "kind='random' is unknown; use uniform, pair"),
        ({"kind": "transition", "transition": np.eye(3)}, r"shape \(3, 3\).*2 classes"),
        ({"kind": "transition", "transition": [[1, 1], [0, 1]]}, "sum to 1"),
        ({"kind": "transition", "transition": [[2, -1], [0, 1]]}, "probabilities"),
        ({"rate": 0.1, "kind": "boundary"}, "needs X="),
        ({"rate": 0.1, "kind": "boundary", "X": [[1]] * 3}, "inconsistent numbers of samples"),
        ({"rate": 0.1, "kind": "boundary", "X": [[1]] * 4}, "n_neighbors = 10, n_samples_fit = 4"),
        ({"rate": 0.1, "kind": "pair", "pairs": {"a": "c"}}, "names 'c', which is no class"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        flip_labels(["a", "a", "b", "b"], **arguments)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", "a"], "1 class"),
        ([0.0, np.nan, 1.0], "1 missing"),
        (["a", None, "b"], "1 missing"),
        (pd.array(["a", None, "b"], dtype="string"), "1 missing"),
    ],
)
def test_labels_that_cannot_be_flipped_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        flip_labels(y, 0.1)
