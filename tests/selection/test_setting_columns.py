"""Settings, parameter by parameter."""

from hypothesis import given
from hypothesis import strategies as st

from granulearn.selection.setting_columns import MISSING, setting_columns

VALUES = st.one_of(st.integers(0, 2), st.sampled_from(["a", "b"]), st.lists(st.integers()))


@given(st.lists(st.dictionaries(st.sampled_from("xyz"), VALUES)))
def test_columns_hold_exactly_the_settings(settings):
    columns = setting_columns(settings)
    read_back = [
        {
            name: column.values[column.codes[at]]
            for name, column in columns.items()
            if column.values[column.codes[at]] is not MISSING
        }
        for at in range(len(settings))
    ]
    assert read_back == settings


def test_a_value_stands_once_however_many_settings_have_it():
    shared = [1, 2]
    column = setting_columns([{"x": shared}, {}, {"x": shared}, {"x": [1, 2]}])["x"]
    assert len(column.values) == 3
    assert column.codes.tolist() == [0, 1, 0, 2]
