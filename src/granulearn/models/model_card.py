"""What a model file says about itself: data, columns, scores, versions, seed."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from importlib.metadata import version
from typing import Any, Literal

from granulearn.models.json_entries import (
    Entries,
    are_counts,
    are_texts,
    check_entries,
    is_count,
    is_list,
    is_mapping,
    is_number,
    is_text,
    is_whole,
    or_none,
)
from granulearn.tables.schema import CATEGORY, NUMBER, Column, Schema

_RECORDED_PACKAGES = ("granulearn", "numpy", "scipy", "scikit-learn", "skops")


@dataclass(frozen=True)
class ColumnCard:
    """One input of the model as it was in training; of the ONNX model, too.

    A column of numbers or categories is one input under its own name; a column
    of dates becomes several (``"day: year"``, ...), as the schema of the card says.

    Examples
    --------
    >>> from granulearn.models import ColumnCard
    >>> ColumnCard("city", "category", categories=("Graz", "Lyon")).categories
    ('Graz', 'Lyon')
    """

    name: str
    kind: Literal["number", "category"]
    missing: int = 0
    """Training rows in which the cell was empty."""
    lowest: float | None = None
    """Smallest training value of a number."""
    highest: float | None = None
    """Largest training value of a number."""
    categories: tuple[str, ...] = ()
    """Training values of a category, sorted."""
    meaning: str = ""
    """What the input holds, in words: of a parsed column, its unit or its part of the date."""


@dataclass(frozen=True)
class ModelCard:
    """The facts that are saved beside a model.

    Everything has a default, so that a model made in Python can be saved with
    as much as is known about it.

    See Also
    --------
    granulearn.models.save_model : Keeps a card beside its model.
    granulearn.load_model : Gives both back.

    Examples
    --------
    >>> from granulearn.models import ModelCard
    >>> card = ModelCard(model="rvfl", target="label", rows=690)
    >>> ModelCard.from_json(card.to_json()) == card
    True
    """

    model: str = ""
    """Name of the kind of model."""
    target: str = ""
    """Column that the model predicts."""
    columns: tuple[ColumnCard, ...] = ()
    """Inputs of the model, in the order of training."""
    schema: Schema | None = None
    """How the columns of a file become these inputs; None for a model made without a table."""
    rows: int | None = None
    """Rows that the model was fitted to."""
    dropped_rows: int = 0
    """Rows of the file that had no label."""
    classes: Mapping[str, int] = field(default_factory=dict)
    """Rows of each class among those that the model was fitted to."""
    balls: int | None = None
    """Granular balls that the rows became, in models that learn from balls."""
    doubted_labels: int | None = None
    """Rows whose label is less probable than another, by trees that did not see them."""
    scores: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    chosen: Mapping[str, Any] = field(default_factory=dict)
    """Settings that the model chose itself while it was fitted."""
    seed: int | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    """Python and the packages that made the model."""

    def to_json(self) -> dict[str, Any]:
        """Return the card as what JSON can hold."""
        content = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        # Not `asdict`, which looks into each entry: wide tables have many columns.
        content["columns"] = [dict(vars(column)) for column in self.columns]
        content["schema"] = None if self.schema is None else self.schema.to_json()
        return content

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> ModelCard:
        """Return the card that `to_json` turned into this content.

        Parameters
        ----------
        content : mapping
            As from `to_json`; anything else raises TypeError.
        """
        check_entries(content, _ENTRIES, "the card")
        columns = tuple(_column(column) for column in content.get("columns", ()))
        schema = content.get("schema")
        known_schema = None if schema is None else Schema.from_json(schema)
        for described in (columns, known_schema.columns if known_schema else ()):
            if len({column.name for column in described}) < len(described):
                raise TypeError("the card names a column twice")
        return cls(**{**content, "columns": columns, "schema": known_schema})


def schema_of_card(card: ModelCard) -> Schema:
    """Return how the cells of a file are read for a model.

    Parameters
    ----------
    card : ModelCard
        Of the model; if it was made without a table, its inputs are the columns.
    """
    if card.schema is not None:
        return card.schema
    kinds = {"number": NUMBER, "category": CATEGORY}
    return Schema(tuple(Column(column.name, kinds[column.kind]) for column in card.columns))


def installed_versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that a model depends on."""
    return {"python": platform.python_version()} | {
        package: version(package) for package in _RECORDED_PACKAGES
    }


def _are_versions(value: Any) -> bool:
    return is_mapping(value) and all(map(is_text, value.values()))


def _are_scores(scores: Any) -> bool:
    """Return whether scores have what is shown of them: anything else may be there, too."""
    if not is_mapping(scores):
        return False
    across, held_out = scores.get("cross_validated"), scores.get("held_out")
    return (across is None or _has(across, accuracy=_has_mean, folds=is_count)) and (
        held_out is None or _has(held_out, accuracy=is_number, rows=is_count)
    )


def _has_mean(value: Any) -> bool:
    return _has(value, mean=is_number)


def _has(record: Any, **entries: Callable[[Any], bool]) -> bool:
    return is_mapping(record) and all(fits(record.get(name)) for name, fits in entries.items())


# What a file may hold in the place of each entry.
_ENTRIES: Entries = {
    "model": is_text,
    "target": is_text,
    "columns": is_list,
    "schema": or_none(is_list),
    "rows": or_none(is_count),
    "dropped_rows": is_count,
    "classes": are_counts,
    "balls": or_none(is_count),
    "doubted_labels": or_none(is_count),
    "scores": _are_scores,
    "parameters": is_mapping,
    "chosen": is_mapping,
    "seed": or_none(is_whole),
    "versions": _are_versions,
}
_COLUMN_ENTRIES: Entries = {
    "name": is_text,
    "kind": lambda kind: kind in ("number", "category"),
    "missing": is_count,
    "lowest": or_none(is_number),
    "highest": or_none(is_number),
    "categories": are_texts,
    "meaning": is_text,
}


def _column(content: Mapping[str, Any]) -> ColumnCard:
    check_entries(content, _COLUMN_ENTRIES, "a column of the card", needed=("name", "kind"))
    if (content.get("lowest") is None) != (content.get("highest") is None):
        raise TypeError("a column of the card has one end of its range")
    if content.get("lowest") is not None and content["lowest"] > content["highest"]:
        raise TypeError("a column of the card has a range that ends before it begins")
    return ColumnCard(**{**content, "categories": tuple(content.get("categories", ()))})
