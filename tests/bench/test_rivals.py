"""Models of other packages: any labels in, the same labels out; no row that was not given."""

import numpy as np
import pytest
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from sklearn.base import clone
from sklearn.datasets import make_blobs

from granulearn.bench.methods import build_estimator
from granulearn.bench.rivals import CodedLabelsClassifier
from granulearn.bench.study import Method

LABELS = np.array(["ash", "birch", "cedar"])


@pytest.fixture(scope="module")
def blobs():
    X, codes = make_blobs(300, centers=3, cluster_std=3.0, random_state=0)
    return X, LABELS[codes], codes


RIVALS = [
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
