"""JSON: changed objects are written anew with their content, the others as they stand."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables import TableError
from tests.tables.rewrite.rewritten_tables import read, rewritten

BARE = ["true", "false", "1", "-2.50", "1e3"]
LABELS = st.sampled_from([*BARE, "null", "01", "[1]"])
LABELS |= st.text('aé"\\/\n{}[],:\u2028', min_size=1, max_size=4).filter(str.strip)
BEFORE, AFTER = '{ "a":"é", "label":', ', "n" : [1.50, 1e5, null, {"label": 1}] }'
BEFORE_ANEW, AFTER_ANEW = '{"a": "é", "label": ', ', "n": [1.50, 1e5, null, {"label": 1}]}'


@st.composite
def json_files(draw):
    """Draw labels, a function that writes them in objects, and the encoding."""
    labels = [*draw(st.lists(LABELS, min_size=1, max_size=6)), "17"]  # which shows the type
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-be"]))
    strings_only = draw(st.booleans())
    begin, between, end = draw(st.sampled_from([("", "\n", "\n"), ("[\n", ",\n", "\n]\n")]))

    def spelt(label: str) -> str:
        is_bare = label in (*BARE, "17") and not strings_only
        return label if is_bare else json.dumps(label, ensure_ascii=False)

    def content(labels: list[str], changed=()) -> bytes:
        rows = [f"{BEFORE}{spelt(label)}{AFTER}" for label in labels]
        for row in changed:
            rows[row] = f"{BEFORE_ANEW}{spelt(labels[row])}{AFTER_ANEW}"
        return (begin + between.join(rows) + end).encode(encoding)

    return labels, content, encoding


@given(json_files(), st.data())
def test_changed_objects_keep_their_other_values_and_the_others_their_spelling(file, data):
    labels, content, encoding = file
    numbers = st.integers(0, len(labels) - 2)
    cells = data.draw(st.dictionaries(numbers, LABELS, min_size=1))
    new = [cells.get(row, label) for row, label in enumerate(labels)]
    changed = [row for row in cells if new[row] != labels[row]]
    result = rewritten(content(labels), "t.json", "label", cells, encoding=encoding)
    assert result == content(new, changed)
    assert [row[1] for row in read(result, "t.json", encoding=encoding)[1]] == new


@given(json_files(), st.data())
def test_dropped_objects_are_gone_and_the_others_as_they_were(file, data):
    labels, content, encoding = file
    drop = data.draw(st.sets(st.integers(0, len(labels) - 1), max_size=len(labels) - 1))
    kept = [label for row, label in enumerate(labels) if row not in drop]
    result = rewritten(content(labels), "t.json", "label", {}, drop, encoding=encoding)
    assert result == content(kept)


def test_a_key_that_is_missing_is_added_at_the_end():
    content = b'{"a": 1, "b": 2}\n{"a": 3}\n{}\n'
    result = rewritten(content, "t.jsonl", "b", {1: "x", 2: "x"})
    assert result == b'{"a": 1, "b": 2}\n{"a": 3, "b": "x"}\n{"b": "x"}\n'


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


def test_what_the_encoding_lacks_is_refused():
    content = '{"a": "é"}\n{"a": "x"}\n'.encode("cp1252")
    with pytest.raises(TableError, match="is in cp1252, which cannot hold '漢'"):
        rewritten(content, "t.jsonl", "a", {0: "漢"}, encoding="cp1252")


def test_arrays_and_objects_are_refused_with_their_line():
    with pytest.raises(TableError, match=r"line 2: 'a' holds an array or an object"):
        rewritten(b'{"a": 1}\n{"a": [1]}\n', "t.jsonl", "a", {1: "x"})


def test_an_array_below_an_object_is_refused():
    with pytest.raises(TableError, match=r"line 2: .* is no JSON object"):
        read(b'{"a": 1}\n[{"a": 2}]\n', "t.jsonl")
