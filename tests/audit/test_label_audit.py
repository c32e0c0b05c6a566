"""Laws of the label audit."""

import numpy as np
import pandas as pd
import polars
import pytest
from imblearn.pipeline import make_pipeline as make_resampling_pipeline
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from granulearn.audit import LabelAudit, audit_labels, out_of_sample_proba
from granulearn.audit import label_audit as module
from granulearn.audit.label_audit import find_issues
from granulearn.audit.verified import check_verified
from granulearn.datasets import flip_labels
from granulearn.forest import BallForestClassifier
from tests.audit.tables import three_clouds

COLUMNS = [
    *("given_label", "predicted_label", "verdict", "error_probability", "label_quality"),
    *("is_label_issue", "verified"),
]


@parametrize_with_checks([LabelAudit()])
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_wrong_labels_come_first_are_flagged_and_get_the_right_suggestion():
    X, y, wrong = three_clouds()
    table = audit_labels(X, y, random_state=0)
    assert set(table.index[: wrong.sum()]) == set(np.flatnonzero(wrong))
    assert table["is_label_issue"].iloc[: wrong.sum()].all()
    assert table["is_label_issue"].sum() <= wrong.sum() + 3
    clean = three_clouds(rate=0.0)[1]
    assert_array_equal(table["predicted_label"].sort_index(), clean)


def test_the_table_is_indexed_like_the_input_and_sorted_worst_first():
    X, y, _ = three_clouds()
    frame = pd.DataFrame(X, index=[f"patient {i}" for i in range(len(X))]).add_prefix("x")
    table = audit_labels(frame, y, random_state=0)
    assert list(table.columns) == COLUMNS
    assert set(table.index) == set(frame.index)
    assert table["error_probability"].is_monotonic_decreasing
    assert_array_equal(table["given_label"].loc[frame.index], y)
    by_labels = audit_labels(X, pd.Series(y, index=frame.index), random_state=0)
    pd.testing.assert_frame_equal(by_labels, table)


def test_the_estimates_are_in_the_attributes_of_the_table():
    X, y, wrong = three_clouds()
    attrs = audit_labels(X, y, random_state=0).attrs
    assert attrs["noise_rate"] == pytest.approx(wrong.mean(), abs=0.03)
    assert attrs["noise_low"] <= wrong.mean() <= attrs["noise_high"]
    assert attrs["basis"] == "prior"
    assert f"{attrs['n_errors']:.0f} of 150 labels" in attrs["message"]
    assert list(attrs["expected_errors"]) == [20, 50, 100]
    assert attrs == LabelAudit(random_state=0).fit(X, y).summary().to_dict()


def few_of_many_classes():
    """Return inputs, 20 labels of each of 150 classes with mistakes, and the true ones."""
    rng = np.random.default_rng(0)
    true = np.repeat(np.arange(150), 20)
    X = rng.normal(scale=4, size=(150, 6))[true] + rng.normal(size=(3_000, 6))
    return X, flip_labels(true, 0.1, random_state=0).labels, true


@pytest.mark.parametrize("n_verified", [0, 40])
def test_count_list_and_forecast_agree_for_few_rows_of_each_of_many_classes(n_verified):
    X, y, truth = few_of_many_classes()
    audit = LabelAudit(n_estimators=30, random_state=0).fit(X, y)
    rows = audit.next_to_review(40, random_fraction=0.5)[:n_verified]
    rows["label"] = truth[rows.index]
    found = check_verified(rows, 3_000, audit.classes_, None)
    ratings, summary = audit.rated_with(found)
    proba = ratings.error_proba[ratings.open_rows]
    assert summary.n_errors == pytest.approx(proba.sum() + summary.n_found)
    assert summary.low <= summary.rate <= summary.high
    assert ratings.is_suspect.sum() == round(summary.errors_left)
    assert ratings.is_suspect[ratings.open_rows[: round(summary.errors_left)]].all()
    assert list(summary.expected_errors) == [20, 50, 100]
    for n_rows, expected in summary.expected_errors.items():
        assert expected == pytest.approx(proba[:n_rows].sum())
        assert expected <= summary.errors_left


def test_probabilities_are_those_of_the_ball_forest_and_label_quality_a_power_of_them():
    X, y, _ = three_clouds()
    audit = LabelAudit(random_state=3).fit(X, y)
    forest = BallForestClassifier(splitter="means", stop=0.8, random_state=3).fit(X, y)
    assert_array_equal(audit.out_of_sample_proba_, forest.oob_proba_)
    ratio = np.diff(np.log(audit.ratings_.proba)) / np.diff(np.log(audit.out_of_sample_proba_))
    assert_allclose(ratio, ratio[0, 0])
    own = audit.ratings_.proba[np.arange(150), audit.ratings_.given]
    assert_array_equal(audit.label_quality_, own)


