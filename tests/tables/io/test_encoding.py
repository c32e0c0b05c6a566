"""Encodings are stated, marked or found."""

import codecs
from pathlib import Path

import pytest

from granulearn.tables import TableError
from granulearn.tables.io.text_source import Encoding, detect_legacy, find_encoding

TEXTS = {
    "cp1252": "Bonität;Größe;Straße\nschlecht;Müller;Köln\nSelbständig;1,5 €;Grundstück",
    "cp1250": "miasto;zdanie\nŁódź;Zażółć gęślą jaźń\nGdańsk;źdźbło trawy\nPoznań;miło mi cię znać",
    "cp1251": "имя;возраст;город\nИван;23;Москва\nПётр;31;Казань",
    "cp1253": "όνομα;ηλικία\nΓιώργος;Αθήνα",
    "cp932": "名前,年齢,住所\n田中太郎,23,東京都",
    "big5": "姓名,年齡\n陳大文,臺北",
    "cp850": "Bonität;Größe;Straße;Müller",
}


@pytest.mark.parametrize("encoding", TEXTS)
def test_old_encodings_are_found_from_a_few_lines(encoding):
    lines = TEXTS[encoding].encode(encoding).split(b"\n")
    assert detect_legacy(lines, Path("t"), 1) == Encoding(encoding)


def test_a_text_in_utf_8_with_one_bad_line_is_not_taken_for_another():
    lines = ["né".encode(), "été".encode(), b"\xe9t\xe9"]
    with pytest.raises(TableError, match="t, line 7: the text is in UTF-8, but not here"):
        detect_legacy(lines, Path("t"), 7)


@pytest.mark.parametrize(
    ("beginning", "found"),
    [
        (codecs.BOM_UTF8 + b"a", Encoding("utf-8", 3)),
        ("a,b".encode("utf-16"), Encoding("utf-16-le", 2)),
        (codecs.BOM_UTF16_BE + "a,b".encode("utf-16-be"), Encoding("utf-16-be", 2)),
        ("a,b".encode("utf-32"), Encoding("utf-32-le", 4)),
        ("a,b;".encode("utf-16-le"), Encoding("utf-16-le")),
        ("a,b;".encode("utf-16-be"), Encoding("utf-16-be")),
        (b"a,b", None),
        (b"", None),
        (b"a\0\0b", None),
    ],
)
def test_marks_and_zero_bytes_show_an_encoding(beginning, found):
    assert find_encoding(beginning, None) == found


def test_stated_encodings_skip_their_mark_only():
    mark = codecs.BOM_UTF8
    assert find_encoding(mark, "UTF8") == Encoding("utf-8", 3)
    assert find_encoding(b"a", "utf-8-sig") == Encoding("utf-8")
    assert find_encoding(codecs.BOM_UTF16_BE, "utf-16") == Encoding("utf-16-be", 2)
    assert find_encoding(b"a\0", "utf-16") == Encoding("utf-16-le")
    assert find_encoding(mark, "Windows-1252") == Encoding("cp1252")


@pytest.mark.parametrize("name", ["klingon", "", "hex", "a\0b"])
def test_an_unknown_encoding_is_refused(name):
    with pytest.raises(TableError, match="is unknown; use one that Python knows"):
        find_encoding(b"", name)


@pytest.mark.parametrize(
    "text",
    [
        "città;paese\nZürich;Svizzera",
        "nom;ville\nRenée;Orléans\nFrançois;Besançon",
        "señor;São Paulo",
        "Ærø;København\nÅrhus;Danmark",
        "prix\n12,50 €\n– rien –\ncafé",
        "Größe\nklein",
    ],
)
def test_a_few_western_words_are_enough(text):
    lines = [line for line in text.encode("cp1252").splitlines() if not line.isascii()]
    assert detect_legacy(lines, Path("t.csv"), 1) == Encoding("cp1252")
