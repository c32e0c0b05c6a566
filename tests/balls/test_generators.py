"""The seam: how generators are named, what they may return, and balls of groups."""

import multiprocessing
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from granulearn.balls import (
    BallGenerator,
    Membership,
    TwoMeansBalls,
    balls_from_labels,
    generate_balls,
)
from granulearn.balls.ball_set import power_of_two_scale
from granulearn.balls.generators import (
    CallableGenerator,
    generator_names,
    make_balls,
    resolve_generator,
)
from granulearn.utils.threads import effective_n_jobs, in_threads
from granulearn.utils.validation import check_samples

X = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 8.0]])
Y = np.array(["a", "b", "b", "a"])
SAMPLES = check_samples(X, Y)


def test_names_are_those_of_the_makers_of_the_package():
    assert generator_names() == ["gbg++", "k-division", "rd-gbg", "two-means"]


@pytest.mark.parametrize("name", generator_names())
def test_a_name_takes_the_settings_that_its_maker_has(name):
    generator = resolve_generator(name, purity=0.7, init="class-means")
    assert generator.name == name
    known = generator.get_params()
    assert {"purity": 0.7, "init": "class-means"}.items() >= {
        key: known[key] for key in ("purity", "init") if key in known
    }.items()


def test_an_instance_stays_what_it_is():
    generator = TwoMeansBalls(purity=0.6)
    assert resolve_generator(generator, purity=0.9) is generator
    assert generator.purity == 0.6


def test_a_function_becomes_a_maker_that_can_be_cloned():
    generator = resolve_generator(one_ball)
    assert isinstance(generator, CallableGenerator)
    assert len(clone(generator)(SAMPLES)) == 1


def one_ball(samples):
    return balls_from_labels(samples, np.zeros(len(samples), int))


@pytest.mark.parametrize("unknown", ["three-means", 7, None, TwoMeansBalls])
def test_what_is_no_maker_is_named_with_those_there_are(unknown):
    with pytest.raises(ValueError, match=r"balls=.* is not known: use one of \['gbg\+\+', "):
        generate_balls(X, Y, balls=unknown)


def test_a_maker_without_a_name_is_used_as_an_instance():
    class Halves(BallGenerator):
        def _generate(self, samples, seed, n_threads):
            return balls_from_labels(samples, np.arange(len(samples)) % 2)

    assert_array_equal(generate_balls(X, Y, balls=Halves()).counts, [2, 2])
    assert "Halves" not in generator_names()


def changed(**fields):
    """Return a generator whose balls have some fields replaced."""

    def two_balls(samples):
        return replace(balls_from_labels(samples, np.array([0, 0, 1, 1])), **fields)

    return two_balls


def test_a_maker_that_returns_no_balls_is_told_how_to_make_them():
    with pytest.raises(TypeError, match=r"CallableGenerator.* returned ndarray.*balls_from_labels"):
        generate_balls(X, Y, balls=lambda samples: np.zeros(len(samples)))


@pytest.mark.parametrize(
    ("field", "value", "needed"),
    [
        ("centers", np.zeros((2, 3)), r"\(2, 2\)"),
        ("radii", np.zeros(3), r"\(2,\)"),
        ("labels", np.zeros((2, 1), int), r"\(2,\)"),
        ("purities", np.zeros(1), r"\(2,\)"),
        ("counts", np.zeros(4, int), r"\(2,\)"),
        ("class_counts", np.zeros((2, 3), int), r"\(2, 2\)"),
        ("assignment", np.zeros(3, int), r"\(4,\)"),
    ],
)
def test_fields_of_the_wrong_shape_are_named(field, value, needed):
    with pytest.raises(
        ValueError, match=rf"CallableGenerator.* returned {field} of type .*shape {needed}"
    ):
        generate_balls(X, Y, balls=changed(**{field: value}))


@pytest.mark.parametrize("assignment", [[0, 0, 1, -1], [0, 0, 1, 2]])
def test_samples_that_are_lost_are_counted(assignment):
    with pytest.raises(ValueError, match=r"CallableGenerator.* loses 1 of 4 samples"):
        generate_balls(X, Y, balls=changed(assignment=np.array(assignment)))


@pytest.mark.parametrize("labels", [[0, 2], [-1, 1]])
def test_labels_out_of_range_are_shown(labels):
    with pytest.raises(ValueError, match=r"returned labels that are no indices into the 2 classes"):
        generate_balls(X, Y, balls=changed(labels=np.array(labels)))


