"""Model files: exact when honest, refused when not, and nothing in them runs."""

import io
import json
import pickle
import zipfile
from dataclasses import asdict, replace

import joblib
import msgspec
import numpy as np
import pytest
import skops.io
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer, StandardScaler

from granulearn import TableClassifier
from granulearn.estimators import (
    BallEnsembleClassifier,
    GBRVFLClassifier,
    RVFLClassifier,
    RVFLRegressor,
)
from granulearn.forest import BallForestClassifier
from granulearn.models import (
    ColumnCard,
    ModelCard,
    ModelFileError,
    load_model,
    model_files,
    save_model,
)
from granulearn.tables.parse.dates import FAMILIES, DateForm
from granulearn.tables.parse.numbers import DECIMALS, NumberForm
from granulearn.tables.schema import DATE, KINDS, NUMBER, Column
from tests.cli.commands import fails
from tests.models.fitted_pipelines import (
    SAVED_CLASSIFIERS,
    WITH_MEMBERS,
    fitted_pipeline,
    mixed_table,
)
from tests.models.test_model_card import CARD, card_of


@pytest.fixture(name="saved")
def saved_model(tmp_path):
    pipeline, rows = fitted_pipeline(GBRVFLClassifier)
    path = tmp_path / "model.skops"
    save_model(pipeline, path, card_of(rows))
    return path, pipeline, rows


@pytest.mark.filterwarnings("ignore")  # a forest so small lacks trees, and says so
@pytest.mark.parametrize("kind", WITH_MEMBERS)
def test_a_model_that_was_given_a_member_is_saved_with_it(kind, tmp_path):
    pipeline, rows = fitted_pipeline(kind, **WITH_MEMBERS[kind])
    save_model(pipeline, tmp_path / "m.skops", card_of(rows))
    loaded = load_model(tmp_path / "m.skops").pipeline
    assert_array_equal(loaded.predict_proba(rows), pipeline.predict_proba(rows))
    (name,) = WITH_MEMBERS[kind]
    member = getattr(loaded[-1], name)
    assert member.get_params() == WITH_MEMBERS[kind][name].get_params()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda model: setattr(model.estimator, "n_hidden", "many"), "n_hidden"),
        (lambda model: setattr(model.estimator, "predict", 3), "predict"),
        (lambda model: setattr(model.estimator, "coef_", np.zeros(2)), "n_features_in_"),
        (lambda model: model.estimators_.append(model.estimator), "n_features_in_"),
        (lambda model: model.estimators_.append(model.estimators_[0]), "part of it twice"),
        (
            lambda model: model.estimators_.append(make_pipeline(model.estimators_.pop())),
            "pipeline",
        ),
    ],
)
def test_a_member_that_is_not_as_it_was_given_is_refused(change, said, tmp_path):
    X = np.arange(20.0).reshape(10, 2)
    member = GBRVFLClassifier(n_hidden=3)
    model = BallEnsembleClassifier(member, n_partitions=2, random_state=0).fit(X, np.arange(10) % 2)
    save_model(model, tmp_path / "m.skops")
    change(model)
    with pytest.raises(ModelFileError, match=f"BallEnsembleClassifier cannot be saved: .*{said}"):
        save_model(model, tmp_path / "m.skops")


def rewrite(path, **members):
    """Replace members of an archive, keeping the others as they are."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    content |= members
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in content.items():
            archive.writestr(name, data)


class TouchOnLoad:
    """Pickled, it creates a file when it is loaded."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("classifier", SAVED_CLASSIFIERS)
def test_a_loaded_model_predicts_bit_for_bit_the_same(classifier, n_classes, tmp_path):
    pipeline, rows = fitted_pipeline(classifier, n_classes)
    save_model(pipeline, tmp_path / "m.skops")
    loaded = load_model(tmp_path / "m.skops").pipeline
    assert_array_equal(loaded.predict_proba(rows), pipeline.predict_proba(rows), strict=True)
    assert_array_equal(loaded.predict(rows), pipeline.predict(rows), strict=True)
    assert loaded[-1].get_params() == pipeline[-1].get_params()


