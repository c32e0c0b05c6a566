"""Laws of target leakage."""

import numpy as np
import pytest

from granulearn.audit.leakage import LEAK, find_leaks
from granulearn.tables.checks import MIN_ROWS


def table(n=600, d=6, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.integers(n_classes, size=n)


def give(X, codes, sources=None):
    names = [f"x{j}" for j in range(X.shape[1])]
    sample = np.random.default_rng(0).permutation(len(X))
    return find_leaks(X, codes, np.arange(codes.max() + 1), names, sample, sources or names)


def planted(codes, kind, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "copy": codes.astype(float),
        "code": np.array([7.0, -3.0, 100.0])[codes],
        "noisy copy": codes + 0.1 * rng.normal(size=len(codes)),
        "score": np.array([2.0, 0.0, 1.0])[codes] + 0.8 * rng.random(len(codes)),
        "several codes": 3.0 * rng.integers(5, size=len(codes)) + codes,
    }[kind]


# Fifteen values of sixty rows may name the classes by chance, so they are not judged.
@pytest.mark.parametrize(
    ("kind", "n"),
    [(kind, n) for kind in ("copy", "code", "noisy copy", "score") for n in (60, 600, 5000)]
    + [("several codes", 600), ("several codes", 5000)],
)
def test_a_column_that_tells_the_classes_is_found_alone(kind, n):
    X, codes = table(n)
    X[:, 4] = planted(codes, kind)
    (issue,) = give(X, codes)
    assert issue.kind == LEAK
    assert issue.columns == ("x4",)
    assert issue.score >= 0.995
    assert "leave it out" in issue.message


def test_half_a_percent_of_slips_is_still_found_and_five_are_not():
    X, codes = table(2000)
    rows = np.random.default_rng(1).permutation(2000)
    for n_slips, n_found in ((8, 1), (100, 0)):
        column = codes.astype(float)
        column[rows[:n_slips]] = (column[rows[:n_slips]] + 1) % 3
        X[:, 2] = column
        assert len(give(X, codes)) == n_found


def test_honest_columns_constant_ones_and_numbers_of_rows_do_not_leak():
    X, codes = table()
    X[:, 0] += codes
    X[:, 1] = 5.0
    X[:, 2] = np.arange(len(X))
    assert give(X, codes) == []


def test_an_easy_task_and_a_single_column_do_not_leak():
    X, codes = table()
    X[:, :3] += 20 * codes[:, None]
    assert give(X, codes) == []
    assert give(codes[:, None].astype(float), codes) == []


def test_columns_of_one_source_count_once():
    X, codes = table(n_classes=2)
    X = np.column_stack([X[:, :2], codes, 1.0 - codes])
    assert give(X, codes) == []
    sources = ["x0", "x1", "kind", "kind"]
    assert [issue.columns for issue in give(X, codes, sources)] == [("x2",), ("x3",)]


def test_so_few_rows_do_not_leak():
    for n, n_found in ((MIN_ROWS - 1, 0), (MIN_ROWS, 1)):
        X, codes = table(n, n_classes=2)
        X[:, 4] = codes
        assert len(give(X, codes)) == n_found
