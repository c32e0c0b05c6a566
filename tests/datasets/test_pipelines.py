"""The pipeline equals doing it by hand, and learns from training rows alone."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from granulearn.datasets import load, make_pipeline_for, read_table
from granulearn.datasets.pipelines import with_nan


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "age": [20.0, np.nan, 40.0, 60.0],
            "city": ["Bern", "Basel", None, "Bern"],
            "member": [True, False, True, True],
            "size": [1, 2, 3, 4],
        }
    )


def test_it_equals_doing_it_by_hand(frame):
    found = make_pipeline_for(frame).set_output(transform="pandas").fit_transform(frame)
    age = frame["age"].fillna(40.0)

    def scaled(column):
        return (column - column.mean()) / column.std(ddof=0)

    expected = pd.DataFrame(
        {
            "age": scaled(age),
            "size": scaled(frame["size"]),
            "member": scaled(frame["member"].astype(float)),
            "city_Basel": [0.0, 1.0, 0.0, 0.0],
            "city_Bern": [1.0, 0.0, 1.0, 1.0],
        }
    )
    pd.testing.assert_frame_equal(found, expected)


def test_new_rows_are_scaled_by_the_training_rows(frame):
    pipeline = make_pipeline_for(frame).fit(frame)
    new = frame.head(1).assign(age=1000.0, city="Geneva")
    age, _, _, *city = pipeline.transform(new)[0]
    assert age == pytest.approx((1000 - 40) / np.std([20, 40, 40, 60]))
    assert city == [0, 0]


def test_the_model_is_the_last_step(frame):
    pipeline = make_pipeline_for(frame, LogisticRegression()).fit(frame, [0, 1, 0, 1])
    check_is_fitted(pipeline.named_steps["model"])
    assert pipeline.predict(frame).shape == (4,)


@pytest.mark.parametrize(
    "column",
    [
        pd.array([1, None, 3, 4], dtype="Int64"),
        pd.array(["a", None, "b", "a"], dtype="string"),
        pd.array([True, None, False, True], dtype="boolean"),
        pd.Categorical(["a", None, "b", "a"]),
        pd.Categorical([1, 2, None, 1]),
        [np.nan] * 4,
        [None] * 4,
        ["a", None, np.nan, "b"],
    ],
    ids=str,
)
def test_every_kind_of_missing_value_is_filled(column):
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "column": column})
    assert np.isfinite(make_pipeline_for(frame).fit_transform(frame)).all()


def test_only_missing_cells_change():
    frame = pd.DataFrame({"a": [1, 2], "b": pd.array(["x", None], dtype="string")})
    found = with_nan(frame)
    assert found["a"].tolist() == [1, 2]
    assert found["b"].tolist()[0] == "x"
    assert isinstance(found["b"].tolist()[1], float)


def test_a_table_as_read_goes_straight_in(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,c,flag,y\n1,x,True,0\n,z,False,1\n3,?,True,0\n")
    table = read_table(path, "y")
    assert make_pipeline_for(table.X).fit_transform(table.X).shape == (3, 5)


def test_a_keel_set_with_categories_and_missing_values_goes_straight_in():
    for name in ("keel:imbalanced/car-good", "keel:imbalanced/cleveland-0_vs_4"):
        X = load(name).X
        assert np.isfinite(make_pipeline_for(X).fit_transform(X)).all()


def test_what_is_no_table_is_refused():
    with pytest.raises(TypeError, match="ndarray"):
        make_pipeline_for(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="no columns"):
        make_pipeline_for(pd.DataFrame(index=[0, 1]))
