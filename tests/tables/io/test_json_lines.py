"""JSON objects: keys are columns, spellings of numbers stay."""

import gzip
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables import TableError
from granulearn.tables.io.json_lines import JsonTable
from granulearn.tables.io.table_file import ReadOptions
from granulearn.tables.io.text_source import TextSource
from tests.tables.nasty_tables import assert_holds, rows_of, tables


def opened(content: bytes | str, folder: Path, compression=None, **options) -> JsonTable:
    path = folder / "table"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return JsonTable(TextSource(path, Path("t.json"), compression), ReadOptions(**options))


@given(
    tables(),
    st.sampled_from(["lines", "array", "indented"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.booleans(),
    st.booleans(),
)
def test_cells_are_read_as_they_were_written(table, form, encoding, packed, ascii_only):
    names, rows = table
    objects = [dict(zip(names, row, strict=True)) for row in rows]
    if form == "lines":
        text = "\n".join(json.dumps(row, ensure_ascii=ascii_only) for row in objects)
    else:
        text = json.dumps(objects, ensure_ascii=ascii_only, indent=form == "indented" or None)
    content = text.encode(encoding)
    with tempfile.TemporaryDirectory() as folder:
        content = gzip.compress(content) if packed else content
        read = opened(content, Path(folder), "gzip" if packed else None)
        assert_holds(read, names, rows)


def test_values_keep_their_spelling_and_missing_keys_are_null(tmp_path):
    read = opened('{"a": 1.50, "b": true}\n\n{"c": "x", "a": 1e3, "b": null}\n', tmp_path)
    assert read.names == ["a", "b", "c"]
    assert rows_of(read.batches()) == [["1.50", "true", None], ["1e3", None, "x"]]
    assert read.lines().tolist() == [1, 3]
    assert read.location(1) == "line 3"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (" \n", "is empty"),
        ("[]", "is empty"),
        ("{}\n{}", "only empty JSON objects"),
        ('{"a": 1}\n{"a": 1,}', "line 2: this is no JSON"),
        ('{"a": 1}\n3', "line 2: '3' is no JSON object"),
        ('[{"a": 1}\n{"a": 2}]', "line 1: this is no JSON .a comma"),
        ('[{"a": 1},\n{"a": 2}', "this is no JSON"),
        (b'{"a": 1}\n{"a": "\xe4"}', "the text is not in utf-8"),
    ],
)
def test_what_is_no_table_is_refused_with_its_line(tmp_path, content, said):
    with pytest.raises(TableError, match=said):
        opened(content, tmp_path)


nested = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.lists(nested, max_size=3) | st.dictionaries(st.text(), nested, max_size=3))
def test_arrays_and_objects_are_read_as_json_that_has_their_value(value):
    with tempfile.TemporaryDirectory() as folder:
        content = json.dumps({"a": 1}) + "\n" + json.dumps({"a": 2, "b": value})
        read = opened(content, Path(folder))
        ((_, nothing), (_, cell)) = rows_of(read.batches())
    assert (nothing, json.loads(cell)) == (None, value)
    assert read.notes == ("arrays and objects are read as text in 'b'",)
