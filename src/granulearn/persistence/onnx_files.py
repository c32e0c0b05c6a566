"""A fitted pipeline as an ONNX model, checked against the pipeline itself."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from granulearn._extras import EXTRAS, check_installed
from granulearn.persistence.predictors import final_predictor

TOLERANCE = 1e-5
# A smaller spread of predictions, as a share of the largest prediction, is rounding.
SMALLEST_SPREAD = 1e-9
_OPSETS = {"": 19, "ai.onnx.ml": 3}


class OnnxMismatchError(ValueError):
    """The ONNX model does not predict what the pipeline predicts.

    Examples
    --------
    >>> from granulearn.persistence import OnnxMismatchError
    >>> issubclass(OnnxMismatchError, Exception)  # raised in the place of writing such a file
    True
    """


def to_onnx(pipeline: Any, X: Any, *, tolerance: float = TOLERANCE) -> Any:
    """Convert a fitted pipeline to ONNX and check it on `X` with onnxruntime.

    Parameters
    ----------
    pipeline : estimator
        A fitted classifier or regressor of granulearn, or a pipeline that ends in one.
    X : DataFrame or ndarray of shape (n_samples, n_features)
        Rows to take the types of the inputs from and to compare predictions on:
        the more they vary, the more the check says.
    tolerance : float, default=1e-05
        Largest difference that is accepted: of a probability, or of a predicted
        number as a share of the range of its target's predictions.

    Returns
    -------
    onnx.ModelProto
        A DataFrame becomes one input per column, by its name: doubles, or text
        with ``""`` for a missing cell. An array becomes one input ``X``. The
        outputs of a classifier are ``label`` and ``probabilities``; that of a
        regressor is ``variable``, of shape (n, n_outputs), so (n, 1) for one target.

    Raises
    ------
    OnnxMismatchError
        If onnxruntime and the pipeline differ by more than `tolerance`.

    See Also
    --------
    granulearn.persistence.save_model : A file that Python reads again, with its card.
    granulearn.persistence.onnx_inputs : Rows as such a model takes them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from granulearn import RVFLClassifier
    >>> from granulearn.persistence import to_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> onnx_model = to_onnx(RVFLClassifier(random_state=0).fit(X, y), X)
    >>> [output.name for output in onnx_model.graph.output]
    ['label', 'probabilities']
    """
    check_installed(*EXTRAS["onnx"])
    from skl2onnx import convert_sklearn

    from granulearn.persistence.onnx_converters import check_convertible, register_converters
    from granulearn.persistence.onnx_steps import step_converters

    register_converters()
    exportable = _without_text_cleaning(pipeline)
    model = final_predictor(exportable)
    check_convertible(model)
    input_types = _initial_types(X)
    onnx_model = convert_sklearn(
        exportable,
        name="granulearn",
        initial_types=input_types,
        target_opset=_OPSETS,
        options=None if is_regressor(model) else {id(model): {"zipmap": False}},
        **step_converters(),
    )
    _name_as_the_table_does(onnx_model, [name for name, _ in input_types])
    largest = largest_difference(pipeline, onnx_model, X)
    if not largest <= tolerance:  # also true for NaN
        raise OnnxMismatchError(
            f"the ONNX model's predictions differ from the pipeline's by up to {largest:g}, more "
            f"than {tolerance:g}; it is not written. Please report the model's settings."
        )
    return onnx_model


def largest_difference(pipeline: Any, onnx_model: Any, X: Any) -> float:
    """Return how far onnxruntime's predictions are from the pipeline's.

    Parameters
    ----------
    pipeline : estimator
        The fitted pipeline.
    onnx_model : onnx.ModelProto
        What `to_onnx` made of it.
    X : DataFrame or ndarray
        Rows to compare on.

    Returns
    -------
    float
        For a classifier, the largest difference of a probability; infinite where a
        label differs although the probabilities are not tied. For a regressor, the
        largest difference of a number, as a share of the range of its target's
        predictions: targets come in any unit, and may lie far from zero.
    """
    if is_regressor(pipeline):
        (predictions,) = _run(onnx_model, X)
        return _difference_of_numbers(predictions, pipeline.predict(X))
    labels, probabilities = _run(onnx_model, X)
    return _difference_of_classes(labels, probabilities, pipeline, X)


def _run(onnx_model: Any, X: Any) -> list[np.ndarray]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        onnx_model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, onnx_inputs(X))


def _difference_of_numbers(found: np.ndarray, predicted: np.ndarray) -> float:
    expected = predicted.reshape(len(predicted), -1)
    differences = np.abs(found - expected).max(axis=0)
    # Predictions that hardly vary differ by their rounding alone.
    least = SMALLEST_SPREAD * np.abs(expected).max(axis=0)
    spreads = np.maximum(np.ptp(expected, axis=0), least)
    return float((differences / np.where(spreads > 0, spreads, 1.0)).max())


def _difference_of_classes(
    labels: np.ndarray, probabilities: np.ndarray, pipeline: Any, X: Any
) -> float:
    expected = pipeline.predict_proba(X)
    difference = float(np.abs(probabilities - expected).max())
    top_two = np.sort(expected, axis=1)[:, -2:]
    decided = top_two[:, 1] - top_two[:, 0] > 2 * TOLERANCE
    wanted = pipeline.predict(X)
    if any(label != want for label, want in zip(labels[decided], wanted[decided], strict=True)):
        return float("inf")
    return difference


def onnx_inputs(X: Any) -> dict[str, np.ndarray]:
    """Return rows as the inputs of a model that `to_onnx` made.

    Parameters
    ----------
    X : DataFrame or ndarray
        Rows with the columns of the model. Infinity is an error: a graph cannot refuse it,
        and would answer with NaN.

    Returns
    -------
    dict
        For the name of each input, an array of doubles or of text.

    Examples
    --------
    >>> import pandas as pd
    >>> from granulearn.persistence import onnx_inputs
    >>> rows = pd.DataFrame({"area": [60.0, 85.0], "city": ["Graz", "Lyon"]})
    >>> {name: (values.shape, values.dtype.kind) for name, values in onnx_inputs(rows).items()}
    {'area': ((2, 1), 'f'), 'city': ((2, 1), 'O')}
    """
    if not hasattr(X, "columns"):
        rows = np.asarray(X, dtype=np.float64)
        for place, cells in enumerate(np.atleast_2d(rows).T):
            _refuse_infinity(place, cells)
        return {"X": rows}
    return {str(name): _onnx_column(name, X[name]).reshape(-1, 1) for name in X.columns}


def _onnx_column(name: Any, column: Any) -> np.ndarray:
    if not _is_number(column):
        return np.where(column.isna(), "", column.astype(object)).astype(object)
    cells = column.to_numpy(dtype=np.float64)
    _refuse_infinity(name, cells)
    return cells


def _refuse_infinity(name: Any, cells: np.ndarray) -> None:
    if np.isinf(cells).any():
        raise ValueError(
            f"column {name!r} holds infinity, which a graph of ONNX answers with NaN; correct the "
            "cells, or pass NaN where they are missing."
        )


def _is_number(column: Any) -> bool:
    return getattr(column.dtype, "kind", "O") in "iufb"


def _initial_types(X: Any) -> list[tuple[str, Any]]:
    from skl2onnx.common.data_types import DoubleTensorType, StringTensorType

    if not hasattr(X, "columns"):
        return [("X", DoubleTensorType([None, np.shape(X)[1]]))]
    return [
        (str(name), (DoubleTensorType if _is_number(X[name]) else StringTensorType)([None, 1]))
        for name in X.columns
    ]


def _name_as_the_table_does(onnx_model: Any, columns: list[str]) -> None:
    """Give the inputs the names of the columns; skl2onnx allows only plain identifiers.

    Inner values and outputs that have the name of a column are renamed.
    """
    graph = onnx_model.graph
    inputs = {value.name: name for value, name in zip(graph.input, columns, strict=True)}
    inner = {tensor.name for tensor in graph.initializer}
    inner |= {name for node in graph.node for name in node.output}
    taken = set(columns) | (inner - inputs.keys())
    new_names = dict(inputs)
    for name in sorted(inner & set(columns)):
        new_names[name] = f"predicted_{name}"
        while new_names[name] in taken:
            new_names[name] += "_"
        taken.add(new_names[name])
    for value in [*graph.input, *graph.output, *graph.initializer]:
        value.name = new_names.get(value.name, value.name)
    for node in graph.node:
        node.input[:] = [new_names.get(name, name) for name in node.input]
        node.output[:] = [new_names.get(name, name) for name in node.output]
    del graph.value_info[:]  # it has the old names, and runtimes infer it anyway


def _without_text_cleaning(pipeline: Any) -> Any:
    """Return the pipeline without the step that turns None into NaN: ONNX text has neither."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline

    from granulearn.datasets.pipelines import with_nan

    def cleaned(step: Any) -> Any:
        if isinstance(step, Pipeline):
            step = copy.copy(step)
            step.steps = [
                (name, cleaned(inner))
                for name, inner in step.steps
                if getattr(inner, "func", None) is not with_nan
            ]
        elif isinstance(step, ColumnTransformer):
            step = copy.copy(step)
            step.transformers_ = [
                (name, cleaned(inner), columns) for name, inner, columns in step.transformers_
            ]
        return step

    return cleaned(pipeline)
