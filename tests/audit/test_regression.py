"""Laws of the audit of numbers."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from granulearn.audit import audit_labels, regression
from granulearn.audit.regression import (
    distances,
    error_probability,
    read_numbers,
    weighted_quantile,
)
from granulearn.tables import TableError

COLUMNS = ["given_label", "predicted_label", "low", "high", "error_probability", "is_label_issue"]


def curved(n=200, n_wrong=5, seed=0):
    """Return inputs, values of which some were changed, and where."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 3))
    y = 20 + 5 * X[:, 0] + 3 * np.sin(3 * X[:, 1]) + 0.3 * rng.normal(size=n)
    wrong = np.zeros(n, dtype=bool)
    wrong[rng.permutation(n)[:n_wrong]] = True
    return X, np.where(wrong, y + 8 * rng.choice([-1, 1], n), y), wrong


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


def test_flags_rate_and_forecast_are_sums_of_the_probabilities(listing):
    proba, attrs = listing["error_probability"], listing.attrs
    assert attrs["n_labels"] == 200
    assert attrs["n_errors"] == pytest.approx(proba.sum())
    assert attrs["noise_rate"] == pytest.approx(proba.mean())
    assert_array_equal(listing["is_label_issue"], np.arange(200) < round(attrs["n_errors"]))
    assert attrs["expected_errors"] == pytest.approx({k: proba[:k].sum() for k in (20, 50, 100)})
    assert f"About {attrs['n_errors']:.0f} of 200 values (" in attrs["message"]
    few = audit_labels(*curved(30)[:2], task="regression", random_state=0).attrs
    assert list(few["expected_errors"]) == [20, 30]


def test_values_of_other_rows_are_found_as_often_as_they_are_flagged():
    X, y, _ = curved(600, n_wrong=0)
    rng = np.random.default_rng(1)
    wrong = rng.random(600) < 0.1
    listing = audit_labels(
        X, np.where(wrong, rng.permutation(y), y), task="regression", random_state=0
    ).sort_index()
    flagged = listing["is_label_issue"].to_numpy()
    assert wrong[flagged].mean() > 0.8
    assert flagged[wrong].mean() > 0.6


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


@pytest.mark.parametrize(("a", "b"), [(1e-9, 3.0), (-7.0, 1e3)])
def test_another_unit_of_the_values_changes_no_rank_and_no_probability(a, b, listing):
    X, y, _ = curved()
    other = audit_labels(X, a * y + b, task="regression", random_state=0)
    rows, expected = other.sort_index(), listing.sort_index()
    assert_allclose(rows["error_probability"], expected["error_probability"], rtol=1e-4)
    assert_array_equal(other.index[:20], listing.index[:20])
    assert_allclose((rows["predicted_label"] - b) / a, expected["predicted_label"], rtol=1e-5)
    ends = ["low", "high"] if a > 0 else ["high", "low"]
    assert_allclose((rows[ends[0]] - b) / a, expected["low"], rtol=1e-5)


def test_another_unit_of_the_inputs_changes_nothing(listing):
    X, y, _ = curved()
    other = audit_labels(X * [2.0**-30, 2.0**90, 4.0], y, task="regression", random_state=0)
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
    assert np.isnan([listing.attrs["noise_rate"], listing.attrs["n_errors"]]).all()
    assert listing.attrs["expected_errors"] == {}
    assert listing.attrs["message"] == listing.attrs["warnings"][0]
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


def test_more_rows_than_are_fitted_are_predicted_out_of_sample(monkeypatch):
    monkeypatch.setattr(regression, "MAX_SAMPLES", 1_500)
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
    "(a, b, c, ...): convert it": lambda y: list("abcdefghij" * 20),
    "task='classification'": lambda y: y > 20,
    "holds datetime64": lambda y: np.arange(200).astype("datetime64[D]"),
    "2 missing or infinite values, the first at position 4": lambda y: _with(y, np.nan, np.inf),
    "1 missing or infinite values": lambda y: pd.Series([*y[1:], None], dtype="Float64"),
    "must be 1-dimensional": lambda y: y[:, None],
    "all 200 values of y are 3": lambda y: np.full(200, 3.0),
    "inconsistent numbers of samples: [200, 150]": lambda y: y[:150],
    "y has 9 values, too few": lambda y: y[:9],
    "y has 0 values": lambda y: np.array([]),
    "y must hold numbers": lambda y: np.array([*y[1:], "three"], dtype=object),
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
    endless = X.copy()
    endless[7, 2] = np.inf
    with pytest.raises(ValueError, match="X contains infinity"):
        audit_labels(endless, y, task="regression")
    texts = X.astype(object)
    texts[0, 0] = "red"
    with pytest.raises(ValueError, match="'red'"):
        audit_labels(texts, y, task="regression")
    with pytest.raises(ValueError, match="0 feature"):
        audit_labels(X[:, :0], y, task="regression")
    with pytest.raises(ValueError, match="Expected 2D"):
        audit_labels(X[:, 0], y, task="regression")


