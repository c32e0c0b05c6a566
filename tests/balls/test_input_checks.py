"""What the engine refuses, and what it says then."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from granulearn import GranularBalls, generate_balls

X = np.arange(12.0).reshape(6, 2)
Y = np.array([0, 0, 0, 1, 1, 1])


def with_value(value):
    changed = X.copy()
    changed[2, 1] = value
    return changed


BAD_INPUT = {
    "NaN": (with_value(np.nan), Y, ValueError, "contains NaN"),
    "infinity": (with_value(np.inf), Y, ValueError, "infinity"),
    "no labels": (X, None, ValueError, "y"),
    "one class": (X, np.zeros(6), ValueError, r"only one class \(0.0\), and there must be"),
    "missing label": (X, np.array([0, 0, 1, 1, np.nan, 0]), ValueError, "y contains NaN"),
    "labels are measurements": (X, np.arange(6) + 0.5, ValueError, "continuous"),
    "lengths differ": (X, Y[:5], ValueError, "inconsistent numbers of samples"),
    "empty table": (np.empty((0, 2)), [], ValueError, "0 sample"),
    "no columns": (np.empty((6, 0)), Y, ValueError, "0 feature"),
    "one dimension": (X[:, 0], Y, ValueError, "Expected 2D array"),
    "text": (
        pd.DataFrame({"age": X[:, 0], "city": list("abcdef")}),
        Y,
        ValueError,
        "column 'city' of X holds text, and inputs must be numbers.*OneHotEncoder",
    ),
    "text array": (X.astype(str).astype(object) + "x", Y, ValueError, "could not convert string"),
    "complex": (X + 1j, Y, ValueError, "Complex data not supported"),
    "sparse": (csr_array(X), Y, TypeError, "dense data is required.*toarray"),
}


@pytest.mark.parametrize("case", BAD_INPUT)
@pytest.mark.parametrize("make", [generate_balls, lambda X, y: GranularBalls().fit(X, y)])
def test_bad_input_is_named(case, make):
    bad_X, bad_y, error, message = BAD_INPUT[case]
    with pytest.raises(error, match=message):
        make(bad_X, bad_y)


BAD_SETTINGS = [
    ({"purity": 0.0}, r"purity=0\.0 must lie in \(0, 1\]"),
    ({"purity": 1.01}, r"purity=1\.01 must lie in \(0, 1\]"),
    ({"purity": "high"}, "purity='high' must lie in"),
    ({"purity": float("nan")}, "purity=nan must lie in"),
    ({"min_ball_size": 0}, "min_ball_size=0 must be a whole number from 1 up"),
    ({"min_ball_size": 1.5}, r"min_ball_size=1\.5 must be a whole number"),
    ({"min_ball_size": 7}, "min_ball_size=7 drops every ball.*lower min_ball_size"),
    ({"init": "random"}, "init='random' is not known; use one of 'k-means\\+\\+', 'class-means'"),
]


@pytest.mark.parametrize(("settings", "message"), BAD_SETTINGS)
@pytest.mark.parametrize(
    "make", [generate_balls, lambda X, y, **settings: GranularBalls(**settings).fit(X, y)]
)
def test_bad_settings_are_named(settings, message, make):
    with pytest.raises(ValueError, match=message):
        make(X, Y, **settings)


def test_a_failed_fit_leaves_no_balls():
    model = GranularBalls(min_ball_size=100)
    with pytest.raises(ValueError, match="drops every ball"):
        model.fit(X, Y)
    assert not hasattr(model, "balls_")
