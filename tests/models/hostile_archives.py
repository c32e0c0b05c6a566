"""Model files that were made to take time: each is close to a limit, or far beyond it.

All have a digest that fits, so that nothing but what they hold refuses them.
"""

from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import numpy as np

from granulearn.models import archives, save_model
from granulearn.models.archives import CARD_MEMBER, SCHEMA_MEMBER
from granulearn.rvfl import RVFLClassifier
from tests.models.damage import as_npy, read_members, write_members

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


def mapping(content: dict) -> dict:
    """Return the node of a dict whose keys are text."""
    return {"__class__": "dict", "__module__": "builtins", "__loader__": "DictNode",
            "content": content, "__id__": next(_numbers)}  # fmt: skip


def object_of(module: str, name: str, **attributes) -> dict:
    """Return the node of an object with these attributes, each a node."""
    return {"__class__": name, "__module__": module, "__loader__": "ObjectNode",
            "content": mapping(attributes), "__id__": next(_numbers)}  # fmt: skip


def texts(values: list) -> dict:
    """Return the node of an array of text."""
    shape = {"__class__": "tuple", "__module__": "builtins", "__loader__": "TupleNode",
             "content": [value(len(values))], "__id__": next(_numbers)}  # fmt: skip
    return {"__class__": "ndarray", "__module__": "numpy", "__loader__": "NdArrayNode",
            "type": "json", "values": values, "shape": shape, "__id__": next(_numbers)}  # fmt: skip


def array_node(number: int) -> dict:
    """Return the node of an array of numbers, which is in a member of its own."""
    return {"__class__": "ndarray", "__module__": "numpy", "__loader__": "NdArrayNode",
            "type": "numpy", "file": f"{number}.npy", "__id__": number}  # fmt: skip


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


def branching(n_columns: int, n_branches: int, columns: Callable[[], dict], **more) -> dict:
    """Return the node of a step of many branches that each take the second column."""
    entry = {"__class__": "tuple", "__module__": "builtins", "__loader__": "TupleNode"}
    kept = [
        entry | {"content": [value(f"b{place}"), value("drop"), columns()],
                 "__id__": next(_numbers)}
        for place in range(n_branches)
    ]  # fmt: skip
    indices = mapping({f"b{place}": listed(values=[1]) for place in range(n_branches)})
    return object_of(
        "sklearn.compose._column_transformer", "ColumnTransformer",
        transformers_=listed(kept), n_jobs=value(None),
        n_features_in_=value(n_columns), sparse_output_=value(False),
        transformer_weights=value(None), transformers=listed([]),
        _transformer_to_input_indices=indices, remainder=value("drop"), verbose=value(False),
        sparse_threshold=value(0.3), verbose_feature_names_out=value(True),
        force_int_remainder_cols=value(False), **more,
    )  # fmt: skip


def branches(members: Members) -> Members:
    """A step of many branches, over a table of many columns."""
    names = [f"c{place}" for place in range(200_000)]
    many = branching(
        len(names), 4_000, lambda: listed(values=["c1"]), feature_names_in_=texts(names)
    )
    return with_step(members, many)


def unnamed_columns(members: Members) -> Members:
    """A step of as many columns as can be, without names, one branch of which takes all."""
    whole = {"__class__": "slice", "__module__": "builtins", "__loader__": "SliceNode",
             "content": {"start": None, "stop": None, "step": None},
             "__id__": next(_numbers)}  # fmt: skip
    return with_step(members, branching(2**31 - 1, 1, lambda: whole))


def same_member(members: Members) -> Members:
    """An ensemble of one member of many classes, which is there 10,000 times."""
    n_classes, member = 30_000, json.loads(members[SCHEMA_MEMBER])
    fitted = member["content"]["content"]
    members[fitted["classes_"]["file"]] = as_npy(np.arange(n_classes))
    members[fitted["coef_"]["file"]] = as_npy(np.zeros((6, n_classes)))
    again = {key: member[key] for key in ("__class__", "__module__", "__loader__", "__id__")}
    none = value(None)
    whole = object_of(
        "granulearn.estimators.ball_ensemble", "BallEnsembleClassifier",
        estimator=none, n_estimators=value(1), random_state=none, n_jobs=none,
        classes_=fitted["classes_"], n_features_in_=value(2),
        estimators_=listed([member] + [again] * 10_000),
    )  # fmt: skip
    return members | {SCHEMA_MEMBER: json.dumps(whole | {"protocol": 2}).encode()}


