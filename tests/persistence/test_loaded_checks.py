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
from granulearn.balls import forest as forest_module
from granulearn.balls import generate_balls
from granulearn.balls.forest import BallForest
from granulearn.balls.forest_tree import BallTree, Weighing
from granulearn.estimators import (
    BallForestClassifier,
    DeepRVFLClassifier,
    GBRVFLClassifier,
    GranularBallKNNClassifier,
    RobustClassifier,
    RVFLClassifier,
    RVFLCommitteeClassifier,
    RVFLRegressor,
)
from granulearn.estimators import estimator as estimator_module
from granulearn.persistence import (
    ColumnCard,
    ModelCard,
    ModelFileError,
    archives,
    load_model,
    save_model,
)
from granulearn.persistence import model_files as files
from granulearn.persistence.loaded_checks import check_card, check_loaded
from granulearn.persistence.loaded_steps import STEP_CHECKS
from granulearn.persistence.trusted_types import TRUSTED_OBJECTS
from granulearn.tables import Column, Schema
from tests.cli.commands import fails

OURS = sorted(name for name in TRUSTED_OBJECTS if name.startswith("granulearn."))
rng = np.random.default_rng(0)
X = np.column_stack([rng.normal(size=(180, 3)), np.eye(3)[np.arange(180) % 3]])
Y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)


@pytest.mark.parametrize("name", OURS)
def test_every_trusted_class_of_ours_says_what_must_hold_of_it(name):
    module, _, attribute = name.rpartition(".")
    assert callable(getattr(getattr(import_module(module), attribute), "_check_loaded", None))


def test_every_trusted_step_of_scikit_learn_has_a_check():
    assert {name for name in TRUSTED_OBJECTS if name.startswith("sklearn.")} == {*STEP_CHECKS}


def forest_of(**changes) -> BallForest:
    """Return a forest of one tree of three balls, with arrays of the tree exchanged."""
    tree = BallTree(
        children=np.array([1, -1, -2], np.int32),
        offsets=np.array([0, 1, 1, 1], np.int32),
        features=np.array([0], np.int32),
        directions=np.array([1.0]),
        thresholds=np.array([0.0, 0.0, 0.0]),
        leaf_proba=np.array([[0.9, 0.05, 0.05], [0.1, 0.5, 0.4]], np.float32),
    )
    shift, tree = np.zeros(X.shape[1]), dataclasses.replace(tree, **changes)
    return BallForest((tree,), shift, 1.0, 3)


def fitted_forest() -> BallForestClassifier:
    """Return a classifier that can be given a forest of one tree."""
    model = BallForestClassifier(n_trees=40, random_state=0).fit(X, Y)
    model.in_bag_ = model.in_bag_[:1]
    return model


def save_carelessly(model: BallForestClassifier, path, monkeypatch) -> None:
    """Save a model of one tree as an attacker would: unchecked, its arrays as they are."""

    def as_they_are(trees):
        (tree,) = trees
        lengths = {"n_nodes": [len(tree.children)], "n_features": [len(tree.features)]}
        return {name: np.array(length) for name, length in lengths.items()} | vars(tree)

    with monkeypatch.context() as careless:
        careless.setattr(files, "check_loaded", lambda *_: None)
        careless.setattr(forest_module, "pack_trees", as_they_are)
        save_model(model, path)


def ints(*values):
    return np.array(values, np.int32)


FIVE = {
    "offsets": ints(0, 1, 2, 2, 2, 2),
    "features": ints(0, 1),
    "directions": np.ones(2),
    "thresholds": np.zeros(5),
    "leaf_proba": np.full((3, 3), 1 / 3, np.float32),
}
PROBA = np.full((2, 3), 1 / 3, np.float32)

