"""The classes of a table, by all the ways in which people and spreadsheets write them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from granulearn.review.decisions import DecisionsError

_SHOWN = 10
# What an audit writes before a label that a spreadsheet would take for a formula.
_GUARD = "'"


class ClassNames:
    """Finds the class that a text means.

    A text means the class that is spelt so; else the one that differs in case, blanks or
    Unicode form only, or that is the same number. A text that could mean two means none.

    Parameters
    ----------
    names : iterable of str
        The classes, sorted.
    """

    def __init__(self, names: Iterable[str]):
        self.names = list(names)
        self._codes: dict[tuple[str, object], int | None] = {}
        for code, name in enumerate(self.names):
            for way in _ways(name):
                self._codes[way] = None if way in self._codes else code
        self._codes |= {("exact", name): code for code, name in enumerate(self.names)}

    def code(self, text: str) -> int | None:
        """Return the number of the class that a text means; None if it means none.

        Parameters
        ----------
        text : str
            A label.
        """
        for written in (text, text.removeprefix(_GUARD)):
            for way in (("exact", written), *_ways(written)):
                found = self._codes.get(way)
                if found is not None:
                    return found
        return None

    def known(self, text: str, where: str = "") -> str:
        """Return the class that a text means, or raise a `DecisionsError`.

        Parameters
        ----------
        text : str
            A label.
        where : str, default=""
            Where it stands, for the message.
        """
        code = self.code(text)
        if code is None:
            more = ", ..." if len(self.names) > _SHOWN else ""
            raise DecisionsError(
                f"{where}{text!r} is no class of the table; the classes are "
                f"{', '.join(self.names[:_SHOWN])}{more}."
            )
        return self.names[code]


def _ways(text: str) -> Iterator[tuple[str, object]]:
    # Imported when used: the stage of tables needs optional packages.
    from granulearn.tables.labels import label_key

    yield "key", label_key(text)
    try:
        yield "number", float(text)
    except ValueError:
        return