def test_min_ball_size_is_for_every_maker():
    kept = make_balls(
        CallableGenerator(lambda samples: balls_from_labels(samples, np.array([0, 1, 1, 1]))),
        SAMPLES, min_ball_size=2, random_state=0, n_jobs=None,
    )  # fmt: skip
    assert_array_equal(kept.counts, [3])
    assert_array_equal(kept.assignment, [-1, 0, 0, 0])
    with pytest.raises(ValueError, match="min_ball_size=5 drops every ball"):
        generate_balls(X, Y, balls=one_ball, min_ball_size=5)


@given(
    groups=hnp.arrays(np.int64, st.integers(2, 40), elements=st.integers(-5, 5)),
    n_features=st.integers(1, 3),
    seed=st.integers(0, 1000),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_balls_from_labels_are_means_and_mean_distances(groups, n_features, seed, dtype):
    rng = np.random.RandomState(seed)
    rows, y = (
        rng.standard_normal((len(groups), n_features)).astype(dtype),
        np.arange(len(groups)) % 2,
    )
    balls = balls_from_labels(check_samples(rows, y), groups)
    assert_array_equal(balls.assignment, np.unique(groups, return_inverse=True)[1])
    assert balls.centers.dtype == balls.radii.dtype == dtype
    for ball, number in enumerate(np.unique(groups)):
        own = rows[groups == number].astype(float)
        away = np.linalg.norm(own - own.mean(axis=0), axis=1)
        assert_allclose(balls.centers[ball], own.mean(axis=0), atol=1e-5)
        assert_allclose(balls.radii[ball], away.mean(), atol=1e-5)
        assert_array_equal(balls.class_counts[ball], np.bincount(y[groups == number], minlength=2))
    assert_array_equal(balls.counts, balls.class_counts.sum(axis=1))
    assert_array_equal(balls.labels, balls.class_counts.argmax(axis=1))
    assert_array_equal(balls.purities, balls.class_counts.max(axis=1) / balls.counts)


@pytest.mark.parametrize("groups", [[0, 1, 2], [0.0, 1.0, 1.0, 0.0], [[0, 1, 1, 0]], ["a"] * 4])
def test_groups_that_are_not_one_whole_number_per_sample_are_refused(groups):
    with pytest.raises(ValueError, match="one whole number for each of the 4 samples"):
        balls_from_labels(SAMPLES, groups)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint64, np.int64])
def test_groups_may_be_as_low_as_their_type_allows(dtype):
    groups = np.full(4, np.iinfo(dtype).min, dtype)
    groups[1] += 1
    assert_array_equal(balls_from_labels(SAMPLES, groups).counts, [3, 1])


def test_ordinary_values_are_not_scaled():
    assert power_of_two_scale(np.array([[0.0, 0.0]])) == 1.0
    assert power_of_two_scale(np.array([[1e6, -1e-3]])) == 1.0
    assert power_of_two_scale(np.array([[1e300, 1.0]])) < 1e-299


@pytest.mark.parametrize("n_threads", [1, 3])
def test_threads_keep_the_order(n_threads):
    assert in_threads(lambda item: item * item, range(10), n_threads) == [i * i for i in range(10)]


MIDDLE = {
    "labels": lambda array: array.astype(float),
    "centers": lambda array: np.full_like(array, np.nan),
    "assignment": lambda array: array.astype(float),
    "counts": lambda array: array + 1,
    "classes": lambda array: array[::-1].copy(),
}


@pytest.mark.parametrize("name", MIDDLE)
def test_what_a_function_returns_must_be_usable_and_true(name):
    def careless(samples):
        balls = balls_from_labels(samples, samples.codes)
        return replace(balls, **{name: MIDDLE[name](getattr(balls, name).copy())})

    with pytest.raises(ValueError, match=r"careless.* returned "):
        generate_balls([[0.0], [0.1], [5.0]], list("aab"), balls=careless)


@pytest.mark.parametrize("family", [BallGenerator, Membership])
def test_a_name_that_is_taken_is_refused(family):
    taken = sorted(family._known)[0]
    with pytest.raises(TypeError, match=f"the name {re.escape(repr(taken))} is that of"):
        type("Mine", (family,), {"name": taken})
    assert family._known[taken].__name__ != "Mine"


def _jobs_and_warnings(n_jobs):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        return effective_n_jobs(n_jobs), [str(warning.message) for warning in said]


@pytest.mark.slow
def test_a_worker_of_a_pool_has_one_thread_and_says_nothing():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(_jobs_and_warnings, [None, 2, -1]) == [(1, [])] * 3
    assert effective_n_jobs(2) == 2
