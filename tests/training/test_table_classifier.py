"""TableClassifier: the same model from every holder of a table, and from the command line."""

import pickle

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

from granulearn import TableClassifier
from granulearn.forest import BallForestClassifier
from granulearn.models import save_model
from granulearn.rvfl import RVFLClassifier
from granulearn.tables import TableError
from tests.cli.commands import succeeds


def shop(n_rows=120, seed=0) -> pd.DataFrame:
    """Return a table with every type of pandas that a user may have."""
    rng = np.random.default_rng(seed)
    late = rng.random(n_rows) < 0.5
    frame = pd.DataFrame(
        {
            "weight": rng.normal(3, 1, n_rows) + 2.5 * late,
            "pieces": pd.array(rng.integers(1, 9, n_rows), dtype="Int64"),
            "ordered": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(rng.integers(0, 700, n_rows) + 100 * late, unit="D"),
            "gift": rng.random(n_rows) < 0.3,
            "paid": pd.array(rng.random(n_rows) < 0.5, dtype="boolean"),
            "city": rng.choice(np.array(["Graz", "Lyon", "Ōsaka"], dtype=object), n_rows),
            "size": pd.Categorical(rng.choice(["S", "M", "L"], n_rows)),
            "late": np.where(late, "yes", "no"),
        }
    )
    frame.loc[3, ["pieces", "paid", "ordered"]] = None
    frame.loc[4, ["weight", "city"]] = None
    return frame


def model(**settings) -> TableClassifier:
    return TableClassifier(**{"model": "rvfl", "random_state": 0} | settings)


@pytest.fixture(name="holders", scope="module")
def same_table_in_many_holders(tmp_path_factory):
    frame, folder = shop(), tmp_path_factory.mktemp("shop")
    frame.to_csv(folder / "shop.csv", index=False)
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    parquet.write_table(arrow, folder / "shop.parquet")
    plain = frame.astype(object).where(frame.notna(), None)
    return {
        "pandas": frame,
        "other index and order": frame.set_index(np.arange(120) * 7 % 120)[frame.columns[::-1]],
        "lazy polars": polars.from_pandas(frame).lazy(),
        "Arrow": arrow,
        "list of dicts": plain.to_dict("records"),
        "CSV": folder / "shop.csv",
        "CSV, as text": str(folder / "shop.csv"),
        "Parquet": folder / "shop.parquet",
    }


@pytest.fixture(name="probabilities", scope="module")
def what_all_must_give(holders):
    return model().fit(holders["pandas"], "late").predict_proba(holders["pandas"])


@pytest.mark.parametrize(
    "holder", ["lazy polars", "Arrow", "list of dicts", "CSV", "CSV, as text", "Parquet"]
)
def test_every_holder_of_a_table_gives_the_same_model(holder, holders, probabilities):
    table = holders[holder]
    fitted = model().fit(table, "late")
    assert fitted.classes_.tolist() == ["no", "yes"]
    for same in (table, holders["other index and order"]):
        assert_array_equal(fitted.predict_proba(same), probabilities)
    assert_array_equal(fitted.predict(table), fitted.classes_[probabilities.argmax(axis=1)])
    kinds = [column.type for column in fitted.schema_.used]
    assert kinds == ["number", "number", "date", "yes/no", "yes/no", "category", "category"]


@pytest.mark.parametrize("as_labels", [np.asarray, list, pd.Series, pd.Categorical])
def test_labels_beside_the_table_equal_those_in_it(as_labels, holders, probabilities):
    X, y = holders["pandas"].drop(columns="late"), as_labels(holders["pandas"]["late"])
    fitted = model().fit(X, y)
    assert_array_equal(fitted.predict_proba(X), probabilities)
    assert list(fitted.feature_names_in_) == list(X.columns)


@pytest.mark.parametrize("name", ["robust", "gb-rvfl"])
def test_the_command_line_fits_the_same_model(name, holders, tmp_path):
    succeeds(
        "fit", holders["CSV"], "--target", "late", "--model", name, "--test", 0, "--seed", 3,
        "-o", tmp_path / "m.granulearn",
    )  # fmt: skip
    by_command = TableClassifier.load(tmp_path / "m.granulearn")
    in_python = TableClassifier(name, random_state=3).fit(holders["pandas"], "late")
    expected = in_python.predict_proba(holders["pandas"])
    assert_allclose(by_command.predict_proba(holders["CSV"]), expected, rtol=1e-9)
    assert by_command.schema_.to_json() == in_python.schema_.to_json()
    assert by_command.model == name