HOSTILE_TREES = {
    "a child that is its parent": {"children": ints(0, -1, -2)},
    "children outside": {"children": ints(2, -1, -2)},
    "children far outside": {"children": ints(2**30, -1, -2)},
    "a child that points back": {**FIVE, "children": ints(1, 1, -1, -2, -3)},
    "two balls that are each other's child": {**FIVE, "children": ints(3, -1, -2, 1, -3)},
    "two parents of the same balls": {**FIVE, "children": ints(1, 3, 3, -1, -2)},
    "a leaf outside": {"children": ints(1, -1, -3)},
    "a leaf far outside": {"children": ints(1, -(2**31), -2)},
    "the same leaf twice": {"children": ints(1, -1, -1)},
    "no node": {"children": ints(), "offsets": ints(0), "thresholds": np.zeros(0)},
    "offsets outside": {"offsets": ints(0, 10**6, 10**6, 10**6)},
    "offsets before the beginning": {"offsets": ints(-4, 1, 1, 1)},
    "offsets that fall": {"offsets": ints(0, 1, 0, 1)},
    "a split without features": {"offsets": ints(0, 0, 1, 1)},
    "too few offsets": {"offsets": ints(0, 1)},
    "a feature outside": {"features": ints(6)},
    "a feature far outside": {"features": ints(2**31 - 1)},
    "a feature before the first": {"features": ints(-1)},
    "wide features": {"features": np.array([0], np.int64)},
    "too few directions": {"directions": np.zeros(0)},
    "a direction that is no number": {"directions": np.array([np.nan])},
    "complex directions": {"directions": np.array([1j])},
    "directions in single precision": {"directions": np.ones(1, np.float32)},
    "infinite thresholds": {"thresholds": np.full(3, np.inf)},
    "too few thresholds": {"thresholds": np.zeros(2)},
    "thresholds of another machine": {"thresholds": np.zeros(3, ">f8")},
    "leaves of too few classes": {"leaf_proba": np.full((2, 2), 0.5, np.float32)},
    "too few leaves": {"leaf_proba": PROBA[:1]},
    "leaves in columns": {"leaf_proba": np.asfortranarray(PROBA)},
    "leaves that sum to two": {"leaf_proba": 2 * PROBA},
    "negative probabilities": {"leaf_proba": np.tile(np.float32([-1, 1, 1]), (2, 1))},
    "probabilities that are no numbers": {"leaf_proba": PROBA * np.float32(np.nan)},
    "leaves of text": {"leaf_proba": np.full((2, 3), "a")},
    "children as a list": {"children": [1, -1, -2]},
    "children in two dimensions": {"children": ints(1, -1, -2)[:, None]},
}


@pytest.mark.parametrize("name", HOSTILE_TREES)
def test_a_hostile_tree_is_refused(name, tmp_path, monkeypatch):
    model = fitted_forest()
    model.forest_ = forest_of()
    check_loaded(model)
    assert model.predict_proba(X).shape == (len(X), 3)
    model.forest_ = forest_of(**HOSTILE_TREES[name])
    with pytest.raises(InvariantError, match=r"Ball(Tree|Forest\w*): \w+"):
        check_loaded(model)
    with pytest.raises(ModelFileError, match="cannot be saved"):
        save_model(model, tmp_path / "m.skops")
    save_carelessly(model, tmp_path / "m.skops", monkeypatch)
    with pytest.raises(ModelFileError, match=r"is refused: Ball(Tree|Forest\w*): \w+"):
        load_model(tmp_path / "m.skops")


def test_a_refused_file_ends_with_the_code_of_model_files(tmp_path, monkeypatch):
    model = fitted_forest()
    model.forest_ = forest_of(**HOSTILE_TREES["a child that points back"])
    save_carelessly(model, tmp_path / "m.skops", monkeypatch)
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    paths = (tmp_path / "m.skops", tmp_path / "rows.csv", "-o", tmp_path / "out.csv")
    fails(4, "predict", *paths)


def test_a_file_holds_so_many_trees_of_all_its_forests_and_no_more(tmp_path, monkeypatch):
    path = tmp_path / "m.skops"
    model = RobustClassifier(
        forest=BallForestClassifier(n_trees=40), n_layers=1, n_hidden=3, random_state=0
    ).fit(X, Y)
    model.forest = None
    model.more_ = BallForest(model.forest_.forest_.trees, np.zeros(X.shape[1]), 1.0, 3)
    monkeypatch.setattr(archives, "MOST_TREES", 80)
    save_model(model, path)
    assert len(load_model(path).pipeline.more_.trees) == 40
    monkeypatch.setattr(archives, "MOST_TREES", 79)
    with pytest.raises(ModelFileError, match="cannot be saved: its forests have 80 trees"):
        save_model(model, path)
    # They are counted before there are any.
    monkeypatch.setattr(forest_module, "unpack_trees", _first_alone())
    with pytest.raises(ModelFileError, match="is refused: its forests have 80 trees"):
        load_model(path)