def test_the_only_sample_of_a_class_is_unknown_last_and_never_flagged():
    X, y, _ = three_clouds()
    y = y.astype(object)
    y[7] = "yak"
    with pytest.warns(UserWarning, match="1 of 150 labels is unknown"):
        table = audit_labels(X, y, random_state=0)
    assert table.index[-1] == 7
    assert np.isnan(table["label_quality"].iloc[-1])
    assert table.loc[7, "predicted_label"] == "yak"
    assert not table.loc[7, "is_label_issue"]


def test_large_data_is_rated_by_smaller_trees_with_nearly_as_many_votes(monkeypatch):
    monkeypatch.setattr(module, "MAX_TREE_ROWS", 100)
    X, y, wrong = three_clouds(1000)
    audit = LabelAudit(random_state=0).fit(X, y)
    assert_array_equal(audit.in_bag_.sum(axis=1), 100)
    assert (~audit.in_bag_).sum(axis=0).mean() >= 20
    assert len(audit.in_bag_) == 23
    assert audit.is_label_issue_[wrong].mean() > 0.95


def test_dropping_and_relabelling_keep_types_and_indices():
    X, y, wrong = three_clouds()
    frame = pd.DataFrame(X).add_prefix("x")
    labels = pd.Series(y, index=frame.index, name="animal", dtype="category")
    audit = LabelAudit(random_state=0)
    kept_X, kept_y = audit.fit_resample(frame, labels)
    assert_array_equal(kept_X.index, np.flatnonzero(~wrong))
    assert kept_y.name == "animal"
    assert kept_y.dtype == "category"
    assert_array_equal(audit.sample_indices_, np.flatnonzero(~wrong))
    same_X, mended = LabelAudit("relabel", random_state=0).fit_resample(frame, labels)
    assert same_X is frame
    assert_array_equal(mended, three_clouds(rate=0.0)[1])
    assert mended.dtype == "category"
    plain_X, plain_y = LabelAudit(random_state=0).fit_resample(X, y)
    assert isinstance(plain_X, np.ndarray)
    assert len(plain_X) == len(plain_y) == (~wrong).sum()


def test_it_is_the_last_step_of_a_pipeline():
    X, y, wrong = three_clouds()
    pipeline = make_pipeline(StandardScaler(), LabelAudit(random_state=0)).fit(1000 * X, y)
    assert_array_equal(pipeline[-1].verdict_ == "wrong", wrong)


def test_it_is_a_step_of_imbalanced_learns_pipeline():
    X, y, wrong = three_clouds()
    model = make_resampling_pipeline(
        StandardScaler(), LabelAudit(random_state=0), BallForestClassifier(random_state=0)
    ).fit(X, y)
    assert len(model[-1].oob_proba_) == (~wrong).sum()


def test_text_one_class_and_wrong_settings_are_errors_that_say_what_to_do():
    X, y, _ = three_clouds()
    with pytest.raises(ValueError, match="'colour' of X holds text"):
        LabelAudit(categorical_features=None).fit(pd.DataFrame({"colour": y}), y)
    with pytest.raises(ValueError, match="only one class"):
        audit_labels(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="'action' parameter"):
        LabelAudit(action="delete").fit(X, y)


def test_nothing_is_forecast_where_nothing_is_known():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1_000, 4)), rng.integers(2, size=1_000)
    audit = LabelAudit(n_estimators=30, random_state=0).fit(X, y, verified={0: 0, 1: 1})
    assert set(audit.verdict_) == {"unknown", "fine"}
    assert audit.expected_errors() == {}


def test_groups_may_be_named_beside_numbers():
    X, y, _ = three_clouds()
    frame = pd.DataFrame(X).add_prefix("x").assign(who=np.arange(len(y)) % 7)
    by_name = audit_labels(frame, y, groups="who", random_state=0)
    assert set(by_name.index) == set(range(len(y)))


# --- probabilities of another model


@pytest.fixture(scope="module")
def rated():
    """Return inputs, labels, both with names, and probabilities of another model."""
    X, y, _ = three_clouds()
    names = pd.Index([f"patient {i}" for i in range(len(y))])
    frame, labels = pd.DataFrame(X, index=names).add_prefix("x"), pd.Series(y, index=names)
    return frame, labels, out_of_sample_proba(LogisticRegression(), frame, labels)


def test_probabilities_of_another_model_give_one_record(rated):
    X, y, proba = rated
    table, audit = audit_labels(X, y, proba=proba), LabelAudit().fit(X, y, proba=proba)
    pd.testing.assert_frame_equal(table, audit.to_frame())
    assert table.attrs == audit.summary().to_dict() | {"warnings": []}
    assert table.attrs["n_errors"] == pytest.approx(table["error_probability"].sum())
    assert table["is_label_issue"].sum() == round(table.attrs["n_errors"])


