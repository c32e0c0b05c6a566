"""The activation functions as ONNX nodes: ten real ones, three complex ones.

Complex numbers are pairs of reals. The inverse functions follow T. E. Hull,
T. F. Fairgrieve, P. T. P. Tang, "Implementing the complex arcsine and
arccosine functions using exception handling", ACM TOMS 23 (1997): differences
of nearly equal numbers are rewritten as quotients, so nothing is lost near the
branch points. ONNX runtimes have no arctangent of doubles, so it is computed in
single precision and corrected once, by the sine of the rest.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx import TensorProto

from granulearn.models.onnx_graph import Graph, Name
from granulearn.rvfl.features import LEAKY_SLOPE, RADBAS_ZERO_FROM, SELU_ALPHA, SELU_SCALE

Complex = tuple[Name, Name]
# Keeps 0 / 0 out of branches that are not taken; far below any value that matters.
TINY = 1e-300


def _relu(graph: Graph, z: Name) -> Name:
    return graph.add("Relu", z)


def _leaky_relu(graph: Graph, z: Name) -> Name:
    return graph.add("Max", z, graph.scaled(LEAKY_SLOPE, z))


def _selu(graph: Graph, z: Name) -> Name:
    negative = graph.add("Min", z, graph.constant(0.0))
    curved = graph.shifted(-1.0, graph.add("Exp", negative))
    # The scale is not the last step: onnxruntime would merge it, in single
    # precision, into the matrix product that follows.
    return graph.plus(
        graph.scaled(SELU_SCALE, graph.add("Relu", z)),
        graph.scaled(SELU_SCALE * SELU_ALPHA, curved),
    )


def _sigmoid(graph: Graph, z: Name) -> Name:
    return graph.add("Sigmoid", z)


def _tanh(graph: Graph, z: Name) -> Name:
    return graph.add("Tanh", z)


def _sine(graph: Graph, z: Name) -> Name:
    return graph.add("Sin", z)


def _hardlim(graph: Graph, z: Name) -> Name:
    return graph.scaled(0.5, graph.shifted(1.0, graph.add("Sign", z)))


def _sign(graph: Graph, z: Name) -> Name:
    return graph.add("Sign", z)


def _tribas(graph: Graph, z: Name) -> Name:
    return graph.add("Relu", graph.minus(graph.constant(1.0), graph.add("Abs", z)))


def _radbas(graph: Graph, z: Name) -> Name:
    bounded = graph.add("Min", graph.add("Abs", z), graph.constant(RADBAS_ZERO_FROM))
    return graph.add("Exp", graph.add("Neg", graph.times(bounded, bounded)))


_ACTIVATIONS: dict[str, Callable[[Graph, Name], Name]] = {
    "hardlim": _hardlim,
    "leaky_relu": _leaky_relu,
    "radbas": _radbas,
    "relu": _relu,
    "selu": _selu,
    "sigmoid": _sigmoid,
    "sign": _sign,
    "sine": _sine,
    "tanh": _tanh,
    "tribas": _tribas,
}


def add_activation(graph: Graph, name: str, z: Name) -> Name:
    """Add the activation of a real layer.

    Parameters
    ----------
    graph : Graph
        Where to add it.
    name : str
        A name of `granulearn.rvfl.activation_names`.
    z : str
        What the hidden nodes receive.
    """
    return _ACTIVATIONS[name](graph, z)


def add_complex_activation(graph: Graph, name: str, z: Complex) -> Complex:
    """Add the activation of a complex layer.

    Parameters
    ----------
    graph : Graph
        Where to add it.
    name : {"acos", "asin", "asinh"}
        A name of `granulearn.rvfl.complex_activation_names`.
    z : pair of str
        Real and imaginary part of what the hidden nodes receive.
    """
    x, y = z
    if name == "asinh":  # asinh(z) = -i asin(iz)
        real, imaginary = _complex_asin(graph, (graph.add("Neg", y), x))
        return imaginary, graph.add("Neg", real)
    real, imaginary = _complex_asin(graph, z)
    if name == "asin":
        return real, imaginary
    return graph.minus(graph.constant(np.pi / 2), real), graph.add("Neg", imaginary)


def _complex_asin(graph: Graph, z: Complex) -> Complex:
    """Return asin(x + iy) = atan(x / sqrt(a^2 - x^2)) + i sgn(y) log(a + sqrt(a^2 - 1)).

    Here 2a = r + s, the distances of z to -1 and to 1.
    """
    x, y = z
    u, v = graph.add("Abs", x), graph.add("Abs", y)
    above, below = graph.shifted(1.0, u), graph.shifted(-1.0, u)
    r, s = _length(graph, above, v), _length(graph, below, v)
    v2 = graph.times(v, v)
    r_rest = _quotient(graph, v2, graph.plus(r, above))  # r - (u + 1)
    s_beyond = graph.plus(s, below)  # s + (u - 1)
    s_within = graph.minus(s, below)  # s + (1 - u)
    inside = graph.add("LessOrEqual", u, graph.constant(1.0))
    s_rest = graph.where(inside, _quotient(graph, v2, s_within), s_beyond)
    a_minus_1 = graph.scaled(0.5, graph.plus(r_rest, s_rest))
    a = graph.shifted(1.0, a_minus_1)
    root = graph.add("Sqrt", graph.times(a_minus_1, graph.shifted(1.0, a)))
    height = graph.add("Log", graph.plus(a, root))
    outside_gap = graph.scaled(0.5, graph.plus(r_rest, _quotient(graph, v2, s_beyond)))
    a_minus_u = graph.where(inside, graph.minus(a_minus_1, below), outside_gap)
    across = graph.add("Sqrt", graph.times(graph.plus(a, u), a_minus_u))
    angle = _angle(graph, across, u)
    return _with_sign_of(graph, x, angle), _with_sign_of(graph, y, height)


def _length(graph: Graph, a: Name, b: Name) -> Name:
    return graph.add("Sqrt", graph.plus(graph.times(a, a), graph.times(b, b)))


def _quotient(graph: Graph, a: Name, b: Name) -> Name:
    return graph.over(a, graph.add("Max", b, graph.constant(TINY)))


def _angle(graph: Graph, across: Name, up: Name) -> Name:
    """Return the angle, in [0, pi/2], of the direction (across, up)."""
    length = graph.add("Max", _length(graph, across, up), graph.constant(TINY))
    cosine, sine = graph.over(across, length), graph.over(up, length)
    # atan(sin / (1 + cos)) is half the angle and its argument stays in [0, 1].
    half = graph.over(sine, graph.shifted(1.0, cosine))
    single = graph.add("Cast", half, to=TensorProto.FLOAT)
    rough = graph.scaled(2.0, graph.as_double(graph.add("Atan", single)))
    # Single precision misses about 1e-7, and the sine of so small a rest is the rest itself.
    rest = graph.minus(
        graph.times(sine, graph.cosine(rough)), graph.times(cosine, graph.add("Sin", rough))
    )
    return graph.plus(rough, rest)


def _with_sign_of(graph: Graph, x: Name, magnitude: Name) -> Name:
    negative = graph.add("Less", x, graph.constant(0.0))
    return graph.where(negative, graph.add("Neg", magnitude), magnitude)
