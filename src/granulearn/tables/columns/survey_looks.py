"""The look at the cells of one column: a cell's class depends on the cell alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from granulearn.tables.columns.cells import (
    as_text,
    is_mark,
    is_nested,
    is_number_type,
    stored_numbers,
)
from granulearn.tables.columns.dates import date_class, stored_class, stored_clocks
from granulearn.tables.columns.numbers import (
    NumberClass,
    classes_of_plain,
    is_plain,
    is_usable,
    number_class,
    plain_numbers,
)
from granulearn.tables.columns.sketch import Sketch
from granulearn.tables.columns.survey_records import (
    CODES,
    LONGEST_CATEGORY,
    MAX_WORDS,
    REMEMBERED_CELLS,
    WORD,
    Cell,
    CellClass,
    ColumnSurvey,
    LongCell,
    Steps,
    Tally,
    has_unit,
    many_units,
)

LONGEST_WORD = 200
# Floats are exact for all whole numbers below.
_EXACT_BELOW = 2.0**53
_LOOKED_AT_FIRST = 32


def survey_column(
    name: str, column: pa.Array, first_row: int = 0, before: ColumnSurvey | None = None
) -> ColumnSurvey:
    """Look at the cells of one column.

    Parameters
    ----------
    name : str
        The column.
    column : pyarrow Array
        Its cells.
    first_row : int, default=0
        Number of the first of them in the table.
    before : ColumnSurvey, default=None
        What this survey will be joined to: what that one knows is not looked for.
    """
    look = _Look(first_row, before)
    kind, seen = column.type, ColumnSurvey(name, len(column), sketch=look.new_sketch())
    if pa.types.is_null(kind):
        return replace(seen, missing=_empty(len(column)))
    if is_nested(kind):
        return replace(seen, missing=_empty(column.null_count), stored=frozenset({"nested"}))
    if is_number_type(kind):
        return _survey_numbers(seen, column, look)
    if pa.types.is_temporal(kind):
        return _survey_stored_dates(seen, column, look)
    stored = "category" if pa.types.is_dictionary(kind) else "text"
    text = as_text(column)
    found = _survey_text(seen, text, look)
    return replace(found, stored=found.stored | {stored}, first_long=_first_long(text, first_row))


class _Look(NamedTuple):
    """Where a stretch of rows begins, and what is known of the rows before it."""

    first_row: int
    before: ColumnSurvey | None

    def new_sketch(self) -> Sketch:
        """Return an empty sketch: what cannot change one that is full is not sorted into it."""
        return Sketch(bound=self.before.sketch.bound if self.before else None)

    def enough(self) -> list[CellClass]:
        """Return the classes of which so many cells are remembered that no more will be."""
        known = self.before.classes if self.before else {}
        return [kind for kind, seen in known.items() if len(seen.first) == REMEMBERED_CELLS]

    def first_of(
        self, kind: CellClass, text: pa.Array, places: np.ndarray, rows: np.ndarray | None = None
    ) -> tuple[Cell, ...]:
        """Return the first cells among some places; in rows of these numbers, if given."""
        if kind in self.enough():
            return ()
        few = places[:REMEMBERED_CELLS]
        if pa.types.is_string(text.type):  # of a few cells this is faster
            texts = [text[place].as_py() for place in few.tolist()]
        else:
            texts = as_text(text.take(pa.array(few))).to_pylist()
        numbers = self.first_row + (few if rows is None else rows[few])
        return tuple(map(Cell, numbers.tolist(), map(_shown, texts)))


def _survey_numbers(seen: ColumnSurvey, column: pa.Array, look: _Look) -> ColumnSurvey:
    values = stored_numbers(column)
    known, usable = ~np.isnan(values), is_usable(values)
    odd = np.flatnonzero(known & ~usable)  # infinite, or too large to compute with
    groups = ((NumberClass("", True, False, False), np.flatnonzero(usable)), (WORD, odd))
    return replace(
        _with_values(seen, values, column),
        missing=_empty(len(values) - int(np.count_nonzero(known))),
        classes={
            kind: Tally(len(places), look.first_of(kind, column, places))
            for kind, places in groups
            if len(places)
        },
        stored=frozenset({"number"}),
        words=None if len(odd) else {},
    )


def _survey_stored_dates(seen: ColumnSurvey, column: pa.Array, look: _Look) -> ColumnSurvey:
    seen = replace(seen, missing=_empty(column.null_count), stored=frozenset({"date"}))
    places = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
    if not len(places):
        return seen
    different = column.take(pa.array(places)).unique()
    sketch = seen.sketch.with_cells(as_text(different))
    clocks = stored_clocks(column)[places]
    groups = {
        stored_class(column.type, has_clock): places[clocks == has_clock]
        for has_clock in (True, False)
        if has_clock in clocks
    }
    classes: dict[CellClass, Tally] = {
        kind: Tally(len(own), look.first_of(kind, column, own)) for kind, own in groups.items()
    }
    return replace(seen, classes=classes, sketch=sketch)


def _survey_text(seen: ColumnSurvey, text: pa.Array, look: _Look) -> ColumnSurvey:
    """Look at texts; plain numbers, which most columns hold, by a way of their own."""
    if not _looks_plain(text):
        return _survey_words(seen, text, look)
    values = None if text.null_count else plain_numbers(text)
    if values is not None:
        return _survey_plain(seen, text, values, look)
    mark = is_mark(text).to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(~mark)
    known = text.take(pa.array(rows))
    values = plain_numbers(known)
    if values is None:
        return _survey_words(seen, text, look)
    seen = replace(seen, missing=_counted(text.filter(pa.array(mark))))
    return _survey_plain(seen, known, values, look, rows)


def _looks_plain(text: pa.Array) -> bool:
    """Return whether some of the first cells are plain numbers: else it is not worth a try."""
    return any(map(is_plain, text[:_LOOKED_AT_FIRST].drop_null().to_pylist()))


def _survey_plain(
    seen: ColumnSurvey,
    known: pa.Array,
    values: np.ndarray,
    look: _Look,
    rows: np.ndarray | None = None,
) -> ColumnSurvey:
    found = classes_of_plain(known, REMEMBERED_CELLS, look.enough())
    classes: dict[CellClass, Tally] = {
        kind: Tally(count, look.first_of(kind, known, places, rows))
        for kind, (count, places) in found.items()
    }
    return replace(_with_values(seen, values, known), classes=classes)


def _with_values(seen: ColumnSurvey, values: np.ndarray, text: pa.Array) -> ColumnSurvey:
    """Return the survey with what plain numbers tell; NaN stands for a missing cell."""
    missing = np.isnan(values)
    numbers = values[~missing] if missing.any() else values
    sketch = _with_numbers(seen.sketch, numbers, values, text)
    usable = is_usable(numbers)
    numbers = numbers if usable.all() else numbers[usable]
    if not len(numbers):
        return replace(seen, sketch=sketch)
    lowest, highest = float(numbers.min()), float(numbers.max())
    complete = len(numbers) == seen.rows
    stepwise = complete and highest - lowest == len(numbers) - 1
    stepwise = stepwise and numbers[0] == lowest and bool((np.diff(numbers) == 1).all())
    return replace(
        seen,
        sketch=sketch,
        lowest=min(seen.lowest, lowest),
        highest=max(seen.highest, highest),
        all_whole=seen.all_whole and _all_whole(numbers[:100]) and _all_whole(numbers),
        steps=Steps(lowest, highest) if stepwise and lowest == np.floor(lowest) else None,
    )


def _with_numbers(
    sketch: Sketch, numbers: np.ndarray, values: np.ndarray, text: pa.Array
) -> Sketch:
    """Return the sketch of numbers, too: by their text where floats cannot tell them apart."""
    if not len(numbers) or max(numbers.max(), -numbers.min()) < _EXACT_BELOW:
        return sketch.with_cells(numbers)
    large = np.abs(values) >= _EXACT_BELOW
    texts = as_text(text.take(pa.array(np.flatnonzero(large))))
    return sketch.with_cells(numbers[np.abs(numbers) < _EXACT_BELOW]).with_cells(texts)


def _all_whole(numbers: np.ndarray) -> bool:
    return bool((numbers == np.floor(numbers)).all())


def _survey_words(seen: ColumnSurvey, text: pa.Array, look: _Look) -> ColumnSurvey:
    encoded = (text.fill_null("") if text.null_count else text).dictionary_encode()
    different, codes = encoded.dictionary, encoded.indices.to_numpy(zero_copy_only=False)
    counts = np.bincount(codes, minlength=len(different))
    mark = is_mark(different).to_numpy(zero_copy_only=False)
    marks = different.filter(pa.array(mark)).to_pylist()
    missing = dict(zip(marks, counts[mark].tolist(), strict=True))
    seen = replace(seen, missing=missing)
    if mark.all():
        return seen
    places = np.flatnonzero(~mark)
    texts, counts = different.take(pa.array(places)), counts[places]
    different_texts = texts.to_pylist()
    plain = np.array([is_plain(cell) for cell in different_texts])
    numbers = texts.filter(pa.array(plain))
    values = numbers.cast(pa.float64()).to_numpy(zero_copy_only=False)
    seen = replace(_with_values(seen, values, numbers), steps=None)
    others = texts.filter(pa.array(~plain))
    seen = replace(seen, sketch=seen.sketch.with_cells(others))
    groups = _grouped(map(_class_of, different_texts))
    words, are_codes = groups.get(WORD), many_units(groups)
    if are_codes:  # here, since going through all rows for each unit would take long
        united = [kind for kind in groups if has_unit(kind)]
        pieces = [groups.pop(kind) for kind in (*united, WORD) if kind in groups]
        groups[WORD] = np.sort(np.concatenate(pieces))
    classes: dict[CellClass, Tally] = {}
    enough = look.enough()
    for kind, rows in groups.items():
        own = np.zeros(len(different), bool)
        own[places[rows]] = True
        cells = np.empty(0, np.intp) if kind in enough else np.flatnonzero(own[codes])
        classes[kind] = Tally(int(counts[rows].sum()), look.first_of(kind, text, cells))
    seen = replace(seen, classes=classes)
    if words is not None:
        seen = _with_words(seen, texts.take(pa.array(words)), counts[words])
    return replace(seen, words=None, stored=frozenset({CODES})) if are_codes else seen


def _grouped(kinds: Iterable[CellClass]) -> dict[CellClass, np.ndarray]:
    """Return the places of each class."""
    places: dict[CellClass, list[int]] = {}
    for place, kind in enumerate(kinds):
        places.setdefault(kind, []).append(place)
    return {kind: np.array(found) for kind, found in places.items()}


def _class_of(text: str) -> CellClass:
    return number_class(text) or date_class(text) or WORD


def _with_words(seen: ColumnSurvey, texts: pa.Array, counts: np.ndarray) -> ColumnSurvey:
    lengths = pc.utf8_length(texts).to_numpy(zero_copy_only=False).astype(np.int64)
    blanks = pc.count_substring(texts, " ").to_numpy(zero_copy_only=False).astype(np.int64)
    words: dict[str, int] | None = None
    if len(texts) <= MAX_WORDS and lengths.max() <= LONGEST_WORD:
        words = dict(zip(texts.to_pylist(), counts.tolist(), strict=True))
    return replace(seen, words=words, letters=int(lengths @ counts), blanks=int(blanks @ counts))


def _first_long(text: pa.Array, first_row: int) -> LongCell | None:
    # Bytes are at hand, and never fewer than characters; those of all cells are counted at once.
    if text.nbytes <= LONGEST_CATEGORY:
        return None
    if (pc.max(pc.binary_length(text)).as_py() or 0) <= LONGEST_CATEGORY:
        return None
    letters = pc.utf8_length(text).fill_null(0).to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(letters > LONGEST_CATEGORY)
    return LongCell(first_row + int(rows[0]), int(letters[rows[0]])) if len(rows) else None


def _counted(texts: pa.Array) -> dict[str, int]:
    counted = texts.fill_null("").value_counts()
    pairs = zip(
        counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True
    )
    return dict(pairs)


def _empty(count: int) -> dict[str, int]:
    return {"": int(count)} if count else {}


def _shown(text: str) -> str:
    return text if len(text) <= LONGEST_WORD else text[:LONGEST_WORD] + "…"
