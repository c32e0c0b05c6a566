"""Names of models stand for the paper's eight classifiers."""

import pytest

from granulearn.cli.model_kinds import (
    DEFAULT_MODEL,
    MODEL_KINDS,
    make_model,
    model_names,
    search_grid,
)
from tests.estimators.families import ALL_CLASSIFIERS


def test_each_of_the_eight_has_one_name():
    assert {type(make_model(name, 0)) for name in MODEL_KINDS} >= set(ALL_CLASSIFIERS)
    assert DEFAULT_MODEL in MODEL_KINDS


def test_the_seed_is_passed_on():
    assert make_model("rvfl", 7).random_state == 7


def test_names_complete():
    assert model_names("g") == ["gb-rvfl", "ge-gbrvfl"]


@pytest.mark.parametrize("name", [n for n in MODEL_KINDS if "rvfl" in n or n == "elm"])
def test_every_candidate_of_the_grid_is_a_setting_of_the_model(name):
    model = make_model(name, 0)
    X = [[0.0], [1.0], [2.0], [3.0]]
    for activation in search_grid(name)["model__activation"]:
        model.set_params(activation=activation, n_hidden=3).fit(X, [0, 0, 1, 1])
    assert {key.removeprefix("model__") for key in search_grid(name)} <= set(model.get_params())
