"""Messages and errors show settings as Python writes them, or in any other form."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.messages import Message, Setting, TableError, any_of
from granulearn.utils.text import listed

settings = st.builds(Setting, st.sampled_from(["ignore", "decimal"]), st.text(max_size=3))
parts = st.lists(st.text(max_size=5) | settings, max_size=6)


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        (Setting("ignore", ("zip",)), "ignore=['zip']"),
        (Setting("encoding", "cp1252"), "encoding='cp1252'"),
        (Setting("day_first", False), "day_first=False"),
        (Setting("test", 0), "test=0"),
        (Setting("sheet"), "sheet=..."),
    ],
)
def test_the_text_of_a_setting_is_python(setting, text):
    assert str(setting) == text


@given(parts, parts)
def test_messages_within_a_message_keep_their_settings(first, second):
    nested = Message("before ", Message(*first), Message(*second))
    assert nested == "before " + "".join(map(str, [*first, *second])) == nested.spoken(str)
    assert nested.parts == Message("before ", *first, *second).parts


def test_settings_are_shown_in_other_words_and_joined_by_or():
    either = any_of((Setting("day_first", True), Setting("day_first", False)))
    assert either == "day_first=True or day_first=False"
    assert Message("Pass ", either, ".").spoken(lambda s: f"/{s.value}") == "Pass /True or /False."


def test_a_long_list_says_how_many_more_there_are():
    assert listed(["a", "b"]) == "a, b"
    assert listed(list("abcdef"), "; ", most=4) == "a; b; c; d; and 2 more"


def test_an_error_names_the_table_before_each_problem_and_survives_pickling():
    problem = Message("pass ", Setting("ignore", ("a",)), ".")
    error = TableError.about("t.csv", [problem, "It is bad."])
    for one in (error, pickle.loads(pickle.dumps(error))):
        assert one.problems == ("t.csv: pass ignore=['a'].", "t.csv: It is bad.")
        assert str(one) == " ".join(one.problems)
        assert one.problems[0].spoken(lambda setting: setting.name) == "t.csv: pass ignore."
    assert isinstance(error, ValueError)
