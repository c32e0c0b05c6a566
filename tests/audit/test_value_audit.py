"""Laws of the audit of numbers."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.audit import audit_labels, value_audit
from granulearn.audit.value_audit import predict_without
from granulearn.rvfl import RVFLEnsembleRegressor
from tests.audit.numbers import curved

COLUMNS = ["given_label", "predicted_label", "low", "high", "error_probability", "is_label_issue"]


@pytest.fixture(name="listing", scope="module")
def audited():
    X, y, _ = curved()
    return audit_labels(X, y, task="regression", random_state=0)


def test_planted_errors_come_first_and_are_flagged(listing):
    _, _, wrong = curved()
    assert set(listing.index[: wrong.sum()]) == set(np.flatnonzero(wrong))
    assert listing["is_label_issue"].iloc[: wrong.sum()].all()
    assert listing["is_label_issue"].sum() <= wrong.sum() + 2
    assert listing.attrs["noise_rate"] == pytest.approx(wrong.mean(), abs=0.02)
    assert listing.attrs["explained"] > 0.9
    assert listing.attrs["warnings"] == []


def test_the_expected_value_and_its_range_are_about_the_right_one(listing):
    _, clean, _ = curved(n_wrong=0)
    rows = listing.sort_index()
    assert np.median(np.abs(rows["predicted_label"] - clean)) < 0.4
    inside = (rows["low"] <= clean) & (clean <= rows["high"])
    assert inside.mean() == pytest.approx(0.95, abs=0.04)
    assert_allclose(rows["predicted_label"], (rows["low"] + rows["high"]) / 2)


def test_a_clean_target_has_hardly_a_flag():
    X, y, _ = curved(n_wrong=0)
    assert audit_labels(X, y, task="regression", random_state=0)["is_label_issue"].mean() <= 0.02


def test_the_listing_has_the_promised_columns_and_order(listing):
    assert list(listing.columns) == COLUMNS
    assert (np.diff(listing["error_probability"]) <= 1e-12).all()
    assert_array_equal(listing["is_label_issue"], listing["error_probability"] > 0.5)
    assert listing["error_probability"].mean() == pytest.approx(listing.attrs["noise_rate"])


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"task": "ranking"}, "task='ranking' must be one of classification, regression"),
        ({"task": "regression", "groups": [1] * 200}, "groups: for classes only"),
    ],
)
def test_a_task_that_cannot_be_done_is_an_error(asked, said):
    X, y, _ = curved()
    with pytest.raises(ValueError, match=said):
        audit_labels(X, y, **asked)


def test_the_index_is_that_of_x_or_else_of_y(listing):
    X, y, _ = curved()
    names = [f"case {row}" for row in range(len(y))]
    frame = pd.DataFrame(X, index=names).add_prefix("x")
    by_frame = audit_labels(frame, y, task="regression", random_state=0)
    assert_array_equal(by_frame.index, [f"case {row}" for row in listing.index])
    by_values = audit_labels(X, pd.Series(y, index=names), task="regression", random_state=0)
    pd.testing.assert_frame_equal(by_values, by_frame)
    twice = audit_labels(frame.set_axis(["same"] * len(y)), y, random_state=0, task="regression")
    assert_array_equal(twice["given_label"], by_frame["given_label"])


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.integers(10, 60), st.integers(1, 4), st.booleans())
@pytest.mark.filterwarnings("ignore:The inputs hardly predict")
def test_the_order_of_rows_changes_nothing(seed, n, d, few_values):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X[:, 0] + 0.1 * rng.normal(size=n)
    if few_values:  # many rows are equal, in the inputs or in everything
        X, y = X.round(), y.round()
        y[0] += y.min() == y.max()
    listing = audit_labels(X, y, task="regression", random_state=0).sort_index()
    order = rng.permutation(n)
    other = audit_labels(X[order], y[order], task="regression", random_state=0)
    other.index = order[other.index]
    pd.testing.assert_frame_equal(other.sort_index(), listing, check_exact=True)


@pytest.mark.parametrize(("a", "b"), [(2.0**40, 0.0), (1e-9, 3.0), (-7.0, 1e3), (1e300, 0.0)])
def test_another_unit_of_the_values_changes_no_rank_and_no_probability(a, b, listing):
    X, y, _ = curved()
    other = audit_labels(X, a * y + b, task="regression", random_state=0)
    if a == 2.0**40:
        assert_array_equal(other.index, listing.index)
    rows, expected = other.sort_index(), listing.sort_index()
    assert_allclose(rows["error_probability"], expected["error_probability"], rtol=1e-4)
    assert_array_equal(other.index[:20], listing.index[:20])
    assert_allclose((rows["predicted_label"] - b) / a, expected["predicted_label"], rtol=1e-5)
    ends = ["low", "high"] if a > 0 else ["high", "low"]
    assert_allclose((rows[ends[0]] - b) / a, expected["low"], rtol=1e-5)


def test_another_unit_of_the_inputs_changes_nothing(listing):
    X, y, _ = curved()
    other = audit_labels(X * [2.0**-30, 2.0**900, 4.0], y, task="regression", random_state=0)
    pd.testing.assert_frame_equal(other, listing)


def test_threads_and_a_constant_column_change_nothing(listing):
    X, y, _ = curved()
    pd.testing.assert_frame_equal(
        audit_labels(X, y, task="regression", random_state=0, n_jobs=3), listing
    )
    again = audit_labels(
        np.column_stack([X, np.ones(len(y))]), y, random_state=0, task="regression"
    )
    assert again["is_label_issue"].sum() == listing["is_label_issue"].sum()


def test_without_refits_it_is_the_leave_one_out_of_the_committee(monkeypatch):
    monkeypatch.setattr(value_audit, "N_REFITS", 0)
    X, y, _ = curved(60)
    y = (y - y.mean()) / y.std()
    model = RVFLEnsembleRegressor(random_state=5).fit(X, y)
    assert_array_equal(predict_without(X, y, 5), model.loo_prediction_)


def test_a_value_has_no_say_in_what_is_expected_of_it():
    X, y, _ = curved(n_wrong=0)
    slipped = y.copy()
    slipped[17] *= 1e9
    before = audit_labels(X, y, task="regression", random_state=0).loc[17]
    after = audit_labels(X, slipped, task="regression", random_state=0)
    assert after.index[0] == 17
    assert after["is_label_issue"].sum() <= 3
    assert after.loc[17, "predicted_label"] == pytest.approx(before["predicted_label"], abs=0.3)


def test_inputs_that_predict_nothing_judge_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 2)), rng.normal(size=150)
    y[3] = 40
    with pytest.warns(UserWarning, match="hardly predict the values"):
        listing = audit_labels(X, y, task="regression", random_state=0)
    assert not listing["is_label_issue"].any()
    assert listing["error_probability"].isna().all()
    assert np.isnan(listing.attrs["noise_rate"])
    assert "none is flagged" in listing.attrs["warnings"][0]
    assert listing.index[0] == 3
    with pytest.warns(UserWarning, match="hardly predict"):
        audit_labels(np.ones((20, 2)), y[:20], random_state=0, task="regression")


def test_few_rows_and_repeated_rows_are_said():
    X, y, _ = curved(30, n_wrong=0)
    assert (
        "There are 30 rows"
        in audit_labels(X, y, task="regression", random_state=0).attrs["warnings"][0]
    )
    X, y, _ = curved(60, n_wrong=0)
    X, y = np.vstack([X, X[:3]]), np.append(y, y[:3])
    listing = audit_labels(X, y, task="regression", random_state=0)
    assert "3 rows repeat another one" in listing.attrs["warnings"][0]
    rows = listing.sort_index().to_numpy()
    assert_array_equal(rows[:3], rows[60:])


def test_more_rows_than_are_fitted_are_predicted_out_of_sample(monkeypatch):
    from granulearn.audit import value_audit

    monkeypatch.setattr(value_audit, "MAX_SAMPLES", 1_500)
    X, y, wrong = curved(3_000, n_wrong=60)
    listing = audit_labels(X, y, task="regression", random_state=0)
    assert listing["is_label_issue"].loc[np.flatnonzero(wrong)].all()
    assert listing["is_label_issue"].sum() < 90


def test_lists_whole_numbers_and_nullable_numbers_are_values(listing):
    X, y, _ = curved()
    pd.testing.assert_frame_equal(
        audit_labels(X.tolist(), y.tolist(), task="regression", random_state=0), listing
    )
    whole = (100 * y).astype(int)
    plain = audit_labels(X, whole, task="regression", random_state=0)
    nullable = audit_labels(X, pd.Series(whole, dtype="Int64"), task="regression", random_state=0)
    pd.testing.assert_frame_equal(nullable, plain, check_index_type=False)


BAD_VALUES = {
    "holds <U1 (a, b, c, ...)": lambda y: list("abcdefghij" * 20),
    "task='classification'": lambda y: y > 20,
    "holds datetime64": lambda y: np.arange(200).astype("datetime64[D]"),
    "2 missing or infinite values, the first at position 4": lambda y: _with(y, np.nan, np.inf),
    "1 missing or infinite values": lambda y: pd.Series([*y[1:], None], dtype="Float64"),
    "y has 2 dimensions, shape (200, 1)": lambda y: y[:, None],
    "all 200 values of y are 3": lambda y: np.full(200, 3.0),
    "X has 200 rows and y has 150 values": lambda y: y[:150],
    "y has 9 values, too few": lambda y: y[:9],
    "y has 0 values": lambda y: np.array([]),
    "y has 0 dimensions": lambda y: 7,
    "y must hold numbers": lambda y: np.array([*y[1:], "three"], dtype=object),
    "y is no list of numbers": lambda y: [[1], [2, 3], *y[2:].tolist()],
}


def _with(y, *values):
    y = y.copy()
    y[4 : 4 + len(values)] = values
    return y


@pytest.mark.parametrize("said", BAD_VALUES)
def test_values_that_cannot_be_audited_are_errors_that_say_why(said):
    X, y, _ = curved()
    with pytest.raises(ValueError) as raised:  # noqa: PT011
        audit_labels(X, BAD_VALUES[said](y), task="regression")
    assert said in str(raised.value)


def test_inputs_that_cannot_be_used_are_errors_that_say_why():
    X, y, _ = curved()
    holes = X.copy()
    holes[7, 2] = np.nan
    with pytest.raises(ValueError, match=r"1 missing .* row 7, column 2; fill them"):
        audit_labels(holes, y, task="regression")
    texts = X.astype(object)
    texts[0, 0] = "red"
    with pytest.raises(ValueError, match=r"X holds text .*'red'"):
        audit_labels(texts, y, task="regression")
    with pytest.raises(ValueError, match="0 feature"):
        audit_labels(X[:, :0], y, task="regression")
    with pytest.raises(ValueError, match="Expected 2D"):
        audit_labels(X[:, 0], y, task="regression")
