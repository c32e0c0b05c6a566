"""Ball trees of a file are trees, not too many and not too long, or the file is refused."""

import numpy as np
import pytest

from granulearn._invariants import InvariantError
from granulearn.balls import forest as forest_module
from granulearn.balls.forest import BallForest
from granulearn.ensemble import RobustClassifier
from granulearn.forest import BallForestClassifier
from granulearn.models import ModelFileError, archives, load_model, save_model
from granulearn.models.loaded_checks import check_loaded
from tests.cli.commands import fails
from tests.models.hand_made_trees import (
    X,
    Y,
    chain,
    fitted_forest,
    forest_of,
    save_carelessly,
)


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


def _first_alone():
    """Return what unpacks the trees of one forest, and fails for a second one."""
    given = iter([forest_module.unpack_trees])
    return lambda *args: next(given, lambda *_: pytest.fail("it was unpacked"))(*args)


def test_a_row_takes_so_many_steps_down_the_trees_of_a_file_and_no_more(tmp_path, monkeypatch):
    path, model = tmp_path / "m.skops", fitted_forest()
    monkeypatch.setattr(archives, "MOST_STEPS", 1000 * (4 + 1) + 4 + 3)
    model.forest_ = forest_of(**chain(1000))
    save_model(model, path)
    assert load_model(path).pipeline.predict_proba(X).shape == (len(X), 3)
    model.forest_ = forest_of(**chain(1001))
    with pytest.raises(ModelFileError, match="cannot be saved: a row would take up to 5012 steps"):
        save_model(model, path)
    save_carelessly(model, path, monkeypatch)
    with pytest.raises(ModelFileError, match="is refused: a row would take up to 5012 steps"):
        load_model(path)


def test_a_chain_that_training_makes_is_saved_and_loaded(tmp_path):
    codes = np.repeat(np.arange(150), 10)
    model = BallForestClassifier(n_trees=40, random_state=0).fit(np.eye(150)[codes], codes)
    assert model.forest_._n_steps_of_a_row() > 40 * 50 * 5
    save_model(model, tmp_path / "m.skops")
    assert load_model(tmp_path / "m.skops").pipeline.forest_._n_steps_of_a_row() > 40 * 50 * 5


def test_a_split_of_many_columns_counts_as_many_steps():
    narrow, wide = chain(10), chain(10)
    wide["features"], wide["directions"] = np.zeros(1000, np.int32), np.ones(1000)
    wide["offsets"] = 100 * wide["offsets"]
    steps = [forest_of(**each)._n_steps_of_a_row() for each in (narrow, wide)]
    assert steps[1] - steps[0] == 10 * 99


@pytest.mark.parametrize("kind", [BallForestClassifier, RobustClassifier])
def test_a_forest_of_2000_trees_is_saved_and_loaded(kind, tmp_path):
    model = kind(n_trees=2000, random_state=0).fit(X, Y)
    save_model(model, tmp_path / "m.skops")
    again = load_model(tmp_path / "m.skops").pipeline
    assert again.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()


def test_a_forest_that_several_parts_hold_is_refused():
    """Each of them would walk down its trees, and its steps count once."""
    model = RobustClassifier(n_trees=40, n_layers=1, n_hidden=3, random_state=0).fit(X, Y)
    check_loaded(model)
    for held in (model.forest_.forest_, model.forest_):
        model.more_ = [held]
        said = f"a {type(held).__name__} is part of it twice"
        with pytest.raises(InvariantError, match=said):
            check_loaded(model)
