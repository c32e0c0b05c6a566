"""A card survives its way through JSON."""

import json
import platform
from importlib.metadata import version

import pytest

from granulearn.persistence import ColumnCard, ModelCard
from granulearn.persistence.model_card import installed_versions

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
    scores={"held_out": {"accuracy": 0.9, "confusion": {"counts": [[1, 2], [3, 4]]}}},
    parameters={"C": 1.0, "class_weight": None},
    seed=7,
)


def test_json_and_back_is_the_same_card():
    assert ModelCard.from_json(json.loads(json.dumps(CARD.to_json()))) == CARD


@pytest.mark.parametrize("content", [[], "card", {"unheard": 1}, {"columns": [{"unheard": 1}]}])
def test_what_is_no_card_is_refused(content):
    with pytest.raises(TypeError):
        ModelCard.from_json(content)


def test_versions_name_python_and_every_package_a_model_depends_on():
    versions = installed_versions()
    assert versions["python"] == platform.python_version()
    assert versions["scikit-learn"] == version("scikit-learn")
    assert set(versions) == {"python", "granulearn", "numpy", "scipy", "scikit-learn", "skops"}
