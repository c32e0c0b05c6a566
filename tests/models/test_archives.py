"""An archive that is no model file is refused by what it says of itself, before it is unpacked."""

import io
import json
import os
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

from granulearn.models import (
    ModelFileError,
    archives,
    inspect_model,
    load_model,
    save_model,
)
from granulearn.models.archives import (
    CARD_MEMBER,
    SCHEMA_MEMBER,
    ArchiveError,
    check_archive,
    check_directory,
    check_references,
    chunks_of,
    read_json,
    walk,
)
from granulearn.rvfl import RVFLClassifier
from tests.models.damage import as_npy, write_members
from tests.models.hostile_archives import HOSTILE, empty_members, plain_model


def archive_of(compression=zipfile.ZIP_DEFLATED, **members):
    """Return an archive and its size."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return zipfile.ZipFile(buffer), len(buffer.getvalue())


def node(number, *content, loader="ListNode", kind="list", **more):
    return {
        "__class__": kind,
        "__module__": "builtins",
        "__loader__": loader,
        "__id__": number,
        "content": [*content],
        **more,
    }


def test_an_ordinary_archive_passes():
    archive, size = archive_of(
        **{SCHEMA_MEMBER: "{}", CARD_MEMBER: "{}", "1.npy": as_npy(np.ones(9))}
    )
    check_archive(archive, size)


@pytest.mark.parametrize("name", ["../1.npy", "/1.npy", "a/1.npy", "x.py", "1.npy.exe", "1.NPY"])
def test_members_have_the_names_of_members(name):
    archive, size = archive_of(**{name: b"x"})
    with pytest.raises(ArchiveError, match="it has a member"):
        check_archive(archive, size)


def test_a_member_is_there_once():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("1.npy", b"a")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("1.npy", b"b")
    with pytest.raises(ArchiveError, match="twice"):
        check_archive(zipfile.ZipFile(buffer), 10**6)


def test_members_are_packed_as_save_model_packs_them():
    archive, size = archive_of(zipfile.ZIP_BZIP2, **{"1.npy": b"x" * 100})
    with pytest.raises(ArchiveError, match="packed in another way"):
        check_archive(archive, size)


def test_members_lie_side_by_side():
    archive, size = archive_of(**{"1.npy": bytes(1000), "2.npy": bytes(1000)})
    for entry in archive.infolist():
        entry.compress_size = size
    with pytest.raises(ArchiveError, match="over each other"):
        check_archive(archive, size)


@pytest.mark.parametrize(
    ("name", "n_bytes", "said"),
    [
        (CARD_MEMBER, 100 * 2**20, "granulearn.json has"),
        (SCHEMA_MEMBER, 2 * 2**30, "schema.json has"),
        ("1.npy", 5 * 2**30, "1.npy has"),
        ("1.npy", 400 * 2**20, "times its size"),
    ],
)
def test_declared_sizes_are_those_of_models(name, n_bytes, said):
    archive, size = archive_of(**{name: b"x"})
    archive.getinfo(name).file_size = n_bytes
    with pytest.raises(ArchiveError, match=said):
        check_archive(archive, size)


def test_members_are_few_by_their_list_which_is_not_read(path, monkeypatch):
    n_members = len(zipfile.ZipFile(path).namelist())
    monkeypatch.setattr(archives, "MOST_MEMBERS", n_members)
    load_model(path)
    monkeypatch.setattr(archives, "MOST_MEMBERS", n_members - 1)
    monkeypatch.setattr(zipfile, "ZipFile", lambda *_: pytest.fail("it was read"))
    with pytest.raises(ModelFileError, match=f"it lists {n_members} members"):
        load_model(path)


@pytest.mark.parametrize("first", [b"", b"PK\x03\x04", b"\x80"])
@pytest.mark.parametrize("read", [load_model, inspect_model])
def test_a_large_file_that_is_no_archive_is_refused_by_its_end(first, read, tmp_path):
    path = tmp_path / "m.skops"
    path.write_bytes(first)
    os.truncate(path, 2**30)  # a hole: it takes no room on the disk
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match="is not a granulearn model file"):
            read(path)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("content", [b"", b"PK", empty_members(0), bytes(98)])
def test_an_archive_that_ends_too_early_is_none(content, tmp_path):
    path = tmp_path / "m.skops"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"not a granulearn model file|not written by"):
        load_model(path)


def large_archive(size, place=0):
    """Return the end of an archive beyond 2 GB, after an empty list of members."""
    large = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 0, 0, size, 0)
    place = struct.pack("<4sLQL", b"PK\x06\x07", 0, place, 1)
    return large + place + empty_members(0)


def test_the_list_of_a_large_archive_is_found_and_is_short(monkeypatch):
    check_directory(io.BytesIO(large_archive(0)), 98)
    with pytest.raises(ArchiveError, match="list of members has 1000000000000 bytes"):
        check_directory(io.BytesIO(large_archive(10**12)), 98)
    for wrong in (large_archive(0, place=7), b"x" + large_archive(0)[1:]):
        with pytest.raises(ArchiveError, match="not where it says"):
            check_directory(io.BytesIO(wrong), 98)
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 10)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("1.npy", bytes(100))
    n_bytes = len(buffer.getvalue())
    check_directory(buffer, n_bytes)
    monkeypatch.setattr(archives, "MOST_MEMBERS", 0)
    monkeypatch.setattr(archives, "BYTES_OF_AN_ENTRY", 10**6)
    with pytest.raises(ArchiveError, match="its list of members has"):
        check_directory(buffer, n_bytes)


def test_an_inspected_file_is_never_whole_in_memory(tmp_path):
    X = np.random.default_rng(0).random((30, 1000))
    path = tmp_path / "m.skops"
    save_model(RVFLClassifier(n_hidden=2000, random_state=0).fit(X, np.arange(30) % 2), path)
    tracemalloc.start()
    try:
        inspect_model(path)
        assert tracemalloc.get_traced_memory()[1] < path.stat().st_size / 2
    finally:
        tracemalloc.stop()


def test_a_member_is_as_long_as_it_says():
    archive, _ = archive_of(**{"1.npy": b"x" * 100})
    assert b"".join(chunks_of(archive, "1.npy")) == b"x" * 100
    archive.getinfo("1.npy").file_size = 200
    with pytest.raises((ArchiveError, EOFError, zipfile.BadZipFile)):
        list(chunks_of(archive, "1.npy"))
    archive.getinfo("1.npy").file_size = 50
    with pytest.raises((ArchiveError, zipfile.BadZipFile)):
        list(chunks_of(archive, "1.npy"))


@pytest.mark.parametrize(
    "text", ["[" * 300 + "]" * 300, "[" * 10**5 + "]" * 10**5, "[" + "{}," * 10**6 + "{}]"]
)
def test_text_is_no_deeper_and_has_no_more_nodes_than_a_model(text):
    archive, _ = archive_of(**{SCHEMA_MEMBER: text})
    with pytest.raises((ArchiveError, RecursionError)):
        read_json(archive, SCHEMA_MEMBER)


def test_a_walk_sees_every_level():
    content = {"a": [{"b": 1}], "c": 2}
    assert sorted(depth for _, depth in walk(content)) == [1, 2, 3]


def test_lists_that_share_lists_are_counted_by_what_they_stand_for():
    schema = node(1)
    for level in range(2, 14):
        # All but the first name the number of the list below and hold nothing.
        schema = node(level, schema, *(node(level - 1) for _ in range(9)))
    with pytest.raises(ArchiveError, match="stand for more than"):
        check_references(schema, {})
    check_references(node(3, node(1), node(1), node(2, node(1))), {})


def array_node(number):
    return node(number, loader="NdArrayNode", kind="ndarray", file=f"{number}.npy")


@pytest.mark.parametrize(
    ("first", "members"),
    [
        (array_node(2), {"2.npy": 2**20}),
        (node(2, values=[1] * 9999), {}),
        # An array of text has its shape below it.
        (node(2, values=[1] * 9999, shape=node(3)), {}),
    ],
)
def test_what_is_shared_counts_as_often_as_it_is_looked_at(first, members):
    check_references(node(1, first, first), members)
    again = node(2)
    # In the reader's order the long one is the first; it counts wherever it stands.
    for nodes in ([first, *[again] * 2000], [*[again] * 2000, first], [first] * 2000):
        with pytest.raises(ArchiveError, match="stand for more than"):
            check_references(node(1, *nodes), members)


def test_a_node_that_is_there_in_other_forms_counts_as_the_largest():
    forms = [node(2, values=[1] * 9999), node(2, node(3))]
    with pytest.raises(ArchiveError, match="stand for more than"):
        check_references(node(1, *forms * 1000), {})


@pytest.mark.parametrize(
    "schema",
    [node(1, node(1)), node(1, node(2, node(1))), node(3, node(1, node(2)), node(2, node(1)))],
)
def test_a_node_that_holds_itself_is_refused(schema):
    with pytest.raises(ArchiveError, match="holds itself"):
        check_references(schema, {})


@pytest.mark.parametrize("number", [None, "1", -1, 0, True, 1.0])
def test_every_node_has_a_number(number):
    with pytest.raises(ArchiveError, match="no number"):
        check_references(node(5, node(number)), {})


def test_an_array_is_in_a_member_of_its_own():
    check_references(node(1, array_node(2)), {"2.npy": 128})
    for wrong in ("2.npy", "3.npy", "../3.npy", 3):
        with pytest.raises(ArchiveError, match="member of its own"):
            check_references(node(1, array_node(3) | {"file": wrong}), {"2.npy": 128})


@pytest.fixture(name="path")
def saved_model(tmp_path):
    X = np.arange(20.0).reshape(10, 2)
    model = RVFLClassifier(n_hidden=3, random_state=0).fit(X, np.arange(10) % 2)
    save_model(model, tmp_path / "m.skops")
    return tmp_path / "m.skops"


def bomb(path, members):
    """Add members to a model file; each is its size in zeros, or its bytes."""
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            with archive.open(name, "w", force_zip64=True) as member:
                if isinstance(content, bytes):
                    member.write(content)
                for _ in range(0 if isinstance(content, bytes) else content // 2**20):
                    member.write(bytes(2**20))


def test_a_small_file_that_unpacks_to_much_takes_little_memory(path):
    bomb(path, {f"{number}.npy": 64 * 2**20 for number in range(1, 9)})
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match="times its size"):
            load_model(path)
        assert tracemalloc.get_traced_memory()[1] < 20 * path.stat().st_size
    finally:
        tracemalloc.stop()


def test_shared_lists_in_a_file_are_refused(path):
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(members[SCHEMA_MEMBER])
    inner = node(10**6)  # beyond the numbers of the model's own nodes
    for level in range(10**6 + 1, 10**6 + 13):
        inner = node(level, inner, *(node(level - 1) for _ in range(9)))
    schema["content"]["content"]["more"] = inner
    members[SCHEMA_MEMBER] = json.dumps(schema).encode()
    write_members(path, members)
    with pytest.raises(ModelFileError, match="stand for more than"):
        load_model(path)


def test_a_model_that_would_not_be_read_again_is_not_saved(path, monkeypatch):
    model, before = load_model(path).pipeline, path.read_bytes()
    monkeypatch.setitem(archives.MOST_NODES, SCHEMA_MEMBER, 10)
    with pytest.raises(ModelFileError, match="cannot be saved: schema"):
        save_model(model, path)
    assert path.read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_files_that_were_made_to_take_time_are_refused(name, tmp_path):
    path = tmp_path / "m.skops"
    members = HOSTILE[name](plain_model(path))
    write_members(path, members, zipfile.ZIP_DEFLATED)
    with pytest.raises(ModelFileError, match="is refused"):
        load_model(path)


def test_a_file_that_is_a_list_of_members_is_refused_by_its_length(tmp_path):
    path = tmp_path / "m.skops"
    path.write_bytes(empty_members(archives.MOST_MEMBERS + 1))
    assert len(zipfile.ZipFile(path).namelist()) == archives.MOST_MEMBERS + 1
    with pytest.raises(ModelFileError, match="is refused: it lists 6001 members"):
        load_model(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (lambda: b"[" + b"1," * (archives.MOST_VALUES + 1) + b"1]", "values"),
        (lambda: b"{" + b'"a":1,' * archives.MOST_KEYS + b'"b":1}', "keys"),
        (lambda: b"[" * (archives.MOST_NODES[SCHEMA_MEMBER] + 1), "nodes"),
    ],
)
def test_text_with_more_signs_than_a_model_needs_is_not_parsed(text, said, monkeypatch):
    archive, _ = archive_of(**{SCHEMA_MEMBER: text()})
    monkeypatch.setattr(archives.json, "loads", lambda _: pytest.fail("it was parsed"))
    with pytest.raises(ArchiveError, match=said):
        read_json(archive, SCHEMA_MEMBER)


def test_an_array_that_no_part_needs_is_refused(path):
    bomb(path, {"123456.npy": as_npy(np.zeros(3))})
    with pytest.raises(ModelFileError, match="no part needs"):
        load_model(path)
