"""The vocabulary writes what it says."""

import numpy as np
import onnxruntime
from onnx import helper, numpy_helper

from granulearn.models.onnx_graph import Graph


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


def test_equal_small_constants_are_stored_once():
    container = PlainContainer()
    graph = Graph(PlainScope(), container)
    assert graph.constant([-1]) == graph.constant(np.array([-1]))
    assert graph.constant([1]) != graph.constant([1.0])
    assert graph.constant(1) != graph.constant([1])
    large = np.arange(100)
    assert graph.constant(large) != graph.constant(large)
    assert len(container.initializers) == 6


def test_a_loop_goes_on_until_it_is_told_to_end_or_was_repeated_most_often():
    for most, expected in ((100, [6, 9]), (2, [4, 7])):
        container = PlainContainer()
        graph = Graph(PlainScope(), container)
        one, limit = graph.constant([1]), graph.constant(9)

        def step(body, given, one=one, limit=limit):
            more = body.plus(given, one)
            largest = body.add("ReduceMax", more, keepdims=0)
            return more, body.add("Less", largest, limit)

        result = graph.repeat(most, "start", step)
        shape = helper.make_tensor_value_info("start", 7, [None])
        out = helper.make_tensor_value_info(result, 7, [None])
        content = helper.make_graph(
            container.nodes, "loop", [shape], [out], initializer=container.initializers
        )
        model = helper.make_model(
            content, opset_imports=[helper.make_opsetid("", 19)], ir_version=9
        )
        session = onnxruntime.InferenceSession(model.SerializeToString())
        (found,) = session.run(None, {"start": np.array([2, 5])})
        assert found.tolist() == expected
