"""CRVFL and ACRVFL."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granulearn.rvfl import ACRVFLClassifier, CRVFLClassifier
from tests.rvfl.families import overlapping_classes

SHAPES = pytest.mark.parametrize("n_hidden", [8, 120], ids=["tall", "wide"])


def complex_ridge(H, Y, C, w):
    """Solve the normal equations of a complex ridge, plainly."""
    system = H.conj().T @ (w[:, None] * H) + np.eye(H.shape[1]) / C
    return np.linalg.solve(system, H.conj().T @ (w[:, None] * Y))


@SHAPES
def test_crvfl_is_the_complex_ridge_and_its_real_part(n_hidden):
    X, y = overlapping_classes(3, n_samples=80)
    w = np.random.default_rng(0).uniform(size=80)
    model = CRVFLClassifier(n_hidden=n_hidden, C=3.0, random_state=0).fit(X, y, sample_weight=w)
    H = model.features_(X)
    theta = complex_ridge(H, np.eye(3)[y], 3.0, w)
    assert_allclose(model.coef_, theta, rtol=1e-6, atol=1e-8)
    assert_allclose(model.decision_function(X), (H @ theta).real, atol=1e-7)


@SHAPES
def test_the_augmented_complex_model_equals_its_real_form(n_hidden):
    X, y = overlapping_classes(3, n_samples=80)
    w = np.random.default_rng(0).uniform(size=80)
    settings = {"n_hidden": n_hidden, "C": 3.0, "random_state": 0}
    model = ACRVFLClassifier(**settings).fit(X, y, sample_weight=w)
    H = CRVFLClassifier(**settings).fit(X, y).features_(X)
    augmented = np.hstack([H, H.conj()])
    theta = complex_ridge(augmented, np.eye(3)[y], 3.0, w)
    p = H.shape[1]
    assert_allclose(theta[p:], theta[:p].conj(), atol=1e-8)  # conjugate pairs
    output = augmented @ theta
    assert_allclose(output.imag, 0, atol=1e-8)
    assert_allclose(model.decision_function(X), output.real, atol=1e-7)
    assert_allclose((model.coef_[0::2] - 1j * model.coef_[1::2]) / 2, theta[:p], atol=1e-7)


@pytest.mark.parametrize("classifier", [CRVFLClassifier, ACRVFLClassifier])
@pytest.mark.parametrize("activation", ["acos", "asin", "asinh"])
def test_every_activation_learns(classifier, activation):
    X, y = overlapping_classes(n_samples=400)
    model = classifier(activation=activation, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.75


@pytest.mark.parametrize("classifier", [CRVFLClassifier, ACRVFLClassifier])
def test_the_scale_of_a_feature_does_not_matter(classifier):
    X, y = overlapping_classes()
    plain = classifier(random_state=0).fit(X, y).decision_function(X)
    scaled = X * [1e-3, 1.0, 1e6] + [5.0, -2.0, 0.0]
    assert_allclose(
        classifier(random_state=0).fit(scaled, y).decision_function(scaled), plain, atol=1e-6
    )


def test_a_wrong_activation_lists_the_complex_ones():
    with pytest.raises(ValueError, match="asinh"):
        CRVFLClassifier(activation="relu").fit(*overlapping_classes())
