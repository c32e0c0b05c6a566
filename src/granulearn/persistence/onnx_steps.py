"""How skl2onnx writes three steps of pipelines as ONNX, in double precision.

skl2onnx's own imputer works in single precision and refuses missing text, and
its scaler reads several columns in single precision. So pipelines get the converters
of this file, during the export only; skl2onnx stays as it is for other code.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto
from skl2onnx.common.data_types import DoubleTensorType, StringTensorType
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from granulearn.persistence.onnx_graph import Graph, Name

# A tensor of text cannot hold NaN; a missing cell is the empty text.
MISSING_TEXT = ""


def step_converters() -> dict[str, dict[type, Any]]:
    """Return the arguments of ``convert_sklearn`` that convert steps in double precision."""
    return {
        "custom_conversion_functions": {
            SimpleImputer: _convert_imputer,
            StandardScaler: _convert_scaler,
            OneHotEncoder: _convert_one_hot,
        },
        "custom_shape_calculators": {
            SimpleImputer: _imputer_shapes,
            StandardScaler: _scaler_shapes,
            OneHotEncoder: _one_hot_shapes,
        },
    }


def double_inputs(graph: Graph, operator: Any) -> Name:
    """Return all that a step or model reads, as one matrix of doubles.

    Parameters
    ----------
    graph : Graph
        Where nodes are added.
    operator : Operator
        What skl2onnx asks to convert; each column of a table may be an input of it.
    """
    return graph.as_double(_side_by_side(graph, operator))


def _side_by_side(graph: Graph, operator: Any) -> Name:
    names = [value.full_name for value in operator.inputs]
    return names[0] if len(names) == 1 else graph.columns(names)


def _imputer_shapes(operator: Any) -> None:
    first = operator.inputs[0]
    is_text = isinstance(first.type, StringTensorType)
    shape = [first.get_first_dimension(), len(operator.raw_operator.statistics_)]
    operator.outputs[0].type = (StringTensorType if is_text else DoubleTensorType)(shape)


def _convert_imputer(scope: Any, operator: Any, container: Any) -> None:
    graph, imputer = Graph(scope, container), operator.raw_operator
    cells = _side_by_side(graph, operator)
    output = operator.outputs[0].full_name
    if isinstance(operator.inputs[0].type, StringTensorType):
        missing = graph.add("Equal", cells, graph.constant(MISSING_TEXT))
        fill = [MISSING_TEXT if value is None or value != value else value
                for value in imputer.statistics_]  # fmt: skip
        fills = graph.constant(np.array(fill, dtype=object))
    else:
        cells = graph.as_double(cells)
        missing = graph.add("IsNaN", cells)
        fills = graph.constant(imputer.statistics_.astype(np.float64))
    graph.add("Where", missing, fills, cells, output=output)


def _scaler_shapes(operator: Any) -> None:
    rows = operator.inputs[0].get_first_dimension()
    operator.outputs[0].type = DoubleTensorType([rows, operator.raw_operator.n_features_in_])


def _convert_scaler(scope: Any, operator: Any, container: Any) -> None:
    graph, scaler = Graph(scope, container), operator.raw_operator
    values = double_inputs(graph, operator)
    if scaler.with_mean:
        values = graph.minus(values, graph.constant(scaler.mean_))
    if scaler.with_std:
        values = graph.over(values, graph.constant(scaler.scale_))
    graph.add("Identity", values, output=operator.outputs[0].full_name)


def _one_hot_shapes(operator: Any) -> None:
    n_columns = sum(map(len, operator.raw_operator.categories_))
    rows = operator.inputs[0].get_first_dimension()
    operator.outputs[0].type = DoubleTensorType([rows, n_columns])


def _convert_one_hot(scope: Any, operator: Any, container: Any) -> None:
    """Compare each column with its categories; a cell that equals none becomes all zeros."""
    graph, encoder = Graph(scope, container), operator.raw_operator
    cells = _side_by_side(graph, operator)
    encoded = []
    for position, categories in enumerate(encoder.categories_):
        column = graph.add("Gather", cells, graph.constant(np.array([position])), axis=1)
        equal = graph.add("Equal", column, graph.constant(categories.reshape(1, -1)))
        encoded.append(graph.add("Cast", equal, to=TensorProto.DOUBLE))
    graph.columns(encoded, output=operator.outputs[0].full_name)
