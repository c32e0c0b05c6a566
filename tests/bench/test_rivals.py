"""Models of other packages: any labels in, the same labels out; no row that was not given."""

import numpy as np
import pytest
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_blobs
from sklearn.ensemble import RandomForestClassifier
from xgboost import XGBClassifier

from granulearn.bench.methods import build_estimator
from granulearn.bench.rivals import (
    CodedLabelsClassifier,
    EarlyStoppedClassifier,
    ForestChosenOutOfBag,
)
from granulearn.bench.study import Method

LABELS = np.array(["ash", "birch", "cedar"])


@pytest.fixture(scope="module")
def blobs():
    X, codes = make_blobs(300, centers=3, cluster_std=3.0, random_state=0)
    return X, LABELS[codes], codes


class Listener(ClassifierMixin, BaseEstimator):
    """Keeps what `fit` was given; says that all classes are equally likely."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y, eval_set=None):
        self.seen_ = (X, y)
        self.asked_ = eval_set
        self.n_classes_ = len(np.unique(y))
        return self

    def predict_proba(self, X):
        return np.full((len(X), self.n_classes_), 1.0)


RIVALS = [
    XGBClassifier(n_estimators=5, n_jobs=1),
    CatBoostClassifier(iterations=5, thread_count=1, verbose=False, allow_writing_files=False),
    LGBMClassifier(n_estimators=5, n_jobs=1, verbose=-1),
]


@pytest.mark.parametrize("rival", RIVALS, ids=lambda rival: type(rival).__name__)
def test_texts_as_labels_give_what_codes_give(rival, blobs):
    X, labels, codes = blobs
    wrapped = CodedLabelsClassifier(rival).fit(X, labels)
    plain = clone(rival).fit(X, codes)
    np.testing.assert_array_equal(wrapped.classes_, LABELS)
    np.testing.assert_array_equal(wrapped.predict(X), LABELS[np.ravel(plain.predict(X))])
    np.testing.assert_allclose(wrapped.predict_proba(X), plain.predict_proba(X), rtol=1e-5)
    np.testing.assert_allclose(wrapped.predict_proba(X).sum(axis=1), 1, rtol=1e-14)


def test_a_seed_reaches_a_model_that_does_not_list_one():
    fixed = {"estimator": {"estimator": "catboost.CatBoostClassifier", "fixed": {"verbose": False}}}
    path = "granulearn.bench.rivals.CodedLabelsClassifier"
    model = build_estimator(Method(name="m", estimator=path, fixed=fixed), seed=8)
    fixed = {"iterations": 2, "thread_count": 1, "allow_writing_files": False}
    model.set_params(**{f"estimator__{name}": value for name, value in fixed.items()})
    X = np.arange(20.0)[:, None]
    assert model.fit(X, X[:, 0] > 9).estimator_.get_params()["random_state"] == 8


def test_a_tenth_is_held_out_with_the_shares_of_the_classes(blobs):
    X, labels, _ = blobs
    listener = EarlyStoppedClassifier(Listener(), random_state=1).fit(X, labels).estimator_
    [(X_held, held)] = listener.asked_
    X_fit, fitted = listener.seen_
    assert (len(X_fit), len(X_held)) == (270, 30)
    assert np.bincount(held).tolist() == [10, 10, 10]
    assert np.bincount(fitted).tolist() == [90, 90, 90]
    given = sorted(map(tuple, X))
    assert sorted(map(tuple, np.vstack([X_fit, X_held]))) == given


@pytest.mark.parametrize(
    "rival",
    [
        LGBMClassifier(n_estimators=300, early_stopping_round=5, n_jobs=1, verbose=-1),
        XGBClassifier(n_estimators=300, early_stopping_rounds=5, n_jobs=1, verbosity=0),
    ],
    ids=lambda rival: type(rival).__name__,
)
def test_boosting_stops_before_its_last_round(rival, blobs):
    X, labels, _ = blobs
    model = EarlyStoppedClassifier(rival, random_state=0).fit(X, labels).estimator_
    rounds = getattr(model, "best_iteration_", None) or model.best_iteration
    assert 0 < rounds < 300


@pytest.mark.parametrize(("stripes", "wrong", "best"), [(6, 0.0, 1), (2, 0.3, 30)])
def test_the_forest_that_is_best_out_of_bag_is_kept(stripes, wrong, best):
    rng = np.random.default_rng(0)
    X = rng.random((300, 2))
    codes = np.floor(stripes * X[:, 0]).astype(int) + (rng.random(300) < wrong)
    given = LABELS[codes % 3]
    kept = ForestChosenOutOfBag(leaves=[1, 30], n_estimators=50, random_state=4).fit(X, given)
    plain = {
        size: RandomForestClassifier(50, min_samples_leaf=size, oob_score=True, random_state=4)
        for size in (1, 30)
    }
    scores = {size: forest.fit(X, given).oob_score_ for size, forest in plain.items()}
    assert max(scores, key=scores.get) == best
    np.testing.assert_array_equal(kept.predict_proba(X), plain[best].predict_proba(X))
    np.testing.assert_array_equal(kept.predict(X), plain[best].predict(X))
    np.testing.assert_array_equal(kept.classes_, LABELS)