def many_classes(members: Members) -> Members:
    """A model of 600,000 different classes, with weights of zero."""
    n_classes = 600_000
    fitted = json.loads(members[SCHEMA_MEMBER])["content"]["content"]
    return members | {
        fitted["classes_"]["file"]: as_npy(np.arange(n_classes)),
        fitted["coef_"]["file"]: as_npy(np.zeros((6, n_classes))),
    }


def labels(members: Members) -> Members:
    """A model with 15,000,000 times the same class."""
    fitted = json.loads(members[SCHEMA_MEMBER])["content"]["content"]
    return members | {fitted["classes_"]["file"]: as_npy(np.ones(15_000_000, np.int16))}


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
        nodes.append(array_node(number))
    return with_part(members, listed(nodes))


def trees(members: Members, n_trees: int = archives.MOST_TREES, n_forests: int = 1) -> Members:
    """Forests of the same trees, each of one ball, that know other classes."""
    packed = {
        "n_nodes": np.ones(n_trees, np.int64),
        "n_features": np.zeros(n_trees, np.int64),
        "children": np.full(n_trees, -1, np.int32),
        "offsets": np.zeros(2 * n_trees, np.int32),
        "features": np.zeros(0, np.int32),
        "directions": np.zeros(0),
        "thresholds": np.zeros(n_trees),
        "leaf_proba": np.ones((n_trees, 1), np.float32),
    }
    nodes = {}
    for name, array in packed.items():
        number = next(_numbers)
        members[f"{number}.npy"] = as_npy(array)
        nodes[name] = array_node(number)
    number = next(_numbers)
    members[f"{number}.npy"] = as_npy(np.zeros(2))
    forests = [
        object_of(
            "granulearn.balls.forest", "BallForest",
            trees=mapping(nodes), shift=array_node(number), scale=value(1.0),
            n_outputs=value(1), n_weighings=value(1),
        )
        for _ in range(n_forests)
    ]  # fmt: skip
    return with_part(members, listed(forests))


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
    "2 ** 31 columns without names": unnamed_columns,
    "10,000 times the same member": same_member,
    "600,000 classes without weights": many_classes,
    "15,000,000 times the same class": labels,
    "as many categories as may be": categories,
    "16 MB of brackets in a value": lambda members: with_part(
        members, value("x") | {"content": "\\u005b" * (15 * 2**20 // 7)}
    ),
    "lists in lists": lambda members: members | {SCHEMA_MEMBER: b"[" * 99_000 + b"]" * 99_000},
    "as many arrays as may be": arrays,
    "as many trees as may be": trees,
    "500,000 trees": lambda members: trees(members, 500_000),
    "20 forests of the same 5,000 trees": lambda members: trees(members, n_forests=20),
    "arrays that nothing needs": lambda members: (
        members
        | {f"{place + 10**7}.npy": as_npy(np.zeros(2**22)) for place in range(10)}
        | {"1.npy": as_npy(np.random.default_rng(0).random(2**21))}
    ),
}


def empty_members(n_members: int) -> bytes:
    """Return an archive that is nothing but a list of members."""
    entry = struct.pack(
        "<4s4B4HL2L5H2L", b"PK\x01\x02", 20, 3, 20, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0
    )
    entries = b"".join(entry + b"%05d" % (number % 10**5) for number in range(n_members))
    n_said = n_members % 2**16
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, n_said, n_said, len(entries), 0, 0)
    return entries + end


def hostile_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Write each hostile file, and say what it is."""
    path = folder / "m.skops"
    plain = plain_model(path)
    for name, change in HOSTILE.items():
        write_members(path, change(dict(plain)), zipfile.ZIP_DEFLATED)
        yield name, path
    path.write_bytes(empty_members(500_000))
    yield "500,000 members without content", path
