"""Laws of the balls, whatever the data."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, make_blobs
from sklearn.preprocessing import StandardScaler

from benchmarks.speed import noisy_table, one_kmeans_call_per_split
from granulearn import generate_balls
from granulearn.balls import two_means
from granulearn.balls.ball_set import power_of_two_scale
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


@pytest.mark.parametrize("n_jobs", [2, 3, -1])
@pytest.mark.parametrize("init", ["k-means++", "class-means"])
def test_threads_change_nothing(n_jobs, init):
    X, y = noisy_table(40_000)
    alone = generate_balls(X, y, init=init, random_state=4, n_jobs=1)
    assert_same_balls(alone, generate_balls(X, y, init=init, random_state=4, n_jobs=n_jobs))


def test_the_seed_decides():
    X, y = noisy_table(1000)
    first, again, other = (generate_balls(X, y, random_state=seed) for seed in (1, 1, 2))
    assert_same_balls(first, again)
    assert as_sets(first) != as_sets(other)


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


def test_float32_stays_float32_and_makes_nearly_the_same_balls():
    X, y = noisy_table(2000)
    single = generate_balls(X.astype(np.float32), y, random_state=0)
    double = generate_balls(X, y, random_state=0)
    assert single.centers.dtype == single.radii.dtype == np.float32
    assert len(as_sets(single) & as_sets(double)) > 0.98 * len(double)


@pytest.mark.parametrize("order", ["C", "F"])
def test_input_is_never_modified(order):
    X, y = noisy_table(20_000)
    X = np.asarray(X, order=order)
    before = X.copy(), y.copy()
    X.setflags(write=False)
    y.setflags(write=False)
    generate_balls(X, y)
    assert_array_equal(X, before[0])
    assert_array_equal(y, before[1])


def test_small_balls_are_dropped_and_their_samples_marked():
    X, y = noisy_table(1000)
    everything = generate_balls(X, y, random_state=0)
    kept = generate_balls(X, y, random_state=0, min_ball_size=3)
    large = everything.counts >= 3
    assert 0 < large.sum() < len(everything)
    assert_array_equal(kept.centers, everything.centers[large])
    assert_array_equal(kept.assignment >= 0, large[everything.assignment])
    assert as_sets(kept) == {ball for ball in as_sets(everything) if len(ball) >= 3}


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


def test_one_sample_per_class():
    balls = generate_balls([[0.0], [1.0], [2.0]], ["a", "b", "c"])
    assert sorted(balls.counts) == [1, 1, 1]
    assert_array_equal(balls.radii, 0)


def test_identical_rows_with_different_labels_stay_one_impure_ball():
    balls = generate_balls(np.full((7, 3), 0.1), [0, 1, 1, 0, 0, 1, 0])
    assert len(balls) == 1
    assert balls.purities[0] == 4 / 7
    assert balls.radii[0] == 0
    assert_array_equal(balls.centers[0], [0.1, 0.1, 0.1])


@pytest.mark.parametrize("init", ["k-means++", "class-means"])
def test_one_row_that_differs_among_thousands_that_do_not_is_found(init):
    X = np.ones((3000, 2))
    X[1234] = 2.0
    y = np.zeros(3000, int)
    y[[5, 1234]] = 1
    balls = generate_balls(X, y, purity=1.0, init=init)
    assert sorted(balls.counts) == [1, 2999]


def test_constant_columns_do_no_harm():
    X, y = noisy_table(500)
    with_constants = np.hstack([X, np.full((500, 3), 7.0)])
    balls = generate_balls(with_constants, y, random_state=0)
    assert as_sets(balls) == as_sets(generate_balls(X, y, random_state=0))
    assert_array_equal(balls.centers[:, -1], 7.0)


def test_two_hundred_classes():
    X, y = make_blobs(4000, centers=200, n_features=5, random_state=0, cluster_std=0.05)
    balls = generate_balls(X, y, random_state=0)
    assert_array_equal(np.unique(balls.labels), np.arange(200))
    assert np.average(balls.purities, weights=balls.counts) > 0.985


@given(exponent=st.integers(-1000, 1000))
def test_scaling_by_a_power_of_two_scales_the_balls(exponent):
    rng = np.random.RandomState(0)
    X, y = rng.uniform(0.5, 1.0, (80, 3)), rng.randint(2, size=80)
    plain = generate_balls(X, y, random_state=0)
    scaled = generate_balls(np.ldexp(X, exponent), y, random_state=0)
    assert_array_equal(scaled.assignment, plain.assignment)
    assert_allclose(np.ldexp(scaled.centers, -exponent), plain.centers, rtol=1e-12)
    assert_allclose(np.ldexp(scaled.radii, -exponent), plain.radii, rtol=1e-9)


def test_values_around_1e300_and_1e30_in_float32():
    for value, dtype in ((1e300, np.float64), (1e-300, np.float64), (1e30, np.float32)):
        X = np.array([[1.0], [1.5], [-1.0], [-1.5]]).astype(dtype) * dtype(value)
        balls = generate_balls(X, [0, 0, 1, 1])
        assert sorted(balls.counts) == [2, 2]
        assert_allclose(sorted(balls.centers[:, 0] / dtype(value)), [-1.25, 1.25], rtol=1e-6)
        assert_allclose(balls.radii / dtype(value), 0.25, rtol=1e-6)


def test_ordinary_values_are_not_scaled():
    assert power_of_two_scale(np.array([[0.0, 0.0]])) == 1.0
    assert power_of_two_scale(np.array([[1e6, -1e-3]])) == 1.0
    assert power_of_two_scale(np.array([[1e300, 1.0]])) < 1e-299


def test_values_that_differ_only_in_the_last_bit_are_told_apart():
    X = np.array([[1.0], [np.nextafter(1.0, 2.0)]])
    assert len(generate_balls(X, [0, 1])) == 2


def test_whole_numbers_are_taken_as_numbers():
    X, y = load_digits(return_X_y=True)
    balls = generate_balls(X.astype(np.uint8), y, random_state=0)
    assert_same_balls(balls, generate_balls(X, y, random_state=0))


@pytest.mark.parametrize("name", ["cleve", "ecoli-0-1-4-6_vs_5", "credit_approval"])
def test_most_balls_of_real_sets_hold_one_sample(name):
    X, y = load_shared(name)
    balls = generate_balls(StandardScaler().fit_transform(X), y, random_state=0)
    assert 0.4 < np.mean(balls.counts == 1) < 0.9
    assert (balls.purities >= 0.985).all()
