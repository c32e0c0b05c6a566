"""Rebuild what a model file holds, without skops.

To load skops is to load all of scikit-learn and of SciPy's distributions: more than a
prediction takes. A model file needs ten kinds of nodes, and no type that is not listed.
`tree_writing` writes them.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from granulearn.models.archives import check_trees
from granulearn.models.array_members import read_array
from granulearn.models.trusted_types import is_trusted

PROTOCOL = 2
"""The form of nodes, as skops numbers them since version 0.11."""

Node = dict[str, Any]

PLAIN = frozenset({str, int, float, bool, type(None)})
"""What a value is; nothing that JSON makes is another but lists and dicts."""


def rebuild(schema: Node, members: zipfile.ZipFile) -> Any:
    """Return the object that a tree of nodes stands for.

    Parameters
    ----------
    schema : dict
        A tree without cycles, after all checks of archives.
    members : ZipFile
        The arrays.
    """
    return _Rebuilding(members).build(schema)


class _Rebuilding:
    def __init__(self, members: zipfile.ZipFile):
        self._members = members
        self._built: dict[int, Any] = {}
        self._n_trees = 0
        self._kinds: dict[str, Callable[[Node], Any]] = {
            "DictNode": self._dict,
            "ListNode": self._items,
            "TupleNode": lambda node: tuple(self.build(item) for item in node["content"]),
            "JsonNode": lambda node: _plain([json.loads(node["content"])])[0],
            "SliceNode": lambda node: slice(*(node["content"][end] for end in _ENDS)),
            "TypeNode": _named,
            "FunctionNode": _named,
            "DTypeNode": lambda node: self.build(node["content"]).dtype,
            "NdArrayNode": self._array,
            "ObjectNode": self._object,
        }

    def build(self, node: Node) -> Any:
        number = node["__id__"]
        if number not in self._built:
            if not is_trusted(node):
                raise TypeError(f"{node['__module__']}.{node['__class__']} is not listed")
            self._built[number] = self._kinds[node["__loader__"]](node)
        return self._built[number]

    def _dict(self, node: Node) -> dict:
        if "key_types" not in node:
            return {key: self.build(value) for key, value in node["content"].items()}
        kinds = self.build(node["key_types"])
        items = zip(kinds, node["content"].items(), strict=True)
        return {kind(key): self.build(value) for kind, (key, value) in items}

    def _items(self, node: Node) -> list:
        if "values" in node:
            return _plain(node["values"])
        return [self.build(item) for item in node["content"]]

    def _array(self, node: Node) -> Any:
        if node["type"] == "numpy":
            array = read_array(self._members, node["file"])
            return array if node["__class__"] == "ndarray" else _named(node)(array)
        cells = self._items(node)
        array = np.empty(len(cells), dtype=object)
        array[:] = cells
        shape = self.build(node["shape"])
        if not shape:
            raise TypeError("an array of text has no dimension")
        return array.reshape(shape)

    def _object(self, node: Node) -> Any:
        kind = _named(node)
        instance = kind.__new__(kind)
        state = self.build(node["content"]) if node.get("content") is not None else None
        if state is None:
            return instance
        if hasattr(kind, "_n_trees_of"):
            # A few bytes can stand for many trees: they are counted before there are any.
            self._n_trees += kind._n_trees_of(state)
            check_trees(self._n_trees)
        if hasattr(instance, "__setstate__"):
            instance.__setstate__(state)
        else:
            vars(instance).update(state)
        return instance


_ENDS = ("start", "stop", "step")


def _plain(values: list) -> list:
    if not PLAIN.issuperset(map(type, values)):
        raise TypeError("a list of values holds something else")
    return [*values]


def _named(node: Node) -> Any:
    return getattr(import_module(node["__module__"]), node["__class__"])