# --- ratings


@given(st.integers(0, 10**6), st.integers(3, 80), st.integers(1, 4))
def test_distances_are_in_units_of_the_residuals_of_near_rows(seed, n, d):
    rng = np.random.default_rng(seed)
    X, expected, residuals = rng.normal(size=(n, d)), rng.normal(size=n), rng.normal(size=n)
    points = np.column_stack([X / np.sqrt(X.var(axis=0).sum()), expected / expected.std()])
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    np.fill_diagonal(apart, np.inf)
    nearest = np.argsort(apart, axis=1)[:, : min(50, n - 1)]
    far = np.take_along_axis(apart, nearest[:, :10], axis=1).mean(axis=1)
    factors = np.sqrt(np.maximum(far / np.median(far), 1))
    sizes = np.abs(residuals) / factors / stats.norm.ppf(0.75)
    own = [np.median(sizes[rows]) for rows in nearest]
    units = factors * np.sqrt(0.8 * np.square(own) + 0.2 * np.median(sizes) ** 2)
    distance, spread = distances(X, expected, residuals)
    assert_allclose(spread, units)
    assert_allclose(distance, np.abs(residuals) / units)


def test_spread_follows_the_neighbours_and_rows_that_are_all_equal_have_one():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(600, 1))
    residuals = rng.normal(size=600) * np.where(X[:, 0] > 0, 5, 1)
    spread = distances(X, np.zeros(600), residuals)[1]
    assert 3 < np.median(spread[X[:, 0] > 0.2]) / np.median(spread[X[:, 0] < -0.2]) < 6
    assert np.ptp(distances(np.ones((40, 2)), np.ones(40), np.ones(40))[1]) == 0


SIZES = arrays(float, st.integers(1, 60), elements=st.floats(0, 1e6, allow_subnormal=False))


@given(SIZES)
def test_what_is_farther_is_more_probably_wrong(distance):
    proba = error_probability(distance)
    assert ((proba >= 0) & (proba <= 1)).all()
    assert (np.diff(proba[np.argsort(distance)]) >= -1e-12).all()


@pytest.mark.parametrize("share", [0.0, 0.05, 0.2])
def test_where_the_assumptions_hold_probabilities_are_right_or_too_low(share):
    rng = np.random.default_rng(0)
    n = 20_000
    wrong = rng.random(n) < share
    right_ones = stats.t(7).rvs(n, random_state=1)
    distance = np.abs(np.where(wrong, 5 * stats.t(3).rvs(n, random_state=2), right_ones))
    proba = error_probability(distance)
    # Wrong values widen what counts as typical, so that many are estimated as fewer.
    assert 0.65 * share <= proba.mean() <= share + 0.02
    middle = (proba > 0.3) & (proba < 0.9)
    if share:
        assert wrong[middle].mean() >= proba[middle].mean() - 0.08
        assert wrong[proba > 0.9].mean() > 0.95
    else:
        assert (proba > 0.5).mean() < 0.002


def test_a_weighted_quantile_counts_weights_as_repeated_values():
    values, counts = np.array([3.0, 1.0, 2.0, 9.0]), np.array([2, 5, 3, 0])
    repeated = np.sort(np.repeat(values, counts))
    for share in (0.05, 0.5, 0.55, 0.8, 0.95, 1.0):
        expected = repeated[int(np.ceil(share * len(repeated))) - 1]
        assert weighted_quantile(values, counts.astype(float), share) == expected


# --- raw tables