@pytest.mark.parametrize("predicted", ["CSV", "Parquet"])
def test_saved_loaded_and_on_the_command_line_it_predicts_the_same(
    predicted, holders, probabilities, tmp_path
):
    fitted = model().fit(holders["pandas"], "late")
    fitted.save(tmp_path / "m.granulearn")
    loaded = TableClassifier.load(tmp_path / "m.granulearn")
    assert_allclose(loaded.predict_proba(holders[predicted]), probabilities, rtol=1e-9)
    assert_array_equal(loaded.classes_, fitted.classes_)
    assert loaded.n_features_in_ == fitted.n_features_in_
    assert_array_equal(loaded.feature_names_in_, fitted.feature_names_in_)
    succeeds(
        "predict", tmp_path / "m.granulearn", holders[predicted], "--proba",
        "-o", tmp_path / "out.parquet",
    )  # fmt: skip
    written = pd.read_parquet(tmp_path / "out.parquet")
    assert_allclose(written[["probability_no", "probability_yes"]], probabilities, rtol=1e-9)
    assert written["prediction"].tolist() == fitted.predict(holders[predicted]).tolist()


def test_a_file_of_a_plain_pipeline_is_no_classifier_for_tables(tmp_path):
    model = RVFLClassifier(random_state=0).fit([[0.0], [1.0]], [0, 1])
    save_model(model, tmp_path / "m.granulearn")
    with pytest.raises(TableError, match=r"m\.granulearn holds no classifier for tables"):
        TableClassifier.load(tmp_path / "m.granulearn")


def test_columns_that_were_left_out_need_not_be_there(holders):
    frame = holders["pandas"].assign(constant=1, nr=range(120))
    fitted = model().fit(frame, "late")
    assert [column.name for column in fitted.schema_.dropped] == ["constant", "nr"]
    assert fitted.n_features_in_ == 9
    expected = fitted.predict_proba(frame)
    assert_array_equal(fitted.predict_proba(holders["pandas"]), expected)


def test_columns_that_differ_between_rows_are_not_dropped_in_silence(holders):
    notes = [f"order {row} came with a note, number {row}" for row in range(120)]
    frame = holders["pandas"].assign(constant=1, notes=notes)
    with pytest.warns(UserWarning, match=r"^Columns are left out: 'notes' \(\w+( \w+)?\)\. Table"):
        model().fit(frame, "late")
    model(include=["notes"]).fit(frame, "late")
    model(ignore=["notes"]).fit(frame, "late")


def test_what_the_user_says_about_columns_is_heard(holders):
    frame = holders["pandas"].assign(constant=1)
    fitted = model(categorical=["pieces"], ignore=["gift"], include=["constant"])
    schema = fitted.fit(frame, "late").schema_
    assert schema["pieces"].type == "category"
    assert schema["gift"].dropped == "asked"
    assert not schema["constant"].dropped
    frame.loc[:9, "late"] = frame.loc[:9, "late"].str.upper()
    assert model().fit(frame, "late").classes_.tolist() == ["no", "yes"]
    assert len(model(exact_labels=True).fit(frame, "late").classes_) == 4
    day = ["01/02/2020", "03/04/2021"] * 20
    days = {"day": day, "n": list(range(20)) * 2, "y": list("abbaabba") * 5}
    for order in (True, False):
        assert model(day_first=order).fit(days, "y").schema_["day"].date.day_first is order


@pytest.mark.parametrize(
    "labels",
    [
        np.array([0, 1], dtype=np.int8),
        np.array([-1, 1]),
        np.array([3.0, 2.0]),
        np.array([0.5, 7.25], dtype=np.float32).round().astype(np.float32),
        np.array([True, False]),
        np.array([10**17, 10**17 + 1]),
    ],
    ids=str,
)
def test_numbers_as_labels_keep_their_type_and_value(labels, holders):
    X = holders["pandas"].drop(columns="late")
    y = labels[(holders["pandas"]["late"] == "yes").astype(int)]
    fitted = model().fit(X, y)
    assert fitted.classes_.dtype == labels.dtype
    assert_array_equal(fitted.classes_, np.unique(labels))
    assert_array_equal(fitted.predict(X), fitted.classes_[fitted.predict_proba(X).argmax(axis=1)])
    assert (fitted.predict(X) == y).mean() > 0.8


@pytest.mark.parametrize("dtype", ["bool", "boolean", object])
def test_truth_values_in_a_column_of_the_table_are_truth_values(dtype, holders, tmp_path):
    late = holders["pandas"]["late"] == "yes"
    frame = holders["pandas"].assign(late=late.astype(dtype))
    inside = model().fit(frame, "late")
    beside = model().fit(frame.drop(columns="late"), late)
    assert inside.classes_.tolist() == beside.classes_.tolist() == [False, True]
    assert_array_equal(inside.predict_proba(frame), beside.predict_proba(frame))
    assert inside.score(frame, late) > 0.8
    inside.save(tmp_path / "late.granulearn")
    loaded = TableClassifier.load(tmp_path / "late.granulearn")
    assert loaded.predict(frame).dtype == bool
    assert_array_equal(loaded.predict(frame), inside.predict(frame))


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("mark", [None, np.nan, "", "n/a"])
def test_rows_without_a_label_are_left_out(beside, mark, holders):
    frame = holders["pandas"].copy()
    frame.loc[10:19, "late"] = mark
    given = (frame.drop(columns="late"), frame["late"]) if beside else (frame, "late")
    fitted = model().fit(*given)
    known = frame.drop(index=range(10, 20))
    assert fitted.card_.dropped_rows == 10
    assert fitted.card_.rows == 110
    expected = model().fit(known, "late").predict_proba(frame)
    assert_allclose(fitted.predict_proba(frame), expected)


