"""Check all that a model file holds, part by part, before any of it is used.

The list of trusted types keeps code out; this keeps arrays out that would lead the
compiled loops outside of their memory, or to an answer that is none. Each class of
ours says itself what must hold of it (``_check_loaded``); what must hold of the
steps of scikit-learn is in `loaded_steps`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache
from inspect import signature
from types import FunctionType
from typing import Any

import numpy as np

from granulearn._invariants import InvariantError, has_real_signs, is_writable, require
from granulearn.models.archives import check_steps, check_trees
from granulearn.models.loaded_steps import STEP_CHECKS, check_pipeline
from granulearn.models.model_card import ModelCard
from granulearn.models.predictors import full_name

_VALUES = (type(None), bool, int, float, str, np.generic, np.dtype, type, slice, FunctionType)
# Arrays of objects hold categories and labels.
_CELLS = (type(None), bool, int, float, str, np.bool_, np.integer, np.floating)


def check_loaded(model: Any, trusted: Collection[str] = ()) -> None:
    """Raise `InvariantError` unless every part of a model is as `fit` leaves it.

    More trees than a file may hold, or deeper ones, raise `ArchiveError`.

    Parameters
    ----------
    model : estimator
        A model as it came out of a file.
    trusted : collection of str, default=()
        Full names of types that the caller answers for: they are not looked at.
    """
    n_trees = n_steps = 0
    for part in _parts(model):
        if full_name(part) in trusted:
            continue
        _check_attributes(part)
        if hasattr(type(part), "_n_trees_of"):
            n_trees += part._n_trees_of(vars(part))
            check_trees(n_trees)
        if full_name(part) in STEP_CHECKS:
            continue  # it is looked at where it stands in its pipeline
        check = getattr(type(part), "_check_loaded", None)
        if check is None:
            raise InvariantError(f"{type(part).__name__}: nothing is known of what must hold of it")
        check(part)
        if hasattr(type(part), "_n_steps_of_a_row"):
            n_steps += part._n_steps_of_a_row()
            check_steps(n_steps)
    check_pipeline(model, trusted)


def check_card(model: Any, card: ModelCard) -> None:
    """Raise `InvariantError` unless a model takes the columns that its card names.

    Parameters
    ----------
    model : estimator
        A model that `check_loaded` has passed.
    card : ModelCard
        What the file says about it; one without columns says nothing.
    """
    names = [column.name for column in card.columns]
    if not names:
        return
    known = all(type(name) is str for name in names) and len({*names}) == len(names)
    require(known, card, "a column has no name, or is there twice")
    taken = getattr(model, "feature_names_in_", None)
    agree = names == taken.tolist() if taken is not None else len(names) == model.n_features_in_
    said = "the columns of the card are not those that the model takes"
    require(agree, card, f"{said}; save it with a card of the columns that it was fitted to")
    if card.schema is not None:
        kinds = {True: "number", False: "category"}
        made = [
            (name, kinds[column.makes_numbers])
            for column in card.schema.used
            for name in column.feature_names
        ]
        same = made == [(column.name, column.kind) for column in card.columns]
        require(same, card, "the columns that its schema makes are not those that it names")


def _parts(model: Any) -> Iterator[Any]:
    """Yield every object with attributes, parts before wholes; refuse what is no value.

    In the place of an estimator that another one has as a parameter, and copies before it
    fits the copy, is what it holds.
    """
    done: set[int] = set()
    open_: set[int] = set()
    to_visit: list[tuple[Any, bool]] = [(model, False)]
    while to_visit:
        item, is_done = to_visit.pop()
        if isinstance(item, np.ndarray):
            cells = item.ravel() if item.dtype.hasobject else ()
            known = type(item) is np.ndarray and all(isinstance(cell, _CELLS) for cell in cells)
            require(known, model, "an array holds something other than numbers and text")
            signs = item.dtype.kind != "U" or has_real_signs(item)
            written = all(is_writable(cell) for cell in cells if isinstance(cell, str))
            require(signs and written, model, "an array holds text that cannot be written")
            continue
        if isinstance(item, _VALUES):
            written = not isinstance(item, str) or is_writable(item)
            require(written, model, "it holds text that cannot be written")
            continue
        if is_done:
            open_.discard(id(item))
            done.add(id(item))
            if not isinstance(item, list | tuple | dict):
                yield item
            continue
        if id(item) in done:
            # It would predict once for each part that holds it, and its steps count once.
            once = not hasattr(type(item), "_held_once")
            require(once, model, f"a {type(item).__name__} is part of it twice")
            continue
        require(id(item) not in open_, model, "a part holds itself")
        open_.add(id(item))
        to_visit.append((item, True))
        to_visit.extend((inner, False) for inner in _inside(item))


def _inside(item: Any) -> Iterator[Any]:
    if isinstance(item, list | tuple):
        yield from item
    elif isinstance(item, dict):
        yield from item.keys()
        yield from item.values()
    elif hasattr(item, "__dict__"):
        for name, value in vars(item).items():
            if name in _made_from(item) and _is_not_fitted(value):
                _check_attributes(value)
                value._validate_params()
                yield from _inside(value)
            else:
                yield value
    else:
        raise InvariantError(f"{type(item).__name__} is no part of a model")


def _is_not_fitted(value: Any) -> bool:
    """Say whether a value is an estimator of ours with nothing but its parameters."""
    ours = hasattr(type(value), "_check_loaded") and hasattr(type(value), "get_params")
    return ours and vars(value).keys() <= _made_from(value)


def _check_attributes(part: Any) -> None:
    """Raise if an attribute stands in the way of what its class has: methods, rules, properties.

    What the class is made from may have a default there, as fields of a record do.
    """
    for name in vars(part):
        require(isinstance(name, str), part, f"{name} is no attribute of it")
        own = getattr(type(part), name, _NOTHING)
        is_default = name in _made_from(part) and not callable(own) and not hasattr(own, "__get__")
        require(own is _NOTHING or is_default, part, f"{name} is no attribute of it")


_NOTHING = object()


def _made_from(part: Any) -> frozenset[str]:
    """Return the names of parameters, or of fields, of a part."""
    return _parameters(type(part))  # type: ignore[arg-type]


@cache
def _parameters(kind: type) -> frozenset[str]:
    return frozenset(signature(kind.__init__).parameters)  # type: ignore[misc]
