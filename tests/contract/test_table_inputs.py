"""Estimators that take tables: frames, categories and missing cells in, the same laws for all."""

from datetime import date

import numpy as np
import pandas as pd
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from granulearn import LabelAudit, RobustClassifier, TableClassifier, audit_labels
from granulearn.dask import DaskLabelAudit
from granulearn.ensemble import BoostedTreesClassifier
from granulearn.forest import BallForestClassifier
from granulearn.models import ModelCard, load_model, onnx_inputs, save_model, to_onnx
from granulearn.rvfl import RVFLEnsembleClassifier

SMALL_FOREST = BallForestClassifier(20, random_state=0)
SMALL_NETWORKS = RVFLEnsembleClassifier(2, 15, random_state=0)
CLASSIFIERS = [
    SMALL_FOREST,
    SMALL_NETWORKS,
    RobustClassifier(SMALL_FOREST, SMALL_NETWORKS, "drop", random_state=0),
]
EVERY_KIND = [*CLASSIFIERS, LabelAudit(n_estimators=20, random_state=0)]


def name_of(estimator):
    return type(estimator).__name__


def shop(n_rows=160, seed=0):
    """Return a frame with a column of each kind, gaps in each, and labels that depend on it."""
    rng = np.random.default_rng(seed)
    city = rng.choice(["Bern", "Basel", "Chur"], n_rows)
    price = rng.normal(100, 30, n_rows)
    street = rng.integers(60, size=n_rows)
    y = np.where((price > 100) ^ (city == "Chur"), "yes", "no")
    gaps = rng.random((3, n_rows)) < 0.1
    frame = pd.DataFrame(
        {
            "price": np.where(gaps[0], np.nan, price),
            "city": pd.Categorical(np.where(gaps[1], None, city)),
            "street": [f"s{number}" for number in street],
            "member": rng.random(n_rows) < 0.5,
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n_rows), "D"),
        }
    )
    frame.loc[gaps[2], "day"] = pd.NaT
    return frame, y


def said(estimator, X, y, new=None, **fit):
    """Return what an estimator says of rows, those it has not learnt from too."""
    fitted = clone(estimator).fit(X, y, **fit)
    if isinstance(estimator, LabelAudit):
        return fitted.out_of_sample_proba_
    return fitted.predict_proba(X if new is None else new)


@pytest.mark.parametrize("estimator", EVERY_KIND, ids=name_of)
def test_columns_that_never_differ_change_nothing(estimator):
    X, y = shop()
    rng = np.random.default_rng(1)
    place = {"constant": 7.5, "empty": np.nan, "unknown": None, "one": "a"}
    more = X.assign(**place, empty_category=pd.Categorical([None] * len(X)))
    shuffled = more[rng.permutation(more.columns.to_numpy())]
    in_order = shuffled[[name for name in shuffled if name in X]]
    assert_array_equal(said(estimator, shuffled, y), said(estimator, in_order, y))


@pytest.mark.parametrize("estimator", EVERY_KIND, ids=name_of)
def test_relabelled_categories_change_nothing(estimator):
    X, y = shop()
    cities = {"Bern": "z", "Basel": "m", "Chur": "a"}
    names = dict(
        zip(X["street"].unique(), np.random.default_rng(0).permutation(10**4), strict=False)
    )
    other = X.assign(
        city=X["city"].astype(object).map(cities).astype("category"),
        street=X["street"].map(names).astype(str),
    )
    assert_array_equal(said(estimator, other, y), said(estimator, X, y))


@pytest.mark.parametrize("estimator", EVERY_KIND, ids=name_of)
def test_a_frame_of_polars_gives_what_one_of_pandas_does(estimator):
    X, y = shop()
    assert_array_equal(said(estimator, polars.from_pandas(X), y), said(estimator, X, y))