@given(
    kind=st.sampled_from(KINDS),
    day_first=st.booleans(),
    has_clock=st.booleans(),
    decimal=st.sampled_from(DECIMALS),
    unit=st.sampled_from(["", "€"]),
    flags=st.tuples(st.booleans(), st.booleans()),
    words=st.lists(st.sampled_from(["n/a", "-"]), max_size=2, unique=True),
    dropped=st.sampled_from(["", "an identifier"]),
)
def test_whatever_a_column_is_comes_back_from_what_a_file_says_of_it(
    kind, day_first, has_clock, decimal, unit, flags, words, dropped
):
    column = Column(
        "", kind, dropped=dropped, of_numbers=flags[0], filled=flags[1],
        values_like_nulls=tuple(words), missing=dict.fromkeys(words, 2), distinct=len(words),
    )  # fmt: skip
    if kind == NUMBER:
        column = msgspec.structs.replace(column, number=NumberForm(decimal, unit))
    if kind == DATE:
        column = msgspec.structs.replace(column, date=DateForm(FAMILIES[0], day_first, has_clock))
    said = [column.to_json()]
    model_files._leave_out_defaults(said, Column("", NUMBER).to_json())
    assert Column.from_json(json.loads(json.dumps(said[0]))) == column
    described = ColumnCard("", "category", len(words), categories=tuple(words))
    told = [asdict(described)]
    model_files._leave_out_defaults(told, asdict(ColumnCard("", "number")))
    card = ModelCard.from_json(json.loads(json.dumps({"columns": told})))
    assert card.columns == (described,)


def test_a_forest_of_a_thousand_trees_is_a_file_of_few_members(tmp_path):
    X = np.arange(12.0)[:, None]
    model = BallForestClassifier(n_estimators=1_000, random_state=0).fit(X, X[:, 0] > 5)
    save_model(model, tmp_path / "m.skops")
    with zipfile.ZipFile(tmp_path / "m.skops") as archive:
        assert len(archive.namelist()) < 30
    loaded = load_model(tmp_path / "m.skops").pipeline
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X), strict=True)


def test_more_trees_than_a_file_may_hold_are_refused_before_anything_is_written(tmp_path):
    model = BallForestClassifier(n_estimators=1, max_samples=0.5, random_state=0)
    X = np.arange(12.0)[:, None]
    with pytest.warns(UserWarning, match="reliability"):
        model.fit(X, X[:, 0] > 5)
    model.forest_ = replace(model.forest_, trees=model.forest_.trees * 5_001)
    model.in_bag_ = np.repeat(model.in_bag_, 5_001, axis=0)
    with pytest.raises(ModelFileError, match="have 5001 trees, and a file may hold 5000"):
        save_model(model, tmp_path / "m.skops")
    assert not list(tmp_path.iterdir())


def test_the_card_comes_back_with_the_versions(saved):
    path, _, rows = saved
    card = load_model(path).card
    assert card.versions["granulearn"]
    assert card.columns == card_of(rows).columns
    assert card.scores == CARD.scores


