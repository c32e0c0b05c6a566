"""The keys of a study file in words: what `granulearn bench --schema` prints.

Everything comes from the models of `granulearn.bench.studies.spec`: keys, defaults, limits, allowed
values and the sentences below them.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from granulearn.bench.studies.spec import IF_LEFT_OUT, NOT_IN_A_FILE, Study

_WORDS = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    Any: "any value",
}
_LIMITS = {Ge: ("ge", ">= "), Gt: ("gt", "> "), Le: ("le", "<= "), Lt: ("lt", "< ")}


@dataclass(frozen=True)
class Key:
    """One key of a study file."""

    place: str
    """Where it stands, such as ``split.kind`` or ``method[].name``."""
    values: str
    """What it takes."""
    default: str
    """Its value if it is left out, and when it may not be; empty if it must be there."""
    meaning: str
    """What it means."""


def study_keys() -> list[Key]:
    """List every key that a study file may have.

    Returns
    -------
    list of Key
        In the order of the models; a table's own keys follow it.
    """
    return list(_keys(Study, "", NOT_IN_A_FILE))


def _keys(model: type[BaseModel], before: str, hidden: tuple[str, ...] = ()) -> Iterator[Key]:
    for name, field in model.model_fields.items():
        if name in hidden:
            continue
        place = f"{before}{name}"
        meaning = " ".join((field.description or "").replace("``", "`").split())
        yield Key(place, _values(field), _default(field), meaning)
        for inner in _models(field.annotation):
            many = "[]" if get_origin(field.annotation) is tuple else ""
            yield from _keys(inner, f"{place}{many}.")


def _values(field: FieldInfo) -> str:
    limits = [
        f"{sign}{getattr(item, name)}"
        for item in field.metadata
        for kind, (name, sign) in _LIMITS.items()
        if isinstance(item, kind)
    ]
    words = _said(field.annotation)
    return f"{words}, {' and '.join(limits)}" if limits else words


def _said(kind: Any) -> str:
    """Return a type in words."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _said(inner[0])
    if origin is Literal:
        return " | ".join(f'"{value}"' for value in inner)
    if origin in (Union, types.UnionType):
        return " | ".join(_said(item) for item in inner if item is not type(None))
    if origin in (tuple, list):
        return f"list of {_said(inner[0])}"
    if origin is dict:
        return f"table of {_said(inner[1])}"
    if inspect.isclass(kind) and issubclass(kind, BaseModel):
        return "table"
    return _WORDS[kind]


def _models(kind: Any) -> Iterator[type[BaseModel]]:
    """Yield the models inside a type."""
    if inspect.isclass(kind) and not get_args(kind):
        if issubclass(kind, BaseModel):
            yield kind
        return
    for inner in get_args(kind):
        yield from _models(inner)


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return ""
    if isinstance(field.json_schema_extra, dict):
        return str(field.json_schema_extra[IF_LEFT_OUT])
    value = field.get_default(call_default_factory=True)
    if isinstance(value, BaseModel):
        return "as below"
    if value is None or value in ((), {}):
        return "none"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_shown, value))}]"
    return _shown(value)


def _shown(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)
