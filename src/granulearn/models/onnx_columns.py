"""The columns of a table as inputs of a graph: one for each, by its name.

skl2onnx looks for every column that a step names among all inputs, one by one: of twenty
thousand columns that takes half a minute. So it is shown one matrix for each part of the
`ColumnTransformer` that comes first, and the columns are joined to these matrices in front of
what it wrote. Where that cannot be done, it is shown the columns themselves.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline


@dataclass(frozen=True)
class GraphInputs:
    """What skl2onnx is shown of a table, and how the graph gets the columns of it."""

    pipeline: Any
    """Fitted, as skl2onnx shall convert it."""
    shown: list[tuple[str, Any]]
    """Names and types of the inputs that skl2onnx is shown."""
    names: list[str]
    """Names of the inputs that the graph shall have."""
    is_number: list[bool]
    """For each of them, whether it is doubles or text."""
    matrices: dict[str, list[int]] | None = None
    """For each input that is shown, the columns that it joins; None if it is a column itself."""

    def give(self, onnx_model: Any) -> None:
        """Give a graph that skl2onnx wrote the inputs that it shall have, under their names.

        Parameters
        ----------
        onnx_model : onnx.ModelProto
            What skl2onnx made of `pipeline` and `shown`; it is changed.
        """
        from granulearn.models.onnx_front import (
            check_inputs,
            join_columns,
            name_as_the_table_does,
        )

        if self.matrices is None:
            check_inputs(onnx_model.graph, self.is_number)
        else:
            join_columns(onnx_model.graph, self.matrices, self.is_number)
        name_as_the_table_does(onnx_model.graph, self.names)


def graph_inputs(pipeline: Any, X: Any) -> GraphInputs:
    """Return what skl2onnx is shown of a table, and how the graph gets its columns.

    Parameters
    ----------
    pipeline : estimator
        Fitted; it is not changed.
    X : DataFrame or ndarray of shape (n_samples, n_features)
        Rows with the columns of the pipeline.
    """
    if not hasattr(X, "columns"):
        return GraphInputs(pipeline, [("X", _type(True, np.shape(X)[1]))], ["X"], [True])
    names = [str(name) for name in X.columns]
    is_number = [_is_number(kind) for kind in X.dtypes]
    places = {name: place for place, name in enumerate(X.columns)}
    parts = _parts(pipeline, places, is_number)
    if parts is None:
        shown = [(name, _type(number)) for name, number in zip(names, is_number, strict=True)]
        return GraphInputs(pipeline, shown, names, is_number)
    matrices = {f"columns_{number}": columns for number, columns in enumerate(parts)}
    shown = [
        (matrix, _type(is_number[columns[0]], len(columns))) for matrix, columns in matrices.items()
    ]
    return GraphInputs(_by_place(pipeline), shown, names, is_number, matrices)


def onnx_inputs(X: Any) -> dict[str, np.ndarray]:
    """Return rows as the inputs of a model that `to_onnx` made.

    Parameters
    ----------
    X : DataFrame or ndarray
        Rows with the columns of the model. Infinity is an error, with the name of the column;
        the graph refuses it, too, but cannot say where it is.

    Returns
    -------
    dict
        For the name of each input, an array of doubles or of text.

    Examples
    --------
    >>> import pandas as pd
    >>> from granulearn.models import onnx_inputs
    >>> rows = pd.DataFrame({"area": [60.0, 85.0], "city": ["Graz", "Lyon"]})
    >>> {name: (values.shape, values.dtype.kind) for name, values in onnx_inputs(rows).items()}
    {'area': ((2, 1), 'f'), 'city': ((2, 1), 'O')}
    """
    if not hasattr(X, "columns"):
        rows = np.asarray(X, dtype=np.float64)
        for place, cells in enumerate(np.atleast_2d(rows).T):
            _refuse_infinity(place, cells)
        return {"X": rows}
    # All numbers at once: a frame of thousands of columns is slow to hand out one by one.
    plain = [place for place, kind in enumerate(X.dtypes) if _is_plain_number(kind)]
    numbers = np.ascontiguousarray(X.iloc[:, plain].to_numpy(np.float64).T)
    inputs = dict(zip(plain, numbers, strict=True))
    for place, name in enumerate(X.columns):
        cells = inputs[place] if place in inputs else _cells(X.iloc[:, place])
        if cells.dtype.kind == "f":
            _refuse_infinity(name, cells)
        inputs[place] = cells.reshape(-1, 1)
    return {str(name): inputs[place] for place, name in enumerate(X.columns)}


def _cells(column: Any) -> np.ndarray:
    if _is_number(column.dtype):
        return column.to_numpy(dtype=np.float64)
    return np.where(column.isna(), "", column.astype(object)).astype(object)


def _refuse_infinity(name: Any, cells: np.ndarray) -> None:
    if np.isinf(cells).any():
        raise ValueError(
            f"column {name!r} holds infinity, which the model refuses; correct the cells, or pass "
            "NaN where they are missing."
        )


def _is_number(kind: Any) -> bool:
    return getattr(kind, "kind", "O") in "iufb"


def _is_plain_number(kind: Any) -> bool:
    return isinstance(kind, np.dtype) and _is_number(kind)


def _type(is_number: bool, n_columns: int = 1) -> Any:
    from skl2onnx.common.data_types import DoubleTensorType, StringTensorType

    return (DoubleTensorType if is_number else StringTensorType)([None, n_columns])


def _parts(pipeline: Any, places: dict[Any, int], is_number: list[bool]) -> list[list[int]] | None:
    """Return the columns of each part of the first step, by place; None if not all can be joined.

    A part is joined if it names its columns, and these are of one type; so are all columns for a
    first step without parts.
    """
    first = pipeline
    while isinstance(first, Pipeline):
        first = first.steps[0][1]
    if not isinstance(first, ColumnTransformer):
        return [[*range(len(is_number))]] if all(is_number) else None
    parts = []
    for _, _step, columns in _used(first):
        named = isinstance(columns, list) and all(
            isinstance(name, str) and name in places for name in columns
        )
        if not named or len({is_number[places[name]] for name in columns}) > 1:
            return None
        parts.append([places[name] for name in columns])
    return parts or None


def _used(transformer: ColumnTransformer) -> list[tuple[str, Any, Any]]:
    return [
        (name, step, columns)
        for name, step, columns in transformer.transformers_
        if not (isinstance(step, str) and step == "drop") and np.size(columns)
    ]


def _by_place(pipeline: Any) -> Any:
    """Return the pipeline with a first step that takes its columns from the joined matrices."""
    if isinstance(pipeline, Pipeline):
        whole = copy.copy(pipeline)
        (name, first), *others = pipeline.steps
        whole.steps = [(name, _by_place(first)), *others]
        return whole
    if not isinstance(pipeline, ColumnTransformer):
        return pipeline
    transformer = copy.copy(pipeline)
    transformer.transformers_, begin = [], 0
    for name, step, columns in _used(pipeline):
        end = begin + len(columns)
        transformer.transformers_.append((name, step, list(range(begin, end))))
        begin = end
    return transformer