@pytest.mark.parametrize("estimator", EVERY_KIND, ids=name_of)
@given(st.integers(0, 10**6), st.lists(st.integers(-4, 4), min_size=3, max_size=3))
@settings(max_examples=4)
def test_units_change_nothing_and_scaling_before_neither(estimator, seed, powers):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    X[rng.random(X.shape) < 0.1] = np.nan
    X = X - np.nanmean(X, axis=0)
    expected = said(estimator, X, y)
    # Powers of two are exact: rounding could send a row to the other side of a threshold.
    assert_array_equal(said(estimator, X * 2.0 ** np.array(powers), y), expected)
    filled = StandardScaler().fit_transform(np.where(np.isnan(X), np.nanmedian(X, axis=0), X))
    plain = clone(estimator).set_params(categorical_features=None)
    assert_array_equal(said(estimator, filled, y), said(plain, filled, y))


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=name_of)
def test_the_order_of_the_columns_of_new_rows_changes_nothing(estimator):
    X, y = shop()
    model = clone(estimator).fit(X, y)
    turned = X[X.columns[::-1]].assign(other=1)
    assert_array_equal(model.predict_proba(turned), model.predict_proba(X))
    assert model.feature_importances_.shape == (5,) if hasattr(model, "feature_importances_") else 1


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=name_of)
def test_rows_of_weight_zero_are_not_even_scaled_by(estimator):
    X, y = shop()
    wild = X.assign(price=1e9, city="Paris", member=True, street="nowhere")
    both, weights = pd.concat([X, wild]), np.repeat([1.0, 0.0], len(X))
    weighted = said(estimator, both, np.tile(y, 2), X, sample_weight=weights)
    if isinstance(estimator, RVFLEnsembleClassifier):  # the others draw rows
        known = X.drop(columns="street")
        found = said(estimator, both[known.columns], np.tile(y, 2), known, sample_weight=weights)
        assert_allclose(found, said(estimator, known, y), atol=1e-9)
    assert np.mean(weighted.argmax(axis=1) == (y == "yes")) > 0.7


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=name_of)
def test_model_files_and_graphs_take_frames_with_missing_cells(estimator, tmp_path):
    X, y = shop()
    model = clone(estimator).fit(X, y)
    new = X.head(20).assign(city=["Rome", None] * 10, price=[np.nan, 90.0] * 10)
    expected = model.predict_proba(new)
    save_model(model, tmp_path / "m.granulearn", ModelCard())
    loaded = load_model(tmp_path / "m.granulearn").pipeline
    assert_array_equal(loaded.predict_proba(new), expected)
    from onnxruntime import InferenceSession

    graph = to_onnx(model, X)
    session = InferenceSession(graph.SerializeToString())
    assert_allclose(session.run(None, onnx_inputs(new, graph))[1], expected, atol=1e-5)


def test_a_target_encoded_column_explains_training_rows():
    X, y = shop()
    model = clone(SMALL_FOREST).fit(X, y)
    assert model.preprocessor_.target_encoded_ == ["street"]
    (why,) = model.explain(X[:1], training=(X, y))
    assert why.nearest[0] == 0
    assert {column for ball in why.balls for column, _ in ball.columns} <= {
        *model.preprocessor_.get_feature_names_out()
    }


@pytest.mark.parametrize("stated", [["code"], [1], [False, True]], ids=str)
def test_numbers_that_are_categories_are_named(stated):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=90), "code": rng.integers(5, size=90)})
    y = (X["code"] % 2).to_numpy()
    by_dtype = SMALL_FOREST.fit(X.astype({"code": "category"}), y).predict_proba(X)
    found = clone(SMALL_FOREST).set_params(categorical_features=stated).fit(X, y)
    assert_array_equal(found.predict_proba(X), by_dtype)
    if stated != ["code"]:
        array = clone(found).fit(X.to_numpy(), y)
        assert_array_equal(array.predict_proba(X.to_numpy()), by_dtype)


@pytest.mark.parametrize("estimator", EVERY_KIND, ids=name_of)
@pytest.mark.parametrize(
    ("change", "said_of_it"),
    [
        (lambda X: X.assign(price=np.inf), "'price' has an infinite number in row 0"),
        (lambda X: X.assign(city=[1, "a"] * 80), "'city' mixes texts with numbers"),
        (lambda X: X.assign(city=[["a"]] * 160), "'city' must hold texts or numbers"),
        (lambda X: X[["price"]].assign(price=np.nan, none=None), "All cells of X are missing"),
        (lambda X: csr_array(np.eye(160)), "X is sparse, and must be dense; pass X.toarray()"),
        (lambda X: X[["price", "street"]].to_numpy(), "an array and holds the text 's"),
        (lambda X: X[:10], "inconsistent numbers of samples"),
    ],
    ids=["infinite", "mixed", "lists", "missing", "sparse", "array", "rows"],
)
def test_what_cannot_be_learnt_from_is_refused_in_words(estimator, change, said_of_it):
    X, y = shop()
    with pytest.raises((ValueError, TypeError), match=said_of_it):
        clone(estimator).fit(change(X), y)


