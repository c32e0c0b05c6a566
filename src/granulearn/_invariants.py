"""What must hold of the attributes of a fitted object: a few words for it.

Each class that a model file can hold has a method ``_check_loaded``, which says in
these words what its own methods and the compiled loops rely on. A loop looks at no
array before this has passed, so nothing here may rely on it either.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields
from typing import Any

import numpy as np

FLOAT = (np.dtype(np.float64),)
FLOAT32 = (np.dtype(np.float32),)
FLOATS = (*FLOAT, *FLOAT32)
COMPLEX = (np.dtype(np.complex128),)
INT32 = (np.dtype(np.int32),)
INTS = (np.dtype(np.int64), *INT32)
INTP = (np.dtype(np.intp),)
BOOL = (np.dtype(np.bool_),)

FINITE = float(np.finfo(np.float64).max)
# What scaling, a layer and output weights make of each other, all so large, is still finite.
LARGEST, LARGEST_OUTPUT_WEIGHT = 1e60, 1e100
NOT_TOO_LARGE = (-LARGEST, LARGEST)
ANY_FINITE = (-FINITE, FINITE)
# Sums of shares are rounded.
SHARE = (0, 1.001)
# Characters of a label, which an answer repeats for every row.
WIDEST_LABEL = 10_000
# More rows or threads are nonsense, and could exhaust a machine.
MOST_ROWS, MOST_THREADS = 2**40, 256


class InvariantError(ValueError):
    """An object is not as `fit` leaves it; the message names the attribute."""


def require(holds: bool | np.bool_, owner: Any, said: str) -> None:
    """Raise unless something holds.

    Parameters
    ----------
    holds : bool
        Whether it does.
    owner : object
        Whose attributes it is about.
    said : str
        What is wrong if it does not: the end of a sentence that begins with the owner's class.
    """
    if not holds:
        raise InvariantError(f"{type(owner).__name__}: {said}")


def array_of(
    owner: Any,
    name: str,
    dtypes: Collection[np.dtype],
    shape: tuple[int | None, ...],
    *,
    within: tuple[float, float] = NOT_TOO_LARGE,
    gaps: bool = False,
    in_order: bool = False,
) -> np.ndarray:
    """Return an attribute that is an array of numbers, or raise; see `check_array`."""
    value = getattr(owner, name)
    check_array(owner, name, value, dtypes, shape, within=within, gaps=gaps, in_order=in_order)
    return value


def check_array(
    owner: Any,
    name: str,
    value: Any,
    dtypes: Collection[np.dtype],
    shape: tuple[int | None, ...],
    *,
    within: tuple[float, float] = NOT_TOO_LARGE,
    gaps: bool = False,
    in_order: bool = False,
) -> None:
    """Raise unless something is an array of numbers.

    Parameters
    ----------
    owner : object
        Has the array.
    name : str
        What it is called there.
    value : object
        The array.
    dtypes : collection of dtype
        What its numbers may be; in the byte order of this machine.
    shape : tuple of int or None
        Its shape; None stands for any length.
    within : tuple of two floats
        Its numbers lie between these, both ends included.
    gaps : bool, default=False
        Whether NaN is allowed.
    in_order : bool, default=False
        Whether its numbers must lie side by side, row by row, as compiled loops take them.
    """
    require(type(value) is np.ndarray, owner, f"{name} is no array")
    # A forest has ten thousands of arrays: what is wrong is put in words only where it is.
    if value.dtype not in dtypes:
        raise InvariantError(f"{type(owner).__name__}: {name} holds {value.dtype}")
    fits = value.ndim == len(shape) and all(
        wanted is None or wanted == found for wanted, found in zip(shape, value.shape, strict=True)
    )
    if not fits:
        said = f"{name} has the shape {value.shape}, not {shape}"
        raise InvariantError(f"{type(owner).__name__}: {said}")
    require(value.flags.c_contiguous or not in_order, owner, f"{name} is not in rows")
    parts = (value.real, value.imag) if value.dtype.kind == "c" else (value,)
    lowest, highest = within
    for part in parts if value.size and value.dtype.kind != "b" else ():
        # NaN passes through minimum and maximum, and is between no two numbers.
        least, most = (np.fmin, np.fmax) if gaps else (np.minimum, np.maximum)
        ends = least.reduce(part, axis=None).item(), most.reduce(part, axis=None).item()
        inside = all(lowest <= end <= highest or (gaps and np.isnan(end)) for end in ends)
        if not inside:
            said = f"{name} is not between {lowest:g} and {highest:g}"
            raise InvariantError(f"{type(owner).__name__}: {said}")


def number_of(
    owner: Any, name: str, lowest: float, highest: float, *, whole: bool = False
) -> int | float:
    """Return an attribute that is one number between two, both ends included, or raise.

    Parameters
    ----------
    owner, name : object, str
        The attribute.
    lowest, highest : float
        The ends.
    whole : bool, default=False
        Whether it must be an integer.
    """
    value = getattr(owner, name)
    kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    is_number = isinstance(value, kinds) and not isinstance(value, bool)
    require(is_number, owner, f"{name} is no {'whole ' if whole else ''}number")
    within = lowest <= value <= highest
    require(within, owner, f"{name} is not between {lowest:g} and {highest:g}")
    return value


def part_of(owner: Any, name: str, *kinds: type) -> Any:
    """Return an attribute whose type is one of some, and no other, or raise."""
    value = getattr(owner, name)
    known = type(value) in kinds
    require(known, owner, f"{name} is of the type {type(value).__name__}")
    return value


def parts_of(owner: Any, name: str, container: type, kind: type) -> Any:
    """Return an attribute that is a list or tuple of objects of one type, or raise."""
    values = part_of(owner, name, container)
    known = all(type(value) is kind for value in values)
    require(known, owner, f"{name} holds something other than {kind.__name__}")
    return values


def choice_of(owner: Any, name: str, choices: Collection[Any]) -> Any:
    """Return an attribute that is one of some words or truth values, or raise."""
    value = getattr(owner, name)
    known = isinstance(value, str | bool) and value in choices
    require(known, owner, f"{name} is none of {sorted(choices)}")
    return value


def labels_of(owner: Any, name: str = "classes_") -> np.ndarray:
    """Return an attribute that is an array of different labels, sorted, or raise."""
    value = getattr(owner, name)
    require(type(value) is np.ndarray and value.ndim == 1, owner, f"{name} is no list of labels")
    require(len(value) > 0, owner, f"{name} is empty")
    holds_labels = value.dtype.kind in "biufUS"
    if value.dtype.kind == "O":
        kinds: tuple[type, ...] = (str,) if isinstance(value[0], str) else (bool, int, float)
        holds_labels = all(isinstance(label, kinds) for label in value)
    said = f"{name} holds something other than texts or whole numbers"
    require(holds_labels, owner, said)
    require(rises(value), owner, f"{name} is not sorted, or names a class twice")
    # `fit` takes neither bytes nor fractions for classes, and no format holds larger numbers.
    if value.dtype.kind == "U":
        longest = value.dtype.itemsize // 4
    elif isinstance(value[0], str):
        longest = max(map(len, value))
    else:
        longest = 0
        whole = value.dtype.kind in "biu" or (
            value.dtype.kind in "fO" and all(map(_is_whole, value))
        )
        require(whole, owner, said)
    said = f"{name} has room for {longest} characters in each label, and {WIDEST_LABEL} is the most"
    require(longest <= WIDEST_LABEL, owner, f"{said}; shorten them, and make the array anew")
    return value


def _is_whole(label: float) -> bool:
    return -(2**63) <= label < 2**64 and int(label) == label


def is_writable(text: str) -> bool:
    """Say whether a text can be written: half of a pair of signs cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def has_real_signs(texts: np.ndarray) -> bool:
    """Say whether an array of texts of one width holds signs that exist, and no halves of any."""
    plain = np.ascontiguousarray(texts, texts.dtype.newbyteorder("="))
    signs = plain.view(np.uint32) if plain.dtype.itemsize else np.zeros(0, np.uint32)
    return not ((signs >= 0x110000) | ((signs >= 0xD800) & (signs < 0xE000))).any()


