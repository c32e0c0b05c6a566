"""How skl2onnx writes four steps of pipelines as ONNX, in double precision.

skl2onnx's own imputer works in single precision and refuses missing text, its
scaler reads several columns in single precision, and so do its encoders write. So
pipelines get the converters of this file, during the export only; skl2onnx stays as
it is for other code.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from skl2onnx.common.data_types import DoubleTensorType, StringTensorType
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, StandardScaler, TargetEncoder

from granulearn.models.onnx_graph import Graph, Name

# A tensor of text cannot hold NaN; a missing cell is the empty text.
MISSING_TEXT = ""


def step_converters() -> dict[str, dict[type, Any]]:
    """Return the arguments of ``convert_sklearn`` that convert steps in double precision."""
    return {
        "custom_conversion_functions": {
            SimpleImputer: _convert_imputer,
            StandardScaler: _convert_scaler,
            OneHotEncoder: _convert_one_hot,
            TargetEncoder: _convert_target_encoder,
        },
        "custom_shape_calculators": {
            SimpleImputer: _imputer_shapes,
            StandardScaler: _scaler_shapes,
            OneHotEncoder: _one_hot_shapes,
            TargetEncoder: _target_encoder_shapes,
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
        fill = [MISSING_TEXT if _is_missing(value) else value for value in imputer.statistics_]
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
    """Look up each column among its categories; a cell that equals none becomes all zeros."""
    graph, encoder = Graph(scope, container), operator.raw_operator
    cells = _side_by_side(graph, operator)
    encoded = []
    for position, categories in enumerate(encoder.categories_):
        place = _place(graph, cells, position, categories)
        every = graph.constant(np.arange(len(categories)).reshape(1, -1))
        encoded.append(graph.as_double(graph.add("Equal", place, every)))
    graph.columns(encoded, output=operator.outputs[0].full_name)


def _target_encoder_shapes(operator: Any) -> None:
    rows = operator.inputs[0].get_first_dimension()
    operator.outputs[0].type = DoubleTensorType([rows, len(operator.raw_operator.encodings_)])


def _convert_target_encoder(scope: Any, operator: Any, container: Any) -> None:
    """Look up each cell, and take the encodings of its place; the last are those of no category."""
    graph, encoder = Graph(scope, container), operator.raw_operator
    cells = _side_by_side(graph, operator)
    of_others = np.atleast_1d(encoder.target_mean_)
    encoded = []
    for position, categories in enumerate(encoder.categories_):
        start = position * len(of_others)
        encodings = np.column_stack(encoder.encodings_[start : start + len(of_others)])
        table = graph.constant(np.vstack([encodings, of_others]))
        place = _place(graph, cells, position, categories)
        place = graph.add("Reshape", place, graph.constant([-1]))
        encoded.append(graph.add("Gather", table, place, axis=0))
    graph.columns(encoded, output=operator.outputs[0].full_name)


def _place(graph: Graph, cells: Name, position: int, categories: np.ndarray) -> Name:
    """Return where each cell of a column stands among the categories; after the last if nowhere."""
    column = graph.add("Gather", cells, graph.constant(np.array([position])), axis=1)
    n_categories = len(categories)
    if categories.dtype.kind in "OU":
        # A table of text is looked up, in the time of one comparison.
        return graph.add(
            "LabelEncoder",
            column,
            op_domain="ai.onnx.ml",
            op_version=2,
            keys_strings=[MISSING_TEXT if _is_missing(name) else str(name) for name in categories],
            values_int64s=list(range(n_categories)),
            default_int64=n_categories,
        )
    # One comparison at most is true, so the product is exact.
    column, numbers = graph.as_double(column), categories.astype(np.float64)
    equal = graph.as_double(graph.add("Equal", column, graph.constant(numbers.reshape(1, -1))))
    steps_back = np.arange(-n_categories, 0, dtype=np.float64).reshape(-1, 1)
    found = graph.matmul(equal, graph.constant(steps_back))
    place = graph.as_integer(graph.shifted(n_categories, found))
    if np.isnan(numbers[-1:]).any():  # it is sorted last, and equals nothing
        last = graph.constant([n_categories - 1])
        place = graph.where(graph.add("IsNaN", column), last, place)
    return place


def _is_missing(value: Any) -> bool:
    return value is None or value != value