def test_a_column_that_is_not_there_is_named():
    X, y = shop()
    for stated in (["town"], [5], [-1], [True, False]):
        lacks = rf"categorical_features has {stated[0]!r};.*Columns are 'price', 'city'"
        with pytest.raises(ValueError, match=lacks):
            clone(SMALL_FOREST).set_params(categorical_features=stated).fit(X, y)
    with pytest.raises(ValueError, match="1 column of training not found: 'city'"):
        clone(SMALL_FOREST).fit(X, y).predict(X.drop(columns="city"))


def test_a_short_mask_is_refused_where_columns_have_numbers():
    X, y = pd.DataFrame(np.arange(160.0).reshape(-1, 2)), np.arange(80) % 2
    with pytest.raises(ValueError, match="categorical_features has True"):
        clone(SMALL_FOREST).set_params(categorical_features=[True]).fit(X, y)


@pytest.mark.parametrize("as_frame", [lambda X: X, polars.from_pandas], ids=["pandas", "polars"])
def test_a_duration_is_its_number_of_hours(as_frame):
    hours, y = np.random.default_rng(0).permutation(200) * 0.25, np.arange(200) % 2
    hours[:9] = np.nan
    durations = as_frame(pd.DataFrame({"wait": pd.to_timedelta(hours, "h")}))
    found = said(SMALL_FOREST, durations, y)
    assert_array_equal(found, said(SMALL_FOREST, pd.DataFrame({"wait": hours}), y))


def test_dates_that_are_objects_are_dates():
    X, y = shop()
    objects = X.assign(day=[None if pd.isna(day) else day.date() for day in X["day"]])
    expected = said(SMALL_FOREST, X, y)
    assert_array_equal(said(SMALL_FOREST, objects, y), expected)
    assert_array_equal(said(SMALL_FOREST, X, y, new=objects), expected)
    never = X.assign(day=[date(9999, 12, 31), date(1, 1, 1)] * 80)  # beyond nanoseconds
    assert_array_equal(
        said(SMALL_FOREST, never, y), said(SMALL_FOREST, polars.from_pandas(never), y)
    )
    unknown = [X.assign(day=missing) for missing in (None, pd.NaT)]
    assert_array_equal(*(said(SMALL_FOREST, X, y, new=new) for new in unknown))


@pytest.mark.parametrize("kind", ["numbers", "mixed"])
def test_an_audit_is_the_same_whether_labels_are_in_the_table_or_beside_it(kind):
    X, y = shop(300)
    if kind == "numbers":
        X = X[["price"]].assign(size=np.random.default_rng(0).normal(size=300))
    inside = X.copy()
    inside.insert(1, "target", y)
    beside = audit_labels(X, y, random_state=0)
    pd.testing.assert_frame_equal(audit_labels(inside, "target", random_state=0), beside)
    alone = LabelAudit(random_state=0).fit(X, y).to_frame()
    if kind == "numbers":
        pd.testing.assert_frame_equal(alone, beside)
        array = audit_labels(X.to_numpy(), y, random_state=0)
        assert_array_equal(array["error_probability"], beside["error_probability"])


def test_an_audit_on_a_cluster_scales_inside():
    import dask.array as da

    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) * [1, 1e3, 1e-3]
    y = (X[:, 0] > 0).astype(int)
    blocks = [da.from_array(each, chunks=100) for each in (X, y)]
    found = DaskLabelAudit(random_state=0).fit(*blocks).ratings_.compute()
    assert_allclose(found["label_quality"], LabelAudit(random_state=0).fit(X, y).label_quality_)


def test_members_get_inputs_that_are_prepared_once():
    X, y = shop()
    small = RobustClassifier(SMALL_FOREST, SMALL_NETWORKS)
    model = clone(small).fit(X, y)
    assert model.forest_.preprocessor_ is None
    assert model.rvfl_.preprocessor_ is None
    assert isinstance(model.booster_, BoostedTreesClassifier)
    in_pipeline = TableClassifier(model=small).fit(X, y).pipeline_
    assert in_pipeline[-1].preprocessor_ is None