@pytest.mark.parametrize(
    "change",
    [
        lambda proba: proba[["emu", "cat", "dog"]],
        lambda proba: proba.sample(frac=1, random_state=0),
        lambda proba: proba.reset_index(drop=True),
        lambda proba: proba.to_numpy(),
        polars.from_pandas,
    ],
)
def test_the_order_of_named_columns_and_rows_changes_nothing(change, rated):
    X, y, proba = rated
    expected = audit_labels(X, y, proba=proba)
    found = audit_labels(X, y, proba=change(proba))
    pd.testing.assert_frame_equal(found, expected)
    assert found.attrs == expected.attrs


def test_inputs_may_be_left_out_beside_probabilities(rated):
    X, y, proba = rated
    expected, found = audit_labels(X, y, proba=proba), audit_labels(None, y, proba=proba)
    pd.testing.assert_frame_equal(found.drop(columns="verdict"), expected.drop(columns="verdict"))
    assert found.attrs | {"warnings": []} == expected.attrs
    audit = LabelAudit().fit(None, y, proba=proba, groups=np.arange(len(y)) % 9)
    assert not (audit.verdict_ == "outlier").any()
    assert not hasattr(audit, "n_features_in_")
    assert {issue.kind for issue in audit.issues_} <= {"overlapping classes", "doubtful block"}
    with pytest.raises(ValueError, match="X may be left out only where proba="):
        audit_labels(None, y)


# --- issues beside single labels


def planted():
    """Return a table with one issue of each kind, and the groups of its rows."""
    X, y, _ = three_clouds(900, rate=0.02)
    rng = np.random.default_rng(5)
    # Four more columns of noise, so that few columns predict the classes.
    X = np.column_stack([X, rng.normal(size=(900, 4))])
    rows = 400 + np.flatnonzero(rng.random(50) < 0.6)
    y[rows] = np.where(y[rows] == "cat", "dog", "cat")
    y = np.where((y == "emu") & (rng.random(900) < 0.5), "owl", y)
    X[11] = X[20]
    y[11], y[20] = "cat", "dog"
    X[30] = X[800] + 1e-5
    y[30] = y[800]
    X[60, 5] = 500
    groups = np.where(np.arange(900) < 700, "train", "test")
    X = np.column_stack([X, np.unique(y, return_inverse=True)[1] + 0.01 * rng.normal(size=900)])
    X[30, -1], X[11, -1] = X[800, -1], X[20, -1]
    return X, y, groups


def audited(X, y):
    return LabelAudit(random_state=0).fit(X, y).ratings_


@pytest.fixture(scope="module")
def case():
    X, y, groups = planted()
    # The last column leaks the target, so that an audit with it would doubt nothing.
    return X, audited(X[:, :-1], y), groups


def test_each_planted_issue_is_found(case):
    X, ratings, groups = case
    found = find_issues(X, ratings, groups=groups)
    kinds = {issue.kind: issue for issue in found}
    assert kinds["contradictory duplicates"].rows == (11, 20)
    assert (30, 800) in {issue.rows for issue in found if issue.kind == "duplicates across groups"}
    assert 60 in {row for issue in found if issue.kind == "outlier" for row in issue.rows}
    assert kinds["overlapping classes"].classes == ("emu", "owl")
    assert len(set(kinds["doubtful block"].rows) & set(range(400, 450))) > 35
    assert kinds["target leakage"].columns == ("column 8",)
    scores = [issue.score for issue in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert all(issue.message.endswith(".") for issue in found)


def test_a_clean_table_has_hardly_an_issue():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 5))
    y = (X.sum(axis=1) + rng.normal(size=800) > 0).astype(int)
    found = find_issues(X, audited(X, y), groups=np.arange(800) // 100)
    assert {issue.kind for issue in found} <= {"outlier"}
    assert len(found) <= 4


def test_names_positions_and_groups_are_as_a_reader_knows_them(case):
    X, ratings, _ = case
    names = [*"abcdefgh", ("kind", "yes")]
    found = find_issues(X, ratings, names=names, positions=np.arange(900) + 2)
    messages = {issue.kind: issue.message for issue in found}
    assert messages["target leakage"].startswith("kind = yes alone predicts")
    assert messages["contradictory duplicates"].startswith("Rows 13 and 22 have")
    assert "duplicates across groups" not in messages


def test_the_table_of_issues_has_a_row_for_each(case):
    X, y, _ = planted()
    audit = LabelAudit(random_state=0).fit(X, y)
    assert list(audit.issues.columns) == ["kind", "score", "rows", "columns", "classes", "message"]
    assert audit.issues["message"].tolist() == [issue.message for issue in audit.issues_]
    with pytest.raises(ValueError, match="names has 1 names, and X has 9 columns"):
        LabelAudit(random_state=0).fit(X, y, names=["a"])
    with pytest.raises(ValueError, match=r"rows has shape \(900, 2\), and X has 900 rows"):
        LabelAudit(random_state=0).fit(X, y, rows=np.zeros((900, 2)))
