"""One scan tells all that must be known to read a text."""

from itertools import pairwise
from pathlib import Path

import pytest

from granulearn.tables import TableError
from granulearn.tables.io import text
from granulearn.tables.io.table_file import ReadOptions
from granulearn.tables.io.text_scan import TextForm, scan_text
from granulearn.tables.io.text_source import TextSource


def scanned(folder: Path, content: str | bytes, **reading) -> TextForm:
    path = folder / "t"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return scan_text(TextSource(path, Path("t")), ReadOptions(**reading))


def test_separator_header_and_first_row_are_found(tmp_path):
    form = scanned(tmp_path, '\n;;\n"a";b\n\n1;2\n')
    assert form.heading.separator == ";"
    assert form.heading.cells == ("a", "b")
    assert (form.heading.end, form.heading.end_line) == (10, 4)
    assert form.rows.n_rows == 1


def test_chunks_cover_the_rows_without_gap_or_overlap(tmp_path, monkeypatch):
    monkeypatch.setattr(text_scan, "CHUNK_BYTES", 10)
    for cell in ('"x\ny"', '5"', "plain"):
        content = f"a,b\n{f'1,{cell}' + chr(10)}" + f"2,{cell}\n\n" * 20
        form = scanned(tmp_path, content)
        chunks = form.rows.chunks
        assert len(chunks) > 5
        assert chunks[0].begin == 4
        assert content[chunks[-1].end :].strip() == ""
        for before, after in pairwise(chunks):
            assert before.end == after.begin
            assert after.first_line == content.count("\n", 0, after.begin) + 1
            n_rows = content.count(",", before.begin, before.end)
            assert after.first_row - before.first_row == n_rows


@pytest.mark.parametrize(
    ("content", "quotes", "in_order", "quoted"),
    [
        ("a\nb\n", False, True, False),
        ('"a"\nb\n', False, True, False),
        ('a\n"b"\n', True, True, False),
        ('a\n"b\nc"\n', True, True, True),
        ('a\nb"\n', True, False, True),
    ],
)
def test_quotes_and_quoted_newlines_are_noted(tmp_path, content, quotes, in_order, quoted):
    rows = scanned(tmp_path, content).rows
    assert (rows.quotes, rows.in_order, rows.quoted_newlines) == (quotes, in_order, quoted)


def test_an_announced_separator_is_no_header(tmp_path):
    form = scanned(tmp_path, "sep=|\na;b|c\n1|2\n")
    assert (form.heading.cells, form.heading.end_line) == (("a;b", "c"), 3)


def test_encodings_of_several_bytes_are_scanned_as_unicode(tmp_path):
    content = "名前,住所\n" + "田中太郎,東京都千代田区\n表十ソ能,大阪府大阪市\n" * 20
    form = scanned(tmp_path, content.encode("cp932"))
    assert form.text.encoding.name == "cp932"
    assert form.heading.cells[0].encode("latin-1").decode() == "名前"
    assert form.rows.n_rows == 40


def test_an_open_quotation_mark_does_not_take_all_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(text_scan, "LONGEST_ROW", 1000)
    monkeypatch.setattr(text_scan, "CHUNK_BYTES", 100)
    with pytest.raises(TableError, match="line 2: a quotation mark is not closed"):
        scanned(tmp_path, 'a,b\n1,"2\n' + "3,4\n" * 1000)
