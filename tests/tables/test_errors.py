"""An error of a table: all problems, one text, and the same after a journey between processes."""

import pickle

from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.errors import TableError
from granulearn.tables.messages import Message, Setting


@given(st.lists(st.text(), min_size=1, max_size=5))
def test_an_error_says_all_problems_in_order(problems):
    error = TableError(*problems)
    assert error.problems == tuple(problems)
    assert str(error) == " ".join(problems)


@given(st.lists(st.text(), min_size=1, max_size=5))
def test_an_error_keeps_its_problems_between_processes(problems):
    copy = pickle.loads(pickle.dumps(TableError(*problems)))
    assert isinstance(copy, TableError)
    assert copy.problems == tuple(problems)


def test_a_table_is_named_before_each_problem_and_settings_stay_settings():
    problem = Message("pass ", Setting("ignore", ("a",)), ".")
    error = pickle.loads(pickle.dumps(TableError.about("t.csv", [problem, "It is bad."])))
    assert error.problems == ("t.csv: pass ignore=['a'].", "t.csv: It is bad.")
    assert error.problems[0].spoken(lambda setting: setting.name) == "t.csv: pass ignore."


def test_a_table_error_is_a_value_error():
    assert issubclass(TableError, ValueError)
