"""What a few short texts become, looked up for a whole column at once.

Arrow looks at one text after the other, and which one it is decides about branches that no
processor foresees. Here a short text is a number of eight bytes, or a few such numbers. A product
of it says at which place of a table the text would stand, and the table says whether it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from granulearn.tables.columns.cells import characters

_WORD = 8
_LONGEST = 3 * _WORD
_LETTERS = np.array([256**length - 1 for length in range(_WORD + 1)], np.uint64)
"""Which bits of a word belong to a text of so many bytes."""
_NO_TEXT = np.uint64(2**64 - 1)
"""A word that no text has: such bytes are none of UTF-8."""
# Of sixteen places or more for each text, some tries find a product that parts most texts.
_BITS_TO_SPARE, _TRIES = 4, 8
# Where more rows than one in so many have another text, looking was in vain.
_SHARE_OF_OTHERS = 4
_NONE = np.empty(0, np.intp)
FEWEST_CELLS = 1000
"""Of fewer cells, calls take as long as the cells themselves."""


class Found(NamedTuple):
    """What the cells of a column become."""

    values: np.ndarray
    """For each row; anything where the row is one of the others."""
    others: np.ndarray
    """Rows with a text that the table does not have."""


class Lookup:
    """Some texts and what they become; never changes.

    Parameters
    ----------
    texts : sequence of str
        Different ones; those that are too long, or have a 0 in them, are left out.
    values : ndarray
        What each becomes.
    missing : float
        What a missing cell becomes.
    """

    def __init__(self, texts: Sequence[str], values: np.ndarray, missing: float):
        self._missing = missing
        coded = [text.encode() for text in texts]
        short = [k for k, code in enumerate(coded) if len(code) <= _LONGEST and 0 not in code]
        self._n_words = -(-max((len(coded[k]) for k in short), default=1) // _WORD) or 1
        size = self._n_words * _WORD
        every = b"".join(coded[k].ljust(size, b"\0") for k in short)
        words = list(np.frombuffer(every, "<u8").reshape(-1, self._n_words).T)
        bits = len(short).bit_length() + _BITS_TO_SPARE
        self._shift = np.uint64(64 - bits)
        rng = np.random.default_rng(0)
        tries = rng.integers(2**63, size=(_TRIES, self._n_words), dtype=np.uint64) * 2 + 1
        self._mixers = max(tries, key=lambda mixers: len(set(self._places(words, mixers).tolist())))
        places = self._places(words, self._mixers)
        self._words = np.full((self._n_words, 2**bits), _NO_TEXT)
        self._words[:, places] = words  # of several at one place, the last one stays
        self._values = np.zeros(2**bits, values.dtype)
        self._values[places] = values[short]

    def find(self, text: pa.Array) -> Found | None:
        """Return what cells become; None if very many are others, or long.

        Parameters
        ----------
        text : pyarrow Array of strings
            Cells; null is a missing one.
        """
        every, offsets = characters(text)
        every, begins = every[offsets[0] : offsets[-1]], offsets[:-1]
        lengths = offsets[1:] - begins
        if offsets[0]:
            begins = begins - offsets[0]
        # A 0 would be as if the text ended; of long texts Arrow tells as fast.
        if len(every) > _WORD * len(text) or not len(text) or not every.min(initial=1):
            return None
        words = self._read(every, begins, lengths)
        places = self._places(words, self._mixers)
        other = self._words[0].take(places) != words[0]
        for own, word in zip(self._words[1:], words[1:], strict=True):
            other |= own.take(places) != word
        if np.maximum.reduce(lengths) > self._n_words * _WORD:
            other |= lengths > self._n_words * _WORD
        values = self._values.take(places)
        if text.null_count:
            null = text.is_null().to_numpy(zero_copy_only=False)
            values[null], other[null] = self._missing, False
        others = np.flatnonzero(other) if other.any() else _NONE
        return None if len(others) * _SHARE_OF_OTHERS > len(lengths) else Found(values, others)

    def _read(self, every: np.ndarray, begins: np.ndarray, lengths: np.ndarray) -> list[np.ndarray]:
        """Return the words of texts; what stands behind the end of a text counts as 0."""
        starts = range(0, self._n_words * _WORD, _WORD)
        padded = np.concatenate([every, np.zeros(_LONGEST, np.uint8)])
        longest = int(np.maximum.reduce(lengths))
        if len(every) == longest * len(lengths):  # all are equally long, and follow on each other
            each = [np.ndarray(len(lengths), "<u8", padded, start, longest) for start in starts]
            letters = _LETTERS.take([longest - start for start in starts], mode="clip")
            return [word & own for word, own in zip(each, letters, strict=True)]
        anywhere = np.ndarray(len(every) + _LONGEST - _WORD + 1, "<u8", padded, strides=1)
        anywhere = anywhere.copy()  # from there, words are taken in a fifth of the time
        words = [anywhere.take(begins + start if start else begins) for start in starts]
        for word, start in zip(words, starts, strict=True):
            word &= _LETTERS.take(lengths - start if start else lengths, mode="clip")
        return words

    def _places(self, words: Sequence[np.ndarray], mixers: np.ndarray) -> np.ndarray:
        """Return where texts would stand in the table."""
        mixed = words[0] * mixers[0]
        for word, mixer in zip(words[1:], mixers[1:], strict=True):
            mixed += word * mixer
        return (mixed >> self._shift).view(np.int64)
