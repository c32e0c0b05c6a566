"""RVFL and ELM."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge

from granulearn.rvfl import ELMClassifier, RVFLClassifier
from tests.rvfl.families import overlapping_classes


def test_rvfl_is_scikit_learns_ridge_on_its_features():
    X, y = overlapping_classes(3)
    model = RVFLClassifier(n_hidden=30, activation="sigmoid", C=5.0, random_state=0).fit(X, y)
    oracle = Ridge(alpha=0.2, fit_intercept=False, solver="svd").fit(
        model.features_(X), np.eye(3)[y]
    )
    assert_allclose(model.decision_function(X), oracle.predict(model.features_(X)), atol=1e-7)


def test_elm_has_the_hidden_nodes_of_rvfl_and_no_direct_link():
    X, y = overlapping_classes()
    rvfl = RVFLClassifier(n_hidden=30, random_state=0).fit(X, y)
    elm = ELMClassifier(n_hidden=30, random_state=0).fit(X, y)
    assert_allclose(elm.features_(X), rvfl.features_(X)[:, X.shape[1] :])
    assert elm.coef_.shape == (31, 2)
    assert rvfl.coef_.shape == (34, 2)


def test_the_direct_link_learns_a_line_that_bounded_nodes_miss():
    X = np.linspace(-50, 50, 400)[:, None]
    y = (X[:, 0] > 30).astype(int)
    settings = {"n_hidden": 1, "activation": "radbas", "C": 100, "random_state": 0}
    linked = RVFLClassifier(**settings).fit(X, y).decision_function([[-1000.0], [1000.0]])
    unlinked = ELMClassifier(**settings).fit(X, y).decision_function([[-1000.0], [1000.0]])
    assert linked[0] < 0 < linked[1]
    assert_allclose(unlinked[0], unlinked[1])
