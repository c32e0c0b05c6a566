"""The vocabulary writes what it says."""

import numpy as np
from onnx import helper, numpy_helper

from granulearn.persistence.onnx_graph import Graph


class PlainScope:
    """Names for one graph, without skl2onnx."""

    def __init__(self):
        self.count = 0

    def get_unique_variable_name(self, name):
        self.count += 1
        return f"{name}{self.count}"

    get_unique_operator_name = get_unique_variable_name


class PlainContainer:
    """Nodes and constants of one graph, without skl2onnx."""

    def __init__(self):
        self.nodes = []
        self.initializers = []

    def add_initializer(self, name, kind, shape, content):
        self.initializers.append(helper.make_tensor(name, kind, shape, content))

    def add_node(self, operation, inputs, outputs, name, **attributes):
        self.nodes.append(helper.make_node(operation, inputs, outputs, name, **attributes))


def stored(value):
    container = PlainContainer()
    Graph(PlainScope(), container).constant(value)
    return numpy_helper.to_array(container.initializers[0])


def test_constants_keep_shape_and_full_precision():
    matrix = np.random.default_rng(0).random((3, 2)).T  # not contiguous
    assert stored(matrix).dtype == np.float64
    np.testing.assert_array_equal(stored(matrix), matrix)
    assert stored(np.pi).shape == ()
    assert stored(np.array([3, 4], dtype=np.int32)).dtype == np.int64
    assert stored(np.array([["é", "b"]], dtype=object)).astype(str).tolist() == [["é", "b"]]


def test_a_node_gets_a_new_name_unless_one_is_wanted():
    container = PlainContainer()
    graph = Graph(PlainScope(), container)
    first, second = graph.plus("a", "b"), graph.plus("a", "b")
    assert first != second
    assert graph.add("Exp", first, output="result") == "result"
    assert [node.op_type for node in container.nodes] == ["Add", "Add", "Exp"]
