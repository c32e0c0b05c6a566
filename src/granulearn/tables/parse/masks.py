"""Digit masks: texts that differ only in their digits are classified and parsed together.

A column of prices has thousands of different texts, but a handful of masks: $1,111.11 is one.
Each distinct mask is matched once; the digits are then parsed for all texts of the mask. A mask
has 1 for every digit, but 0 for a first digit that is 0: codes have leading zeros.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Longer texts are neither numbers nor dates.
_LONGEST_MASK = 400
# Matches all numbers and dates, and few other texts. Used where there are many masks, as of words
# and sentences.
_CANDIDATE = (
    "(?s)^(?:[^01]*[01][01.,'’ \u00a0\u2009\u202f]*(?:[eE][-+]?[01]+)?[^01]*"
    "|(?:[^01]+ )?[01]{1,4}(?:st|nd|rd|th)?[-/.:, ].*)$"
)
_FEW_MASKS = 64
_ZERO, _ONE = ord("0"), ord("1")


class MaskedTexts:
    """Texts, grouped by their digit masks."""

    masks: pa.Array
    """The distinct masks."""
    codes: np.ndarray
    """For each row, the number of its mask."""

    def __init__(self, text: pa.Array):
        text = text.fill_null("") if text.null_count else text
        offsets, data = text.buffers()[1:] if len(text) else (None, None)
        ends = np.frombuffer(offsets or bytes(4), np.int32)[text.offset :][: len(text) + 1]
        self._begins = ends[:-1] - ends[0]
        self._bytes = np.frombuffer(data or b"", np.uint8)[ends[0] : ends[-1]]
        is_digit = self._bytes - np.uint8(_ZERO) <= 9
        masked = np.where(is_digit, np.uint8(_ONE), self._bytes)
        digits = np.flatnonzero(is_digit)
        # A text without digits gets the first digit of a later one, which does no harm.
        after = np.searchsorted(digits, self._begins)
        first = digits[after[after < len(digits)]]
        masked[first[self._bytes[first] == _ZERO]] = _ZERO
        buffers = [None, pa.py_buffer(ends - ends[0]), pa.py_buffer(masked)]
        encoded = pa.Array.from_buffers(pa.string(), len(text), buffers).dictionary_encode()
        self.masks, self.codes = encoded.dictionary, encoded.indices.to_numpy()

    def candidates(self) -> list[tuple[int, str]]:
        """Return number and text of the masks that may be those of numbers or dates."""
        chosen = pc.less_equal(pc.binary_length(self.masks), _LONGEST_MASK)
        if len(self.masks) > _FEW_MASKS:
            chosen = pc.and_(chosen, pc.match_substring_regex(self.masks, _CANDIDATE))
        numbers = pc.indices_nonzero(chosen)
        return list(zip(numbers.to_pylist(), self.masks.take(numbers).to_pylist(), strict=True))

    @cached_property
    def counts(self) -> np.ndarray:
        """Number of texts of each mask."""
        return np.bincount(self.codes, minlength=len(self.masks))

    @cached_property
    def _order(self) -> tuple[np.ndarray, np.ndarray]:
        return np.argsort(self.codes, kind="stable"), np.cumsum(self.counts)

    def rows(self, mask: int) -> np.ndarray:
        """Return the rows of a mask, in order."""
        order, ends = self._order
        return order[ends[mask] - self.counts[mask] : ends[mask]]

    def characters(self, rows: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """Return bytes of texts of one mask, of shape (n_rows, n_places)."""
        return self._bytes[self._begins[rows, None] + positions]

    def digits(self, rows: np.ndarray, begin: int, end: int) -> np.ndarray:
        """Return the digits of a range as whole numbers."""
        powers = 10 ** np.arange(end - begin - 1, -1, -1)
        return (self.characters(rows, np.arange(begin, end)).astype(np.int64) - _ZERO) @ powers
