"""Encodings of text: stated, marked by a byte-order mark, or detected from the bytes."""

from __future__ import annotations

import codecs
import re
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from granulearn.tables.errors import TableError
from granulearn.tables.messages import Message, Setting

# UTF-32 first: its mark begins with that of UTF-16.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WITHOUT_ORDER = {"utf-16": "utf-16-le", "utf-32": "utf-32-le", "utf-8-sig": "utf-8"}
# Legacy encodings of tables. Fewer candidates are told apart better.
_LEGACY = [
    *["cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "koi8_r"],
    *["cp932", "gb18030", "big5", "cp949", "euc_jp", "mac_roman", "cp850"],
]
_EASTERN_LANGUAGES = {"Polish", "Czech", "Slovak", "Hungarian", "Croatian", "Slovene", "Romanian"}
_WORD = re.compile(r"[^\W\d_]+(?:[^\x00-\x7f\s]+[^\W\d_]+)*", re.UNICODE)


@dataclass(frozen=True)
class Encoding:
    """How bytes become text."""

    name: str
    bom: int = 0
    """Number of bytes of the byte-order mark at the beginning of the file."""

    @cached_property
    def keeps_ascii(self) -> bool:
        """Whether a byte below 128 is always the character of ASCII, and no part of another."""
        if self.name in ("utf-8", "ascii", "iso8859-1"):
            return True
        decoder = codecs.lookup(self.name).incrementaldecoder
        table = getattr(sys.modules[decoder.__module__], "decoding_table", "")
        return table[:128] == bytes(range(128)).decode("ascii")


def find_encoding(beginning: bytes, stated: str | None) -> Encoding | None:
    """Return the stated or the evident encoding; None for text that may be any that keeps ASCII.

    A byte-order mark that fits is skipped.
    """
    marked = [
        Encoding(name, len(mark)) for mark, name in _BYTE_ORDER_MARKS if beginning.startswith(mark)
    ][:1]
    if stated is None:
        # In UTF-16, every other byte of plain letters is zero.
        even, odd = beginning[::2], beginning[1::2]
        if 2 * odd.count(0) > len(odd) and not even.count(0):
            marked.append(Encoding("utf-16-le"))
        if 2 * even.count(0) > len(even) and not odd.count(0):
            marked.append(Encoding("utf-16-be"))
        return marked[0] if marked else None
    try:
        known = codecs.lookup(stated)
    except (LookupError, ValueError):
        known = None
    if known is None or not getattr(known, "_is_text_encoding", True):
        raise TableError(
            f"the encoding {stated!r} is unknown; use one that Python knows, such as utf-8, "
            "cp1252, latin-1 or utf-16."
        )
    if marked and marked[0].name.startswith(known.name.removesuffix("-sig")):
        return marked[0]
    return Encoding(_WITHOUT_ORDER.get(known.name, known.name))


def detect_legacy(lines: list[bytes], shown: Path, first_line: int) -> Encoding:
    """Return the encoding of a text that is not in UTF-8, by some lines that are not in ASCII."""
    from charset_normalizer import from_bytes

    if 2 * sum(_decodes(line, "utf-8") for line in lines) > len(lines):
        said = (
            f"{shown}, line {first_line}: the text is in UTF-8, but not here; correct the line, or "
            "state an encoding in which every byte is a character ("
        )
        raise TableError(Message(said, Setting("encoding", "cp1252"), ")."))
    sample = b"\n".join(dict.fromkeys(lines))
    found = list(from_bytes(sample, cp_isolation=_LEGACY))
    if not found:
        return Encoding("cp1252" if _decodes(sample, "cp1252") else "latin-1")
    best = min(found, key=_badness)
    western = next((match for match in found if "cp1252" in match.could_be_from_charset), None)
    eastern = western and _eastern(western, found)
    if eastern is None and _reads_western(sample):
        return Encoding("cp1252")
    if western and _badness(western) <= _badness(best):
        return Encoding("cp1252" if eastern is None else eastern.encoding)
    return Encoding(best.encoding)


def _reads_western(sample: bytes) -> bool:
    """Return whether a text reads as one of Western Europe: a few of the letters have marks.

    Other alphabets would give words of such letters alone, and other encodings of the same
    alphabet would give signs in the middle of words.
    """
    if not _decodes(sample, "cp1252"):
        return False
    words = _WORD.findall(sample.decode("cp1252"))
    letters = "".join(word for word in words if not word.isascii())
    if not all(map(str.isalpha, letters)):
        return False
    return 2 * sum(not letter.isascii() for letter in letters) < len(letters)


def _eastern(western: Any, found: list[Any]) -> Any | None:
    """Return the match of Central Europe, if the text is likely to be in one of its languages.

    Its letters are letters in the encoding of Western Europe, too, only other ones.
    """
    if not set(western.languages[:1]) & _EASTERN_LANGUAGES:
        return None
    for match in found:
        is_other = "cp1250" in match.could_be_from_charset and str(match) != str(western)
        if is_other and match.coherence > 0.9 * western.coherence:
            return match if match.chaos < 0.05 else None
    return None


def _badness(match: Any) -> tuple[float, float]:
    return round(match.chaos, 3), -round(match.coherence, 3)


def _decodes(content: bytes, encoding: str) -> bool:
    try:
        content.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True
