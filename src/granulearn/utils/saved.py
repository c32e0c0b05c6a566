"""The attributes of a class that a model file keeps, stated once, on the class.

A class states ``_saved``: by attribute an `Array`, a `Number`, `Labels`, a `Part`, or a type like
``list[str]`` that JSON can hold. Subclasses add to it. ``_check_saved`` raises by `require` where
attributes do not go together; ``_after_load`` sets attributes that follow from them;
``_saved_state`` returns attributes that an object has in another form. A loaded model has no
other attributes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Any

import numpy as np

# Scaling, a layer and output weights, each as large as this, still make finite scores.
LARGEST, LARGEST_COEF = 1e60, 1e100
FINITE = float(np.finfo(np.float64).max)
# Sums of probabilities are rounded.
SHARE = 1.001
MOST_THREADS = 256


class SavedStateError(ValueError):
    """An object is not as `fit` leaves it, or has what a model file cannot keep."""


def require(holds: Any, message: str) -> None:
    """Raise `SavedStateError` unless something holds."""
    if not holds:
        raise SavedStateError(message)


@dataclass(frozen=True)
class Array:
    """An attribute that is an array of numbers, or several with ``many=list`` or tuple.

    A dimension is a number, the name (a path with dots) of an attribute that is one, or a name of
    its own, which is then the same number wherever it occurs in the class.
    """

    dtype: str
    """One or several, as in "float32|float64"."""
    shape: tuple[str | int, ...]
    low: float = -LARGEST
    high: float = LARGEST
    """Ends of the range, which NaN is never in."""
    optional: bool = False
    """Whether it may be None, or not there."""
    many: type | None = None

    def check_kind(self, name: str, value: Any) -> None:
        """Raise unless a value has the dtype, the number of dimensions and the range."""
        require(value.dtype.name in self.dtype.split("|"), f"{name} holds {value.dtype}")
        message = f"{name} has the shape {value.shape}, not {self.shape}"
        require(value.ndim == len(self.shape), message)
        parts = (value.real, value.imag) if value.dtype.kind == "c" else (value,)
        for part in parts if value.size and value.dtype.kind != "b" else ():
            inside = part.min().item() >= self.low and part.max().item() <= self.high
            require(inside, f"{name} is not between {self.low:g} and {self.high:g}")

    def check_shape(self, owner: Any, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Raise unless a value has the shape; `sizes` are the dimensions known so far."""
        known = zip(self.shape, value.shape, strict=True)
        wanted = tuple(_size(owner, dim, found, sizes) for dim, found in known)
        require(value.shape == wanted, f"{name} has the shape {value.shape}, not {wanted}")


def _size(owner: Any, dim: str | int, found: int, sizes: dict[str, int]) -> int:
    if isinstance(dim, int):
        return dim
    known = None
    with suppress(AttributeError):
        known = attrgetter(dim)(owner)
    return known if isinstance(known, int) else sizes.setdefault(dim, found)


@dataclass(frozen=True)
class Number:
    """An attribute that is one number, kept in the header."""

    low: float
    high: float
    whole: bool = False
    or_none: bool = False


Size = Number(1, 2**31 - 1, whole=True)


@dataclass(frozen=True)
class Labels:
    """An attribute that is an array of texts, or of whole numbers, kept in the header."""

    ordered: bool = True
    """Whether each must be more than the one before."""
    optional: bool = False


@dataclass(frozen=True, init=False)
class Part:
    """An attribute that is an object of one of some classes, or several with ``many``.

    An optional one that is None is not written, and None by the class after loading.
    """

    kinds: tuple[type, ...]
    many: type | None
    optional: bool

    def __init__(self, *kinds: type, many: type | None = None, optional: bool = False):
        vars(self).update(kinds=kinds, many=many, optional=optional)


@cache
def saved_attributes(kind: Any) -> dict[str, Any]:
    """Return the attributes that a class and its bases state for model files."""
    stated = (vars(base).get("_saved", {}) for base in reversed(kind.__mro__))
    return {name: spec for own in stated for name, spec in own.items()}


def each_of(name: str, value: Any, many: type | None) -> Iterator[tuple[str, Any]]:
    """Yield the values of an attribute with their names: itself, or those in a container."""
    if many is None:
        yield name, value
    else:
        yield from ((f"{name}.{number}", each) for number, each in enumerate(value))


def check_saved(owner: Any) -> None:
    """Raise `SavedStateError` unless the arrays of an object are as its class states."""
    arrays = [
        (own_name, spec, array)
        for name, spec in saved_attributes(type(owner)).items()  # type: ignore[arg-type]
        if isinstance(spec, Array) and vars(owner).get(name) is not None
        for own_name, array in each_of(name, vars(owner)[name], spec.many)
    ]
    # Attributes that are sizes are asked once all arrays have their dimensions.
    for name, spec, array in arrays:
        spec.check_kind(name, array)
    sizes: dict[str, int] = {}
    for name, spec, array in arrays:
        spec.check_shape(owner, name, array, {} if spec.many else sizes)
    if hasattr(owner, "_check_saved"):
        owner._check_saved()


def check_thread_count(owner: Any) -> None:
    """Raise unless ``n_jobs``, where there is one, is None or a sensible number of threads."""
    n_jobs = getattr(owner, "n_jobs", None)
    sensible = n_jobs is None or (type(n_jobs) is int and 0 < abs(n_jobs) <= MOST_THREADS)
    require(sensible, f"n_jobs={n_jobs!r} is no number of threads")


def sums_from_roots(parents: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return the sum of what each node and all nodes above it have of their own.

    Parents come before their children; a root is its own parent, and has zero of its own, all
    others more. Each round looks twice as far up, so a chain of a million nodes takes twenty.
    """
    sums = own
    while (above := sums[parents]).any():
        sums = sums + above
        parents = parents[parents]
    return sums
