"""What a file holds is as fit leaves it, or the file is refused before anything is computed."""

import dataclasses
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from granulearn._invariants import InvariantError
from granulearn.balls import generate_balls
from granulearn.balls.forest_tree import Weighing
from granulearn.ensemble import RobustClassifier
from granulearn.estimators import (
    DeepRVFLClassifier,
    GBRVFLClassifier,
    GranularBallKNNClassifier,
    RVFLClassifier,
    RVFLCommitteeClassifier,
    RVFLRegressor,
)
from granulearn.estimators import estimator as estimator_module
from granulearn.forest import BallForestClassifier
from granulearn.models import (
    ColumnCard,
    ModelCard,
    ModelFileError,
    load_model,
    save_model,
)
from granulearn.models.loaded_checks import check_card, check_loaded
from granulearn.models.loaded_steps import STEP_CHECKS
from granulearn.models.trusted_types import TRUSTED_OBJECTS
from granulearn.tables import Column, Schema
from tests.models.hand_made_trees import X, Y

OURS = sorted(name for name in TRUSTED_OBJECTS if name.startswith("granulearn."))


@pytest.mark.parametrize("name", OURS)
def test_every_trusted_class_of_ours_says_what_must_hold_of_it(name):
    module, _, attribute = name.rpartition(".")
    assert callable(getattr(getattr(import_module(module), attribute), "_check_loaded", None))


def test_every_trusted_step_of_scikit_learn_has_a_check():
    assert {name for name in TRUSTED_OBJECTS if name.startswith("sklearn.")} == {*STEP_CHECKS}


def test_a_model_of_so_many_classes_is_saved_and_loaded_and_no_more(tmp_path, monkeypatch):
    codes, path = np.arange(90) // 3, tmp_path / "m.skops"
    rows = codes[:, None].astype(float)
    monkeypatch.setattr(estimator_module, "MOST_CLASSES", 29)
    save_model(RVFLClassifier(n_hidden=3).fit(rows, np.minimum(codes, 28)), path)
    assert len(load_model(path).pipeline.classes_) == 29
    with pytest.raises(ModelFileError, match=r"cannot be saved: .* 30 classes, .* may have 29"):
        save_model(RVFLClassifier(n_hidden=3).fit(rows, codes), path)


BALLS = generate_balls(X, Y, random_state=0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("centers", BALLS.centers * np.nan),
        ("centers", BALLS.centers[:, 0]),
        ("radii", -BALLS.radii - 1),
        ("radii", BALLS.radii[1:]),
        ("labels", BALLS.labels + 3),
        ("purities", BALLS.purities + 1),
        ("counts", BALLS.counts * 0),
        ("class_counts", BALLS.class_counts * 2),
        ("class_counts", -BALLS.class_counts),
        ("assignment", BALLS.assignment + len(BALLS)),
        ("classes", BALLS.classes[::-1].copy()),
    ],
)
def test_hostile_balls_are_refused(name, value):
    BALLS._check_loaded()
    with pytest.raises(InvariantError, match="BallSet"):
        dataclasses.replace(BALLS, **{name: value})._check_loaded()


def fitted(kind, **settings):
    return kind(random_state=0, **settings).fit(X, Y)


