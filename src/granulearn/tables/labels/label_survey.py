"""How labels are spelt and how often, counted batch by batch: the ground for deciding on them."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from granulearn.tables.parse.cells import as_text, is_null_token

# No one learns more classes than this. Counting stops here, so that a target of ten million
# different numbers costs no memory.
MAX_SPELLINGS = 10_000

# A number as people write it: with separators, a currency sign or a percent sign.
NUMBER = (
    "^[-+(]?\\s?[$€£¥]?\\s?"
    "((\\d+|\\d{1,3}([.,' \u00a0\u202f]\\d{3})+)([.,]\\d*)?|[.,]\\d+)"
    "([eE][-+]?\\d+)?\\s?[%€$£¥]?\\)?$"
)
DECIMALS = r"[.,]\d*[1-9]|[eE]-"
_WHOLE = re.compile(r"\+?(-?[0-9]+)(\.0*)?")


@dataclass(frozen=True)
class LabelSurvey:
    """What stands in a stretch of the target column; `join_label_surveys` adds the next one."""

    rows: int = 0
    """Rows with a label."""
    counts: dict[str, int] | None = field(default_factory=dict)
    """Spellings, exactly as they stand, with their rows; None if there are too many."""
    first_rows: dict[str, int] = field(default_factory=dict)
    """The first row of each spelling."""
    unlabelled: dict[str, int] = field(default_factory=dict)
    """Marks of a missing label, with their rows; an empty cell is ''."""
    numbers: int = 0
    """Rows whose label spells a number."""
    decimals: int = 0
    """Rows whose label spells a number with decimals."""
    example: str = ""
    """The first label."""
    runs: int = 0
    """Stretches of rows, one after the other, with the same label; 0 if there are too many
    spellings."""
    ends: tuple[str, str] = ("", "")
    """Keys of the first label and of the last."""
    truth_values: bool = False
    """Whether the column is stored as truth values, not as text that may spell some."""


def label_key(label: str) -> str:
    """Return what labels have in common that differ in case, blanks or Unicode form only.

    Whole numbers have the key that `str` would write: 1, 1.0 and +1 are one class.

    Parameters
    ----------
    label : str
        Any spelling.
    """
    if not label.isascii():
        label = unicodedata.normalize("NFKC", label)
        # What has no width, a soft hyphen or a byte order mark, cannot be seen in a table.
        label = "".join(sign for sign in label if unicodedata.category(sign) != "Cf")
    key = " ".join(label.casefold().split())
    if not key.isascii():
        key = unicodedata.normalize("NFKC", key)
    whole = _WHOLE.fullmatch(key)
    return whole[1] if whole else key


def survey_labels(column: pa.Array, first_row: int) -> LabelSurvey:
    """Count the labels of a stretch of rows.

    Parameters
    ----------
    column : pyarrow Array
        The target as it was read.
    first_row : int
        Number of its first row in the whole table.
    """
    truth_values = pa.types.is_boolean(column.type)
    encoded = as_text(column, trimmed=False).dictionary_encode()
    spellings = encoded.dictionary
    trimmed = pc.utf8_trim_whitespace(spellings)
    unlabelled_ones = np.asarray(is_null_token(trimmed, of_labels=True), dtype=bool)
    codes = np.asarray(encoded.indices.fill_null(len(spellings)))
    counts = np.bincount(codes, minlength=len(spellings) + 1)
    counts, empty = counts[:-1], int(counts[-1])
    unlabelled = {"": empty} if empty else {}
    for code in np.flatnonzero(unlabelled_ones):
        mark = trimmed[int(code)].as_py()
        unlabelled[mark] = unlabelled.get(mark, 0) + int(counts[code])
    labelled = np.flatnonzero(~np.append(unlabelled_ones, True)[codes])
    codes = codes[labelled]
    if len(codes) == 0:
        return LabelSurvey(unlabelled=unlabelled, truth_values=truth_values)
    numbers, decimals = _numeric_rows(trimmed, np.where(unlabelled_ones, 0, counts))
    survey = LabelSurvey(
        rows=len(codes),
        counts=None,
        unlabelled=unlabelled,
        numbers=numbers,
        decimals=decimals,
        example=trimmed[int(codes[0])].as_py(),
        truth_values=truth_values,
    )
    classes = np.flatnonzero(~unlabelled_ones)
    if len(classes) > MAX_SPELLINGS:
        return survey
    texts = spellings.to_pylist()
    first = np.empty(len(texts), dtype=np.int64)
    first[codes[::-1]] = labelled[::-1]
    keys: dict[str, int] = {}
    key_codes = np.array([keys.setdefault(label_key(text), len(keys)) for text in texts])
    in_order = key_codes[codes]
    return replace(
        survey,
        counts={texts[code]: int(counts[code]) for code in classes},
        first_rows={texts[code]: first_row + int(first[code]) for code in classes},
        runs=1 + int(np.count_nonzero(np.diff(in_order))),
        ends=(label_key(texts[codes[0]]), label_key(texts[codes[-1]])),
    )


def _numeric_rows(trimmed: pa.Array, counts: np.ndarray) -> tuple[int, int]:
    """Return how many rows spell a number, and how many one with decimals."""
    number = np.asarray(pc.match_substring_regex(trimmed, NUMBER), dtype=bool)
    decimal = number & np.asarray(pc.match_substring_regex(trimmed, DECIMALS), dtype=bool)
    return int(counts[number].sum()), int(counts[decimal].sum())


def join_label_surveys(a: LabelSurvey, b: LabelSurvey) -> LabelSurvey:
    """Return the survey of a's rows followed by b's.

    Parameters
    ----------
    a, b : LabelSurvey
        Of stretches of one column, b after a.
    """
    unlabelled = _added(a.unlabelled, b.unlabelled)
    counts = None if a.counts is None or b.counts is None else _added(a.counts, b.counts)
    if counts is not None and len(counts) > MAX_SPELLINGS:
        counts = None
    first_rows: dict[str, int] = {}
    runs, ends = 0, ("", "")
    if counts is not None:
        first_rows = {**b.first_rows, **a.first_rows}
        runs = a.runs + b.runs
        if a.rows and b.rows:
            runs -= a.ends[1] == b.ends[0]
        ends = (a.ends[0] if a.rows else b.ends[0], b.ends[1] if b.rows else a.ends[1])
    return LabelSurvey(
        rows=a.rows + b.rows,
        counts=counts,
        first_rows=first_rows,
        unlabelled=unlabelled,
        numbers=a.numbers + b.numbers,
        decimals=a.decimals + b.decimals,
        example=a.example if a.rows else b.example,
        runs=runs,
        ends=ends,
        truth_values=a.truth_values and b.truth_values,
    )


def _added(a: dict[str, int], b: dict[str, int]) -> dict[str, int]:
    total = dict(a)
    for key, count in b.items():
        total[key] = total.get(key, 0) + count
    return total
