"""Model files that were made to take time: each is close to a limit, or far beyond it.

All have a digest that fits, so that nothing but what they hold refuses them.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import numpy as np

from granulearn.estimators import RVFLClassifier
from granulearn.persistence import archives, save_model
from granulearn.persistence.archives import CARD_MEMBER, SCHEMA_MEMBER
from tests.persistence.damage import as_npy, read_members, write_members

Members = dict[str, bytes]
_numbers = count(10**6)  # beyond those of the model's own nodes


def plain_model(path: Path) -> Members:
    """Save a small model, and return its members."""
    X = np.arange(20.0).reshape(10, 2)
    save_model(RVFLClassifier(n_hidden=3, random_state=0).fit(X, np.arange(10) % 2), path)
    return read_members(path)


def listed(content: list | None = None, number: int | None = None, **more) -> dict:
    """Return the node of a list."""
    kept = {} if content is None else {"content": content}
    return {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode",
            "__id__": number or next(_numbers), **kept, **more}  # fmt: skip


def value(content) -> dict:
    """Return the node of a value."""
    return {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode",
            "content": json.dumps(content), "is_json": True, "__id__": next(_numbers)}  # fmt: skip


def object_of(module: str, name: str, **attributes) -> dict:
    """Return the node of an object with these attributes, each a node."""
    state = {"__class__": "dict", "__module__": "builtins", "__loader__": "DictNode",
             "content": attributes, "__id__": next(_numbers)}  # fmt: skip
    return {"__class__": name, "__module__": module, "__loader__": "ObjectNode",
            "content": state, "__id__": next(_numbers)}  # fmt: skip


def texts(values: list) -> dict:
    """Return the node of an array of text."""
    shape = {"__class__": "tuple", "__module__": "builtins", "__loader__": "TupleNode",
             "content": [value(len(values))], "__id__": next(_numbers)}  # fmt: skip
    return {"__class__": "ndarray", "__module__": "numpy", "__loader__": "NdArrayNode",
            "type": "json", "values": values, "shape": shape, "__id__": next(_numbers)}  # fmt: skip


def with_part(members: Members, node: dict) -> Members:
    """Give the model one more part."""
    schema = json.loads(members[SCHEMA_MEMBER])
    schema["content"]["content"]["_more"] = node
    return members | {SCHEMA_MEMBER: json.dumps(schema).encode()}


def with_card(members: Members, **entries) -> Members:
    """Change entries of the card."""
    header = json.loads(members[CARD_MEMBER])
    header["card"] |= entries
    return members | {CARD_MEMBER: json.dumps(header).encode()}


def with_step(members: Members, step: dict) -> Members:
    """Put a step before the model."""
    model = json.loads(members[SCHEMA_MEMBER])
    pair = {"__class__": "tuple", "__module__": "builtins", "__loader__": "TupleNode"}
    steps = [
        pair | {"content": [value(name), node], "__id__": next(_numbers)}
        for name, node in (("first", step), ("model", model))
    ]
    none = value(None)
    whole = object_of(
        "sklearn.pipeline", "Pipeline",
        steps=listed(steps), memory=none, verbose=value(False), transform_input=none,
    )  # fmt: skip
    return members | {SCHEMA_MEMBER: json.dumps(whole | {"protocol": 2}).encode()}


def shared_lists(members: Members) -> Members:
    """A few lines that stand for 10 ** 12 nodes."""
    inner = listed([], 10**5)
    for level in range(10**5 + 1, 10**5 + 13):
        inner = listed([inner, *(listed([], level - 1) for _ in range(9))], level)
    return with_part(members, inner)


def branches(members: Members) -> Members:
    """A step of many branches, over a table of many columns."""
    n_branches = 4_000
    names = [f"c{place}" for place in range(200_000)]
    entry = {"__class__": "tuple", "__module__": "builtins", "__loader__": "TupleNode"}
    kept = [
        entry | {"content": [value(f"b{place}"), value("drop"), listed(values=["c1"])],
                 "__id__": next(_numbers)}
        for place in range(n_branches)
    ]  # fmt: skip
    indices = {"__class__": "dict", "__module__": "builtins", "__loader__": "DictNode",
               "content": {f"b{place}": listed(values=[1]) for place in range(n_branches)},
               "__id__": next(_numbers)}  # fmt: skip
    step = object_of(
        "sklearn.compose._column_transformer", "ColumnTransformer",
        transformers_=listed(kept), feature_names_in_=texts(names), n_jobs=value(None),
        n_features_in_=value(len(names)), sparse_output_=value(False),
        transformer_weights=value(None), transformers=listed([]),
        _transformer_to_input_indices=indices, remainder=value("drop"), verbose=value(False),
        sparse_threshold=value(0.3), verbose_feature_names_out=value(True),
        force_int_remainder_cols=value(False),
    )  # fmt: skip
    return with_step(members, step)


def categories(members: Members) -> Members:
    """An encoder with as many categories as can be, of which the last is there twice."""
    own = [f"{place:06d}" for place in range(archives.MOST_VALUES - 3000)]
    encoder = object_of(
        "sklearn.preprocessing._encoders", "OneHotEncoder",
        categories_=listed([texts([*own, own[-1]])]), n_features_in_=value(1),
        categories=value("auto"), drop=value(None), sparse_output=value(False),
        min_frequency=value(None), max_categories=value(None), handle_unknown=value("ignore"),
        dtype=value(None), feature_name_combiner=value("concat"),
    )  # fmt: skip
    return with_step(members, encoder)


def arrays(members: Members) -> Members:
    """A list of as many arrays as can be."""
    data, nodes = as_npy(np.zeros(1)), []
    for number in range(10**7, 10**7 + archives.MOST_MEMBERS - 100):
        members[f"{number}.npy"] = data
        nodes.append({"__class__": "ndarray", "__module__": "numpy", "__loader__": "NdArrayNode",
                      "type": "numpy", "file": f"{number}.npy", "__id__": number})  # fmt: skip
    return with_part(members, listed(nodes))


HOSTILE: dict[str, Callable[[Members], Members]] = {
    "190,000 nodes in 25 MB": lambda members: with_part(
        members, listed([value("x" * 10) for _ in range(190_000)])
    ),
    "as many nodes as may be": lambda members: with_part(
        members, listed([listed([]) for _ in range(archives.MOST_NODES[SCHEMA_MEMBER] // 2 - 100)])
    ),
    "as many values as may be": lambda members: with_part(
        members, listed(values=[1] * (archives.MOST_VALUES - 1000))
    ),
    "as many keys as may be": lambda members: with_card(
        members, classes={f"{place:x}": 1 for place in range(archives.MOST_KEYS - 100)}, more=1
    ),
    "10 ** 12 nodes by references": shared_lists,
    "4,000 branches of 200,000 columns": branches,
    "as many categories as may be": categories,
    "16 MB of brackets in a value": lambda members: with_part(
        members, value("x") | {"content": "\\u005b" * (15 * 2**20 // 7)}
    ),
    "lists in lists": lambda members: members | {SCHEMA_MEMBER: b"[" * 99_000 + b"]" * 99_000},
    "as many arrays as may be": arrays,
    "arrays that nothing needs": lambda members: (
        members
        | {f"{place + 10**7}.npy": as_npy(np.zeros(2**22)) for place in range(10)}
        | {"1.npy": as_npy(np.random.default_rng(0).random(2**21))}
    ),
}


def hostile_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Write each hostile file, and say what it is."""
    path = folder / "m.skops"
    plain = plain_model(path)
    for name, change in HOSTILE.items():
        write_members(path, change(dict(plain)), zipfile.ZIP_DEFLATED)
        yield name, path
