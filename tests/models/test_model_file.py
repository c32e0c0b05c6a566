"""Model files: as good as the model when honest, refused when not."""

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from safetensors.numpy import save
from sklearn.base import is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from granulearn import TablePreprocessor
from granulearn.balls import GranularBallKNNClassifier, KDivisionBalls, SDAPMembership
from granulearn.ensemble import RobustClassifier
from granulearn.forest import BallForestClassifier
from granulearn.models import ModelCard, ModelFileError, inspect_model, load_model, save_model
from granulearn.models.model_file import FORMAT
from granulearn.rvfl import (
    BallEnsembleClassifier,
    FGBRVFLClassifier,
    GBRVFLClassifier,
    RVFLClassifier,
)
from tests.models.damage import parts_of, written
from tests.models.small_models import (
    card_of,
    fitted_quietly,
    models,
    new_rows,
    numbers,
    small,
    table,
)

MODELS = dict(models())
# What grows with the training rows is in no file.
OF_TRAINING_ROWS = (
    "oob_proba_",
    "label_quality_",
    "in_bag_",
    "loo_scores_",
    "out_of_sample_proba_",
    "balls_",
)


@pytest.fixture(name="saved")
def saved_model(tmp_path):
    X, y = table()
    model = Pipeline([("preprocess", TablePreprocessor()), ("model", small(RobustClassifier))])
    path = tmp_path / "model.granulearn"
    save_model(fitted_quietly(model, X, y), path)
    return path


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_predicts_as_the_one_that_was_saved(name, tmp_path):
    model = MODELS[name]()
    rows, path = new_rows(model), tmp_path / "m.granulearn"
    save_model(model, path)
    loaded = load_model(path).pipeline
    found, expected = loaded.predict(rows), model.predict(rows)
    if is_classifier(model):
        assert_array_equal(found, expected, strict=True)
        assert_array_equal(loaded.classes_, model.classes_, strict=True)
        found, expected = loaded.predict_proba(rows), model.predict_proba(rows)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    last = [each[-1] if isinstance(each, Pipeline) else each for each in (loaded, model)]
    assert str(last[0].get_params()) == str(last[1].get_params())
    if hasattr(last[1], "feature_importances_"):
        assert_array_equal(*(each.feature_importances_ for each in last))
    kept = [kept for kept in OF_TRAINING_ROWS if hasattr(last[0], kept)]
    assert kept == (["balls_"] if isinstance(last[0], GranularBallKNNClassifier) else [])


def test_a_loaded_model_is_explained_without_its_training_rows(tmp_path):
    model = fitted_quietly(small(RobustClassifier), X, Y)
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m").pipeline
    assert [*map(str, loaded.explain(X[:2]))] == [*map(str, model.explain(X[:2]))]
    with pytest.raises(ValueError, match="leave out training, or fit the model again"):
        loaded.explain(X[:2], training=(X, Y))


@pytest.mark.parametrize("labels", ["text", "objects", "bools", "int8", "floats"])
def test_labels_keep_their_type(labels, tmp_path):
    X, codes = numbers()
    names = np.array(["no", "perhaps", "yès"])
    y = {"text": names[codes], "objects": names.astype(object)[codes], "bools": codes > 0,
         "int8": codes.astype(np.int8), "floats": codes.astype(float)}[labels]  # fmt: skip
    model = small(RVFLClassifier).fit(X, y)
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m").pipeline
    assert_array_equal(loaded.predict(X), model.predict(X), strict=True)