@pytest.mark.parametrize(
    ("model", "name", "value"),
    [
        (fitted(RVFLClassifier), "coef_", np.zeros((3, 3))),
        (fitted(RVFLClassifier), "coef_", np.full((107, 3), np.nan)),
        (fitted(RVFLClassifier), "n_features_in_", 7),
        (fitted(RVFLClassifier), "classes_", np.array([0, 0, 1])),
        (fitted(RVFLClassifier), "features_", fitted(DeepRVFLClassifier).features_),
        (fitted(RVFLClassifier), "n_hidden", "many"),
        (fitted(RVFLClassifier), "predict", 3),
        (fitted(RVFLClassifier), "_other", 3),
        (fitted(RVFLRegressor), "n_outputs_", 2),
        (fitted(DeepRVFLClassifier), "coef_", ()),
        (fitted(DeepRVFLClassifier), "coef_", [np.zeros((107, 3))] * 5),
        (fitted(RVFLCommitteeClassifier), "features_", ()),
        (fitted(GBRVFLClassifier), "membership_", np.zeros(3)),
        (fitted(GBRVFLClassifier), "n_jobs", 0),
        (fitted(GranularBallKNNClassifier), "balls_", None),
        (fitted(GranularBallKNNClassifier), "n_neighbors", 0),
        (fitted(GranularBallKNNClassifier), "n_neighbors", True),
        (fitted(RobustClassifier), "shares_", {"forest": 2.0, "committee": -1.0}),
        (fitted(RobustClassifier), "shares_", {"forest": 0.5, "boosting": 0.5}),
        (fitted(RobustClassifier), "power_", np.nan),
        (fitted(RobustClassifier), "_floor", 0.0),
        (fitted(RobustClassifier), "noise_", np.zeros((3, 3))),
        (fitted(RobustClassifier), "forest_", StandardScaler().fit(X)),
        (fitted(RobustClassifier), "committee_", fitted(RVFLClassifier)),
        (fitted(BallForestClassifier), "weighings_", (Weighing(stop=2.0),)),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value,
)
def test_an_attribute_that_fit_never_leaves_is_refused(model, name, value):
    check_loaded(model)
    before = dict(vars(model))
    setattr(model, name, value)
    try:
        with pytest.raises((ValueError, AttributeError)):
            check_loaded(model)
    finally:
        vars(model).clear()
        vars(model).update(before)
    check_loaded(model)


def test_a_part_that_holds_itself_or_is_no_value_is_refused():
    model, endless = fitted(RVFLClassifier), []
    endless.append(endless)
    for value in (endless, SimpleNamespace(), {1, 2}, np.array([[1], 2], dtype=object), b"x"):
        model.other_ = value
        with pytest.raises(InvariantError):
            check_loaded(model)


def test_what_the_caller_answers_for_is_not_looked_at():
    model = make_pipeline(StandardScaler(), LinearRegression()).fit(X, Y)
    with pytest.raises(InvariantError, match="nothing is known"):
        check_loaded(model)
    check_loaded(model, ["sklearn.linear_model._base.LinearRegression"])


@pytest.mark.parametrize("names", [["a"], ["a", "a"], ["b", "a"], ["a", 3], ["a", "c"]])
def test_a_card_names_the_columns_that_the_model_takes(names):
    model = SimpleNamespace(feature_names_in_=np.array(["a", "b"]), n_features_in_=2)
    card = ModelCard(columns=(ColumnCard("a", "number"), ColumnCard("b", "number")))
    check_card(model, card)
    check_card(model, ModelCard())
    wrong = ModelCard(columns=tuple(ColumnCard(name, "number") for name in names))
    with pytest.raises(InvariantError, match="column"):
        check_card(model, wrong)


@pytest.mark.parametrize(
    "schema",
    [
        (),
        (Column("a", "number"),),
        (Column("a", "number"), Column("b", "category", dropped="asked")),
        (Column("a", "number"), Column("b", "date")),
        (Column("a", "number"), Column("b", "number")),
        (Column("a", "category"), Column("b", "category")),
        (Column("a", "number"), Column("b", "category", filled=True)),
        (Column("b", "category"), Column("a", "number")),
        (Column("a", "number"), Column("b", "category"), Column("c", "number")),
    ],
    ids=str,
)
def test_a_schema_makes_the_columns_of_its_card(schema):
    model = RVFLClassifier(n_hidden=3).fit(X[:, :2], Y)
    card = ModelCard(columns=(ColumnCard("a", "number"), ColumnCard("b", "category")))
    right = (Column("a", "yes/no"), Column("b", "text"), Column("c", "date", dropped="asked"))
    check_card(model, dataclasses.replace(card, schema=Schema(right)))
    with pytest.raises(InvariantError, match="ModelCard: the columns that its schema makes"):
        check_card(model, dataclasses.replace(card, schema=Schema(schema)))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("_parameter_constraints", {}),
        ("_sklearn_auto_wrap_output_keys", ["transform"]),
        ("__module__", "os"),
        ("transform", 3),
        ("_repr_html_", "x"),
    ],
)
def test_an_attribute_that_its_class_has_is_refused(name, value):
    model = make_pipeline(StandardScaler(), RVFLClassifier(n_hidden=3, random_state=0)).fit(X, Y)
    check_loaded(model)
    vars(model[0])[name] = value
    with pytest.raises(InvariantError, match=f"StandardScaler: {name} is no attribute of it"):
        check_loaded(model)


def test_a_field_of_a_record_may_have_a_default_in_its_class():
    assert {*vars(Weighing)} >= {*vars(Weighing(0.5, 0.5))}
    check_loaded(Weighing(0.5, 0.5))
