"""Tables of cells that break careless readers, and what a reader made of them."""

import pickle

from hypothesis import strategies as st

ALPHABET = "\",;\t|\n\r 'aZé€ß=+-@1.0漢\ufeff\u2028\u0085\x1f\\"


def cells(alphabet: str = ALPHABET):
    return st.text(alphabet, max_size=6)


@st.composite
def tables(draw, alphabet: str = ALPHABET):
    """Draw names and rows of text cells."""
    # At the beginning of a file, \ufeff is the byte-order mark.
    name = cells(alphabet.replace("\ufeff", "")).map(str.strip).filter(bool)
    names = draw(st.lists(name, min_size=1, max_size=4, unique=True))
    row = st.lists(cells(alphabet), min_size=len(names), max_size=len(names))
    return names, draw(st.lists(row, min_size=1, max_size=8))


def rows_of(batches) -> list[list]:
    """Return the rows of batches as lists."""
    return [list(row.values()) for batch in batches for row in batch.to_pylist()]


def assert_holds(table, names: list[str], rows: list[list]) -> None:
    """Demand names and rows, by all batches, in another order of the columns and in parts."""
    assert table.names == names
    assert rows_of(table.batches()) == rows
    assert table.n_rows == len(rows)
    turned = [row[::-1] for row in rows]
    assert rows_of(table.batches(names[::-1])) == turned
    first_row, by_parts = 0, []
    for part in pickle.loads(pickle.dumps(table.parts())):
        assert part.first_row == first_row
        first_row += sum(batch.num_rows for batch in part.batches())
        by_parts += rows_of(part.batches(names[::-1]))
    assert by_parts == turned


def written(names, rows, separator=",", newline="\n", *, quote_all=False) -> str:
    """Write a table as text, by the plain rules of RFC 4180."""

    def cell(text, alone):
        special = any(c in text for c in f'"\r\n{separator}') or (alone and not text)
        return '"' + text.replace('"', '""') + '"' if quote_all or special else text

    lines = [separator.join(cell(text, len(row) == 1) for text in row) for row in [names, *rows]]
    return newline.join(lines) + newline
