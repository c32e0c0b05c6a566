"""The archive of a model file, looked at before anything in it is unpacked.

What an archive says about itself is checked first: names, sizes, and how far members
are compressed. Then the members are read, never further than they said. So a small
file cannot take much memory or time before it is refused.
"""

from __future__ import annotations

import json
import re
import struct
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

CARD_MEMBER = "granulearn.json"
SCHEMA_MEMBER = "schema.json"

# Models of all kinds have some hundred members, some thousand nodes, 30 levels deep, and unpack
# to 2 times the file if they are large. A table of 3,000 columns has 0.6 MB of card, with 3 nodes
# and a dozen keys for each. A file at any of these limits is read in less than a second.
MOST_MEMBERS = 6_000
BYTES_OF_AN_ENTRY = 256
MOST_BYTES = 4 * 2**30
MOST_TEXT = {CARD_MEMBER: 16 * 2**20, SCHEMA_MEMBER: 16 * 2**20}
MOST_NODES = {CARD_MEMBER: 100_000, SCHEMA_MEMBER: 60_000}
MOST_VALUES = 500_000
MOST_KEYS = 350_000
DEEPEST = 200
# Each tree of a forest is looked at by itself: with more, that would take more than a second.
MOST_TREES = 5_000
# A row may take so many steps on its way down all ball trees of a file: 10,000 rows that walk
# down chains together are predicted within 5 seconds (`benchmarks/hostile_forests.py`). Steps
# are counted, since neither depth nor splits would do: training makes chains, too, and a split
# may look at hundreds of columns.
MOST_STEPS = 1_000_000
# A file may unpack to so many bytes for each of its own, beyond what is little anyway.
HIGHEST_RATIO, LITTLE = 20, 32 * 2**20
# What is looked at once for each reference to it: a node is as much work as so many values of a
# list, or as so many bytes of an array for each of them. Members of an ensemble share their
# classes, and boosters their bundles: all together that is never more than a few times all arrays.
WORK_OF_A_NODE, BYTES_OF_A_VALUE, MOST_SHARED = 8, 64, 4

CHUNK = 2**20
_ARRAY_NAME = re.compile(r"[0-9]{1,20}\.npy")
_MARK_OF_AN_ENTRY = b"PK\x01\x02"
# How an archive ends; only one beyond 2 GB has the first two of these parts.
_LARGE_END, _PLACE_OF_IT, _END = map(struct.Struct, ("<4sQ2H2L4Q", "<4sLQL", "<4s4H2LH"))
_BYTES_OF_THE_END = _LARGE_END.size + _PLACE_OF_IT.size + _END.size


class ArchiveError(ValueError):
    """An archive is not one that `save_model` writes, or is too large."""


def _demand(holds: bool, said: str) -> None:
    if not holds:
        raise ArchiveError(said)


def check_directory(file: BinaryIO, n_bytes: int) -> None:
    """Raise if a file lists more members than any model has, before `ZipFile` reads the list.

    Nothing but the end of the file is looked at, where the list is: however large a file is that
    is no archive, it raises `BadZipFile` at once.

    Parameters
    ----------
    file : file object
        Open for reading.
    n_bytes : int
        Size of the file.
    """
    file.seek(max(n_bytes - _BYTES_OF_THE_END, 0))
    tail = file.read(_BYTES_OF_THE_END).rjust(_BYTES_OF_THE_END, b"\0")
    mark, *_, size, _, n_after = _END.unpack(tail[-_END.size :])
    if mark != b"PK\x05\x06" or n_after:
        raise zipfile.BadZipFile("it does not end as an archive does")
    end = n_bytes - _END.size
    mark, _, place, _ = _PLACE_OF_IT.unpack_from(tail, _LARGE_END.size)
    if mark == b"PK\x06\x07":
        end = n_bytes - _BYTES_OF_THE_END
        found = place == end and tail.startswith(b"PK\x06\x06")
        _demand(found, "its list of members is not where it says")
        size = _LARGE_END.unpack_from(tail)[8]
    few = size <= MOST_MEMBERS * BYTES_OF_AN_ENTRY
    _demand(few, f"its list of members has {size} bytes, more than that of any model")
    file.seek(max(end - size, 0))
    # What else looks like the mark of an entry counts, too: as rare as any four bytes are.
    n_marks = file.read(size).count(_MARK_OF_AN_ENTRY)
    _demand(n_marks <= MOST_MEMBERS, f"it lists {n_marks} members, more than any model has")


