"""JSON: only changed objects are written anew, and changing back gives what was."""

import json
from dataclasses import dataclass

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from granulearn.tables import TableError
from tests.tables.rewrite.rewritten_tables import read, rewritten


def can_be_bare(text: str) -> bool:
    try:
        return not isinstance(json.loads(text), (str, dict, list, type(None)))
    except ValueError:
        return False


@dataclass
class JsonText:
    """Objects with a key for the label, in pieces."""

    labels: list[str]
    encoding: str
    escapes: bool
    strings_only: bool
    spaced: bool
    form: str

    def piece(self, label: str) -> str:
        if can_be_bare(label) and not self.strings_only:
            return label
        return json.dumps(label, ensure_ascii=self.escapes)

    def content(self, changed=None, drop=()) -> bytes:
        blank = " " if self.spaced else ""
        rows = []
        for number, label in enumerate(self.labels):
            first = json.dumps(f"é{number}", ensure_ascii=self.escapes)
            piece = self.piece((changed or {}).get(number, label))
            rows.append(
                f'{{"a":{blank}{first},{blank}"label":{blank}{piece},'
                f'{blank}"z":{blank}[{{"label":{blank}1}}]}}'
            )
        kept = [row for number, row in enumerate(rows) if number not in drop]
        text = {
            "lines": "".join(f"{row}\r\n" for row in kept),
            "open lines": "\n".join(kept),
            "array": f" [{','.join(kept)}]",
            "lines of an array": "[\n  " + ",\n  ".join(kept) + "\n]\n",
        }[self.form]
        return text.encode(self.encoding)

    @property
    def reading(self) -> dict[str, str]:
        return {"encoding": self.encoding}


LABELS = st.one_of(
    st.sampled_from(["true", "false", "1", "-2.50", "1e3", "null", "01", "", "[1]"]),
    st.text('aé"\\/\n\x01{}[],:\u2028', max_size=4),
)


@st.composite
def json_texts(draw):
    labels = draw(st.lists(LABELS, min_size=1, max_size=6))
    return JsonText(
        labels=[*labels, "17"],  # the last one tells the habit
        encoding=draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])),
        escapes=draw(st.booleans()),
        strings_only=draw(st.booleans()),
        spaced=draw(st.booleans()),
        form=draw(st.sampled_from(["lines", "open lines", "array", "lines of an array"])),
    )


@given(json_texts(), st.data())
def test_only_the_changed_values_differ_and_changing_back_gives_the_bytes_that_were(file, data):
    numbers = st.integers(0, len(file.labels) - 2)
    numbers = numbers.filter(lambda number: file.labels[number].strip())
    assume(any(map(str.strip, file.labels[:-1])))
    cells = data.draw(st.dictionaries(numbers, LABELS.filter(str.strip), min_size=1))
    there = rewritten(file.content(), "t.json", "label", cells, **file.reading)
    assert there == file.content(cells)
    back = {number: file.labels[number] for number in cells}
    assert rewritten(there, "t.json", "label", back, **file.reading) == file.content()
    labels = [row[1] for row in read(there, "t.json", **file.reading)[1]]
    assert labels == [cells.get(number, label) for number, label in enumerate(file.labels)]


@given(json_texts(), st.data())
def test_dropped_objects_go_with_their_line_or_comma(file, data):
    numbers = st.integers(0, len(file.labels) - 1)
    drop = data.draw(st.sets(numbers, min_size=1, max_size=len(file.labels) - 1))
    cells = {number: "new" for number in range(len(file.labels)) if number % 2}
    result = rewritten(file.content(), "t.json", "label", cells, drop, **file.reading)
    # A dropped line goes with its line end; the one before keeps its own.
    ends = file.form == "open lines" and len(file.labels) - 1 in drop
    assert (
        result.decode(file.encoding)
        == file.content(cells, drop).decode(file.encoding) + "\n" * ends
    )


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
