"""`granulearn audit --verify`: ask for the labels of some rows, one after the other."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from typing import Any

import typer

from granulearn.cli import output as out

SHOWN_COLUMNS = 6
DRAWN = ("worst", "random")


def verify_labels(n_rows: int, *, decisions: Path, **settings: Any) -> Path | None:
    """Ask for labels, in turn one of the most doubtful and one of a row drawn at random.

    Questions go to stderr. Each answer is in the file of decisions before the next question.

    Parameters
    ----------
    n_rows : int
        How many labels to ask for.
    decisions : Path
        The journal.
    **settings : object
        Of `granulearn.review.Review`.

    Returns
    -------
    Path or None
        The journal; None if nothing was ever decided.
    """
    from granulearn.review import DecisionsError, Review

    with out.stage_progress() as progress:
        progress("rating the labels")
        # No fit in between: the rows to ask for stay the same.
        review = Review(decisions=decisions, sample=n_rows // 2 or 1, refit_every=10**9, **settings)
    with review:
        asked, answers, n_done = _rows_to_verify(review, n_rows), _answers(), 0
        try:
            while n_done < len(asked):
                card = review.card(*asked[n_done])
                labels = _show_card(f"{n_done + 1} of {len(asked)}", card, review.classes)
                key, name = next(answers, ("q", None))
                if key == "q":
                    break
                if key == "z":
                    n_done -= bool(n_done and review.undo())
                    continue
                try:
                    label = labels.get(key, key) if name is None else name
                    review.decide(card, "unsure" if key == "u" else "change", label)
                    n_done += 1
                except DecisionsError as error:
                    out.note(str(error))
        finally:
            out.note(f"{n_done} of {len(asked)} labels decided, see {decisions}.")
    return decisions if decisions.exists() else None


def _rows_to_verify(review: Any, n_rows: int) -> list[tuple[int, str]]:
    """Return numbers of rows, in the order to ask for them, and how each was drawn."""
    at_random = review.rows("random")[: n_rows // 2].tolist()
    worst = [row for row in review.rows("worst")[:n_rows].tolist() if row not in at_random]
    # In turn, since a person may stop early.
    pairs = zip_longest(worst[: n_rows - len(at_random)], at_random)
    return [(row, drawn) for pair in pairs for row, drawn in zip(pair, DRAWN, strict=True) if row]


def _show_card(number: str, card: Any, classes: list[str]) -> dict[str, str]:
    """Show a card; return the label that each key stands for."""
    near = {f"trusted {card.given_label}": 0} if card.of_given else {}
    near |= {f"trusted {card.second_class}": len(card.of_given)} if card.of_second else {}
    lines = [*card.kept, *card.lines[:SHOWN_COLUMNS]]
    rows = [(line.column, line.own, *(line.others[at] for at in near.values())) for line in lines]
    to = out.message_console()
    to.print("\n", out.bold(f"{number}, {card.drawn}"), f": {card.reason}", sep="")
    to.print(out.table("", ["", f"row {card.row}: {card.given_label}", *near], rows))
    keys = {"k keep": card.given_label, "c change to": card.second_class}
    if len(classes) > 2 and not any(map(str.isdecimal, classes)):  # a class named 2 is meant by 2
        keys |= {found.key: found.label for found in card.probabilities if found.key}
    choices = [f"{key} {label}" for key, label in keys.items() if label]
    to.print(*choices, "n by name", "u unsure", "z undo", "q stop", sep=", ")
    return {key[0]: label for key, label in keys.items()}


def _answers() -> Iterator[tuple[str, str | None]]:
    """Yield a key and, after n, a name: pressed in a terminal, or else a line of standard input."""
    if not sys.stdin.isatty():
        for line in map(str.strip, sys.stdin):
            key, _, name = line.partition(" ")
            yield (key, name.strip()) if key == "n" and name else (line, None)
    with suppress(EOFError):  # Ctrl-D
        while sys.stdin.isatty():
            pressed = typer.getchar(echo=True)
            out.message_console().print()
            yield pressed, input() if pressed == "n" else None
