"""What is written without skops: the fewest nodes, nothing unlisted, packed where it pays."""

import io
import json
import zipfile

import numpy as np
import pytest

from granulearn.models.archives import HIGHEST_RATIO, LITTLE, SCHEMA_MEMBER, check_archive
from granulearn.models.tree_writing import UnlistedTypes, packed, written_tree
from tests.models.damage import nodes_of


def test_a_list_or_an_array_of_plain_values_is_one_node():
    names = [f"column {place}" for place in range(1000)]
    for many in (names, np.array(names, dtype=object)):
        tree, arrays = written_tree({"names": many})
        few, _ = written_tree({"names": many[:1]})
        assert len(nodes_of(tree)) == len(nodes_of(few))
        assert arrays == {}


def test_what_is_met_twice_has_one_number_and_one_member():
    shared = np.arange(3.0)
    tree, arrays = written_tree([shared, {"again": shared}, (shared, "a", "a")])
    numbers = {node["__id__"] for node in nodes_of(tree) if node["__loader__"] == "NdArrayNode"}
    assert len(numbers) == len(arrays) == 1


def test_two_things_that_live_one_after_the_other_have_two_numbers():
    class Made:
        def __getstate__(self):
            return {"first": np.zeros(2), "second": np.ones(2)}

    Made.__module__, Made.__name__ = "granulearn.balls.records", "BallSet"
    _, arrays = written_tree([Made(), Made()])
    assert sorted(array.sum() for array in arrays.values()) == [0, 0, 2, 2]


@pytest.mark.parametrize(
    ("item", "name"),
    [
        (np.random.RandomState(0), "numpy.random.mtrand.RandomState"),
        (print, "builtins.print"),
        (io.BytesIO(), "_io.BytesIO"),
        (np.ma.zeros(3), f"{np.ma.MaskedArray.__module__}.MaskedArray"),  # it has moved
        (complex, "builtins.complex"),
    ],
)
def test_what_is_not_listed_is_named(item, name):
    with pytest.raises(UnlistedTypes) as caught:
        written_tree({"deep": [1, ("a", item)]})
    assert caught.value.names == [name]


def test_drawn_numbers_are_stored_and_others_packed_no_further_than_the_reader_unpacks():
    drawn = np.random.default_rng(0).random(2**17)
    rounded, zeros = np.round(drawn, 1), np.zeros(2**23)
    content = packed(*written_tree({"drawn": drawn, "rounded": rounded, "zeros": zeros}))
    assert zeros.nbytes > LITTLE
    with zipfile.ZipFile(io.BytesIO(content)) as members:
        check_archive(members, len(content))
        schema = json.loads(members.read(SCHEMA_MEMBER))
        file = {name: node["file"] for name, node in schema["content"].items()}
        sizes = {name: members.getinfo(file[name]).compress_size for name in file}
    assert sizes["drawn"] >= drawn.nbytes
    assert sizes["rounded"] < 0.9 * rounded.nbytes
    assert sizes["zeros"] * HIGHEST_RATIO > zeros.nbytes
