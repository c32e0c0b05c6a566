"""Names of models stand for classifiers."""

import pytest

from granulearn import balls, ensemble, forest, rvfl
from granulearn.ensemble import RobustClassifier
from granulearn.training.model_kinds import (
    DEFAULT_MODEL,
    make_model,
    model_kinds,
    search_grid,
)


def test_each_classifier_has_one_name():
    # All but the one that is made of other classifiers: Python says which ones.
    public = [*balls.__all__, *rvfl.__all__, *forest.__all__, *ensemble.__all__]
    known = {name for name in public if name.endswith("Classifier")}
    assert sorted(kind.class_name for kind in model_kinds().values()) == sorted(
        known - {"BallEnsembleClassifier"}
    )


def test_the_default_comes_first_and_is_the_recommended_one():
    assert next(iter(model_kinds())) == DEFAULT_MODEL
    model = make_model(DEFAULT_MODEL, random_state=7, n_jobs=-1, class_weight=None)
    assert isinstance(model, RobustClassifier)
    assert (model.random_state, model.n_jobs) == (7, -1)


def test_a_setting_that_a_model_lacks_is_refused_with_those_that_have_it():
    with pytest.raises(ValueError, match=r"RVFLClassifier takes no class_cost; RobustClassifier, "):
        make_model("rvfl", class_cost="balanced", n_jobs=2)


@pytest.mark.parametrize("name", [n for n, kind in model_kinds().items() if kind.tunable])
def test_every_candidate_of_the_grid_is_a_setting_of_the_model(name):
    model = make_model(name, random_state=0)
    X = [[0.0], [1.0], [2.0], [3.0]]
    for activation in search_grid(name)["model__activation"]:
        model.set_params(activation=activation, n_hidden=3).fit(X, [0, 0, 1, 1])
    assert {key.removeprefix("model__") for key in search_grid(name)} <= set(model.get_params())