def test_the_name_of_the_labels_may_be_that_of_a_column(holders):
    frame = holders["pandas"]
    y = frame["late"].rename("city")
    fitted = model().fit(frame.drop(columns="late"), y)
    assert fitted.card_.target == "city_"


def test_a_pickled_classifier_predicts_alike_and_an_unfitted_one_says_so(holders, probabilities):
    fitted = model().fit(holders["pandas"], "late")
    copied = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(copied.predict_proba(holders["pandas"]), probabilities)
    for ask in (lambda m: m.predict(holders["pandas"]), lambda m: m.save("x"), lambda m: m.schema_):
        with pytest.raises(NotFittedError):
            ask(clone(fitted))


def test_any_classifier_for_numbers_can_learn_from_a_table(holders, tmp_path):
    frame = holders["pandas"]
    forest = RandomForestClassifier(n_estimators=5, random_state=0)
    fitted = TableClassifier(forest).fit(frame, "late")
    assert fitted.get_params()["model__n_estimators"] == 5
    assert not hasattr(forest, "classes_")
    assert fitted.score(frame, frame["late"]) > 0.8
    with pytest.raises(ValueError, match="by skops"):
        fitted.save(tmp_path / "m.granulearn")


def test_parameters_of_a_named_model_can_be_searched_over(holders):
    X, y = holders["pandas"].drop(columns="late"), holders["pandas"]["late"]
    grid = {"model": ["rvfl", "elm"], "model__class_weight": ["balanced", {"no": 2.0}]}
    search = GridSearchCV(TableClassifier(random_state=0, n_jobs=1), grid, cv=2).fit(X, y)
    fitted = search.best_estimator_
    assert fitted.pipeline_[-1].class_weight == search.best_params_["model__class_weight"]
    assert fitted.pipeline_[-1].random_state == 0
    assert fitted.card_.model in ("rvfl", "elm")
    with pytest.raises(ValueError, match="Invalid parameter 'forest' for estimator RVFLClassifier"):
        model().set_params(model__forest=None)
    with pytest.raises(ValueError, match=r"model='svm' is not one of robust, "):
        TableClassifier("svm").set_params(model__C=1)


def test_class_weight_and_class_cost_are_those_of_the_model(holders):
    frame = holders["pandas"]
    settings = {"class_weight": {"no": 2.0}, "class_cost": {"yes": 5.0}}
    for kind in ("ball-forest", BallForestClassifier()):
        fitted = TableClassifier(kind, random_state=0, **settings).fit(frame, "late")
        assert settings.items() <= fitted.pipeline_[-1].get_params().items()
        expected = (fitted.predict_proba(frame) * [1, 5]).argmax(axis=1)
        assert_array_equal(fitted.predict(frame), fitted.classes_[expected])
    with pytest.raises(ValueError, match=r"RVFLClassifier takes no class_cost; RobustClassifier, "):
        model(class_cost="balanced").fit(frame, "late")


@pytest.mark.parametrize("beside", [False, True])
def test_weights_are_those_of_the_rows_of_the_table(beside, holders):
    frame = holders["pandas"].copy()
    frame.loc[10:19, "late"] = None
    given = (frame.drop(columns="late"), frame["late"]) if beside else (frame, "late")
    weights = np.random.default_rng(0).uniform(1, 9, len(frame))
    fitted = model().fit(*given, sample_weight=weights)
    known = frame["late"].notna().to_numpy()
    alone = model().fit(frame[known], "late", sample_weight=weights[known])
    assert_allclose(fitted.predict_proba(frame), alone.predict_proba(frame))
    unweighted = model().fit(frame, "late")
    assert not np.allclose(fitted.predict_proba(frame), unweighted.predict_proba(frame))
    for wrong, message in ((weights[known], "inconsistent"), (-weights, "must not be negative")):
        with pytest.raises(ValueError, match=message):
            model().fit(*given, sample_weight=wrong)
    with pytest.raises(ValueError, match="takes no sample_weight; RobustClassifier does"):
        TableClassifier(KNeighborsClassifier()).fit(*given, sample_weight=weights)


def test_a_name_that_is_no_model_is_refused_with_those_that_are(holders):
    with pytest.raises(ValueError, match=r"model='svm' is not one of robust, "):
        TableClassifier("svm").fit(holders["pandas"], "late")
