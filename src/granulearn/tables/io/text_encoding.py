"""In which encoding a text is: stated, marked, or found from its bytes."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from granulearn.tables.errors import TableError
from granulearn.tables.messages import Message, Setting

# UTF-32 first: its mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WITHOUT_ORDER = {"utf-16": "utf-16-le", "utf-32": "utf-32-le", "utf-8-sig": "utf-8"}
# What tables are written in that are not in Unicode. Fewer candidates are told apart better.
_OLD = [
    *["cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "koi8_r"],
    *["cp932", "gb18030", "big5", "cp949", "euc_jp", "mac_roman", "cp850"],
]
_EASTERN = "cp1250"
_EASTERN_LANGUAGES = {"Polish", "Czech", "Slovak", "Hungarian", "Croatian", "Slovene", "Romanian"}
_LITTLE_CHAOS = 0.05
# What stands between ASCII signs and blanks: a letter, or what a wrong encoding makes of one.
_WORD = re.compile(r"[^\W\d_]+(?:[^\x00-\x7f\s]+[^\W\d_]+)*", re.UNICODE)
_NEARLY = 0.9
_WESTERN = "cp1252"


@dataclass(frozen=True)
class Encoding:
    """How bytes become text."""

    name: str
    mark: int = 0
    """Number of bytes of the byte-order mark at the beginning of the file."""

    @cached_property
    def defined(self) -> bytes:
        """The bytes that are a character each; none if a character can take several bytes."""
        if self.name == "ascii":
            return bytes(range(128))
        try:
            module = import_module(f"encodings.{self.name.replace('-', '_')}")
        except ImportError:
            return b""
        table = getattr(module, "decoding_table", "")
        return bytes(byte for byte, character in enumerate(table) if character != "\ufffe")

    @cached_property
    def keeps_ascii(self) -> bool:
        """Whether a byte below 128 is always the character of ASCII."""
        if self.name == "utf-8":
            return True
        ascii_bytes = bytes(range(128))
        return ascii_bytes in self.defined and ascii_bytes.decode(self.name).encode() == ascii_bytes


def stated_encoding(name: str, beginning: bytes) -> Encoding:
    """Return the encoding that a user states.

    Parameters
    ----------
    name : str
        Any name that Python knows.
    beginning : bytes
        The first bytes of the file; a byte-order mark that fits is skipped.
    """
    try:
        known = codecs.lookup(name)
        is_text = getattr(known, "_is_text_encoding", True)
    except (LookupError, ValueError):
        is_text = False
    if not is_text:
        raise TableError(
            f"the encoding {name!r} is unknown; use one that Python knows, such as utf-8, cp1252, "
            "latin-1 or utf-16."
        )
    for mark, marked in _MARKS:
        if beginning.startswith(mark) and marked.startswith(known.name.removesuffix("-sig")):
            return Encoding(marked, len(mark))
    return Encoding(_WITHOUT_ORDER.get(known.name, known.name))


def evident_encoding(beginning: bytes) -> Encoding | None:
    """Return the encoding that the first bytes show, or None if any could be that keeps ASCII.

    Parameters
    ----------
    beginning : bytes
        The first bytes of the file.
    """
    for mark, name in _MARKS:
        if beginning.startswith(mark):
            return Encoding(name, len(mark))
    # In UTF-16, every other byte of plain letters is zero.
    even, odd = beginning[::2], beginning[1::2]
    if 2 * odd.count(0) > len(odd) and not even.count(0):
        return Encoding("utf-16-le")
    if 2 * even.count(0) > len(even) and not odd.count(0):
        return Encoding("utf-16-be")
    return None


def old_encoding(lines: list[bytes], shown: Path, first_line: int) -> Encoding:
    """Return the encoding of a text that is not in UTF-8.

    Parameters
    ----------
    lines : list of bytes
        Some lines of the text that are not in ASCII.
    shown : Path
        The file, for messages.
    first_line : int
        The first line that is not in UTF-8.
    """
    from charset_normalizer import from_bytes

    unicode = sum(_is_utf8(line) for line in lines)
    if 2 * unicode > len(lines):
        said = (
            f"{shown}, line {first_line}: the text is in UTF-8, but not here; correct the line, or "
            "state an encoding in which every byte is a character ("
        )
        raise TableError(Message(said, Setting("encoding", _WESTERN), ")."))
    sample = b"\n".join(dict.fromkeys(lines))
    found = list(from_bytes(sample, cp_isolation=_OLD))
    if not found:
        return Encoding(_WESTERN if _decodes(sample, _WESTERN) else "latin-1")
    best = min(found, key=_badness)
    western = [match for match in found if _WESTERN in match.could_be_from_charset]
    if _reads_western(sample) and (not western or _eastern(western[0], found) is None):
        return Encoding(_WESTERN)
    if western and _badness(western[0]) <= _badness(best):
        eastern = _eastern(western[0], found)
        return Encoding(_WESTERN if eastern is None else eastern.encoding)
    return Encoding(best.encoding)


def _reads_western(sample: bytes) -> bool:
    """Return whether a text reads as one of Western Europe: a few of the letters have marks.

    Other alphabets would give words of such letters alone, and other encodings of the same
    alphabet would give signs in the middle of words.
    """
    if not _decodes(sample, _WESTERN):
        return False
    marked = [word for word in _WORD.findall(sample.decode(_WESTERN)) if not word.isascii()]
    letters = [letter for word in marked for letter in word]
    if not all(letter.isalpha() for letter in letters):
        return False
    return 2 * sum(not letter.isascii() for letter in letters) < len(letters)


def _eastern(western: Any, found: list[Any]) -> Any | None:
    """Return the match of Central Europe, if the text is likely to be in one of its languages.

    Its letters are letters in the encoding of Western Europe, too, only other ones.
    """
    if not set(western.languages[:1]) & _EASTERN_LANGUAGES:
        return None
    better = [
        match
        for match in found
        if _EASTERN in match.could_be_from_charset
        and str(match) != str(western)
        and match.coherence > _NEARLY * western.coherence
    ]
    return better[0] if better and better[0].chaos < _LITTLE_CHAOS else None


def _badness(match) -> tuple[float, float]:
    return round(match.chaos, 3), -round(match.coherence, 3)


def _decodes(content: bytes, encoding: str) -> bool:
    try:
        content.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _is_utf8(content: bytes) -> bool:
    return _decodes(content, "utf-8")
