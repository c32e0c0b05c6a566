"""Inner values of a graph are left to themselves, whatever the columns are called."""

import numpy as np
import onnx
import pandas as pd
from numpy.testing import assert_array_equal

from granulearn.datasets import make_pipeline_for
from granulearn.estimators import BallForestClassifier
from granulearn.models import to_onnx
from granulearn.models.onnx_front import name_as_the_table_does
from tests.models.test_onnx_converters import run


def inner_names(graph):
    for node in graph.node:
        yield from node.output
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from (value.name for value in attribute.g.input)
                yield from inner_names(attribute.g)


def test_columns_may_be_called_as_any_inner_value_of_a_loop_is():
    # A forest walks in a loop, whose nodes use values of the graph around it by name.
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    model = BallForestClassifier(n_trees=20, random_state=0)
    plain = to_onnx(make_pipeline_for(X, model).fit(X, X["a"] > 0), X)
    names = [*inner_names(plain.graph), *(tensor.name for tensor in plain.graph.initializer)]
    assert {"add", "constant", "given"} <= set(names)
    wide = pd.DataFrame(rng.normal(size=(60, len(names))), columns=names)
    pipeline = make_pipeline_for(wide, model).fit(wide, wide["add"] > 0)
    onnx_model = to_onnx(pipeline, wide)
    onnx.checker.check_model(onnx_model)
    assert [value.name for value in onnx_model.graph.input] == names
    assert_array_equal(run(onnx_model, wide)[0], pipeline.predict(wide))


def test_inputs_take_the_names_of_columns_in_their_order():
    graph = onnx.parser.parse_graph(
        "g (double[N] x, double[N] y) => (double[N] z) { z = Add(x, y) }"
    )
    name_as_the_table_does(graph, ["y", "z"])
    assert [value.name for value in graph.input] == ["y", "z"]
    assert list(graph.node[0].input) == ["y", "z"]
    assert graph.output[0].name == graph.node[0].output[0] == "predicted_z"
