"""A card survives its way through JSON."""

import json
from dataclasses import replace

import pytest

from granulearn.models import ColumnCard, ModelCard
from granulearn.models.model_card import schema_of_card
from granulearn.tables import Column, Schema
from granulearn.tables.parse.dates import DateForm
from granulearn.tables.parse.numbers import NumberForm

CARD = ModelCard(
    model="sdap-gbrvfl",
    target="étiquette",
    columns=(
        ColumnCard("age", "number", missing=3, lowest=-1.5, highest=99.0),
        ColumnCard("città", "category", categories=("Roma", "Zürich")),
    ),
    rows=70,
    dropped_rows=2,
    classes={"no": 40, "yes": 30},
    balls=12,
    scores={"held_out": {"accuracy": 0.9, "rows": 10, "confusion": {"counts": [[1, 2], [3, 4]]}}},
    parameters={"C": 1.0, "class_weight": None},
    seed=7,
)


SCHEMA = Schema(
    (
        Column("age", "number", missing={"": 2, "?": 1}, distinct=40),
        Column("prix", "number", number=NumberForm(",", "€"), dropped="asked"),
        Column("né", "date", date=DateForm("year last", day_first=False, has_clock=True)),
        Column("à", "date", date=DateForm("clock")),
        Column("±", "category", values_like_nulls=("-",)),
        Column("payé", "yes/no"),
        Column("vide", "empty", dropped="empty"),
    )
)


@pytest.mark.parametrize("schema", [None, SCHEMA, Schema(())], ids=["none", "all kinds", "empty"])
def test_json_and_back_is_the_same_card(schema):
    card = replace(CARD, schema=schema)
    assert ModelCard.from_json(json.loads(json.dumps(card.to_json()))) == card


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("columns", 3),
        ("rows", -1),
        ("rows", True),
        ("scores", {"held_out": {"accuracy": 10**400, "rows": 3}}),
        ("scores", {"cross_validated": {"accuracy": 0.5, "folds": 5}}),
        ("versions", {"numpy": [1]}),
        ("schema", {}),
    ],
)
def test_an_entry_of_another_type_is_refused(name, value):
    with pytest.raises(TypeError, match=r"the card|the columns of a schema"):
        ModelCard.from_json(CARD.to_json() | {name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("type", "date"),
        ("lowest", 10**400),
        ("highest", None),
        ("highest", float("nan")),
        ("highest", -1e6),
        ("categories", ["a", "b", "a"]),
    ],
)
def test_a_column_of_another_type_is_refused(name, value):
    content = json.loads(json.dumps(CARD.to_json()))
    content["columns"][0][name] = value
    with pytest.raises(TypeError, match=r"the card: .*columns"):
        ModelCard.from_json(content)


def test_a_card_without_a_schema_reads_its_columns_by_name():
    assert schema_of_card(replace(CARD, schema=SCHEMA)) is SCHEMA
    plain = schema_of_card(CARD)
    assert [(column.name, column.type) for column in plain.used] == [
        ("age", "number"),
        ("città", "category"),
    ]


@pytest.mark.parametrize(
    "content",
    [
        [],
        "card",
        {"unheard": 1},
        {"columns": [{"unheard": 1}]},
        {"schema": [{"name": "a", "type": "colour"}]},
        {"schema": [{"name": "a", "type": "number", "number": {"decimal": "x", "unit": ""}}]},
        {"schema": [{"name": "a", "type": "date", "date": {"family": "moon"}}]},
        {"schema": 3},
        {"schema": [{"name": "a", "type": "date", "date": {"family": "clock", "has_clock": 1}}]},
        {"schema": [{"name": "a", "type": "category", "values_like_nulls": [["-"]]}]},
        {"schema": [{"name": "a", "type": "category", "missing": {"-": -1}}]},
        {"schema": [{"name": "a", "type": "category", "odd": 5}]},
        {"columns": [{"name": "a", "type": "number"}, {"name": "a", "type": "category"}]},
        {"schema": [{"name": "a", "type": "number"}, {"name": "a", "type": "number"}]},
    ],
    ids=str,
)
def test_what_is_no_card_is_refused(content):
    with pytest.raises(TypeError):
        ModelCard.from_json(content)