@pytest.mark.parametrize(
    "kind", [RobustClassifier, FGBRVFLClassifier, RVFLClassifier, TablePreprocessor]
)
def test_a_file_does_not_grow_with_the_training_rows(kind, tmp_path):
    sizes = []
    for n_rows in (60, 240):
        if kind is TablePreprocessor:
            model = Pipeline([("preprocess", kind()), ("model", small(RVFLClassifier))])
            X, y = table(n_rows)
            X["many"] = np.arange(n_rows) % 60  # the same categories
            X["many"] = X["many"].astype(str)
        else:
            # A forest grows with what there is to learn: here nothing but one threshold.
            model = small(kind)
            X = np.arange(n_rows, dtype=float)[:, None] % 12
            y = (X[:, 0] > 5).astype(int)
        save_model(fitted_quietly(model, X, y), tmp_path / "m")
        sizes.append((tmp_path / "m").stat().st_size)
    assert sizes[1] <= sizes[0] * 1.1


def test_parameters_that_are_objects_of_ours_come_back(tmp_path):
    X, y = numbers()
    noise = np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    for model in (
        GBRVFLClassifier(balls=KDivisionBalls(purity=0.9), membership=SDAPMembership()),
        RVFLClassifier(class_weight={0: 1.5, 1: 1, 2: 2}),
        BallEnsembleClassifier(GBRVFLClassifier(n_hidden=4), n_estimators=2),
        small(
            RobustClassifier,
            noise_matrix=noise.tolist(),
            forest=BallForestClassifier(n_estimators=2),
        ),
    ):
        save_model(fitted_quietly(model, X, y), tmp_path / "m")
        loaded = load_model(tmp_path / "m").pipeline
        assert str(loaded.get_params()) == str(model.get_params())
        fitted_quietly(loaded, X, y)  # it can be fitted again


def test_the_card_comes_back_with_the_versions(tmp_path):
    X, y = table()
    model = Pipeline([("preprocess", TablePreprocessor()), ("model", small(RVFLClassifier))])
    card = save_model(model.fit(X, y), tmp_path / "m", card_of(X))
    loaded = load_model(tmp_path / "m").card
    assert loaded == card
    assert loaded.columns == card_of(X).columns
    assert loaded.versions["granulearn"]


def test_the_same_model_is_the_same_file(tmp_path):
    for name in "ab":
        save_model(MODELS["RobustClassifier in a pipeline"](), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_contents_are_counted_by_class(saved):
    contents = inspect_model(saved)
    parts = {part.name: part for part in contents.parts}
    names = ["BallForest", "BallForestClassifier", "BoostedTrees", "BoostedTreesClassifier"]
    names += ["Pipeline", "RVFLEnsembleClassifier", "RandomFeatures", "RobustClassifier"]
    assert sorted(parts) == [*names, "TablePreprocessor"]
    assert parts["BoostedTrees"].count == 3
    assert contents.array_bytes == sum(part.array_bytes for part in contents.parts)
    assert contents.file_bytes == saved.stat().st_size
    assert contents.format == FORMAT


# ---- what is not saved -------------------------------------------------------------------------


class Own(RVFLClassifier):
    """A subclass may change any stage."""


X, Y = numbers()


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (
            lambda: make_pipeline(StandardScaler(), RVFLClassifier()).fit(X, Y),
            "TablePreprocessor.* skops",
        ),
        (lambda: LogisticRegression().fit(X, Y), "LogisticRegression cannot be part"),
        (lambda: GridSearchCV(RVFLClassifier(), {"C": [1.0]}).fit(X, Y), "GridSearchCV cannot"),
        (lambda: Own().fit(X, Y), "Own cannot be part"),
        (lambda: TablePreprocessor().fit(X), "no classifier or regressor"),
        (lambda: {"a": 1}, "dict cannot be part"),
        (lambda: RVFLClassifier(), "RVFLClassifier is not fitted: it has no"),
        (lambda: RVFLClassifier(random_state=np.random.RandomState(0)).fit(X, Y), "use a number"),
        (
            lambda: GBRVFLClassifier(membership=lambda balls: np.ones(len(balls))).fit(X, Y),
            "function cannot be part",
        ),
        (
            lambda: make_pipeline(TablePreprocessor(), TablePreprocessor(), RVFLClassifier()).fit(
                X, Y
            ),
            "no first step",
        ),
    ],
)
def test_what_load_would_refuse_is_not_saved(model, said, tmp_path):
    path = tmp_path / "m.granulearn"
    path.write_text("the model before")
    with pytest.raises(ModelFileError, match=f"cannot be saved: .*{said}"):
        save_model(model(), path)
    assert path.read_text() == "the model before"
    assert list(tmp_path.iterdir()) == [path]


