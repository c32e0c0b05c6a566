"""Messages and errors show settings as Python writes them, or in any other form."""

import pickle

from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.messages import Message, Setting, TableError

settings = st.builds(Setting, st.sampled_from(["ignore", "decimal"]), st.text(max_size=3))
parts = st.lists(st.text(max_size=5) | settings, max_size=6)


@given(parts, parts)
def test_messages_within_a_message_keep_their_settings(first, second):
    nested = Message("before ", Message(*first), Message(*second))
    assert nested == "before " + "".join(map(str, [*first, *second])) == nested.spoken(str)
    assert nested.parts == Message("before ", *first, *second).parts


def test_an_error_names_the_table_before_each_problem_and_survives_pickling():
    problem = Message("pass ", Setting("ignore", ("a",)), ".")
    error = TableError.about("t.csv", [problem, "It is bad."])
    for one in (error, pickle.loads(pickle.dumps(error))):
        assert one.problems == ("t.csv: pass ignore=['a'].", "t.csv: It is bad.")
        assert str(one) == " ".join(one.problems)
        assert one.problems[0].spoken(lambda setting: setting.name) == "t.csv: pass ignore."
    assert isinstance(error, ValueError)
