"""What a model file keeps of a class, stated once, on the class.

A class states ``_saved``: by attribute an `Array`, `Labels`, a `Part`, or a type that msgspec
checks, for what JSON can hold. Subclasses add to it. ``_check_saved``, if there is one, raises by
`require` where attributes do not go together; ``_after_load`` sets what follows from them. Nothing
else of an object is in a file: what is left out is absent from a loaded model.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Annotated, Any

import msgspec
import numpy as np

# Scaling, a layer and output weights, each as large as this, still make finite scores.
LARGEST, LARGEST_COEF = 1e60, 1e100
FINITE = float(np.finfo(np.float64).max)
# Sums of probabilities are rounded.
SHARE = 1.001
MOST_THREADS = 256
Count = Annotated[int, msgspec.Meta(ge=0, le=2**40)]
Size = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]
Share = Annotated[float, msgspec.Meta(ge=0, le=SHARE)]
# Predictions repeat a label for every row.
_WIDEST_LABEL, _MOST_LABEL_CHARACTERS = 10_000, 2**24


class SavedStateError(ValueError):
    """An object is not as `fit` leaves it, or has what a model file cannot keep."""


def require(holds: Any, message: str) -> None:
    """Raise `SavedStateError` unless something holds."""
    if not holds:
        raise SavedStateError(message)


@dataclass(frozen=True)
class Array:
    """An attribute that is an array of numbers, or several with ``many=list``, tuple or dict.

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

    def check(self, owner: Any, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Raise unless a value is such an array; `sizes` are the dimensions known so far."""
        require(value.dtype.name in self.dtype.split("|"), f"{name} holds {value.dtype}")
        wanted = self.shape
        if value.ndim == len(wanted):
            known = zip(wanted, value.shape, strict=True)
            wanted = tuple(_size(owner, dim, found, sizes) for dim, found in known)
        require(value.shape == wanted, f"{name} has the shape {value.shape}, not {wanted}")
        parts = (value.real, value.imag) if value.dtype.kind == "c" else (value,)
        for part in parts if value.size and value.dtype.kind != "b" else ():
            inside = part.min().item() >= self.low and part.max().item() <= self.high
            require(inside, f"{name} is not between {self.low:g} and {self.high:g}")


def _size(owner: Any, dim: str | int, found: int, sizes: dict[str, int]) -> int:
    if isinstance(dim, int):
        return dim
    known = None
    with suppress(AttributeError):
        known = attrgetter(dim)(owner)
    return known if isinstance(known, int) else sizes.setdefault(dim, found)


@dataclass(frozen=True)
class Labels:
    """An attribute that is an array of texts, or of whole numbers, kept with its dtype."""

    ordered: bool = True
    """Whether each must be more than the one before."""
    optional: bool = False

    def encode(self, values: np.ndarray) -> dict[str, Any]:
        """Return the labels as JSON can hold them."""
        kind = values.dtype.kind
        return {
            "dtype": {"U": "U", "O": "O"}.get(kind, values.dtype.str[1:]),
            "labels": [*values.tolist()],
        }

    def decode(self, content: Any) -> np.ndarray:
        """Return the labels that `encode` turned into this content, checked."""
        known = msgspec.convert(content, _LabelContent)
        texts = [label for label in known.labels if isinstance(label, str)]
        is_text = len(texts) == len(known.labels) and known.dtype in ("U", "O")
        require(is_text or (not texts and known.dtype != "U"), "labels are of several kinds")
        widest = max(map(len, texts), default=0)
        fits = widest <= _WIDEST_LABEL and len(texts) * widest <= _MOST_LABEL_CHARACTERS
        require(fits, f"labels have up to {widest} characters; shorten them")
        values = np.array(known.labels, dtype=known.dtype)
        require(values.tolist() == known.labels, f"labels are no {values.dtype}")
        whole = is_text or all(-(2**63) <= v < 2**64 and int(v) == v for v in known.labels)
        require(whole, "labels are neither text nor whole numbers")
        rises = not self.ordered or (values[1:] > values[:-1]).all()
        require(len(values) and rises, "labels are none, or not sorted and different")
        return values


class _LabelContent(msgspec.Struct, forbid_unknown_fields=True):
    dtype: Annotated[str, msgspec.Meta(pattern=r"\A(U|O|b1|[iu][1248]|f[248])\Z")]
    labels: list[str | bool | int | float]


@dataclass(frozen=True, init=False)
class Part:
    """An attribute that is an object of one of some classes, or several with ``many``."""

    kinds: tuple[type, ...]
    many: type | None

    def __init__(self, *kinds: type, many: type | None = None):
        vars(self).update(kinds=kinds, many=many)


@cache
def saved_attributes(kind: type) -> dict[str, Any]:
    """Return what a class and its bases say that a model file keeps of an object."""
    stated = (vars(base).get("_saved", {}) for base in reversed(kind.__mro__))
    return {name: spec for own in stated for name, spec in own.items()}


def each_of(name: str, value: Any, many: type | None) -> Iterator[tuple[str, Any]]:
    """Yield the values of an attribute with their names: itself, or those in a container."""
    if many is None:
        yield name, value
    else:
        values = value.values() if many is dict else value
        yield from ((f"{name}.{number}", each) for number, each in enumerate(values))


def check_saved(owner: Any) -> None:
    """Raise `SavedStateError` unless the arrays of an object are as its class states."""
    sizes: dict[str, int] = {}
    for name, spec in saved_attributes(type(owner)).items():
        value = vars(owner).get(name)
        if isinstance(spec, Array) and value is not None:
            for own_name, each in each_of(name, value, spec.many):
                spec.check(owner, own_name, each, {} if spec.many else sizes)
    if hasattr(owner, "_check_saved"):
        owner._check_saved()


def check_thread_count(owner: Any) -> None:
    """Raise unless ``n_jobs``, where there is one, is None or a sensible number of threads."""
    n_jobs = getattr(owner, "n_jobs", None)
    sensible = n_jobs is None or (type(n_jobs) is int and 0 < abs(n_jobs) <= MOST_THREADS)
    require(sensible, f"n_jobs={n_jobs!r} is no number of threads")


def offsets_fit(offsets: np.ndarray, end: int) -> bool:
    """Say whether offsets begin at zero, never fall, and end where an array ends."""
    return bool(
        len(offsets) and offsets[0] == 0 and offsets[-1] == end and (np.diff(offsets) >= 0).all()
    )


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
