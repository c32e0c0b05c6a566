"""Random damage to the members of a model file, which the digest hides."""

import io
import json
import random
import warnings
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from granulearn.models.archives import CARD_MEMBER, SCHEMA_MEMBER, walk
from granulearn.models.model_files import _digest
from granulearn.models.trusted_types import TRUSTED_OBJECTS


def read_members(path: Path) -> dict[str, bytes]:
    """Return all members of an archive by name."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_members(path: Path, members: dict[str, bytes], way: int = zipfile.ZIP_STORED) -> None:
    """Write a model file with these members, and a digest that fits them."""
    header, whole = json.loads(members[CARD_MEMBER]), io.BytesIO()
    header["sha256"] = _digest(Unwritten(members), header["card"])
    with zipfile.ZipFile(whole, "w") as archive:
        for name, data in members.items():
            if name != CARD_MEMBER:
                archive.writestr(zipfile.ZipInfo(name), data, way)
        archive.writestr(zipfile.ZipInfo(CARD_MEMBER), json.dumps(header), way)
    path.write_bytes(whole.getbuffer())


class Unwritten:
    """Members that look like those of an archive: to read back what was written takes as long."""

    def __init__(self, members: dict[str, bytes]):
        self._members = members

    def namelist(self) -> list[str]:
        """Return the names of all members."""
        return [*self._members]

    def getinfo(self, name: str) -> SimpleNamespace:
        """Return what an archive says of a member."""
        return SimpleNamespace(file_size=len(self._members[name]))

    def open(self, name: str) -> io.BytesIO:
        """Return a member as a file."""
        return io.BytesIO(self._members[name])


# Damage to arrays


def as_npy(array: np.ndarray) -> bytes:
    """Return an array as the bytes of a member."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def planted(array, rng):
    """Return an array with a value in some place that has no business there."""
    changed = array.copy()
    if not changed.size:
        return np.zeros(3)
    values = [0, -1, 1, 2, 7, 10**6, 2**31 - 1, -(2**31), 2**62]
    if changed.dtype.kind in "fc":
        values += [np.nan, np.inf, -np.inf, 1e308, -1e300, 1e-320, 0.5, 1e30]
    if changed.dtype.kind in "US":
        values = ["", "x", "\x00"]
    some = rng.choice([1, 1, 2, changed.size])
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(some):
            value = np.asarray(rng.choice(values)).astype(changed.dtype)
            changed.flat[rng.randrange(changed.size)] = value
    return changed


def retyped(array, rng):
    """Return an array of another type."""
    dtypes = ["f4", "f8", "i1", "i4", "i8", "u8", ">f8", ">i4", "c16", "?", "U5", "f2"]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return array.astype(rng.choice(dtypes))
        except (TypeError, ValueError):
            return np.zeros(array.shape)


