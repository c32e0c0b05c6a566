"""CRVFL, ACRVFL and their complex random features."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.rvfl import (
    ACRVFLClassifier,
    ComplexFeatures,
    CRVFLClassifier,
    complex_activation_names,
    draw_complex_features,
)
from tests.rvfl.families import overlapping_classes

X = np.random.default_rng(0).normal(size=(20, 3)) * [1, 100, 0.01] + [0, 5, 9]


def draw(n_hidden, *, as_real_pairs=False, rows=X, activation="asinh", seed=4) -> ComplexFeatures:
    return draw_complex_features(rows, n_hidden, activation, as_real_pairs=as_real_pairs, seed=seed)


def test_columns_are_encoded_features_then_bias_then_hidden_layer():
    features = draw(5)
    H = features(X)
    scaled = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    Z = np.exp(1j * np.pi * scaled)
    assert H.shape == (20, features.n_columns) == (20, 9)
    assert_allclose(H[:, :3], Z)
    assert_array_equal(H[:, features.bias_column], np.ones(20))
    assert_allclose(H[:, 4:], np.arcsinh(Z @ features.weights.T + features.biases))


@given(st.integers(1, 20), st.integers(0, 20), st.booleans())
def test_widths_are_nested(narrow, extra, as_real_pairs):
    narrow_H = draw(narrow, as_real_pairs=as_real_pairs)(X)
    wide_H = draw(narrow + extra, as_real_pairs=as_real_pairs)(X)
    assert_allclose(wide_H[:, : narrow_H.shape[1]], narrow_H, rtol=1e-12, atol=1e-12)


def test_a_constant_feature_is_encoded_as_one():
    rows = np.column_stack([X[:, 0], np.full(20, 7.0)])
    assert_array_equal(draw(2, rows=rows)(rows)[:, 1], np.ones(20))


@pytest.mark.parametrize("activation", complex_activation_names())
def test_values_far_outside_the_training_range_stay_finite(activation):
    H = draw(5, activation=activation)(np.array([[1e300, -1e300, 0.0]]))
    assert np.isfinite(H.view(float)).all()


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