def rises(values: np.ndarray) -> bool:
    """Say whether each value is more than the one before; no list is made of a long array."""
    return bool((values[1:] > values[:-1]).all())


def is_monotone(offsets: np.ndarray, end: int) -> bool:
    """Say whether offsets begin at zero, never fall, and end where an array ends."""
    never_falls = (offsets[1:] >= offsets[:-1]).all()
    return bool(len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == end and never_falls)


def check_fields(record: Any) -> None:
    """Raise unless a record of a dataclass has just its fields."""
    wanted = {field.name for field in fields(record)}
    found = set(vars(record))
    require(found == wanted, record, f"it has other attributes: {sorted(found ^ wanted)}")


def check_thread_count(owner: Any) -> None:
    """Raise unless ``n_jobs``, where there is one, is None or a number of threads."""
    if getattr(owner, "n_jobs", None) is not None:
        n_jobs = number_of(owner, "n_jobs", -MOST_THREADS, MOST_THREADS, whole=True)
        require(n_jobs != 0, owner, "n_jobs is zero")


def check_inputs_of(estimator: Any) -> int:
    """Return how many columns a fitted estimator takes, or raise.

    Names of columns, where there are any, are as many, all text, none twice.
    """
    n_features = int(number_of(estimator, "n_features_in_", 1, 2**31 - 1, whole=True))
    if hasattr(estimator, "feature_names_in_"):
        names = part_of(estimator, "feature_names_in_", np.ndarray)
        are_text = names.dtype.kind == "O" and all(type(name) is str for name in names.flat)
        require(names.shape == (n_features,), estimator, "feature_names_in_ has another length")
        require(are_text, estimator, "feature_names_in_ holds something other than names")
        require(len(set(names)) == n_features, estimator, "feature_names_in_ names one twice")
    return n_features