def flats(n=120) -> pd.DataFrame:
    """Return a table of texts as people write them, with some wrong rents."""
    X, y, _ = curved(n, n_wrong=3)
    rng = np.random.default_rng(1)
    city = rng.choice(["Graz", "Lyon", "Oslo"], n)
    rent = 50 * y + 200 * (city == "Oslo")
    frame = pd.DataFrame(
        {
            "size": [f"{value:.3f} m²".replace(".", ",") for value in X[:, 0]],
            "age": X[:, 1],
            "city": city,
            "street": [f"street {k}" for k in rng.integers(0, 50, n)],
            "rent": [f"{value:.2f} €".replace(".", ",") for value in rent],
        },
        index=[f"flat {row}" for row in range(n)],
    )
    frame.iloc[4, frame.columns.get_loc("size")] = "n/a"
    return frame


@pytest.fixture(name="frame", scope="module")
def flats_frame():
    return flats()


@pytest.fixture(name="rents", scope="module")
def audited_rents(frame):
    return audit_labels(frame, "rent", task="regression", random_state=0)


def test_wrong_values_of_a_raw_table_come_first(frame, rents):
    _, _, wrong = curved(120, n_wrong=3)
    assert set(rents.index[:3]) == set(frame.index[wrong])
    assert rents["is_label_issue"].iloc[:3].all()
    assert rents.attrs["warnings"] == []
    shown = frame["rent"].str.removesuffix(" €").str.replace(",", ".").astype(float)
    assert_array_equal(rents["given_label"], shown.loc[rents.index])


@pytest.mark.parametrize("as_values", [pd.Series, list, np.asarray])
def test_values_beside_a_raw_table_equal_those_in_it(as_values, frame, rents):
    found = audit_labels(
        frame.drop(columns="rent"), as_values(frame["rent"]), task="regression", random_state=0
    )
    pd.testing.assert_frame_equal(found, rents)


def test_rows_without_a_number_are_left_out_and_said(frame):
    some = frame.copy()
    some.iloc[10:20, some.columns.get_loc("rent")] = None
    found = audit_labels(some, "rent", task="regression", random_state=0)
    expected = audit_labels(
        some.drop(index=some.index[10:20]), "rent", task="regression", random_state=0
    )
    pd.testing.assert_frame_equal(found, expected)
    assert "10 rows have no number in 'rent': left out." in found.attrs["warnings"]


def test_a_cell_that_is_no_number_is_named(frame):
    some = frame.copy()
    some.iloc[7, some.columns.get_loc("rent")] = "ask"
    found = audit_labels(some, "rent", task="regression", random_state=0)
    assert "'ask' at row 8" in found.attrs["warnings"][0]
    assert "1 row has no number in 'rent': left out." in found.attrs["warnings"]
    assert "flat 7" not in found.index


def test_a_copy_of_the_target_in_other_units_is_left_out(frame, rents):
    dollars = rents["given_label"].loc[frame.index] * 1.1 + 3
    found = audit_labels(frame.assign(dollars=dollars), "rent", task="regression", random_state=0)
    assert "'dollars' holds the target itself" in found.attrs["warnings"][0]
    pd.testing.assert_frame_equal(found, rents)


def test_a_target_that_numbers_rows_or_looks_like_an_id_is_a_target(frame):
    numbered = frame.assign(order_id=np.arange(len(frame)) * 3 + 5)
    with pytest.warns(UserWarning, match=r"left out: 'order_id' \(ID\)"):
        found = audit_labels(numbered, "rent", task="regression", random_state=0)
    assert len(found) == len(frame)
    _, values, _ = read_numbers({"x": np.arange(30.0) ** 2, "id": list(range(30))}, "id")
    assert_array_equal(values, np.arange(30))


def test_a_table_that_cannot_be_audited_says_why(frame):
    with pytest.raises(TableError, match=r"no column 'rents'.*'rent'"):
        audit_labels(frame, "rents", task="regression")
    with pytest.raises(TableError, match=r"'city', the target, holds no numbers .*'category'"):
        audit_labels(frame, "city", task="regression")
    with pytest.raises(TableError, match="no column to learn from"):
        audit_labels(frame[["rent"]], "rent", task="regression")
    with pytest.raises(ValueError, match=r"length must match .* 120 but got length 100"):
        audit_labels(frame, np.arange(100.0), task="regression")
    with pytest.raises(ValueError, match="all 120 values of y are 3"):
        audit_labels(frame.assign(rent=3.0), "rent", task="regression")
    with pytest.raises(ValueError, match="too few"):
        audit_labels(frame.iloc[:6], "rent", task="regression")