def test_a_failed_save_leaves_the_old_model(saved):
    path, pipeline, _ = saved
    before = path.read_bytes()
    pipeline[-1].random_state = np.random.RandomState(0)
    with pytest.raises(ModelFileError, match="random_state by a number"):
        save_model(pipeline, path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_what_load_would_refuse_is_not_saved_unless_the_caller_trusts_it(tmp_path):
    X, y = mixed_table()
    numbers = X[["température (°C)"]]
    model = make_pipeline(PowerTransformer(), RVFLClassifier(random_state=0)).fit(numbers, y)
    name = "sklearn.preprocessing._data.PowerTransformer"
    with pytest.raises(ModelFileError, match=name):
        save_model(model, tmp_path / "m")
    save_model(model, tmp_path / "m", trusted=[name])
    with pytest.raises(ModelFileError, match=name):
        load_model(tmp_path / "m")
    loaded = load_model(tmp_path / "m", trusted=[name]).pipeline
    assert_array_equal(loaded.predict_proba(numbers), model.predict_proba(numbers))


NO_PREDICTORS = {
    "StandardScaler is no classifier or regressor": StandardScaler().fit([[0.0], [1.0]]),
    "SimpleImputer is no classifier or regressor": make_pipeline(StandardScaler(), SimpleImputer()),
    "dict is no classifier or regressor": {"a": 1},
    "RVFLClassifier instance is not fitted": RVFLClassifier(),
    "RVFLRegressor instance is not fitted": make_pipeline(StandardScaler(), RVFLRegressor()),
}


@pytest.mark.parametrize("said", NO_PREDICTORS)
def test_what_is_no_fitted_predictor_is_neither_saved_nor_loaded(said, tmp_path, monkeypatch):
    path = tmp_path / "m.skops"
    with pytest.raises(ModelFileError, match=said):
        save_model(NO_PREDICTORS[said], path)
    assert list(tmp_path.iterdir()) == []
    with monkeypatch.context() as careless:
        careless.setattr(model_files, "check_predictor", lambda *_: None)
        careless.setattr(model_files, "check_loaded", lambda *_: None)
        save_model(NO_PREDICTORS[said], path)
    with pytest.raises(ModelFileError, match=f"is refused: .*{said}"):
        load_model(path)


@pytest.mark.parametrize("dump", [pickle.dump, joblib.dump])
def test_a_pickle_is_refused_and_runs_nothing(dump, tmp_path):
    marker, path = tmp_path / "it ran", tmp_path / "model.skops"
    with path.open("wb") as file:
        dump(TouchOnLoad(marker), file)
    with pytest.raises(ModelFileError, match="not a granulearn model file"):
        load_model(path)
    assert not marker.exists()
    joblib.load(path).close()  # the bait is real: loading it as a pickle does run it
    assert marker.exists()


def hostile_nodes(marker):
    """Yield trees of nodes that would run ``open(marker, 'w')`` or the like if constructed."""
    arguments = {
        "__class__": "tuple",
        "__module__": "builtins",
        "__loader__": "TupleNode",
        "content": [
            {
                "__class__": "str",
                "__module__": "builtins",
                "__loader__": "JsonNode",
                "content": json.dumps(text),
                "is_json": True,
            }
            for text in (str(marker), "w")
        ],
    }
    yield {
        "__class__": "open",
        "__module__": "builtins",
        "__loader__": "ConstructorFromReduceNode",
        "content": arguments,
    }
    yield {
        "__class__": "FileIO",
        "__module__": "io",
        "__loader__": "ConstructorFromReduceNode",
        "content": arguments,
    }
    yield {"__class__": "system", "__module__": "os", "__loader__": "FunctionNode"}
    yield {"__class__": "marker_module", "__module__": "this", "__loader__": "TypeNode"}


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("hidden", [False, True])
def test_a_file_that_names_code_is_refused_and_runs_nothing(saved, number, hidden, capsys):
    path, _, _ = saved
    marker = path.with_name("it ran")
    node = list(hostile_nodes(marker))[number]
    schema = json.loads(zipfile.ZipFile(path).read("schema.json"))
    tree = {**schema, "content": {**schema["content"], "extra": node}} if hidden else node
    tree |= {key: schema[key] for key in ("protocol",)}
    rewrite(path, **{"schema.json": json.dumps(tree)})
    with pytest.raises(ModelFileError, match=f"{node['__module__']}.{node['__class__']}"):
        load_model(path)
    assert not marker.exists()
    assert capsys.readouterr().out == ""  # importing `this` would print


def test_the_hostile_tree_would_have_run_if_it_were_trusted(saved):
    path, _, _ = saved
    marker = path.with_name("it ran")
    node = list(hostile_nodes(marker))[1]
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as members:
        members.writestr("schema.json", json.dumps({**node, "protocol": 2}))
    skops.io.loads(archive.getvalue(), trusted=["io.FileIO"]).close()
    assert marker.exists()


def test_a_file_of_another_protocol_is_refused(saved):
    path, *_ = saved
    schema = json.loads(zipfile.ZipFile(path).read("schema.json"))
    rewrite(path, **{"schema.json": json.dumps({**schema, "protocol": 0})})
    with pytest.raises(ModelFileError, match="another version of skops"):
        load_model(path)


def test_an_edited_number_is_noticed(saved):
    path, _, _ = saved
    with zipfile.ZipFile(path) as archive:
        arrays = [one for one in archive.infolist() if one.filename.endswith(".npy")]
        name = max(arrays, key=lambda one: one.file_size).filename
        data = bytearray(archive.read(name))
    data[-1] ^= 1
    rewrite(path, **{name: bytes(data)})
    with pytest.raises(ModelFileError, match="does not match its digest"):
        load_model(path)


def test_an_edited_card_is_noticed(saved):
    path, _, _ = saved
    header = json.loads(zipfile.ZipFile(path).read("granulearn.json"))
    header["card"]["scores"]["held_out"]["accuracy"] = 1.0
    rewrite(path, **{"granulearn.json": json.dumps(header)})
    with pytest.raises(ModelFileError, match="does not match its digest"):
        load_model(path)


def test_an_array_of_pickled_objects_is_refused_even_with_a_right_digest(saved, monkeypatch):
    path, _, _ = saved
    marker = path.with_name("it ran")
    data = io.BytesIO()
    np.save(data, np.array([TouchOnLoad(marker)], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(path) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".npy"))
    rewrite(path, **{name: data.getvalue()})
    module = "granulearn.models.model_files._digest"
    header = json.loads(zipfile.ZipFile(path).read("granulearn.json"))
    monkeypatch.setattr(module, lambda *_, **__: header["sha256"])
    with pytest.raises(ModelFileError, match="refused"):
        load_model(path)
    assert not marker.exists()


def test_every_truncation_is_refused(saved):
    path, _, _ = saved
    content = path.read_bytes()
    for length in np.linspace(0, len(content) - 1, 40).astype(int):
        path.write_bytes(content[:length])
        with pytest.raises(ModelFileError):
            load_model(path)


def test_a_skops_file_of_something_else_is_foreign(tmp_path):
    skops.io.dump(LogisticRegression(), tmp_path / "m.skops")
    with pytest.raises(ModelFileError, match="was not written by granulearn"):
        load_model(tmp_path / "m.skops")


def test_a_format_of_the_future_is_named(saved):
    path, _, _ = saved
    header = json.loads(zipfile.ZipFile(path).read("granulearn.json"))
    rewrite(path, **{"granulearn.json": json.dumps({**header, "format": 99})})
    with pytest.raises(ModelFileError, match="has format 99"):
        load_model(path)


def test_a_format_of_any_length_is_named_by_its_beginning(saved):
    path, _, _ = saved
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read("granulearn.json"))
    rewrite(path, **{"granulearn.json": json.dumps({**header, "format": "x" * 100_000})})
    with pytest.raises(ModelFileError, match="has format 'xxx") as caught:
        load_model(path)
    assert len(str(caught.value)) < 300 + len(str(path))


