"""Wrong calls of the Python API: each is refused in words, by the right type."""

import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError

import granulearn as g
from granulearn import balls, bench, datasets, models, tables
from granulearn.audit import LabelAudit
from granulearn.utils.validation import check_samples

X, Y = make_classification(60, 4, random_state=0)
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(label=np.where(Y, "yes", "no"))
NAN = np.where(X[3, 1] == X, np.nan, X)
TEXT = FRAME.assign(a="much")[list("abcd")]
CLASSIFIERS = [
    g.RVFLClassifier,
    g.SDAPGBRVFLClassifier,
    g.BallForestClassifier,
    g.RobustClassifier,
    g.GranularBallKNNClassifier,
]


def fitted(kind):
    return (
        kind(random_state=0).fit(X, Y)
        if "random_state" in kind().get_params()
        else kind().fit(X, Y)
    )


# What every classifier refuses: a name, the call, the error and words of its message.
OF_CLASSIFIERS = {
    "no samples": (lambda kind: kind().fit(X[:0], Y[:0]), ValueError, "0 sample"),
    "one class": (lambda kind: kind().fit(X, np.zeros(60)), ValueError, "one class"),
    "NaN": (lambda kind: kind().fit(NAN, Y), ValueError, "NaN, a missing cell; fill it by"),
    "numbers as labels": (lambda kind: kind().fit(X, X[:, 0]), ValueError, "continuous"),
    "text": (lambda kind: kind().fit(TEXT, Y), ValueError, "'a' of X holds text"),
    "not fitted": (lambda kind: kind().predict(X), NotFittedError, "not fitted"),
    "other features": (lambda kind: fitted(kind).predict(X[:, :2]), ValueError, "2 features"),
    "missing labels": (
        lambda kind: kind().fit(X, np.where(Y, np.nan, 1.0)),
        ValueError,
        "NaN",
    ),
}


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize("wrong", OF_CLASSIFIERS)
def test_a_classifier_refuses_a_wrong_call_in_words(kind, wrong):
    call, error, words = OF_CLASSIFIERS[wrong]
    if wrong in ("NaN", "text") and hasattr(kind, "preprocessor_"):
        kind = partial(kind, categorical_features=None)  # else it takes them
    with pytest.raises(error, match=re.escape(words)):
        call(kind)


