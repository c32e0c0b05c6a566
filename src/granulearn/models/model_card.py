"""What a model file says about itself: data, columns, scores, versions, seed."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from importlib.metadata import version
from typing import Any, Literal

import msgspec

from granulearn.tables.schema import CATEGORY, NUMBER, Column, Count, Schema

_PACKAGES = ("granulearn", "numpy", "scipy", "scikit-learn")


class ModelFileError(ValueError):
    """A model file is refused; the message says why.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from granulearn.models import ModelFileError, load_model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "model.granulearn")
    ...     _ = path.write_bytes(b"no model")
    ...     try:
    ...         load_model(path)
    ...     except ModelFileError:
    ...         print("refused")
    refused
    """


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
    type: Literal["number", "category"]
    missing: Count = 0
    """Training rows in which the cell was empty."""
    lowest: float | None = None
    """Smallest training value of a number."""
    highest: float | None = None
    """Largest training value of a number."""
    categories: tuple[str, ...] = ()
    """Training values of a category, sorted."""
    meaning: str = ""
    """What the input holds, in words: of a parsed column, its unit or its part of the date."""

    def __post_init__(self):
        if (self.lowest is None) != (self.highest is None):
            raise ValueError(f"column {self.name!r} has one end of its range")
        if self.lowest is not None and self.highest is not None and not self.lowest <= self.highest:
            raise ValueError(f"column {self.name!r} has a range that ends before it begins")
        if len(set(self.categories)) < len(self.categories):
            raise ValueError(f"column {self.name!r} names a category twice")


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
    rows: Count | None = None
    """Rows that the model was fitted to."""
    dropped_rows: Count = 0
    """Rows of the file that had no label."""
    classes: Mapping[str, Count] = field(default_factory=dict)
    """Rows of each class among those that the model was fitted to."""
    balls: Count | None = None
    """Granular balls that the rows became, in models that learn from balls."""
    doubted_labels: Count | None = None
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
        if not isinstance(content, dict):
            raise TypeError("the card is no mapping")
        schema = content.get("schema")
        try:
            card = msgspec.convert({**content, "schema": None}, cls)
            msgspec.convert(card.scores, _Scores)
        except msgspec.ValidationError as error:
            raise TypeError(f"the card: {error}") from error
        if unknown := sorted(content.keys() - {entry.name for entry in fields(cls)}):
            raise TypeError(f"the card has an unknown entry {unknown[0][:80]!r}")
        card = replace(card, schema=None if schema is None else Schema.from_json(schema))
        for described in (card.columns, card.schema.columns if card.schema else ()):
            if len({column.name for column in described}) < len(described):
                raise TypeError("the card names a column twice")
        return card


class _Mean(msgspec.Struct):
    mean: float


class _CrossValidated(msgspec.Struct):
    accuracy: _Mean
    folds: Count


class _HeldOut(msgspec.Struct):
    accuracy: float
    rows: Count


class _Scores(msgspec.Struct):
    """What is shown of the scores of a card; there may be others."""

    cross_validated: _CrossValidated | None = None
    held_out: _HeldOut | None = None


def schema_of_card(card: ModelCard) -> Schema:
    """Return how the cells of a file are read for a model.

    Parameters
    ----------
    card : ModelCard
        Of the model; if it was made without a table, its inputs are the columns.
    """
    if card.schema is not None:
        return card.schema
    types = {"number": NUMBER, "category": CATEGORY}
    return Schema(tuple(Column(column.name, types[column.type]) for column in card.columns))


def installed_versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that a model depends on."""
    return {"python": platform.python_version()} | {
        package: version(package) for package in _PACKAGES
    }
