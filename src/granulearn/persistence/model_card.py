"""What a model file says about itself: data, columns, scores, versions, seed."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from importlib.metadata import version
from typing import Any, Literal

from granulearn.tables.columns.schema import CATEGORY, NUMBER, Column, Schema

_RECORDED_PACKAGES = ("granulearn", "numpy", "scipy", "scikit-learn", "skops")


@dataclass(frozen=True)
class ColumnCard:
    """One input of the model as it was in training; of the ONNX model, too.

    A column of numbers or categories is one input under its own name; a column
    of dates becomes several (``"day: year"``, ...), as the schema of the card says.

    Examples
    --------
    >>> from granulearn.persistence import ColumnCard
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

    Examples
    --------
    >>> from granulearn.persistence import ModelCard
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
        content["columns"] = [asdict(column) for column in self.columns]
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
        known = {entry.name for entry in fields(cls)}
        if not isinstance(content, Mapping) or not set(content) <= known:
            raise TypeError("the card is not what this version writes")
        _check_types(content)
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


# What JSON may hold in the place of each entry; others say themselves what they take.
_TYPES: dict[str, tuple[type, ...]] = {
    "model": (str,),
    "target": (str,),
    "columns": (list, tuple),
    "rows": (int, type(None)),
    "dropped_rows": (int,),
    "classes": (dict,),
    "balls": (int, type(None)),
    "doubted_labels": (int, type(None)),
    "scores": (dict,),
    "parameters": (dict,),
    "chosen": (dict,),
    "seed": (int, type(None)),
    "versions": (dict,),
}


def _check_types(content: Mapping[str, Any]) -> None:
    for name, kinds in _TYPES.items():
        if name in content and not isinstance(content[name], kinds):
            raise TypeError(f"the card has {type(content[name]).__name__} as its {name}")


def _column(content: Mapping[str, Any]) -> ColumnCard:
    column = ColumnCard(**{**content, "categories": tuple(content.get("categories", ()))})
    ends = (column.lowest, column.highest)
    known = (
        isinstance(column.name, str)
        and column.kind in ("number", "category")
        and isinstance(column.missing, int)
        and all(end is None or isinstance(end, int | float) for end in ends)
        and all(isinstance(category, str) for category in column.categories)
        and isinstance(column.meaning, str)
    )
    if not known:
        raise TypeError(f"the card has a column that is none: {str(content)[:200]}")
    return column