@pytest.mark.parametrize("earlier", range(1, model_files.FORMAT))
def test_a_model_of_an_earlier_format_is_refused_with_one_line(saved, earlier):
    path, _, _ = saved
    header = json.loads(zipfile.ZipFile(path).read("granulearn.json"))
    del header["card"]["schema"]
    with zipfile.ZipFile(path) as members:
        digest = model_files._digest(members, header["card"])
    old = {**header, "format": earlier, "sha256": digest}
    rewrite(path, **{"granulearn.json": json.dumps(old)})
    said = rf"has format {earlier}, .* reads format {model_files.FORMAT}; .* fit again"
    with pytest.raises(ModelFileError, match=said):
        load_model(path)
    for command in (["predict", path, path.with_name("t.csv")], ["export", path]):
        path.with_name("t.csv").write_text("a\n1\n")
        said = fails(4, *command, "-o", path.with_name("out.csv"))
        assert "fit again" in said
        assert not path.with_name("out.csv").exists()
    with pytest.raises(ModelFileError, match="fit again"):
        TableClassifier.load(path)


def test_damaged_json_is_refused(saved):
    path, _, _ = saved
    rewrite(path, **{"granulearn.json": "{"})
    with pytest.raises(ModelFileError, match="damaged"):
        load_model(path)


@pytest.mark.parametrize(("depth", "said"), [(50_000, "damaged"), (200_000, "200000 nodes")])
def test_json_nested_beyond_all_bounds_is_refused(depth, said, saved):
    path, _, _ = saved
    rewrite(path, **{"schema.json": "[" * depth + "]" * depth})
    with pytest.raises(ModelFileError, match=said):
        load_model(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ModelFileError, match="is not a file"):
        load_model(tmp_path / "nothing.skops")


def test_a_file_that_needs_too_much_memory_is_refused_in_words(saved, monkeypatch):
    def exhausted(*_):
        raise MemoryError

    monkeypatch.setattr(model_files, "check_loaded", exhausted)
    with pytest.raises(ModelFileError, match="is refused: it needs more memory than there is"):
        load_model(saved[0])


def test_the_same_model_is_the_same_file_at_any_time(saved):
    path, _, rows = saved
    again = path.with_name("again.skops")
    save_model(fitted_pipeline(GBRVFLClassifier)[0], again, card_of(rows))
    assert again.read_bytes() == path.read_bytes()
    with zipfile.ZipFile(path) as members:
        assert {entry.date_time for entry in members.infolist()} == {(1980, 1, 1, 0, 0, 0)}