BAD_CALLS = {
    # settings
    "C of zero": (lambda: g.RVFLClassifier(C=0).fit(X, Y), ValueError, "'C' parameter"),
    "n_hidden": (lambda: g.RVFLClassifier(n_hidden=-1).fit(X, Y), ValueError, "'n_hidden'"),
    "activation": (lambda: g.RVFLClassifier(activation="x").fit(X, Y), ValueError, "'activation'"),
    "random_state": (
        lambda: g.RVFLClassifier(random_state="x").fit(X, Y),
        ValueError,
        "random_state",
    ),
    "balls": (lambda: g.GBRVFLClassifier(balls="cubes").fit(X, Y), ValueError, "cubes"),
    "membership": (lambda: g.GBRVFLClassifier(membership="x").fit(X, Y), ValueError, "'x'"),
    "unknown setting": (lambda: g.RVFLClassifier().set_params(nope=1), ValueError, "nope"),
    "n_estimators": (
        lambda: g.BallForestClassifier(n_estimators=0).fit(X, Y),
        ValueError,
        "n_estimators",
    ),
    "noise_matrix": (
        lambda: g.RobustClassifier(noise_matrix=2.0).fit(X, Y),
        ValueError,
        "noise_matrix",
    ),
    "class_weight that is infinite": (
        lambda: g.GBRVFLClassifier(class_weight={0: np.inf, 1: 1.0}).fit(X, Y),
        ValueError,
        "class_weight",
    ),
    "class_weight": (
        lambda: g.RVFLClassifier(class_weight={0: np.nan}).fit(X, Y),
        ValueError,
        "class_weight",
    ),
    "sample_weight": (
        lambda: g.RVFLClassifier().fit(X, Y, sample_weight=np.full(60, -1.0)),
        ValueError,
        "negative",
    ),
    "huge numbers": (
        lambda: g.RVFLClassifier().fit(X * 1e200, Y),
        ValueError,
        "too large to be squared",
    ),
    # regressors
    "regression of NaN": (lambda: g.RVFLRegressor().fit(X, np.full(60, np.nan)), ValueError, "NaN"),
    "regression of text": (
        lambda: g.RVFLRegressor().fit(X, ["a"] * 60),
        ValueError,
        "string to float",
    ),
    # balls
    "generator": (lambda: g.generate_balls(X, Y, balls="cubes"), ValueError, "cubes"),
    "function that returns nothing": (
        lambda: g.generate_balls(X, Y, balls=lambda samples: None),
        (TypeError, ValueError),
        "BallSet",
    ),
    "groups": (
        lambda: balls.balls_from_labels(check_samples(X, Y), [0]),
        ValueError,
        "one whole number",
    ),
    # memberships
    "number of neighbours": (
        lambda: balls.SDAPMembership(n_neighbors=0)(g.generate_balls(X, Y)),
        ValueError,
        "n_neighbors",
    ),
    "fuzzy without samples": (
        lambda: balls.FuzzyMembership()(g.generate_balls(X, Y)),
        ValueError,
        "call it with X and y",
    ),
    "function out of range": (
        lambda: g.GBRVFLClassifier(membership=lambda made: np.full(len(made), 7.0)).fit(X, Y),
        ValueError,
        "[0, 1]",
    ),
    # search
    "grid without a candidate": (
        lambda: g.PathSearchCV(g.RVFLClassifier(), {"C": []}).fit(X, Y),
        ValueError,
        "C",
    ),
    "way of selection": (
        lambda: g.PathSearchCV(g.RVFLClassifier(), {"C": [1.0]}, selection="x").fit(X, Y),
        ValueError,
        "selection",
    ),
    "too many folds": (
        lambda: g.PathSearchCV(g.RVFLClassifier(), {"C": [1.0]}, cv=61).fit(X, Y),
        ValueError,
        "n_splits",
    ),
    # audit
    "audit of one class": (lambda: g.audit_labels(X, np.zeros(60)), ValueError, "one class"),
    "audit without a target": (lambda: g.audit_labels(FRAME, "nope"), ValueError, "nope"),
    "audit of groups": (lambda: g.audit_labels(X, Y, groups=[1, 2]), ValueError, "groups"),
    "audit of one group": (
        lambda: g.audit_labels(X, Y, groups=np.ones(60)),
        ValueError,
        "one group",
    ),
    "audit of no times": (lambda: g.audit_labels(X, Y, times=np.ones(60)), ValueError, "times"),
    "audit that is not fitted": (
        lambda: LabelAudit().next_to_review(3),
        NotFittedError,
        "not fitted",
    ),
    "values of text": (
        lambda: g.audit_labels(X, ["a"] * 60, task="regression"),
        ValueError,
        "y must hold numbers",
    ),
    # tables
    "table that is not there": (
        lambda: tables.open_table("nowhere.csv"),
        (OSError, ValueError),
        "nowhere.csv",
    ),
    "target that is not there": (
        lambda: g.TableClassifier().fit(FRAME, "nope"),
        ValueError,
        "nope",
    ),
    "table of numbers": (
        lambda: g.TableClassifier().fit(3, "label"),
        ValueError,
        "int is no table",
    ),
    "table without rows": (lambda: g.TableClassifier().fit(FRAME[:0], "label"), ValueError, "row"),
    "table of one class": (
        lambda: g.TableClassifier().fit(FRAME.assign(label="yes"), "label"),
        ValueError,
        "class",
    ),
    "groups that are missing": (
        lambda: g.RobustClassifier().fit(X, Y, groups=[None] * 60),
        ValueError,
        "groups has 60 missing entries",
    ),
    "groups of annotators with labels": (
        lambda: LabelAudit().fit(X, Y, groups_of_annotators=["a", "b"]),
        ValueError,
        "groups_of_annotators goes with annotations, not with y",
    ),
    "table that is sparse": (
        lambda: g.TableClassifier().fit(csr_array(X), Y),
        ValueError,
        "X is sparse, and must be dense; pass X.toarray()",
    ),
    "table without inputs": (
        lambda: g.TableClassifier().fit(FRAME[["label"]], "label"),
        ValueError,
        "column",
    ),
    "rows without a column": (
        lambda: g.TableClassifier(model="rvfl").fit(FRAME, "label").predict(FRAME[["a", "b"]]),
        ValueError,
        "'c'",
    ),
    "table model that is not fitted": (
        lambda: g.TableClassifier().predict(FRAME),
        NotFittedError,
        "not fitted",
    ),
    # data sets, noise
    "unknown data set": (lambda: datasets.load("nope"), datasets.UnknownDatasetError, "nope"),
    "data set without a name": (lambda: datasets.load(None), TypeError, "name of a data set"),
    "noise of 200 %": (lambda: datasets.flip_labels(Y, 2.0, "uniform"), ValueError, "2"),
    "unknown noise": (lambda: datasets.flip_labels(Y, 0.1, "pink"), ValueError, "pink"),
    # files
    "model that is not there": (
        lambda: models.load_model("nowhere.granulearn"),
        models.ModelFileError,
        "nowhere.granulearn",
    ),
    "model that is no file": (
        lambda: models.load_model("."),
        models.ModelFileError,
        "not a file",
    ),
    "saved without a fit": (
        lambda: models.save_model(g.RVFLClassifier(), "never.granulearn"),
        models.ModelFileError,
        "not fitted",
    ),
    # statistics
    "comparison of one method": (
        lambda: bench.compare(pd.DataFrame({"a": [1.0, 2.0]})),
        ValueError,
        "needs at least 2 of each",
    ),
    "comparison with text": (
        lambda: bench.compare(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"], "c": [1.0, 2.0]})),
        ValueError,
        "b",
    ),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy says that squares overflow
@pytest.mark.parametrize("wrong", BAD_CALLS)
def test_a_wrong_call_is_refused_in_words(wrong, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, error, words = BAD_CALLS[wrong]
    with pytest.raises(error, match=re.escape(words)) as caught:
        call()
    said = str(caught.value)
    assert len(said) > 10
    assert type(caught.value) not in (AttributeError, KeyError, IndexError, AssertionError)
    assert list(tmp_path.iterdir()) == []
