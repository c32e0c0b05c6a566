"""Values of an object are found where the json module reads them."""

import json

from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables.relabel.json_values import Spelling, object_at, spelt

VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=4)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(), inner)),
    max_leaves=5,
)


@given(st.dictionaries(st.text(max_size=3), VALUES), st.sampled_from([None, 0, 2]), st.booleans())
def test_each_value_stands_where_it_was_written(row, indent, escapes):
    content = "  " + json.dumps(row, indent=indent, ensure_ascii=escapes)
    found = object_at(content + "  ", 2)
    assert content[found.begin : found.end] == content[2:]
    assert list(found.values) == list(row)
    for key, value in found.values.items():
        assert content[value.begin : value.end] == value.raw
        assert json.loads(value.raw) == row[key]
        assert value.is_string == isinstance(row[key], str)
        assert value.is_nested == isinstance(row[key], (list, dict))
        assert (value.text is None) == (row[key] is None)


@given(st.dictionaries(st.text(max_size=3), VALUES), st.sampled_from([None, 0, 2]))
def test_a_key_is_added_as_the_json_module_would_write_it(row, indent):
    row.pop("new", None)
    content = json.dumps(row, indent=indent)
    edit = object_at(content, 0).with_key("new", "1", Spelling(True, "utf-8"))
    result = content[: edit.begin] + edit.text + content[edit.end :]
    if len(row) > 1:
        assert result == json.dumps({**row, "new": 1}, indent=indent)
    assert json.loads(result) == {**row, "new": 1}


@given(st.text(), st.booleans(), st.sampled_from(["utf-8", "cp1252", "utf-16-le"]))
def test_a_string_means_its_text_in_every_spelling(text, escapes, encoding):
    raw = Spelling(escapes, encoding).string(text)
    assert raw.encode(encoding).decode(encoding) == raw
    assert spelt(raw) == text
    if not text.isascii() and "\x7f" not in text:
        assert Spelling.habit_of(raw) in (escapes, True)


def test_control_characters_do_not_tell_how_letters_are_spelt():
    assert Spelling.habit_of('"a\\u0001"') is None
    assert Spelling.habit_of('"\\u00e9"') is True
    assert Spelling.habit_of('"é"') is False
    assert spelt("1.50") == "1.50"