def reshaped(array, rng):
    """Return an array of another shape or order."""
    choices = [
        lambda: array.ravel(),
        lambda: array[None],
        lambda: array[..., None],
        lambda: array.T,
        lambda: np.asfortranarray(array),
        lambda: array[: len(array) // 2],
        lambda: array[:1],
        lambda: array[:0],
        lambda: array[..., :-1],
        lambda: array[::-1],
        lambda: np.concatenate([array, array]),
        lambda: np.concatenate([array, array[-1:]]),
        lambda: np.zeros((0, 7)),
        lambda: np.float64(3),
        lambda: np.zeros_like(array),
        lambda: array - array.max(),
        lambda: array * 3,
        lambda: np.sort(array.ravel()).reshape(array.shape),
    ]
    try:
        return np.asarray(rng.choice(choices)())
    except (TypeError, ValueError, IndexError):
        return np.zeros(2)


def raw_bytes(data: bytes, rng) -> bytes:
    """Return the bytes of a member with some of them changed, or cut off."""
    changed = bytearray(data)
    how = rng.randrange(4)
    if how == 0:
        return bytes(changed[: rng.randrange(len(changed))])
    begin, end = ((10, 118), (min(128, len(data) - 1), len(data)), (0, len(data)))[how - 1]
    for _ in range(rng.choice([1, 1, 4, 16])):
        changed[rng.randrange(begin, max(end, begin + 1)) % len(changed)] = rng.randrange(256)
    return bytes(changed)


def header_edit(data: bytes, rng) -> bytes:
    """Return a member whose header says something else, in as many bytes."""
    text = data[:128]
    changes = [(b"<f8", b"<i8"), (b"<i8", b"<f8"), (b"<i4", b"<f4"), (b"<f4", b"<i4"),
               (b"False", b"True "), (b"<f8", b">f8"), (b"<U", b"<V"), (b"<f8", b"|O8"),
               (b"(1", b"(9"), (b"(2", b"(1"), (b"(3", b"(8"), (b"<", b">")]  # fmt: skip
    for old, new in rng.sample(changes, len(changes)):
        if old in text:
            return text.replace(old, new, 1) + data[128:]
    return data


def damage_an_array(members: dict[str, bytes], rng) -> None:
    """Change one array of a model, somehow."""
    # In the order of the file: names are different in every process, and seeds should not be.
    names = [name for name in members if name.endswith(".npy")]
    name = rng.choice(names)
    how = rng.randrange(8)
    if how == 0:
        members[name] = raw_bytes(members[name], rng)
    elif how == 1:
        members[name] = header_edit(members[name], rng)
    elif how == 2:
        other = rng.choice(names)
        members[name], members[other] = members[other], members[name]
    else:
        try:
            array = np.load(io.BytesIO(members[name]))
        except Exception:  # it is damaged already, and its header is read as Python is
            array = np.zeros(2)
        change = planted if how < 6 else (retyped if how == 6 else reshaped)
        members[name] = as_npy(change(array, rng))


# Damage to the tree of nodes

HOSTILE = ["null", "true", "false", "-1", "0", "1", "2", "1000000", "1e308", "-1e308", "NaN",
           "Infinity", "1e-320", '""', '"x"', '"drop"', "[]", "{}", "[[1]]", "1" * 40,
           '"passthrough"', '"relu"', '"pandas"', "0.5", '"\\u0000"']  # fmt: skip


NAMES = ["x", "predict", "n_jobs", "_scores", "n_features_in_", "classes_", "_floor"]


def nodes_of(tree) -> list[dict]:
    """Return all nodes of a tree, parents first."""
    found, to_visit = [], [tree]
    while to_visit:
        item = to_visit.pop()
        if isinstance(item, dict):
            if "__loader__" in item:
                found.append(item)
            to_visit.extend(item.values())
        elif isinstance(item, list):
            to_visit.extend(item)
    return found


def damage_the_tree(members: dict[str, bytes], rng) -> None:
    """Change one node of a model, somehow."""
    schema = json.loads(members[SCHEMA_MEMBER])
    nodes = [one for one in nodes_of(schema) if "__id__" in one]
    node, other = rng.choice(nodes), json.dumps(rng.choice(nodes))
    # The reader knows nodes by their number, and takes the first of a number for all.
    alike = [one for one in nodes if one["__id__"] == node["__id__"]]
    change = rng.choice(
        (new_value, new_value, new_value, other_entries, other_items, other_type, other_node,
         other_member, without_a_key)
    )  # fmt: skip
    # Many copies of a large part are a large file, and no other damage than a few.
    for one in alike if len(alike) * len(other) < 2**22 else alike[:1]:
        change(one, json.loads(other), rng)
    members[SCHEMA_MEMBER] = json.dumps(schema).encode()


def new_value(node: dict, other: dict, rng) -> None:
    """Put something else in the place of a value."""
    if node["__loader__"] == "JsonNode":
        node["content"] = rng.choice(HOSTILE)
    elif node.get("values"):
        node["values"][rng.randrange(len(node["values"]))] = json.loads(rng.choice(HOSTILE))
    else:
        other_entries(node, other, rng)


def other_entries(node: dict, other: dict, rng) -> None:
    """Take an entry out of a dict of attributes, or give it another name."""
    content = node.get("content")
    if isinstance(content, dict) and content and "__loader__" not in content:
        value = content.pop(rng.choice(sorted(content)))
        if rng.random() < 0.5:
            content[rng.choice(NAMES)] = value
    else:
        other_items(node, other, rng)


def other_items(node: dict, other: dict, rng) -> None:
    """Take an item out of a list, or put one in."""
    content = node.get("values") or node.get("content")
    if isinstance(content, list) and content:
        place = rng.randrange(len(content))
        if rng.random() < 0.5:
            del content[place]
        else:
            content.insert(place, rng.choice([content[0], other]))
    else:
        node["__id__"] = other["__id__"]


def other_type(node: dict, other: dict, rng) -> None:
    """Make an object one of another class, and a list a tuple."""
    if node["__loader__"] == "ObjectNode":
        node["__module__"], _, node["__class__"] = rng.choice(sorted(TRUSTED_OBJECTS)).rpartition(
            "."
        )
    elif node["__loader__"] in ("ListNode", "TupleNode"):
        new = "list" if node["__loader__"] == "TupleNode" else "tuple"
        node["__loader__"], node["__class__"] = f"{new.title()}Node", new
    else:
        node["__id__"] = other["__id__"]


def other_node(node: dict, other: dict, rng) -> None:
    """Put another node in the place of one."""
    node.clear()
    node.update(other)


def other_member(node: dict, other: dict, rng) -> None:
    """Let an array be that of another node."""
    if "file" in node and "file" in other:
        node["file"] = other["file"]
        node["__id__"] = rng.choice([node["__id__"], other["__id__"]])
    else:
        other_node(node, other, rng)


def without_a_key(node: dict, other: dict, rng) -> None:
    """Take away one of the facts about a node."""
    node.pop(rng.choice(sorted(node)))


def damage_the_card(members: dict[str, bytes], rng) -> None:
    """Change an entry of the card or of the file's header, or of anything in them."""
    header = json.loads(members[CARD_MEMBER])
    # Both are chosen alike often: most of what is in a card are the entries of its columns.
    inner = [place for place, depth in walk(header) if depth > 2 and place]
    place = rng.choice(rng.choice([[header, header["card"]], inner or [header]]))
    if not isinstance(place, dict | list) or not place:  # it is damaged already
        return
    entry = rng.choice(sorted(place) if isinstance(place, dict) else range(len(place)))
    how, other = rng.randrange(6), rng.choice(inner or [header])
    if how == 0:
        del place[entry]
    elif how == 1 and isinstance(place, list):
        place.insert(entry, place[rng.randrange(len(place))])
    elif how == 2:
        values = [*other.values()] if isinstance(other, dict) else other
        place[entry] = json.loads(json.dumps(rng.choice(values)))
    else:
        place[entry] = json.loads(rng.choice(HOSTILE))
    header.setdefault("card", {})
    members[CARD_MEMBER] = json.dumps(header).encode()


def damaged(members: dict[str, bytes], seed: int) -> dict[str, bytes]:
    """Return the members of a model file with some random damage."""
    rng = random.Random(seed)
    changed = dict(members)
    # A card that says how cells are read has more to be damaged.
    says_much = bool(json.loads(members[CARD_MEMBER])["card"]["schema"])
    kinds = (damage_an_array, damage_the_tree, damage_the_card)
    for _ in range(rng.choice([1, 1, 1, 2])):
        rng.choices(kinds, (3, 3, 6) if says_much else (10, 9, 1))[0](changed, rng)
    return changed
