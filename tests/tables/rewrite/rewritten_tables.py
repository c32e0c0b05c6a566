"""Tables written to a file and rewritten, and text files built cell by cell."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from hypothesis import assume
from hypothesis import strategies as st

from granulearn.tables import ReadOptions, open_table
from tests.tables.nasty_tables import rows_of

# Encodings with letters that they hold. The second bytes of two letters are ASCII in cp932.
ALPHABETS = {
    "utf-8": "aé漢\u2028\ufeff",
    "utf-8-sig": "aé漢\u2028\ufeff",
    "utf-16": "aé漢\U0001f600",
    "utf-16-be": "aé漢\U0001f600",
    "utf-32": "aé漢\U0001f600",
    "cp1252": "aé€ß",
    "cp932": "a漢表ソ",
    "gb18030": "aé漢€",
}
SIGNS = "\",;\t|\n\r 'x1.0="


def rewritten(content: bytes, name: str, column: str, cells, drop=(), **reading) -> bytes:
    """Return a file as it is after it was rewritten."""
    with tempfile.TemporaryDirectory() as folder:
        path, draft = Path(folder) / name, Path(folder) / f"draft{Path(name).suffix}"
        path.write_bytes(content)
        with open_table(path, ReadOptions(**reading)) as table:
            table.rewrite(draft, column, cells, drop=drop)
        assert path.read_bytes() == content
        return draft.read_bytes()


def read(content: bytes, name: str, **reading) -> tuple[list[str], list[list]]:
    """Return names and rows as they are read."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        with open_table(path, ReadOptions(**reading)) as table:
            return table.names, rows_of(table.batches())


@dataclass
class TextFile:
    """A text file in pieces: each cell, and what stands before and behind it."""

    mark: bytes
    above: str
    names: list[str]
    rows: list[list[str]]
    written: list[list[str]]
    separator: str
    line_ends: list[str]
    encoding: str

    def content(self, *, changed=None, drop=()) -> bytes:
        """Return the bytes, perhaps with other pieces by (row, column) or without some rows."""
        lines = [
            self.separator.join((changed or {}).get((i, j), piece) for j, piece in enumerate(row))
            for i, row in enumerate(self.written)
        ]
        ended = [
            # The empty line after a row stays.
            {"\n\n": "\n", "\r\n\r\n": "\r\n"}.get(end, "") if i in drop else line + end
            for i, (line, end) in enumerate(zip(lines, self.line_ends, strict=True))
        ]
        return self.mark + (self.above + "".join(ended)).encode(self.encoding)

    @property
    def reading(self) -> dict[str, str]:
        return {"separator": self.separator, "encoding": self.encoding}


def needs_quotes(text: str, separator: str, n_columns: int) -> bool:
    return any(sign in text for sign in f'{separator}"\r\n') or (n_columns == 1 and not text)


def in_quotes(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


@st.composite
def text_files(draw, encodings=tuple(ALPHABETS)):
    """Draw a text file whose columns are each quoted throughout, or only where they must be."""
    encoding = draw(st.sampled_from(encodings))
    separator = draw(st.sampled_from(",;\t|"))
    cell = st.text(ALPHABETS[encoding] + SIGNS, max_size=5)
    n_columns = draw(st.integers(1, 3))
    rows = draw(
        st.lists(st.lists(cell, min_size=n_columns, max_size=n_columns), min_size=1, max_size=6)
    )
    rows += [[""] * n_columns, ["plain"] * n_columns]  # they tell the habit of each column
    quoting = draw(st.lists(st.booleans(), min_size=n_columns, max_size=n_columns))
    quotes_empty = draw(st.booleans())

    def piece(text, place):
        must = needs_quotes(text, separator, n_columns)
        return in_quotes(text) if must or (quoting[place] and (text or quotes_empty)) else text

    ends = st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\r\n\r\n"])
    line_ends = draw(st.lists(ends, min_size=len(rows), max_size=len(rows)))
    if draw(st.booleans()):
        line_ends[-1] = ""
    mark = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}.get(encoding)
    names = [f"name {place}" for place in range(n_columns)]
    return TextFile(
        mark="\ufeff".encode(mark) if mark else b"",
        above=draw(st.sampled_from(["", "\r\n", "\n\n"])) + separator.join(names) + "\n",
        names=names,
        rows=rows,
        written=[[piece(text, place) for place, text in enumerate(row)] for row in rows],
        separator=separator,
        line_ends=line_ends,
        encoding=mark or encoding,
    )


@st.composite
def changed_files(draw, encodings=tuple(ALPHABETS)):
    """Draw a text file, a column of it, and new texts for some rows."""
    file = draw(text_files(encodings))
    place = draw(st.integers(0, len(file.names) - 1))
    encoding = next(name for name in ALPHABETS if name.startswith(file.encoding[:6]))
    new = st.text(ALPHABETS[encoding].replace("\ufeff", "") + SIGNS, max_size=5).filter(str.strip)
    labelled = [i for i, row in enumerate(file.rows[:-2]) if row[place].strip()]
    assume(labelled)
    numbers = st.sampled_from(labelled)
    return file, place, draw(st.dictionaries(numbers, new, min_size=1, max_size=3))
