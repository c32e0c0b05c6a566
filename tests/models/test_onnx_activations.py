"""Activations in ONNX equal those of the network, far out and at the branch points too."""

import numpy as np
import onnxruntime
import pytest
from numpy.testing import assert_allclose
from onnx import TensorProto, helper

from granulearn.models.onnx_activations import add_activation, add_complex_activation
from granulearn.models.onnx_graph import Graph
from granulearn.rvfl import activate, activation_names, complex_activation_names
from tests.models.test_onnx_graph import PlainContainer, PlainScope

NUMPY_INVERSES = {"acos": np.arccos, "asin": np.arcsin, "asinh": np.arcsinh}


def run_graph(container, inputs, outputs):
    def value(name):
        return helper.make_tensor_value_info(name, TensorProto.DOUBLE, [None])

    graph = helper.make_graph(
        container.nodes,
        "test",
        [value(name) for name in inputs],
        [value(name) for name in outputs],
        container.initializers,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(list(outputs), inputs)


@pytest.mark.parametrize("name", activation_names())
def test_real_activations(name):
    z = np.concatenate([np.linspace(-5, 5, 1001), [-1e6, -700, -40, 1e-9, -1e-9, 0.0, 40, 1e6]])
    container = PlainContainer()
    output = add_activation(Graph(PlainScope(), container), name, "z")
    (found,) = run_graph(container, {"z": z}, [output])
    assert_allclose(found, activate(name, z.copy()), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", complex_activation_names())
def test_complex_activations(name):
    rng = np.random.default_rng(0)
    size = 10.0 ** rng.uniform(-8, 4, 4000)
    z = size * np.exp(2j * np.pi * rng.random(4000))
    near = 10.0 ** rng.uniform(-12, -1, 4000) * np.exp(2j * np.pi * rng.random(4000))
    points = np.concatenate([z, 1 + near, -1 + near, 1j + near, -1j + near, [0, 0.5, 2, 1, -1]])
    container = PlainContainer()
    parts = add_complex_activation(Graph(PlainScope(), container), name, ("x", "y"))
    real, imaginary = run_graph(container, {"x": points.real, "y": points.imag}, parts)
    wanted = NUMPY_INVERSES[name](points + 0j)
    assert_allclose(real, wanted.real, rtol=1e-12, atol=1e-13)
    assert_allclose(imaginary, wanted.imag, rtol=1e-12, atol=1e-13)
