"""Write a model as the tree of nodes that `skops_trees` reads, without skops.

The nodes are those of skops but for two things. A list, or an array of text, that holds
nothing but plain values is one node (``values``), where skops makes a node of every
value: a table of 20,000 columns has their names six times in its model. A dict whose keys
are text does not say so for every key.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from granulearn.models.archives import HIGHEST_RATIO, SCHEMA_MEMBER
from granulearn.models.skops_trees import PLAIN, PROTOCOL, Node
from granulearn.models.trusted_types import is_trusted


class UnlistedTypes(TypeError):  # noqa: N818 - it is a finding, said in other words to users
    """A model holds something that no file may hold.

    Parameters
    ----------
    names : iterable of str
        Full names of the types.
    """

    def __init__(self, names: Iterable[str]):
        self.names = sorted(names)
        super().__init__(", ".join(self.names))


def written_tree(model: Any) -> tuple[Node, dict[str, np.ndarray]]:
    """Return the tree of nodes of a model, and its arrays by the names of their members.

    Parameters
    ----------
    model : object
        Made of listed types alone.

    Raises
    ------
    UnlistedTypes
        If it holds something else.
    """
    writing = _Writing()
    tree = {**writing.node(model), "protocol": PROTOCOL}
    if writing.unlisted:
        raise UnlistedTypes(writing.unlisted)
    return tree, writing.arrays


def packed(tree: Node, arrays: dict[str, np.ndarray]) -> bytes:
    """Return an archive of a tree and its arrays.

    Parameters
    ----------
    tree, arrays
        As from `written_tree`.
    """
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as members:
        for name, array in arrays.items():
            data = io.BytesIO()
            np.save(data, array, allow_pickle=False)
            write_member(members, name, data.getbuffer(), _way_to_pack(data.getbuffer()))
        write_member(members, SCHEMA_MEMBER, json.dumps(tree))
    return archive.getvalue()


def write_member(
    members: zipfile.ZipFile,
    name: str,
    data: str | memoryview,
    way: int = zipfile.ZIP_DEFLATED,
) -> None:
    """Add a member that says nothing of when: the same model is the same file.

    Parameters
    ----------
    members : ZipFile
        The archive.
    name, data : str, str or memoryview
        The member.
    way : int
        How it is packed.
    """
    entry = zipfile.ZipInfo(name)  # of 1980, as long as no time is given
    entry.external_attr = 0o600 << 16
    members.writestr(entry, data, way)


def _way_to_pack(data: memoryview) -> int:
    """Return how to write a member: packed if that pays, and if the reader will unpack it.

    Drawn weights are most of a network, and cannot be packed. What becomes very small the
    reader would take for an attack.
    """
    some = data[:_SAMPLE]
    share = len(zlib.compress(some)) / len(some)
    pays = share < _WORTH_PACKING and (len(data) <= _SAMPLE or share * HIGHEST_RATIO > 1)
    return zipfile.ZIP_DEFLATED if pays else zipfile.ZIP_STORED


_SAMPLE, _WORTH_PACKING = 2**18, 0.9


class _Writing:
    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.unlisted: set[str] = set()
        self._nodes: dict[int, Node] = {}
        self._kept: list[Any] = []
        self._n_nodes = 0

    def node(self, item: Any) -> Node:
        """Return the node of anything; what is met twice has the same one."""
        if id(item) not in self._nodes:
            # Whatever is held stays alive, so that no two things have one address.
            self._kept.append(item)
            self._n_nodes += 1
            number = self._n_nodes
            self._nodes[id(item)] = {**self._facts(item, number), "__id__": number}
        return self._nodes[id(item)]

    def _facts(self, item: Any, number: int) -> Node:
        if type(item) in PLAIN:
            return _named(str, "JsonNode") | {"content": json.dumps(item), "is_json": True}
        if type(item) in (list, tuple):
            return self._listed(item)
        if type(item) is dict:
            content = {key: self.node(value) for key, value in item.items()}
            facts = _named(dict, "DictNode") | {"content": content}
            if all(type(key) is str for key in item):
                return facts
            return facts | {"key_types": self.node([type(key) for key in item])}
        if isinstance(item, (np.ndarray, np.generic)):
            return self._array(item, number)
        if isinstance(item, np.dtype):
            held = self.node(np.empty(0, dtype=item))
            return _named(np.dtype, "DTypeNode") | {"content": held}
        if isinstance(item, slice):
            ends = {"start": item.start, "stop": item.stop, "step": item.step}
            return _named(slice, "SliceNode") | {"content": ends}
        return self._checked(item)

    def _listed(self, items: list | tuple) -> Node:
        if type(items) is list and all(type(item) in PLAIN for item in items):
            return _named(list, "ListNode") | {"values": items}
        loader = "ListNode" if type(items) is list else "TupleNode"
        return _named(type(items), loader) | {"content": [self.node(item) for item in items]}

    def _array(self, array: np.ndarray | np.generic, number: int) -> Node:
        facts = _named(type(array), "NdArrayNode")
        if array.dtype == object:
            cells = self._listed(array.ravel().tolist())
            return cells | facts | {"type": "json", "shape": self.node(array.shape)}
        file = f"{number}.npy"
        self.arrays[file] = np.asanyarray(array)
        return self._if_listed(facts | {"type": "numpy", "file": file})

    def _checked(self, item: Any) -> Node:
        """Return the node of a type, a function or an object, if it is a listed one."""
        if isinstance(item, type):
            return self._if_listed(_named(item, "TypeNode"))
        if hasattr(item, "__qualname__"):
            return self._if_listed(_named(item, "FunctionNode"))
        facts = _named(type(item), "ObjectNode")
        if not is_trusted(facts):
            return self._if_listed(facts)
        return facts | {"content": self.node(item.__getstate__())}

    def _if_listed(self, facts: Node) -> Node:
        if not is_trusted(facts):
            self.unlisted.add(f"{facts['__module__']}.{facts['__class__']}")
        return facts


def _named(kind: Any, loader: str) -> Node:
    """Return what every node says: its type, or its function, and how it is rebuilt."""
    name = getattr(kind, "__name__", type(kind).__name__)
    module = getattr(kind, "__module__", None) or type(kind).__module__
    return {"__class__": name, "__module__": module, "__loader__": loader}
