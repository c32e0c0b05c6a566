"""Random networks as ONNX: layers, their activations, and complex networks as pairs of reals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from onnx import TensorProto

from granulearn.models.onnx.graph import Value
from granulearn.rvfl import RandomFeatures
from granulearn.rvfl.features import LEAKY_SLOPE, RADBAS_ZERO_FROM, SELU_ALPHA, SELU_SCALE

Complex = tuple[Value, Value]
# Keeps 0 / 0 out of branches that are not taken; far below any value that matters.
TINY = 1e-300


def network_scores(model: Any, X: Value) -> Value:
    """Return the outputs of a network of one layer."""
    return _ridge(hidden_nodes(model.features_, X), X, model.coef_, model.features_.bias_column)


def mean_network_scores(model: Any, X: Value) -> Value:
    """Return the mean of several networks, as one network with the hidden nodes of all."""
    layers = model.features_
    n_unhidden = layers[0].bias_column + 1
    joined = replace(
        layers[0],
        weights=np.concatenate([layer.weights for layer in layers]),
        biases=np.concatenate([layer.biases for layer in layers]),
    )
    unhidden = model.coef_[:, :n_unhidden].mean(axis=0)
    coef = np.concatenate([unhidden, *(model.coef_[:, n_unhidden:] / len(layers))])
    return _ridge(hidden_nodes(joined, X), X, coef, joined.bias_column)


def deep_scores(model: Any, X: Value) -> Value:
    """Return the outputs of a deep network with one ridge on all its layers."""
    hidden = X.graph.side_by_side(_layers(model.features_, X))
    return _ridge(hidden, X, model.coef_[-1], model.features_.bias_column)


def deep_ensemble_scores(model: Any, X: Value) -> Value:
    """Return the outputs of a deep network with one ridge per layer: their mean, or their votes."""
    graph, bias_column = X.graph, model.features_.bias_column
    scores = [
        _ridge(hidden, X, coef, bias_column)
        for hidden, coef in zip(_layers(model.features_, X), model.coef_, strict=True)
    ]
    mean = graph.mean(scores)
    if getattr(model, "combine", "mean") == "mean":  # regressors have no votes
        return mean
    each = np.arange(len(model.classes_))
    votes = [own.op("ArgMax", axis=1, keepdims=1).op("Equal", each).as_double() for own in scores]
    halved = 0.5 * mean.op("Softmax", axis=1)  # settles ties
    return (1 / (len(votes) + 0.5)) * graph.add("Sum", *votes, halved)


def hidden_nodes(features: RandomFeatures, X: Value) -> Value:
    """Return the hidden nodes of one random layer."""
    return ACTIVATIONS[features.activation](X @ features.weights.T + features.biases)


def _ridge(hidden: Value, X: Value, coef: np.ndarray, n_linked: int) -> Value:
    """Return ``[X, 1, hidden] coef``, without X where no inputs are linked."""
    total = hidden @ coef[n_linked + 1 :] + coef[n_linked]
    return total + X @ coef[:n_linked] if n_linked else total


def _layers(features: Any, X: Value) -> list[Value]:
    layers = [hidden_nodes(features.first, X)]
    n_read = features.bias_column if features.feeds_inputs else 0
    for weights in features.deeper:
        received = _ridge(layers[-1], X, weights, n_read)
        layers.append(ACTIVATIONS[features.first.activation](received))
    return layers


# ---- activations -------------------------------------------------------------------------


def _selu(z: Value) -> Value:
    curved = z.op("Min", 0.0).op("Exp") - 1.0
    # The scale is not the last step: onnxruntime would merge it, in single precision, into the
    # matrix product that follows.
    return SELU_SCALE * z.op("Relu") + (SELU_SCALE * SELU_ALPHA) * curved


def _radbas(z: Value) -> Value:
    bounded = abs(z).op("Min", RADBAS_ZERO_FROM)
    return (-(bounded * bounded)).op("Exp")


ACTIVATIONS: dict[str, Callable[[Value], Value]] = {
    "hardlim": lambda z: 0.5 * (z.op("Sign") + 1.0),
    "leaky_relu": lambda z: z.op("Max", LEAKY_SLOPE * z),
    "radbas": _radbas,
    "relu": lambda z: z.op("Relu"),
    "selu": _selu,
    "sigmoid": lambda z: z.op("Sigmoid"),
    "sign": lambda z: z.op("Sign"),
    "sine": Value.sin,
    "tanh": lambda z: z.op("Tanh"),
    "tribas": lambda z: (1.0 - abs(z)).op("Relu"),
}


# ---- complex networks --------------------------------------------------------------------


def complex_scores(model: Any, X: Value) -> Value:
    """Return Re(H coef) with H = P + iQ, as P times one real matrix plus Q times another."""
    features, coef = model.features_, model.coef_
    of_real, of_imaginary = (
        (coef[0::2], coef[1::2]) if features.as_real_pairs else (coef.real, -coef.imag)
    )
    n_features = features.weights.shape[1]
    turn = np.pi * ((X - features.lowest) / features.width)
    P, Q = turn.cos(), turn.sin()
    real, imaginary = features.weights.real.T, features.weights.imag.T
    received = (
        P @ real - Q @ imaginary + features.biases.real,
        P @ imaginary + Q @ real + features.biases.imag,
    )
    hidden = complex_activation(features.activation, received)
    # Between inputs and hidden nodes stands the bias, which is 1 + 0i.
    return (
        P @ of_real[:n_features]
        + Q @ of_imaginary[:n_features]
        + hidden[0] @ of_real[n_features + 1 :]
        + hidden[1] @ of_imaginary[n_features + 1 :]
        + of_real[n_features]
    )


def complex_activation(name: str, z: Complex) -> Complex:
    """Return acos, asin or asinh of x + iy."""
    x, y = z
    if name == "asinh":  # asinh(z) = -i asin(iz)
        real, imaginary = _asin(-y, x)
        return imaginary, -real
    real, imaginary = _asin(x, y)
    return (real, imaginary) if name == "asin" else (np.pi / 2 - real, -imaginary)


def _asin(x: Value, y: Value) -> Complex:
    """Return asin(x + iy) = atan(x / sqrt(a^2 - x^2)) + i sgn(y) log(a + sqrt(a^2 - 1)).

    Here 2a = r + s, the distances of z to -1 and to 1. After T. E. Hull, T. F. Fairgrieve,
    P. T. P. Tang, "Implementing the complex arcsine and arccosine functions using exception
    handling", ACM TOMS 23 (1997): differences of nearly equal numbers become quotients, so
    nothing is lost near the branch points.
    """
    u, v = abs(x), abs(y)
    above, below, v2 = u + 1.0, u - 1.0, v * v
    r, s = _length(above, v), _length(below, v)
    r_rest = _quotient(v2, r + above)  # r - (u + 1)
    s_beyond = s + below  # s + (u - 1)
    inside = u <= 1.0
    s_rest = inside.where(_quotient(v2, s - below), s_beyond)
    a_minus_1 = 0.5 * (r_rest + s_rest)
    a = a_minus_1 + 1.0
    height = (a + (a_minus_1 * (a + 1.0)).op("Sqrt")).op("Log")
    outside_gap = 0.5 * (r_rest + _quotient(v2, s_beyond))
    a_minus_u = inside.where(a_minus_1 - below, outside_gap)
    angle = _angle(((a + u) * a_minus_u).op("Sqrt"), u)
    return (x < 0.0).where(-angle, angle), (y < 0.0).where(-height, height)


def _length(a: Value, b: Value) -> Value:
    return (a * a + b * b).op("Sqrt")


def _quotient(a: Value, b: Value) -> Value:
    return a / b.op("Max", TINY)


def _angle(across: Value, up: Value) -> Value:
    """Return the angle, in [0, pi/2], of the direction (across, up)."""
    length = _length(across, up).op("Max", TINY)
    cosine, sine = across / length, up / length
    # atan(sin / (1 + cos)) is half the angle and its argument stays in [0, 1]. Runtimes have it
    # in single precision only.
    half = (sine / (cosine + 1.0)).op("Cast", to=TensorProto.FLOAT)
    rough = 2.0 * half.op("Atan").as_double()
    # It misses about 1e-7, and the sine of so small a rest is the rest itself.
    return rough + (sine * rough.cos() - cosine * rough.sin())
