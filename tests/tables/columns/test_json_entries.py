"""What JSON holds is of the kind that an entry has, or is refused in words."""

import pytest

from granulearn.tables.columns import json_entries as entries
from granulearn.tables.columns.json_entries import check_entries

NESTED = ([], {}, [[1]], {"a": {}})


@pytest.mark.parametrize(
    ("fits", "right", "wrong"),
    [
        (entries.is_text, ("", "a"), (1, None, True, *NESTED)),
        (entries.is_truth, (True, False), (0, 1, "true", None, *NESTED)),
        (entries.is_whole, (-(10**30), 0, 7), (1.0, True, "1", None, *NESTED)),
        (entries.is_count, (0, 7), (-1, 10**400, 1.0, True, "1", None, *NESTED)),
        (
            entries.is_number,
            (0, -1.5, 10**300),
            (10**400, float("nan"), float("inf"), True, "1", None, *NESTED),
        ),
        (entries.is_mapping, ({}, {"a": 1}), ([], "a", 1, None)),
        (entries.is_list, ([], (), [1]), ({}, "a", 1, None)),
        (entries.are_texts, ([], ["a", "b"], ("a",)), (["a", "a"], ["a", 1], [["a"]], "a", {}, 1)),
        (entries.are_counts, ({}, {"a": 0}), ({"a": -1}, {"a": "b"}, {1: 1}, [], "a", None)),
        (entries.or_none(entries.is_text), (None, "a"), (1, [])),
    ],
)
def test_a_value_is_of_the_kind_of_its_entry(fits, right, wrong):
    assert all(map(fits, right))
    assert not any(map(fits, wrong))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (3, "3 is not a thing"),
        ({"name": 3}, "a thing has 3 as its name"),
        ({"name": "a", "\x1b[2J": 1}, r"a thing has an unknown entry '\\x1b\[2J'"),
        ({}, "a thing lacks its name"),
    ],
)
def test_what_is_no_such_record_is_refused_without_control_characters(content, said):
    known = {"name": entries.is_text, "size": entries.is_count}
    check_entries({"name": "a"}, known, "a thing", needed=("name",))
    with pytest.raises(TypeError, match=said):
        check_entries(content, known, "a thing", needed=("name",))
