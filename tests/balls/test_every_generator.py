"""What holds for every ball generator that has a name, whatever the data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_classification

from granulearn.balls import BallSet, generate_balls
from granulearn.balls.generators import generator_names, resolve_generator
from granulearn.utils.validation import check_samples, describe_samples

FIELDS = ["centers", "radii", "labels", "purities", "counts", "class_counts", "assignment"]
every_maker = pytest.mark.parametrize("name", generator_names())

# The class of a ball is its most frequent one, and its centre the mean of its samples; balls below
# the purity are divided until their rows are all the same.
PLAIN = {"k-division", "two-means"}
DRAWING = {"k-division", "rd-gbg", "two-means"}


def assert_same_balls(balls, others, fields=FIELDS):
    for field in fields:
        assert_array_equal(getattr(balls, field), getattr(others, field), err_msg=field)


def as_sets(balls):
    return {frozenset(np.flatnonzero(balls.assignment == i)) for i in range(len(balls))}


def noisy_classes(n_samples, n_classes=3, n_features=6, seed=0):
    """Return features, and classes of which a fifth is wrong."""
    X, y = make_classification(
        n_samples, n_features, n_informative=n_features, n_redundant=0, n_classes=n_classes,
        n_clusters_per_class=2, flip_y=0, random_state=seed,
    )  # fmt: skip
    rng = np.random.RandomState(seed)
    wrong = rng.choice(n_samples, n_samples // 5, replace=False)
    y[wrong] = (y[wrong] + rng.randint(1, n_classes, size=len(wrong))) % n_classes
    return X, y


def made(name, X, y, seed=0, n_jobs=None, **settings):
    """Make balls of samples of any number of classes, also one."""
    X = np.ascontiguousarray(X)
    classes, codes = np.unique(y, return_inverse=True)
    samples = describe_samples(X, codes.astype(np.int32), classes)
    return resolve_generator(name, **settings)(samples, random_state=seed, n_jobs=n_jobs)


def assert_covers(balls, X, y):
    """Every sample is in one ball, and all counts are right."""
    assert isinstance(balls, BallSet)
    assert balls.assignment.shape == (len(X),)
    assert_array_equal(np.unique(balls.assignment), np.arange(len(balls)))
    codes = np.searchsorted(balls.classes, y)
    recount = np.zeros((len(balls), len(balls.classes)), int)
    np.add.at(recount, (balls.assignment, codes), 1)
    assert_array_equal(balls.class_counts, recount)
    assert_array_equal(balls.counts, recount.sum(axis=1))
    assert ((balls.labels >= 0) & (balls.labels < len(balls.classes))).all()
    of_label = recount[np.arange(len(balls)), balls.labels]
    assert_array_equal(balls.purities, of_label / balls.counts)
    assert np.isfinite(balls.centers).all()
    assert (balls.radii >= 0).all()
    assert balls.centers.dtype == balls.radii.dtype == X.dtype


@st.composite
def labelled_tables(draw):
    """Tables full of repeated rows and ties: whole numbers on a small grid, one class or more."""
    shape = draw(st.tuples(st.integers(1, 50), st.integers(1, 3)))
    X = draw(hnp.arrays(np.float64, shape, elements=st.integers(-3, 3).map(float)))
    y = draw(hnp.arrays(np.int64, shape[0], elements=st.integers(0, draw(st.integers(0, 4)))))
    return X.astype(draw(st.sampled_from([np.float32, np.float64]))), y


@every_maker
@settings(max_examples=80)
@given(table=labelled_tables(), seed=st.integers(0, 100), purity=st.sampled_from([0.3, 0.8, 1.0]))
def test_every_sample_is_in_one_ball_and_all_counts_are_right(name, table, seed, purity):
    X, y = table
    balls = made(name, X, y, seed, purity=purity)
    assert_covers(balls, X, y)
    if name in PLAIN:
        assert_array_equal(balls.labels, balls.class_counts.argmax(axis=1))
        for ball in range(len(balls)):
            rows = X[balls.assignment == ball].astype(float)
            assert_allclose(balls.centers[ball], rows.mean(axis=0), atol=1e-5)
            away = np.linalg.norm(rows - rows.mean(axis=0), axis=1)
            assert_allclose(balls.radii[ball], away.mean(), atol=1e-5)
        for ball in np.flatnonzero(balls.purities < purity):
            assert len(np.unique(X[balls.assignment == ball], axis=0)) == 1


@every_maker
@pytest.mark.parametrize("n_classes", [2, 3, 8])
def test_balls_cover_noisy_tables(name, n_classes):
    X, y = noisy_classes(700, n_classes)
    balls = generate_balls(X, y, balls=name, random_state=0)
    assert_covers(balls, X, y)
    assert len(balls) > n_classes


@every_maker
def test_one_class_is_one_ball(name):
    X = np.random.RandomState(0).standard_normal((40, 3))
    balls = made(name, X, np.zeros(40))
    assert_array_equal(balls.counts, [40])
    assert_array_equal(balls.purities, 1)


@every_maker
def test_a_single_sample_is_a_ball(name):
    balls = made(name, np.array([[3.0, 4.0]]), np.zeros(1))
    assert_array_equal(balls.centers, [[3.0, 4.0]])
    assert_array_equal(balls.radii, [0.0])


@every_maker
def test_two_hundred_classes_far_apart(name):
    X, y = make_blobs(4000, centers=200, n_features=5, random_state=0, cluster_std=0.05)
    balls = generate_balls(X, y, balls=name, random_state=0)
    assert_covers(balls, X, y)
    assert len(np.unique(balls.labels)) >= 195
    assert np.average(balls.purities, weights=balls.counts) > 0.97


@every_maker
def test_the_seed_decides(name):
    X, y = noisy_classes(600)
    first, again, other = (generate_balls(X, y, balls=name, random_state=s) for s in (1, 1, 2))
    assert_same_balls(first, again)
    assert (as_sets(first) != as_sets(other)) == (name in DRAWING)


@every_maker
def test_threads_change_nothing(name):
    X, y = noisy_classes(20_000 if name != "rd-gbg" else 6000)
    alone = generate_balls(X, y, balls=name, random_state=4, n_jobs=1)
    assert_covers(alone, X, y)
    assert_same_balls(alone, generate_balls(X, y, balls=name, random_state=4, n_jobs=3))


@every_maker
def test_input_is_never_modified(name):
    X, y = noisy_classes(300)
    for factor in (1.0, 1e200):
        own = X * factor
        before = own.copy(), y.copy()
        own.setflags(write=False)
        y.setflags(write=False)
        generate_balls(own, y, balls=name, random_state=0)
        assert_array_equal(own, before[0])
        assert_array_equal(y, before[1])


@every_maker
def test_names_of_classes_change_nothing(name):
    X, y = noisy_classes(400)
    balls = generate_balls(X, y, balls=name, random_state=0)
    named = generate_balls(X, np.array(["a", "b", "c"])[y], balls=name, random_state=0)
    assert_same_balls(balls, named)
    assert_array_equal(named.classes, ["a", "b", "c"])


@every_maker
def test_the_order_of_classes_changes_no_ball_unless_classes_tie(name):
    """What ties break by is the order of classes: only GBG++ goes by the most frequent one."""
    X, y = noisy_classes(400)
    new = np.array([2, 0, 1])
    balls = generate_balls(X, y, balls=name, random_state=0)
    others = generate_balls(X, new[y], balls=name, random_state=0)
    if name == "gbg++":
        assert len(as_sets(balls) & as_sets(others)) > 0.5 * len(balls)
        return
    assert_same_balls(balls, others, ["centers", "radii", "counts", "assignment"])
    assert_array_equal(balls.class_counts, others.class_counts[:, new])


@every_maker
def test_repeated_rows_stay_together_where_they_have_one_label(name):
    X, y = noisy_classes(150)
    repeated = np.repeat(np.arange(150), 3)
    balls = generate_balls(X[repeated], y[repeated], balls=name, random_state=0)
    assert_covers(balls, X[repeated], y[repeated])
    numbers = balls.assignment.reshape(150, 3)
    assert_array_equal(numbers, numbers[:, :1].repeat(3, axis=1))


@every_maker
def test_identical_rows_with_different_labels_end(name):
    X, y = np.full((9, 2), 0.1), np.array([0, 1, 1, 0, 2, 1, 0, 0, 1])
    balls = generate_balls(X, y, balls=name, random_state=0)
    assert_covers(balls, X, y)
    assert_allclose(balls.centers, 0.1, rtol=1e-15)
    assert_array_equal(balls.radii, 0)
    assert len(balls) == (9 if name == "rd-gbg" else 1)  # pure balls, or one that is not


@every_maker
def test_constant_columns_change_no_ball(name):
    X, y = noisy_classes(300)
    balls = generate_balls(X, y, balls=name, random_state=0)
    more = generate_balls(np.hstack([X, np.full((300, 2), 7.0)]), y, balls=name, random_state=0)
    assert as_sets(more) == as_sets(balls)
    assert_array_equal(more.centers[:, -1], 7.0)


@every_maker
@settings(max_examples=25)
@given(exponent=st.integers(-1000, 1000))
def test_scaling_by_a_power_of_two_scales_the_balls(name, exponent):
    rng = np.random.RandomState(0)
    X, y = rng.uniform(0.5, 1.0, (60, 3)), rng.randint(3, size=60)
    plain = generate_balls(X, y, balls=name, random_state=0)
    scaled = generate_balls(np.ldexp(X, exponent), y, balls=name, random_state=0)
    assert_array_equal(scaled.assignment, plain.assignment)
    # Exact, but for the last bits of numbers too small to have them all.
    assert_allclose(np.ldexp(scaled.centers, -exponent), plain.centers, rtol=1e-12)
    assert_allclose(np.ldexp(scaled.radii, -exponent), plain.radii, rtol=1e-9)


EXTREMES = [0.0, 5e-324, 1e-320, 2.3e-308, 1e-300, 1e-160, 1.0, 1.0000000000000002, 1e160]
EXTREMES += [1e300, float(np.finfo(np.float64).max)]


@every_maker
@settings(max_examples=40)
@given(
    X=hnp.arrays(
        np.float64,
        st.tuples(st.integers(2, 12), st.integers(1, 3)),
        elements=st.one_of(
            st.sampled_from(EXTREMES + [-value for value in EXTREMES]),
            st.floats(allow_nan=False, allow_infinity=False),
        ),
    ),
    factor=st.sampled_from([1.0, 1e-300, 1e-310, 1e-320]),
    dtype=st.sampled_from([np.float64, np.float32]),
)
def test_balls_are_made_of_every_finite_input(name, X, factor, dtype):
    limits = np.finfo(dtype)
    X = np.clip(X * factor, limits.min, limits.max).astype(dtype)
    y = np.arange(len(X)) % 2
    balls = made(name, X, y)
    assert_covers(balls, X, y)
    assert len(balls) <= len(X)


@every_maker
def test_float32_makes_nearly_the_same_balls(name):
    X, y = noisy_classes(500)
    double = generate_balls(X.astype(np.float32).astype(np.float64), y, balls=name, random_state=0)
    single = generate_balls(X.astype(np.float32), y, balls=name, random_state=0)
    assert_covers(single, X.astype(np.float32), y)
    assert len(as_sets(single) & as_sets(double)) > 0.8 * len(double)


@every_maker
def test_makers_are_cloned_printed_and_set_like_estimators(name):
    generator = resolve_generator(name)
    assert clone(generator).get_params() == generator.get_params()
    assert repr(generator).startswith(type(generator).__name__)
    X, y = noisy_classes(200)
    samples = check_samples(X, y)
    assert_same_balls(generator(samples, random_state=3), clone(generator)(samples, random_state=3))