def check_archive(members: zipfile.ZipFile, n_bytes: int) -> None:
    """Raise unless the members of an archive are those of a model file, by what it says of them.

    Parameters
    ----------
    members : ZipFile
        Open for reading; nothing in it is read.
    n_bytes : int
        Size of the file.
    """
    entries = members.infolist()
    names = [entry.filename for entry in entries]
    _demand(len({*names}) == len(names), "a member is there twice")
    for entry in entries:
        name, is_text = entry.filename, entry.filename in MOST_TEXT
        _demand(is_text or bool(_ARRAY_NAME.fullmatch(name)), f"it has a member {name[:80]!r}")
        plain = entry.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        _demand(plain and not entry.flag_bits & 1, f"{name} is packed in another way")
        small = entry.file_size <= MOST_TEXT.get(name, MOST_BYTES)
        _demand(small, f"{name} has {entry.file_size} bytes, more than any model needs")
    packed = sum(entry.compress_size for entry in entries)
    _demand(packed <= n_bytes, "its members lie over each other")
    total = sum(entry.file_size for entry in entries)
    _demand(total <= MOST_BYTES, f"it unpacks to {total} bytes, more than any model needs")
    few = total <= LITTLE + HIGHEST_RATIO * n_bytes
    _demand(few, f"it unpacks to {total} bytes, {total // max(n_bytes, 1)} times its size")