def chain(n_splits: int) -> dict[str, np.ndarray]:
    """Return arrays of a tree that splits off one leaf at a time, from the left."""
    children = np.empty(2 * n_splits + 1, np.int32)
    children[:-1:2], children[1::2] = np.arange(1, 2 * n_splits, 2), -1 - np.arange(n_splits)
    children[-1] = -1 - n_splits
    return {
        "children": children,
        "offsets": np.minimum(np.arange(1, 2 * n_splits + 3) // 2, n_splits).astype(np.int32),
        "features": np.zeros(n_splits, np.int32),
        "directions": np.ones(n_splits),
        "thresholds": np.full(2 * n_splits + 1, -1e9),
        "leaf_proba": np.full((n_splits + 1, 3), 1 / 3, np.float32),
    }


def test_a_row_passes_so_many_splits_of_a_file_and_no_more(tmp_path, monkeypatch):
    path, model = tmp_path / "m.skops", fitted_forest()
    monkeypatch.setattr(archives, "MOST_SPLITS", 1000)
    model.forest_ = forest_of(**chain(1000))
    save_model(model, path)
    assert load_model(path).pipeline.predict_proba(X).shape == (len(X), 3)
    model.forest_ = forest_of(**chain(1001))
    with pytest.raises(ModelFileError, match="cannot be saved: a row would pass up to 1001 splits"):
        save_model(model, path)
    save_carelessly(model, path, monkeypatch)
    with pytest.raises(ModelFileError, match="is refused: a row would pass up to 1001 splits"):
        load_model(path)


def test_a_chain_that_training_makes_is_saved_and_loaded(tmp_path):
    codes = np.repeat(np.arange(150), 10)
    model = BallForestClassifier(n_trees=40, random_state=0).fit(np.eye(150)[codes], codes)
    assert model.forest_._n_splits_passed() > 40 * 50
    save_model(model, tmp_path / "m.skops")
    assert load_model(tmp_path / "m.skops").pipeline.forest_._n_splits_passed() > 40 * 50


def test_a_chain_of_boosted_splits_is_refused(boosted):
    booster, n_splits = boosted.boosters_[0], 101
    children = chain(n_splits)["children"]
    is_split = children > 0
    hostile = dataclasses.replace(
        booster,
        roots=booster.roots[:1],
        outputs=booster.outputs[:1],
        lefts=np.where(is_split, children, 0).astype(np.int32),
        rights=np.where(is_split, children + 1, 0).astype(np.int32),
        features=np.where(is_split, 0, -1).astype(np.int32),
        thresholds=np.zeros(len(children)),
        values=np.zeros(len(children), np.float32),
    )
    with pytest.raises(InvariantError, match="a tree is 101 deep, and 100 is the most"):
        hostile._check_loaded()


def test_a_model_of_so_many_classes_is_saved_and_loaded_and_no_more(tmp_path, monkeypatch):
    codes, path = np.arange(90) // 3, tmp_path / "m.skops"
    rows = codes[:, None].astype(float)
    monkeypatch.setattr(estimator_module, "MOST_CLASSES", 29)
    save_model(RVFLClassifier(n_hidden=3).fit(rows, np.minimum(codes, 28)), path)
    assert len(load_model(path).pipeline.classes_) == 29
    with pytest.raises(ModelFileError, match=r"cannot be saved: .* 30 classes, .* may have 29"):
        save_model(RVFLClassifier(n_hidden=3).fit(rows, codes), path)


def _first_alone():
    """Return what unpacks the trees of one forest, and fails for a second one."""
    given = iter([forest_module.unpack_trees])
    return lambda *args: next(given, lambda *_: pytest.fail("it was unpacked"))(*args)


@pytest.fixture(name="boosted", scope="module")
def boosted_model():
    model = RobustClassifier(
        boosting=True, n_trees=40, n_layers=1, n_hidden=3, random_state=0, shares="chosen"
    ).fit(X, Y)
    assert len(model.boosters_[0].lefts) > 3
    check_loaded(model)
    return model


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("lefts", lambda a, splits: np.where(splits, 0, a).astype(a.dtype)),
        ("lefts", lambda a, splits: np.where(splits, np.arange(len(a)), a).astype(a.dtype)),
        ("rights", lambda a, splits: np.where(splits, len(a), a).astype(a.dtype)),
        ("rights", lambda a, splits: a[:-1]),
        ("roots", lambda a, splits: a + 10**6),
        ("roots", lambda a, splits: a - 1),
        ("roots", lambda a, splits: a * 0),
        ("roots", lambda a, splits: a[::-1].copy()),
        ("roots", lambda a, splits: a[[0, *range(len(a) - 1)]]),
        ("roots", lambda a, splits: (a + (np.arange(len(a)) > 0)).astype(a.dtype)),
        ("outputs", lambda a, splits: a + 3),
        ("features", lambda a, splits: np.where(splits, 10**6, a).astype(a.dtype)),
        ("features", lambda a, splits: a.astype(np.int64)),
        ("thresholds", lambda a, splits: a * np.nan),
        ("values", lambda a, splits: a * np.float32(np.inf)),
        ("classes", lambda a, splits: a * 0),
        ("classes", lambda a, splits: a + 1),
        ("baseline", lambda a, splits: a[:1]),
    ],
)
def test_a_hostile_booster_is_refused(boosted, name, change):
    booster = boosted.boosters_[0]
    with np.errstate(all="ignore"):
        array = change(getattr(booster, name), booster.features >= 0)
    hostile = dataclasses.replace(booster, **{name: array})
    model = RobustClassifier()
    vars(model).update(vars(boosted), boosters_=(hostile, *boosted.boosters_[1:]))
    with pytest.raises(InvariantError, match=r"BoostedTrees|RobustClassifier"):
        check_loaded(model)


