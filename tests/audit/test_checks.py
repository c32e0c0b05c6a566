"""Laws of all checks together."""

import numpy as np
import pandas as pd
import pytest

from granulearn.audit import LabelAudit
from granulearn.audit.checks import find_issues, issues_frame
from tests.audit.tables import three_clouds


def planted():
    """Return a table with one issue of each kind, and the groups of its rows."""
    X, y, _ = three_clouds(900, rate=0.02)
    rng = np.random.default_rng(5)
    # Four more columns that say nothing, so that few columns tell the classes.
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
    assert kinds["contradictory copies"].rows == (11, 20)
    assert (30, 800) in {issue.rows for issue in found if issue.kind == "copies across groups"}
    assert 60 in {row for issue in found if issue.kind == "outlier" for row in issue.rows}
    assert kinds["overlapping classes"].classes == ("emu", "owl")
    assert len(set(kinds["doubtful block"].rows) & set(range(400, 450))) > 35
    assert kinds["giveaway column"].columns == ("column 8",)
    scores = [issue.score for issue in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert all(issue.words.endswith(".") for issue in found)


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
    words = {issue.kind: issue.words for issue in found}
    assert words["giveaway column"].startswith("kind = yes alone tells")
    assert words["contradictory copies"].startswith("Rows 13 and 22 have")
    assert "copies across groups" not in words


def test_threads_and_the_order_of_rows_change_nothing(case):
    X, ratings, groups = case
    plain = find_issues(X, ratings, groups=groups)
    assert find_issues(X, ratings, groups=groups, n_threads=3) == plain
    order = np.random.default_rng(1).permutation(900)
    per_row = (
        "given",
        "proba",
        "label_quality",
        "error_proba",
        "predicted",
        "verdicts",
        "verified",
    )
    moved = type(ratings)(
        classes=ratings.classes, **{name: getattr(ratings, name)[order] for name in per_row}
    )
    others = find_issues(X[order], moved, groups=groups[order], positions=order)

    def plain_facts(found, number):
        return sorted(
            (issue.kind, round(issue.score, 9), tuple(sorted(number[list(issue.rows)].tolist())))
            for issue in found
        )

    assert plain_facts(others, order) == plain_facts(plain, np.arange(900))


def test_the_table_has_a_line_for_each_issue(case):
    X, ratings, groups = case
    found = find_issues(X, ratings, groups=groups)
    table = issues_frame(found)
    assert list(table.columns) == ["kind", "score", "rows", "columns", "classes", "words"]
    assert table["words"].tolist() == [issue.words for issue in found]
    empty = issues_frame([])
    assert list(empty.columns) == list(table.columns)
    assert isinstance(empty, pd.DataFrame)
    assert len(empty) == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"groups": [1, 2]}, "groups are of 2 rows, and X has 900"),
        ({"positions": np.zeros((900, 2))}, "positions must have one value per row"),
        ({"names": ["a"]}, "names has 1 names, and X has 9 columns"),
    ],
)
def test_what_does_not_fit_the_rows_is_an_error(case, settings, message):
    X, ratings, _ = case
    with pytest.raises(ValueError, match=message):
        find_issues(X, ratings, **settings)


def test_other_rows_and_missing_numbers_are_errors(case):
    X, ratings, _ = case
    with pytest.raises(ValueError, match="ratings are of 900 rows, and X has 10"):
        find_issues(X[:10], ratings)
    holes = X.copy()
    holes[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        find_issues(holes, ratings)
