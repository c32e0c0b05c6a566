"""Facts about blocks: joined in any grouping they are those of the whole."""

from dataclasses import fields, replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from granulearn.distributed.facts import align, check_facts, join_facts, sum_by_class
from tests.distributed.chunked import block_of, table


def facts_of(X, y, number=0, **more):
    return block_of(X, y, number, **more).facts


def test_joined_facts_are_those_of_all_rows():
    X, y = table(n_samples=90)
    weights = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    cuts = [(0, 20), (20, 21), (21, 90)]
    parts = [
        facts_of(X[first:end], y[first:end], number, weights=weights[first:end])
        for number, (first, end) in enumerate(cuts)
    ]
    whole = facts_of(X, y, weights=weights)
    left = join_facts(join_facts(parts[0], parts[1]), parts[2])
    right = join_facts(parts[0], join_facts(parts[1], parts[2]))
    for name in {field.name for field in fields(whole)} - {"alone"}:
        assert_array_equal(getattr(left, name), getattr(whole, name))
        assert_array_equal(getattr(right, name), getattr(whole, name))


def test_an_empty_part_adds_nothing():
    full = facts_of(np.ones((3, 2)), [0, 1, 1])
    empty = facts_of(np.empty((0, 2)), [])
    assert join_facts(full, empty) is full
    assert join_facts(empty, full) is full


def test_classes_that_a_part_lacks_count_zero():
    classes = np.array(["a", "b", "c"])
    assert_array_equal(align(np.array([5, 7]), np.array(["a", "c"]), classes), [5, 0, 7])
    parts = [(np.array([1]), np.array(["b"])), (np.array([2, 3]), np.array(["a", "b"]))]
    assert_array_equal(sum_by_class(parts, classes), [2, 4, 0])


def test_samples_alone_with_their_class_are_counted():
    mixed = facts_of(np.ones((3, 2)), [0, 1, 1])
    alone = facts_of(np.ones((4, 2)), [1, 1, 1, 1], 1)
    assert_array_equal(join_facts(mixed, alone).alone, [0, 4])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kinds": ("numbers",)}, "block 0 has 2 features and block 1 1"),
        ({"names": ("a", "b")}, "column names of block 0 and block 1 differ"),
        ({"kinds": ("numbers", "objects")}, "column 1 holds numbers in block 0 and objects in"),
        ({"classes": np.array(["x", "y"])}, "block 0 holds int64, block 1 <U1"),
    ],
)
def test_blocks_that_do_not_belong_together_are_named(change, message):
    facts = facts_of(np.ones((3, 2)), [0, 1, 1])
    with pytest.raises(ValueError, match=message):
        join_facts(facts, replace(facts, first_block=1, **change))


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        (facts_of(np.empty((0, 2)), []), "X has no rows"),
        (facts_of(np.ones((2, 2)), ["a", "a"]), "y holds only one class .'a'."),
        (facts_of(np.ones((2, 2)), [0, 1], weights=np.zeros(2)), "sample_weight is zero for"),
        (facts_of(np.ones((2, 2)), [0, 1], weights=np.r_[1.0, 0.0]), "only one class has samples"),
        (facts_of(np.ones((2, 2)), [0, 1], memberships=np.zeros(2)), "sample_membership is zero"),
    ],
)
def test_nothing_to_learn_from_is_an_error(facts, message):
    with pytest.raises(ValueError, match=message):
        check_facts(facts)
