"""Check all that a model file holds, part by part, before any of it is used.

The list of trusted types keeps code out; this keeps arrays out that would lead the
compiled loops outside of their memory, or to an answer that is none. Each class of
ours says itself what must hold of it (``_check_loaded``); what must hold of the
steps of scikit-learn is in `loaded_steps`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from types import FunctionType
from typing import Any

import numpy as np

from granulearn._invariants import InvariantError, require
from granulearn.persistence.loaded_steps import STEP_CHECKS, check_pipeline
from granulearn.persistence.model_card import ModelCard
from granulearn.persistence.predictors import full_name

_VALUES = (type(None), bool, int, float, str, np.generic, np.dtype, type, slice, FunctionType)
# Arrays of objects hold categories and labels.
_CELLS = (type(None), bool, int, float, str, np.bool_, np.integer, np.floating)


def check_loaded(model: Any, trusted: Collection[str] = ()) -> None:
    """Raise `InvariantError` unless every part of a model is as `fit` leaves it.

    Parameters
    ----------
    model : estimator
        A model as it came out of a file.
    trusted : collection of str, default=()
        Full names of types that the caller answers for: they are not looked at.
    """
    for part in _parts(model):
        if full_name(part) in trusted:
            continue
        _check_attributes(part)
        if full_name(part) in STEP_CHECKS:
            continue  # it is looked at where it stands in its pipeline
        check = getattr(type(part), "_check_loaded", None)
        if check is None:
            raise InvariantError(f"{type(part).__name__}: nothing is known of what must hold of it")
        check(part)
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


def _parts(model: Any) -> Iterator[Any]:
    """Yield every object with attributes, parts before wholes; refuse what is no value."""
    done: set[int] = set()
    open_: set[int] = set()
    to_visit: list[tuple[Any, bool]] = [(model, False)]
    while to_visit:
        item, is_done = to_visit.pop()
        if isinstance(item, np.ndarray):
            cells = item.flat if item.dtype.hasobject else ()
            known = type(item) is np.ndarray and all(isinstance(cell, _CELLS) for cell in cells)
            require(known, model, "an array holds something other than numbers and text")
            continue
        if isinstance(item, _VALUES):
            continue
        if is_done:
            open_.discard(id(item))
            done.add(id(item))
            if not isinstance(item, list | tuple | dict):
                yield item
            continue
        if id(item) in done:
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
        yield from vars(item).values()
    else:
        raise InvariantError(f"{type(item).__name__} is no part of a model")


def _check_attributes(part: Any) -> None:
    """Raise if an attribute stands in the way of a method or a property of its class."""
    for name in vars(part):
        own = getattr(type(part), name, None) if isinstance(name, str) else None
        hidden = callable(own) or hasattr(type(own), "__get__")
        require(isinstance(name, str) and not hidden, part, f"{name} is no attribute of it")
