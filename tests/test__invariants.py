"""What is said of attributes is demanded of them."""

import tracemalloc
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from granulearn._invariants import (
    BOOL,
    COMPLEX,
    FLOAT,
    INTS,
    WIDEST_LABEL,
    InvariantError,
    array_of,
    check_fields,
    check_inputs_of,
    check_thread_count,
    choice_of,
    has_real_signs,
    is_monotone,
    is_writable,
    labels_of,
    number_of,
    part_of,
    parts_of,
    require,
)


def with_x(value):
    return SimpleNamespace(x=value)


def test_what_does_not_hold_is_said_of_the_class():
    require(True, 3, "never said")
    with pytest.raises(InvariantError, match="int: it is odd"):
        require(False, 3, "it is odd")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([1.0, 2.0], "no array"),
        (np.array([1, 2]), "holds int64"),
        (np.array([1.0, 2.0], dtype=">f8"), "holds >f8"),
        (np.array([[1.0, 2.0]]), "shape"),
        (np.array([1.0]), "shape"),
        (np.array([1.0, np.nan]), "not between"),
        (np.array([1.0, np.inf]), "not between"),
        (np.array([1.0, 6.0]), "not between 0 and 5"),
        (np.arange(4.0)[::2], "not in rows"),
        (np.ma.array([1.0, 2.0]), "no array"),
    ],
)
def test_an_array_has_its_type_shape_range_and_order(value, said):
    array_of(with_x(np.array([0.0, 5.0])), "x", FLOAT, (2,), within=(0, 5), in_order=True)
    with pytest.raises(InvariantError, match=said):
        array_of(with_x(value), "x", FLOAT, (2,), within=(0, 5), in_order=True)


def test_gaps_are_allowed_where_they_are_said_to_be():
    for values in ([np.nan, 1.0], [np.nan, np.nan]):
        array_of(with_x(np.array(values)), "x", FLOAT, (2,), gaps=True)
    with pytest.raises(InvariantError, match="not between"):
        array_of(with_x(np.array([np.nan, np.inf])), "x", FLOAT, (2,), gaps=True)


def test_both_parts_of_complex_numbers_are_looked_at_and_truth_values_have_no_range():
    array_of(with_x(np.array([True])), "x", BOOL, (1,))
    array_of(with_x(np.array([1 + 2j])), "x", COMPLEX, (1,))
    with pytest.raises(InvariantError, match="not between"):
        array_of(with_x(np.array([complex(1, np.nan)])), "x", COMPLEX, (1,))
    array_of(with_x(np.empty(0, int)), "x", INTS, (None,))


@pytest.mark.parametrize("value", [True, "1", None, np.nan, 4, -1, np.array([1]), 1.5])
def test_a_whole_number_is_one_and_within_its_ends(value):
    assert number_of(with_x(np.int64(3)), "x", 0, 3, whole=True) == 3
    with pytest.raises(InvariantError):
        number_of(with_x(value), "x", 0, 3, whole=True)


def test_parts_are_of_their_very_type():
    assert part_of(with_x((1, 2)), "x", tuple) == parts_of(with_x((1, 2)), "x", tuple, int)
    for wrong in ([1, 2], (1, True), None):
        with pytest.raises(InvariantError):
            parts_of(with_x(wrong), "x", tuple, int)


def test_a_choice_is_one_of_its_words():
    assert choice_of(with_x("a"), "x", {"a", "b"}) == "a"
    for wrong in ("c", None, [], np.array(["a"])):
        with pytest.raises(InvariantError, match="none of"):
            choice_of(with_x(wrong), "x", {"a", "b"})


