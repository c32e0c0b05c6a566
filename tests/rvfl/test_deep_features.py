"""Stacked random layers: nesting, columns, normalisation by training rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.rvfl import activate, activation_names, draw_deep_features

feeding = pytest.mark.parametrize("feeds_inputs", [True, False], ids=["edRVFL", "dRVFL"])


def inputs(n_rows=40, n_features=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n_rows, n_features))


def draw(X, widths=(4, 5, 6), activation="sine", weights=None, **settings):
    settings = {"feeds_inputs": True, "normalize": True, "seed": 7} | settings
    return draw_deep_features(X, weights, widths, activation, **settings)


@given(
    st.integers(1, 6),
    st.lists(st.integers(1, 7), min_size=1, max_size=5),
    st.booleans(),
    st.booleans(),
    st.integers(0, 2**31 - 2),
)
def test_fewer_layers_are_the_first_layers_of_a_deeper_network(
    n_features, widths, feeds_inputs, normalize, seed
):
    X = inputs(9, n_features)
    settings = {"feeds_inputs": feeds_inputs, "normalize": normalize, "seed": seed}
    deep = draw(X, widths, **settings)
    H = deep(X)
    assert H.shape == (9, deep.n_columns)
    for n_layers, p in enumerate(n_features + 1 + np.cumsum(widths), start=1):
        shallow = draw(X, widths[:n_layers], **settings)
        assert shallow.n_columns == p
        assert_array_equal(shallow(X), H[:, :p])
        assert_array_equal(deep.first_layers(n_layers)(X), H[:, :p])


@feeding
def test_without_normalisation_a_layer_is_the_activation_of_the_one_before(feeds_inputs):
    """Against the formula, with the weights of [X, 1, H] taken apart."""
    X = inputs()
    deep = draw(X, feeds_inputs=feeds_inputs, normalize=False)
    first, second, _ = deep.layers(X)
    weights = deep.deeper[0]
    expected = first[:, 4:] @ weights[-4:]
    if feeds_inputs:
        expected += X @ weights[:3] + weights[3]
        on_others = np.delete(weights, 3, axis=0)
    else:
        expected += weights[0]
        on_others = weights[1:]
    assert_allclose(second[:, 4:], activate("sine", expected), atol=1e-12)
    assert np.abs(on_others).max() <= 1


@feeding
def test_a_layer_hands_on_what_training_rows_centre_and_scale(feeds_inputs):
    """The drawn weights act on standardised nodes: undo the folding, and find U(-1, 1) again."""
    X = inputs(200)
    plain = draw(X, (50, 60), feeds_inputs=feeds_inputs, normalize=False).deeper[0]
    deep = draw(X, (50, 60), feeds_inputs=feeds_inputs)
    hidden = next(deep.layers(X))[:, 4:]
    n_read = 53 if feeds_inputs else 50
    centred = hidden - hidden.mean(axis=0)
    standardised = centred / np.sqrt(np.square(centred).mean())
    received = standardised @ plain[-50:] * np.sqrt(3 / n_read)
    if feeds_inputs:
        received += X @ plain[:3] * np.sqrt(3 / n_read)
    received += plain[-51]
    second = list(deep.layers(X))[1][:, 4:]
    assert_allclose(second, np.sin(received), atol=1e-10)


@pytest.mark.parametrize("activation", activation_names())
def test_what_nodes_receive_stays_of_one_size_through_many_layers(activation):
    X = inputs(300, 10)
    deep = draw(X, (50,) * 8, activation)
    for columns, weights in zip(deep.layers(X), deep.deeper, strict=False):
        received = columns @ weights
        assert 0.3 < received.std() / np.sqrt(10 / 3) < 2


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_integer_weights_are_repeated_rows(seed, feeds_inputs):
    rng = np.random.default_rng(seed)
    X = inputs(12, seed=seed)
    counts = np.append(rng.integers(0, 4, len(X) - 1), 1)
    weighted = draw(X, weights=counts.astype(float), feeds_inputs=feeds_inputs)
    repeated = draw(np.repeat(X, counts, axis=0), feeds_inputs=feeds_inputs)
    assert_allclose(weighted(X), repeated(X), atol=1e-8)


@pytest.mark.parametrize("activation", ["relu", "hardlim", "sign", "tribas"])
def test_constant_layers_are_handed_on_without_harm(activation):
    X = np.full((10, 2), 3.0)
    deep = draw(X, (6, 6, 6), activation)
    assert np.abs(deep(X)).max() < 10
    assert np.abs(deep(X + 1)).max() < 100


def test_a_node_that_hardly_varies_is_not_blown_up():
    """Nodes of relu that see nothing of the training rows see much of others."""
    X = np.abs(inputs(300)) + 1
    deep = draw(X, (50, 50, 50), "relu")
    assert np.abs(deep(-X)).max() < 20 * np.abs(deep(X)).max()