@pytest.mark.parametrize(
    ("roots", "lefts", "rights", "said"),
    [
        ([0, 3], [1, 0, 0, 4, 0, 0], [1, 0, 0, 5, 0, 0], "below more than one"),
        ([0, 3], [1, 0, 0, 4, 0, 0], [4, 0, 0, 5, 0, 0], "below more than one"),
        ([0, 3], [1, 0, 0, 0, 0, 0], [2, 0, 0, 0, 0, 0], "below none"),
        ([0, 3], [1, 0, 0, 2, 0, 0], [4, 0, 0, 5, 0, 0], "before their parent"),
        ([0, 2], [1, 0, 3, 0, 0, 0], [5, 0, 4, 0, 0, 0], "of another tree"),
        ([3, 0], [1, 0, 0, 4, 0, 0], [2, 0, 0, 5, 0, 0], "do not rise"),
        ([0, 0], [1, 0, 3, 0, 0, 0], [2, 0, 4, 0, 0, 0], "do not rise"),
    ],
)
def test_boosted_trees_are_trees_one_after_another(boosted, roots, lefts, rights, said):
    def trees(roots, lefts, rights):
        places = (np.array(each, np.int32) for each in (roots, lefts, rights))
        names = dict(zip(("roots", "lefts", "rights"), places, strict=True))
        return dataclasses.replace(
            boosted.boosters_[0], **names,
            outputs=np.arange(2, dtype=np.int32), thresholds=np.zeros(6),
            features=(names["lefts"] > 0).astype(np.int32) - 1, values=np.zeros(6, np.float32),
        )  # fmt: skip

    trees([0, 3], [1, 0, 0, 4, 0, 0], [2, 0, 0, 5, 0, 0])._check_loaded()
    with pytest.raises(InvariantError, match=said):
        trees(roots, lefts, rights)._check_loaded()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bundled", np.array([0, 99, 5])),
        ("offsets", np.array([0, 99])),
        ("offsets", np.array([3, 0])),
        ("middles", np.array([np.nan] * 3)),
        ("codes", np.zeros(1)),
        ("others", np.array([0, 1, 3])),
    ],
)
def test_hostile_bundles_are_refused(boosted, name, value):
    booster = boosted.boosters_[0]
    assert booster.bundles.n_bundles == 1
    bundles = dataclasses.replace(booster.bundles, **{name: value})
    with pytest.raises(InvariantError, match="Bundles"):
        bundles._check_loaded()


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
        (Column("a", "number"), Column("b", "category", left_out="asked")),
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
    right = (Column("a", "yes/no"), Column("b", "text"), Column("c", "date", left_out="asked"))
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
