"""Where the values of a JSON object stand, and how a text is spelt as one."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from granulearn.tables.relabel.splicing import Edit

_DECODER = json.JSONDecoder()
_BLANKS = re.compile(r"[ \t\r\n]*")
_ESCAPED_LETTER = re.compile(r"\\u(?!00[0-7])")


class JsonValue(NamedTuple):
    """A value in the text of a file."""

    begin: int
    end: int
    raw: str
    """As it is spelt."""

    @property
    def is_string(self) -> bool:
        """Whether it is in quotation marks."""
        return self.raw.startswith('"')

    @property
    def is_nested(self) -> bool:
        """Whether it is an array or an object."""
        return self.raw.startswith(("[", "{"))

    @property
    def text(self) -> str | None:
        """Its text as the reader gives it; None for null."""
        return None if self.raw == "null" else spelt(self.raw)


class JsonObject(NamedTuple):
    """An object in the text of a file."""

    begin: int
    end: int
    values: dict[str, JsonValue]
    """The last one of each key, which is the one that counts."""
    before_key: str
    """Blanks between a comma and a key."""
    before_value: str
    """Blanks between a colon and a value."""

    def with_key(self, key: str, value: str, spelling: Spelling) -> Edit:
        """Return what adds a key at the end, spaced as the others are.

        Parameters
        ----------
        key : str
            The key.
        value : str
            As it is to be spelt.
        spelling : Spelling
            For the key.
        """
        end = max((known.end for known in self.values.values()), default=self.begin + 1)
        comma = f",{self.before_key}" if self.values else ""
        return Edit(end, end, f"{comma}{spelling.string(key)}:{self.before_value}{value}")


class Spelling(NamedTuple):
    """How letters outside of ASCII are written in strings."""

    escapes: bool
    """Whether as their number, ``\\u00e9``."""
    encoding: str

    @staticmethod
    def habit_of(raw: str) -> bool | None:
        """Return whether a value writes them as their number; None if it has none.

        Parameters
        ----------
        raw : str
            As it is spelt.
        """
        if not raw.isascii():
            return False
        return True if _ESCAPED_LETTER.search(raw) else None

    def string(self, text: str) -> str:
        """Return a text as a string.

        Parameters
        ----------
        text : str
            Any text; what the encoding cannot hold is written as its number.
        """
        plain = json.dumps(text, ensure_ascii=self.escapes)
        try:
            plain.encode(self.encoding)
        except UnicodeEncodeError:
            return json.dumps(text)
        return plain


def spelt(raw: str) -> str:
    """Return the text that a value stands for: that of a string, or the spelling of another.

    Parameters
    ----------
    raw : str
        As it is spelt.
    """
    return _DECODER.decode(raw) if raw.startswith('"') else raw


def object_at(content: str, begin: int) -> JsonObject:
    """Return the object at a place.

    Parameters
    ----------
    content : str
        JSON that the reader has accepted.
    begin : int
        Place of the opening brace.
    """
    values: dict[str, JsonValue] = {}
    before_key, before_value = None, " "
    position = _after_blanks(content, begin + 1)
    while content[position] != "}":
        key, position = _DECODER.raw_decode(content, position)
        colon = _after_blanks(content, position)
        first = _after_blanks(content, colon + 1)
        before_value = content[colon + 1 : first]
        _, end = _DECODER.raw_decode(content, first)
        values[key] = JsonValue(first, end, content[first:end])
        position = _after_blanks(content, end)
        if content[position] == ",":
            comma, position = position, _after_blanks(content, position + 1)
            before_key = content[comma + 1 : position]
    return JsonObject(
        begin,
        position + 1,
        values,
        before_value if before_key is None else before_key,
        before_value,
    )


def _after_blanks(content: str, position: int) -> int:
    found = _BLANKS.match(content, position)
    assert found is not None  # it may be empty
    return found.end()
