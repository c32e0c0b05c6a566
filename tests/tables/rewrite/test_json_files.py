"""JSON: only changed objects are written anew, and changing back gives what was."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables import TableError
from tests.tables.rewrite.rewritten_tables import read, rewritten

BARE = ["true", "false", "1", "-2.50", "1e3"]
LABELS = st.sampled_from([*BARE, "null", "01", "[1]"])
LABELS |= st.text('aé"\\/\n\x01{}[],:\u2028', min_size=1, max_size=4).filter(str.strip)


@st.composite
def json_texts(draw):
    """Draw labels, and a function that writes them in objects."""
    labels = [*draw(st.lists(LABELS, min_size=1, max_size=6)), "17"]  # which shows the type
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-be"]))
    escapes, strings_only = draw(st.booleans()), draw(st.booleans())
    blank = " " * draw(st.booleans())
    begin, between, end = draw(
        st.sampled_from(
            [("", "\r\n", "\r\n"), ("", "\n", "\n"), (" [", ",", "]"), ("[\n  ", ",\n  ", "\n]\n")]
        )
    )

    def spelt(label: str) -> str:
        is_bare = label in (*BARE, "17") and not strings_only
        return label if is_bare else json.dumps(label, ensure_ascii=escapes)

    letter = json.dumps("é", ensure_ascii=escapes)

    def content(labels: dict[int, str]) -> bytes:
        rows = [
            f'{{"a":{blank}{letter},{blank}"label":{blank}{spelt(label)},'
            f'{blank}"z":{blank}[{{"label":{blank}1}}]}}'
            for label in labels.values()
        ]
        return (begin + between.join(rows) + end).encode(encoding)

    return dict(enumerate(labels)), content, encoding


@given(json_texts(), st.data())
def test_only_the_changed_values_differ_and_changing_back_gives_the_bytes_that_were(file, data):
    labels, content, encoding = file
    numbers = st.integers(0, len(labels) - 2)
    cells = data.draw(st.dictionaries(numbers, LABELS, min_size=1))
    there = rewritten(content(labels), "t.json", "label", cells, encoding=encoding)
    assert there == content(labels | cells)
    back = {number: labels[number] for number in cells}
    assert rewritten(there, "t.json", "label", back, encoding=encoding) == content(labels)
    found = [row[1] for row in read(there, "t.json", encoding=encoding)[1]]
    assert found == [*(labels | cells).values()]


@given(json_texts(), st.data())
def test_dropped_objects_go_with_their_line_or_comma(file, data):
    labels, content, encoding = file
    drop = data.draw(st.sets(st.sampled_from(sorted(labels)), max_size=len(labels) - 1))
    cells = {number: "new" for number in labels if number % 2}
    result = rewritten(content(labels), "t.json", "label", cells, drop, encoding=encoding)
    kept = {number: label for number, label in (labels | cells).items() if number not in drop}
    assert result == content(kept)


def test_a_key_that_is_missing_is_added_at_the_end_as_the_others_are_spaced():
    content = b'{"a": 1, "b": 2}\n{"a": 3}\n{"a":3}\n{}\n{"a":1,"c":[]}\n'
    result = rewritten(content, "t.jsonl", "b", dict.fromkeys(range(1, 5), "x"))
    assert result == (
        b'{"a": 1, "b": 2}\n{"a": 3, "b": "x"}\n{"a":3,"b":"x"}\n{"b": "x"}\n'
        b'{"a":1,"c":[],"b":"x"}\n'
    )


def test_null_becomes_what_the_column_holds():
    content = b'{"a": null, "b": null}\n{"a": 1, "b": "1"}\n'
    assert rewritten(content, "t.jsonl", "a", {0: "2"}) == content.replace(b"null", b"2", 1)
    assert rewritten(content, "t.jsonl", "b", {0: "2"}) == content.replace(
        b'"b": null', b'"b": "2"'
    )


def test_the_last_of_equal_keys_is_changed_and_names_with_blanks_are_found():
    content = b'{" a ": 1, "b": 2, " a ": 3}\n{" a ": 4}\n'
    assert read(rewritten(content, "t.jsonl", "a", {0: "9"}), "t.jsonl") == (
        ["a", "b"],
        [["9", "2"], ["4", None]],
    )


def test_letters_are_spelt_as_others_of_the_line_are():
    content = '{"a": "\\u00e9"}\n{"a": "é"}\n{"a": "x"}\n'
    result = rewritten(content.encode(), "t.jsonl", "a", dict.fromkeys(range(3), "ü"))
    assert result.decode() == '{"a": "\\u00fc"}\n{"a": "ü"}\n{"a": "ü"}\n'


def test_what_the_encoding_lacks_is_written_as_its_number():
    content = '{"a": "é"}\n{"a": "x"}\n'.encode("cp1252")
    result = rewritten(content, "t.jsonl", "a", {0: "漢"}, encoding="cp1252")
    assert result == content.replace(b"\xe9", b"\\u6f22")


def test_arrays_and_objects_are_refused_with_their_line():
    with pytest.raises(TableError, match=r"line 2: 'a' holds an array or an object"):
        rewritten(b'{"a": 1}\n{"a": [1]}\n', "t.jsonl", "a", {1: "x"})


def test_numbers_and_other_keys_of_a_changed_object_keep_their_spelling():
    content = b'{ "a":1 ,"n" : [1.50, 1e5, null, true] }\n{"a" : 2}\n'
    assert rewritten(content, "t.jsonl", "a", {0: "3"}) == (
        b'{"a":3,"n":[1.50,1e5,null,true]}\n{"a" : 2}\n'
    )


def test_an_array_below_an_object_is_refused():
    with pytest.raises(TableError, match=r"line 2: .* is no JSON object"):
        read(b'{"a": 1}\n[{"a": 2}]\n', "t.jsonl")
