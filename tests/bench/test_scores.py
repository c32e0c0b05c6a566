"""Scores against scikit-learn and by hand."""

from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, get_scorer, get_scorer_names

from granulearn.bench import StudyError
from granulearn.bench.scores import (
    OWN_SCORES,
    SINGLE_BALLS,
    TIMES,
    Prediction,
    calibration_error,
    check_score,
    geometric_mean,
    higher_is_better,
    needed_for,
    rare_average_precision,
    scoring_for_tuning,
)
from granulearn.rvfl import GBRVFLClassifier


@pytest.fixture
def prediction():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 3))
    y = np.where(X[:, 0] + rng.standard_normal(90) > 0.7, "yes", "no")
    model = LogisticRegression().fit(X[:60], y[:60])
    return Prediction(model, X[60:], y[60:], model.predict(X[60:]))


@pytest.mark.parametrize(
    ("name", "scorer", "sign"),
    [
        ("accuracy", "accuracy", 1),
        ("balanced_accuracy", "balanced_accuracy", 1),
        ("macro_f1", "f1_macro", 1),
        ("log_loss", "neg_log_loss", -1),
        ("matthews_corrcoef", "matthews_corrcoef", 1),
    ],
)
def test_a_score_is_scikit_learns(prediction, name, scorer, sign):
    theirs = get_scorer(scorer)(prediction.model, prediction.X, prediction.y)
    assert prediction.score(name) == pytest.approx(sign * theirs)


def test_geometric_mean_of_recalls_by_hand():
    y_true = np.array([0, 0, 0, 0, 1, 1])
    y_pred = np.array([0, 0, 0, 1, 1, 0])
    assert geometric_mean(y_true, y_pred) == pytest.approx(np.sqrt(3 / 4 * 1 / 2))


@pytest.mark.parametrize("name", ["macro_f1", "geometric_mean", "log_loss", "accuracy"])
def test_tuning_by_a_score_prefers_the_better_model(prediction, name):
    scoring = scoring_for_tuning(name)
    scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
    value = scorer(prediction.model, prediction.X, prediction.y)
    sign = 1 if higher_is_better(name) else -1
    assert value == pytest.approx(sign * prediction.score(name))


@pytest.mark.parametrize("name", get_scorer_names())
def test_what_a_scorer_of_scikit_learn_needs_is_what_it_asks_for(name):
    asked = get_scorer(name)._response_method
    asked = (asked,) if isinstance(asked, str) else tuple(asked)
    assert needed_for(name) == (() if asked == ("predict",) else asked)


@pytest.mark.parametrize("name", [n for n in OWN_SCORES if n not in (SINGLE_BALLS, *TIMES)])
def test_a_score_of_ours_that_is_said_to_need_nothing_asks_for_labels_only(name):
    labels_only = Prediction(object(), np.zeros((2, 1)), np.array([0, 1]), np.array([0, 1]))
    needs = pytest.raises(AttributeError, match="predict_proba")
    with needs if needed_for(name) else nullcontext():
        labels_only.score(name)


def test_unknown_scores_get_a_suggestion():
    check_score("roc_auc")
    with pytest.raises(StudyError, match="did you mean 'balanced_accuracy'"):
        check_score("balanced_acuracy")


def test_single_balls_is_the_share_of_balls_of_one_sample():
    X = np.array([[0.0], [0.1], [9.0], [9.1], [30.0]])
    y = np.array([0, 0, 1, 1, 0])
    model = GBRVFLClassifier(purity=1.0, random_state=0).fit(X, y)
    share = Prediction(model, X, y, model.predict(X)).score("single_balls")
    assert share == pytest.approx(np.mean(model.balls_.counts == 1))
    assert 0 < share < 1
    assert not higher_is_better("single_balls")
    check_score("single_balls")


def slow_calibration_error(right, confidence, n_bins):
    total = 0.0
    for k in range(n_bins):
        low, high = np.linspace(0, 1, n_bins + 1)[[k, k + 1]]
        last = k == n_bins - 1
        inside = [i for i, p in enumerate(confidence) if low <= p < high or (last and p == 1)]
        if inside:
            hits = sum(right[i] for i in inside) / len(inside)
            claim = sum(confidence[i] for i in inside) / len(inside)
            total += len(inside) / len(right) * abs(hits - claim)
    return total


PROBABILITIES = st.one_of(st.floats(0, 1), st.integers(0, 15).map(lambda k: k / 15))


@given(
    st.lists(st.tuples(st.booleans(), PROBABILITIES), min_size=1, max_size=60),
    st.sampled_from([1, 2, 10, 15]),
)
def test_calibration_error_is_that_of_its_slow_twin(predictions, n_bins):
    right, confidence = map(np.array, zip(*predictions, strict=True))
    found = calibration_error(right, confidence, n_bins)
    assert found == pytest.approx(slow_calibration_error(right, confidence, n_bins), abs=1e-12)


def test_average_precision_is_that_of_the_rarest_class(prediction):
    assert (prediction.y == "yes").sum() < (prediction.y == "no").sum()
    yes = prediction.model.predict_proba(prediction.X)[:, 1]
    expected = average_precision_score(prediction.y == "yes", yes)
    assert prediction.score("rare_average_precision") == expected


def test_of_equally_rare_classes_the_last_one_counts():
    shares = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.1, 0.9]])
    y = np.array(["b", "a", "b", "a"])
    found = rare_average_precision(y, shares, np.array(["a", "b"]))
    assert found == pytest.approx((1 / 2 + 2 / 4) / 2)
    with pytest.raises(ValueError, match="'b' is not in the training part"):
        rare_average_precision(y, shares, np.array(["a", "c"]))
