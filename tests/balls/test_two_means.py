"""Laws of the balls, whatever the data."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.preprocessing import StandardScaler

from benchmarks.speed import noisy_table, one_kmeans_call_per_split
from granulearn import generate_balls
from granulearn.balls import two_means
from tests.shared_data import load_shared

FIELDS = ["centers", "radii", "labels", "purities", "counts", "class_counts", "assignment"]


def assert_same_balls(balls, others):
    for field in FIELDS:
        assert_array_equal(getattr(balls, field), getattr(others, field), err_msg=field)


def as_sets(balls):
    return {frozenset(np.flatnonzero(balls.assignment == i)) for i in range(len(balls))}


@st.composite
def labelled_tables(draw):
    """Tables full of repeated rows and ties: whole numbers on a small grid."""
    shape = draw(st.tuples(st.integers(2, 60), st.integers(1, 4)))
    X = draw(hnp.arrays(np.float64, shape, elements=st.integers(-3, 3).map(float)))
    y = draw(hnp.arrays(np.int64, shape[0], elements=st.integers(0, 3)))
    y[:2] = 0, 1
    return X, y


@settings(max_examples=100)
@given(
    table=labelled_tables(),
    purity=st.sampled_from([0.3, 0.7, 0.985, 1.0]),
    init=st.sampled_from(["k-means++", "class-means"]),
    seed=st.integers(0, 1000),
)
def test_balls_partition_the_samples_and_are_pure_or_cannot_be_split(table, purity, init, seed):
    X, y = table
    balls = generate_balls(X, y, purity=purity, init=init, random_state=seed)
    assert_array_equal(np.bincount(balls.assignment, minlength=len(balls)), balls.counts)
    assert balls.counts.sum() == len(X)
    for ball in range(len(balls)):
        rows, labels = X[balls.assignment == ball], y[balls.assignment == ball]
        values, counts = np.unique(labels, return_counts=True)
        assert balls.classes[balls.labels[ball]] == values[counts.argmax()]  # ties: sorts first
        assert balls.purities[ball] == counts.max() / len(labels)
        assert_array_equal(
            balls.class_counts[ball], [np.sum(labels == value) for value in balls.classes]
        )
        assert_allclose(balls.centers[ball], rows.mean(axis=0), atol=1e-12)
        distances = np.linalg.norm(rows - rows.mean(axis=0), axis=1)
        assert_allclose(balls.radii[ball], distances.mean(), atol=1e-12)
        assert balls.purities[ball] >= purity or len(np.unique(rows, axis=0)) == 1


def test_a_pure_enough_table_is_one_ball():
    X = np.random.RandomState(0).standard_normal((100, 3))
    y = np.r_[np.ones(2), np.zeros(98)]
    assert len(generate_balls(X, y, purity=0.98)) == 1
    assert len(generate_balls(X, y, purity=0.981)) > 1


def test_a_random_state_object_gives_new_balls_each_time():
    X, y = noisy_table(1000)
    source = np.random.RandomState(0)
    assert as_sets(generate_balls(X, y, random_state=source)) != as_sets(
        generate_balls(X, y, random_state=source)
    )


@pytest.mark.parametrize("init", ["k-means++", "class-means"])
def test_buckets_change_nothing(init, monkeypatch):
    X, y = noisy_table(9000)
    whole = generate_balls(X, y, init=init, random_state=11)
    monkeypatch.setattr(two_means, "BUCKET_ROWS", 100)
    assert as_sets(generate_balls(X, y, init=init, random_state=11, n_jobs=2)) == as_sets(whole)


@pytest.mark.parametrize("rows", [16_385, 30_000])
def test_large_sets_obey_the_laws_of_small_ones(rows):
    X, y = noisy_table(rows)
    balls = generate_balls(X, y, random_state=0, n_jobs=2)
    assert_array_equal(np.bincount(balls.assignment), balls.counts)
    for field, j in (("centers", 0), ("centers", 19)):
        assert_allclose(getattr(balls, field)[:, j], balls.sample_mean(X[:, j]), atol=1e-10)
    distances = np.linalg.norm(X - balls.centers[balls.assignment], axis=1)
    assert_allclose(balls.radii, balls.sample_mean(distances), atol=1e-10)
    assert_allclose(balls.class_counts[:, 1], balls.sample_mean(y) * balls.counts, atol=1e-9)
    assert (balls.purities >= 0.985).all()


def test_a_large_set_of_two_pure_heaps_stays_two_balls():
    """What a part of the rows suggested is undone where all rows are pure enough."""
    X, y = make_blobs(40_000, centers=[[0, 0, 0], [50, 50, 50]], random_state=0)
    y[:100] = 1 - y[:100]  # 99.75 % pure: a part of the rows may look less pure
    balls = generate_balls(X, y, purity=0.995, random_state=0)
    assert sorted(balls.counts) == [20_000, 20_000]


@pytest.mark.slow
@pytest.mark.parametrize("sort", [False, True])
def test_as_many_balls_as_with_one_kmeans_call_per_split(sort):
    X, y = noisy_table(1500)
    order = np.argsort(X[:, 3]) if sort else slice(None)
    expected, _ = one_kmeans_call_per_split(X[order], y[order])
    numbers = [len(generate_balls(X[order], y[order], random_state=seed)) for seed in range(5)]
    assert_allclose(np.mean(numbers), expected, rtol=0.05)


def test_class_means_start_needs_fewer_balls_on_separable_classes():
    X, y = noisy_table(1500)
    assert len(generate_balls(X, y, init="class-means")) < len(generate_balls(X, y))


LABELS = {
    "text": np.array(["no", "yes"]),
    "objects": np.array(["no", "yes"], dtype=object),
    "truth values": np.array([False, True]),
    "negative": np.array([-1, 1]),
    "whole floats": np.array([0.0, 1.0]),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_type_make_the_same_balls(kind):
    X, y = noisy_table(300)
    balls = generate_balls(X, LABELS[kind][y], random_state=0)
    assert_same_balls(balls, generate_balls(X, y, random_state=0))
    assert_array_equal(balls.classes, LABELS[kind])


def test_frames_and_categorical_labels_work():
    X, y = noisy_table(300)
    balls = generate_balls(
        pd.DataFrame(X), pd.Series(y).map({0: "no", 1: "yes"}).astype("category"), random_state=0
    )
    assert_same_balls(balls, generate_balls(X, y, random_state=0))


@pytest.mark.parametrize("init", ["k-means++", "class-means"])
def test_one_row_that_differs_among_thousands_that_do_not_is_found(init):
    X = np.ones((3000, 2))
    X[1234] = 2.0
    y = np.zeros(3000, int)
    y[[5, 1234]] = 1
    balls = generate_balls(X, y, purity=1.0, init=init)
    assert sorted(balls.counts) == [1, 2999]


def test_values_that_differ_only_in_the_last_bit_are_told_apart():
    X = np.array([[1.0], [np.nextafter(1.0, 2.0)]])
    assert len(generate_balls(X, [0, 1])) == 2


@pytest.mark.parametrize("name", ["cleve", "ecoli-0-1-4-6_vs_5", "credit_approval"])
def test_most_balls_of_real_sets_hold_one_sample(name):
    X, y = load_shared(name)
    balls = generate_balls(StandardScaler().fit_transform(X), y, random_state=0)
    assert 0.4 < np.mean(balls.counts == 1) < 0.9
    assert (balls.purities >= 0.985).all()