def test_attributes_that_were_changed_are_not_saved(tmp_path):
    for name, value in (("coef_", np.zeros((2, 2))), ("n_jobs", 10**6), ("classes_", Y)):
        model = small(GBRVFLClassifier).fit(X, Y)
        setattr(model, name, value)
        with pytest.raises(ModelFileError, match="GBRVFLClassifier cannot be saved"):
            save_model(model, tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_a_card_of_other_columns_is_not_saved(tmp_path):
    with pytest.raises(ModelFileError, match="not those that the model takes"):
        save_model(
            small(RVFLClassifier).fit(X, Y), tmp_path / "m", card_of(pd.DataFrame({"a": []}))
        )


# ---- what is not loaded ------------------------------------------------------------------------


class TouchOnLoad:
    """Pickled, it creates a file when it is loaded."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


@pytest.mark.parametrize("dump", [pickle.dump, joblib.dump])
def test_a_pickle_is_refused_and_runs_nothing(dump, tmp_path):
    marker, path = tmp_path / "it ran", tmp_path / "m.granulearn"
    with path.open("wb") as file:
        dump(TouchOnLoad(marker), file)
    with pytest.raises(ModelFileError, match="no model file"):
        load_model(path)
    assert not marker.exists()


def test_files_of_other_programs_are_refused(tmp_path):
    path = tmp_path / "m"
    foreign = [(b"", "no model file"), (b"a,b\n1,2\n" * 9, "no model file")]
    foreign += [(save({"a": np.zeros(3)}), "granulearn did not write it")]
    for content, said in foreign:
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match=said):
            load_model(path)
    with pytest.raises(ModelFileError, match="is not a file"):
        load_model(tmp_path / "nothing")


def test_every_truncation_is_refused(saved):
    content = saved.read_bytes()
    for length in np.linspace(0, len(content) - 1, 40).astype(int):
        saved.write_bytes(content[:length])
        with pytest.raises(ModelFileError):
            load_model(saved)


@pytest.mark.parametrize("version", [FORMAT - 1, FORMAT + 93])
def test_another_format_is_named(version, saved):
    header, tensors = parts_of(saved.read_bytes())
    saved.write_bytes(written(header | {"format": version, "card": 3}, tensors))
    with pytest.raises(ModelFileError, match=f"has format {version}, .* fit the model again"):
        load_model(saved)


def test_a_header_that_is_no_json_is_refused(saved):
    _, tensors = parts_of(saved.read_bytes())
    for entry in ("{", "3", '{"format": "x"}', "[" * 10_000, '{"format": 7, "sha256": ""}'):
        saved.write_bytes(save(tensors, {"granulearn": entry}))
        with pytest.raises(ModelFileError, match="is refused: "):
            load_model(saved)


def test_an_edit_is_noticed(saved):
    header, tensors = parts_of(saved.read_bytes())
    tensors["model.1.noise"] = np.zeros(1)
    saved.write_bytes(written(header, tensors, sha256="0" * 64))
    with pytest.raises(ModelFileError, match="does not match its digest"):
        load_model(saved)


FOREST = "model.1.members_.0.forest_"


def edits():
    """Yield what is wrong with a file whose digest fits, and an edit that makes it so."""

    def of_array(name, change):
        return lambda model, arrays: arrays.update({name: change(arrays[name])})

    def planted(place, value):
        def change(array):
            array = array.copy()
            array.flat[place] = value
            return array

        return change

    yield "the array children is missing", lambda m, a: a.pop(f"{FOREST}.children")
    yield "belong to nothing", lambda m, a: a.update({"model.1.more": np.zeros(3)})
    yield "offsets holds int64", of_array(f"{FOREST}.offsets", lambda x: x.astype(np.int64))
    yield "has the shape", of_array(f"{FOREST}.leaf_proba", lambda x: x[:, :-1])
    yield "offsets point outside", of_array(f"{FOREST}.offsets", planted(1, 10**6))
    yield "children come before", of_array(f"{FOREST}.children", planted(0, 10**6))
    yield "column that is not there", of_array(f"{FOREST}.features", planted(0, 99))
    yield "not sum to one", of_array(f"{FOREST}.leaf_proba", planted(0, 0.6))
    yield "is not between", of_array("model.1.members_.1.coef_", planted(0, np.nan))
    yield "3 trees, not 1 to 0|another length", of_array(f"{FOREST}.n_nodes", planted(0, 3))
    yield "no part of a granulearn model", lambda m, a: m[1][1].update({"class": "os"})
    yield (
        "members_ is of another class",
        lambda m, a: m[1][1].update(
            {
                "members_": [
                    {"class": "TwoMeansBalls", "params": {"purity": 0.9, "init": "k-means++"}}
                ]
            }
        ),
    )
    yield "it has no", lambda m, a: m[1][1].update({"predict": 3})
    yield "parameters are not", lambda m, a: m[1][1]["params"].pop("rvfl")
    yield "weights_ do not sum", lambda m, a: m[1][1]["weights_"].update({"forest": 0.1})
    yield "not sorted", lambda m, a: m[1][1]["classes_"]["labels"].reverse()
    yield "numbers_, dates_ and", lambda m, a: m[0][1]["numbers_"].pop()


@pytest.mark.parametrize(("said", "edit"), [*edits()], ids=[said for said, _ in edits()])
def test_an_edit_with_a_digest_that_fits_is_refused_for_what_it_is(said, edit, saved):
    header, tensors = parts_of(saved.read_bytes())
    edit(header["model"], tensors)
    saved.write_bytes(written(header, tensors))
    with pytest.raises(ModelFileError, match=said) as caught:
        load_model(saved)
    assert "\n" not in str(caught.value)


def test_more_steps_than_a_row_may_take_are_refused(tmp_path):
    """A chain of splits, each with a leaf at its right: 10,000 rows would walk for minutes."""
    depth = 250_000
    model = BallForestClassifier(n_estimators=1, random_state=0)
    save_model(fitted_quietly(model, X, np.minimum(Y, 1)), tmp_path / "m")
    header, tensors = parts_of((tmp_path / "m").read_bytes())
    children = np.full(2 * depth + 1, -1, np.int32)
    splits = np.r_[0, 1 : 2 * depth - 2 : 2]
    children[splits] = range(1, 2 * depth, 2)
    is_leaf = children < 0
    children[is_leaf] = -1 - np.arange(depth + 1)
    widths = np.where(is_leaf, 0, 1)
    forest = {
        "n_nodes": np.array([2 * depth + 1]),
        "n_features": np.array([depth]),
        "children": children,
        "offsets": np.r_[0, np.cumsum(widths)].astype(np.int32),
        "features": np.zeros(depth, np.int32),
        "directions": np.ones(depth),
        "thresholds": np.where(is_leaf, 0.0, 1e9),
        "leaf_proba": np.full((depth + 1, 2), 0.5, np.float32),
    }
    tensors |= {f"model.0.forest_.{name}": array for name, array in forest.items()}
    (tmp_path / "m").write_bytes(written(header, tensors))
    with pytest.raises(ModelFileError, match="a row takes up to 1,250,006 steps"):
        load_model(tmp_path / "m")


def test_a_model_without_a_card_predicts_arrays(tmp_path):
    save_model(small(RVFLClassifier).fit(X, Y), tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert loaded.card == ModelCard(versions=loaded.card.versions)
    assert loaded.pipeline.predict(X).shape == Y.shape
