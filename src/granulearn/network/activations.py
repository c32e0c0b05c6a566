"""Activation functions of the hidden layer, by name.

Each overwrites its argument and returns it: the hidden layer is the largest
array of a fit, and a second copy of it is what limits the size of the data.
None overflows, however large its input.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit

LEAKY_SLOPE = 0.1
SELU_SCALE = 1.0507009873554805
SELU_ALPHA = 1.6732632423543772
# exp(-z**2) is zero in double precision from about 27 on; z**2 must not overflow.
RADBAS_ZERO_FROM = 40.0


def _relu(z):
    return np.maximum(z, 0, out=z)


def _leaky_relu(z):
    return np.maximum(z, LEAKY_SLOPE * z, out=z)


def _selu(z):
    negative = np.minimum(z, 0)
    np.expm1(negative, out=negative)
    negative *= SELU_ALPHA
    np.maximum(z, 0, out=z)
    z += negative
    z *= SELU_SCALE
    return z


def _sigmoid(z):
    return expit(z, out=z)


def _tanh(z):
    return np.tanh(z, out=z)


def _sine(z):
    return np.sin(z, out=z)


def _hardlim(z):
    return np.heaviside(z, 0.5, out=z)


def _sign(z):
    return np.sign(z, out=z)


def _tribas(z):
    np.abs(z, out=z)
    np.subtract(1, z, out=z)
    return np.maximum(z, 0, out=z)


def _radbas(z):
    np.clip(z, -RADBAS_ZERO_FROM, RADBAS_ZERO_FROM, out=z)
    np.square(z, out=z)
    np.negative(z, out=z)
    return np.exp(z, out=z)


_ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
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


def activation_names() -> list[str]:
    """Return the names that `activate` knows, sorted."""
    return sorted(_ACTIVATIONS)


def activate(name: str, z: np.ndarray) -> np.ndarray:
    """Overwrite `z`, an array of floats, by the activation of each entry.

    Parameters
    ----------
    name : str
        One of `activation_names`.
    z : ndarray of floats
        What the hidden nodes receive.

    Returns
    -------
    ndarray
        `z` itself.
    """
    if name not in _ACTIVATIONS:
        raise ValueError(f"activation={name!r} is not known: use one of {activation_names()}.")
    return _ACTIVATIONS[name](z)