@pytest.mark.parametrize(
    "labels",
    [
        np.array([], dtype=object),
        np.array(["b", "a"]),
        np.array(["a", "a"]),
        np.array([1.0, np.nan]),
        np.array([[1, 2]]),
        np.array(["a", 1], dtype=object),
        np.array([None, "a"], dtype=object),
        np.array([1 + 2j]),
        ["a", "b"],
        np.array([b"a", b"b"]),
        np.array([0.1, 0.2]),
        np.array([1.0, np.inf], dtype=object),
        np.array([1, 10**400], dtype=object),
        np.array([1.0, 1e300]),
        np.array(["a", "b" * (WIDEST_LABEL + 1)]),
        np.array(["a", "b" * (WIDEST_LABEL + 1)], dtype=object),
    ],
)
def test_labels_are_different_sorted_and_of_one_kind(labels):
    longest = ["", "b" * WIDEST_LABEL]
    for good in (["a", "b"], longest, [1, 2], [1.0, 2.0], [False, True], [0, 2**63 - 1]):
        for dtype in (None, object):
            labels_of(with_x(np.array(good, dtype=dtype)), "x")
    with pytest.raises(InvariantError):
        labels_of(with_x(labels), "x")


def test_text_that_cannot_be_written_is_known():
    assert is_writable("")
    assert is_writable("größer 🙂")
    assert not is_writable("a\ud800")
    assert has_real_signs(np.array(["größer 🙂", ""]))
    assert has_real_signs(np.array([], "U3"))
    assert has_real_signs(np.array(["größer"]).astype(">U6"))
    for sign in (0x110000, 0x7FFFFFFF, 0xD800, 0xDFFF):
        texts = np.array(["ab", "cd"])
        texts.view(np.uint32)[1] = sign
        assert not has_real_signs(texts)
        assert not has_real_signs(texts[::-1].astype(">U2"))


def test_offsets_rise_from_zero_to_the_end():
    assert is_monotone(np.array([0, 2, 2, 5]), 5)
    for wrong in ([1, 5], [0, 4], [0, 6, 5], [0, 3, 2, 5], []):
        assert not is_monotone(np.array(wrong, dtype=int), 5)


def test_a_record_has_its_fields_and_no_others():
    @dataclass
    class Record:
        a: int = 1

    record = Record()
    check_fields(record)
    record.b = 2
    with pytest.raises(InvariantError, match="other attributes: \\['b'\\]"):
        check_fields(record)


@pytest.mark.parametrize("n_jobs", [0, 10**6, 1.0, "2", True])
def test_a_number_of_threads_is_one(n_jobs):
    for good in (None, -1, 1, 8):
        check_thread_count(SimpleNamespace(n_jobs=good))
    check_thread_count(SimpleNamespace())
    with pytest.raises(InvariantError, match="n_jobs"):
        check_thread_count(SimpleNamespace(n_jobs=n_jobs))


@pytest.mark.parametrize(
    "names",
    [["a"], ["a", "a"], ["a", 1], [["a", "b"]]],
)
def test_names_of_columns_are_as_many_as_columns_and_different(names):
    right = SimpleNamespace(n_features_in_=2, feature_names_in_=np.array(["a", "b"], dtype=object))
    assert check_inputs_of(right) == check_inputs_of(SimpleNamespace(n_features_in_=2)) == 2
    wrong = SimpleNamespace(n_features_in_=2, feature_names_in_=np.array(names, dtype=object))
    with pytest.raises(InvariantError, match="feature_names_in_"):
        check_inputs_of(wrong)


@pytest.mark.parametrize(
    "values",
    [
        np.zeros(10**6, np.int16),
        np.full(10**6, "ab"),
        np.full(10**6, b"ab"),
        np.arange(10**6, 0, -1, dtype=np.uint32),
    ],
    ids=lambda values: str(values.dtype),
)
def test_labels_that_do_not_rise_are_refused_without_a_list_of_them(values):
    tracemalloc.start()
    try:
        with pytest.raises(InvariantError, match="not sorted"):
            labels_of(SimpleNamespace(classes_=values))
        # A list has 8 bytes for each of them, and 30 to 60 for each number or text in it.
        assert tracemalloc.get_traced_memory()[1] < 3 * 10**6
    finally:
        tracemalloc.stop()