def chunks_of(members: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """Yield a member piece by piece; raise where it is not as long as it says.

    Parameters
    ----------
    members : ZipFile
        The archive.
    name : str
        A member of it.
    """
    n_left = members.getinfo(name).file_size
    with members.open(name) as member:
        while piece := member.read(min(CHUNK, n_left + 1)):
            n_left -= len(piece)
            _demand(n_left >= 0, f"{name} is longer than it says")
            yield piece
    _demand(n_left == 0, f"{name} is shorter than it says")


def read_json(members: zipfile.ZipFile, name: str) -> Any:
    """Return what a member of text holds; raise where it is too large or too deep.

    Parameters
    ----------
    members : ZipFile
        An archive that `check_archive` has passed.
    name : str
        A member of it.
    """
    text = b"".join(chunks_of(members, name))
    check_text(name, text)
    content = json.loads(text)
    deepest = max((depth for _, depth in walk(content)), default=0)
    _demand(deepest <= DEEPEST, f"{name} is nested deeper than any model")
    return content


def check_text(name: str, text: bytes) -> None:
    """Raise if a member of text holds more than any model needs.

    Parameters
    ----------
    name : str
        The member.
    text : bytes
        What it holds.
    """
    # What takes time to read grows with these signs. Those within text count, too: so this may
    # refuse strange names, and lets nothing pass.
    for what, signs, most in (
        ("nodes", b"{[", MOST_NODES[name]),
        ("values", b",", MOST_VALUES),
        ("keys", b":", MOST_KEYS),
    ):
        count = sum(map(text.count, signs))
        _demand(count <= most, f"{name} has {count} {what}, more than any model needs")


def walk(content: Any) -> Iterator[tuple[Any, int]]:
    """Yield all dicts and lists in what JSON held, and how deep they are.

    Parameters
    ----------
    content : object
        From JSON.
    """
    level, depth = _inside([content]), 1
    while level:
        for item in level:
            yield item, depth
        level, depth = [inner for item in level for inner in _inside(item)], depth + 1


def _inside(item: dict | list) -> list[dict | list]:
    """Return the dicts and lists right inside of one that JSON held.

    A hostile file may have a million nodes, and nearly all of what they hold is text: this
    is the loop that it can make long.

    Parameters
    ----------
    item : dict or list
        From JSON.
    """
    each = item.values() if type(item) is dict else item
    return [one for one in each if type(one) is dict or type(one) is list]


def check_references(schema: Any, members: Mapping[str, int]) -> None:
    """Raise if a tree of nodes is more work than any model once its references are followed.

    The reader takes the first node of a number for all others, so that a few lines can stand
    for a tree of any size, or for one that holds itself, and what is built once can be looked at
    ten thousand times. Arrays must be in members of their own.

    Parameters
    ----------
    schema : object
        The tree of nodes.
    members : mapping
        The bytes that each member of the archive unpacks to.
    """
    needed = {CARD_MEMBER, SCHEMA_MEMBER}
    # Nearly all nodes are values, which nothing is below of.
    works: dict[int, int] = {}
    versions: dict[int, list[tuple[int, list[int]]]] = {}
    for node, below in _nodes_and_those_below(schema):
        # A list of plain values is one node; whoever looks at it looks at all of them.
        number, work = _number(node), WORK_OF_A_NODE + len(node.get("values", ()))
        if "file" in node:
            own = node["file"] == f"{number}.npy" and node["file"] in members
            _demand(own, "an array is not in a member of its own")
            needed.add(node["file"])
            work += members[node["file"]] // BYTES_OF_A_VALUE
        if below:
            versions.setdefault(number, []).append((work, below))
        else:
            works[number] = max(works.get(number, 0), work)
    _demand(members.keys() <= needed, "it has arrays that no part needs")
    for number in versions.keys() & works.keys():
        versions[number].append((works.pop(number), []))
    _add_up(_number(schema), works, versions, _most_work(members))


def _most_work(members: Mapping[str, int]) -> int:
    """Return how much work a model may be: its text is short, and parts share some arrays."""
    most_text = WORK_OF_A_NODE * MOST_NODES[SCHEMA_MEMBER] + MOST_VALUES
    return most_text + MOST_SHARED * sum(members.values()) // BYTES_OF_A_VALUE


def _add_up(
    root: int, works: dict[int, int], versions: dict[int, list[tuple[int, list[int]]]], most: int
) -> None:
    """Raise if a node holds itself, or is too much work together with all that is below it.

    Parameters
    ----------
    root : int
        Number of the node.
    works : dict
        By number, of the nodes that nothing is below of: their work. All others are added.
    versions : dict
        By number, of all others: their own work and the numbers right below, for each node
        of that number.
    most : int
        How much work may be.
    """
    is_open: set[int] = set()
    to_visit = [root]
    while to_visit:
        number = to_visit[-1]
        if number in works:
            to_visit.pop()
            continue
        each = versions[number]
        missing = [inner for _, below in each for inner in below if inner not in works]
        if not missing:
            # Which of the versions the reader takes is not known here: the largest one counts.
            work = max(own + sum(works[inner] for inner in below) for own, below in each)
            _demand(work <= most, "its references stand for more than any model has")
            works[number] = work
            is_open.discard(number)
            continue
        _demand(number not in is_open, "a part of it holds itself")
        is_open.add(number)
        to_visit.extend(missing)


def _number(node: dict[str, Any]) -> int:
    """Return the number by which a node is known."""
    number = node.get("__id__")
    if type(number) is not int or number <= 0:
        raise ArchiveError("a node has no number")
    return number


def _nodes_and_those_below(schema: Any) -> list[tuple[dict[str, Any], list[int]]]:
    """Return all nodes of a tree, each with the numbers of the nodes right below it.

    Parameters
    ----------
    schema : object
        The tree of nodes.
    """
    found: list[tuple[dict[str, Any], list[int]]] = []
    # With each dict and list comes where the numbers of nodes right inside of it are noted.
    to_visit: list[tuple[Any, list[int]]] = [(schema, [])]
    while to_visit:
        item, below = to_visit.pop()
        if type(item) is dict and "__loader__" in item:
            below.append(_number(item))
            below = []
            found.append((item, below))
        to_visit.extend([(inner, below) for inner in _inside(item)])
    return found


def check_trees(n_trees: int) -> None:
    """Raise unless a file may hold so many trees.

    Parameters
    ----------
    n_trees : int
        Of all forests together.
    """
    few = n_trees <= MOST_TREES
    _demand(few, f"its forests have {n_trees} trees, and a file may hold {MOST_TREES}")


def check_steps(n_steps: int) -> None:
    """Raise unless a row may take so many steps.

    Parameters
    ----------
    n_steps : int
        The most on the ways down all trees of all forests together.
    """
    few = n_steps <= MOST_STEPS
    said = f"a row would take up to {n_steps} steps down its forests"
    _demand(few, f"{said}, and a file may have {MOST_STEPS}; fit fewer trees")
