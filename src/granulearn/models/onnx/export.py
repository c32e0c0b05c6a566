"""Write a fitted pipeline as ONNX, and check it against the pipeline with onnxruntime."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from granulearn._extras import EXTRAS, check_installed
from granulearn.models.loaded_model import final_predictor, preprocessors_of, rows_for
from granulearn.models.model_card import ModelFileError
from granulearn.models.onnx.inputs import add_inputs, input_columns, names_of, typed_inputs
from granulearn.preprocess import TablePreprocessor
from granulearn.tables.schema import Schema

TOLERANCE = 1e-5
# A smaller spread of predictions, as a share of the largest prediction, is rounding.
SMALLEST_SPREAD = 1e-9


class OnnxMismatchError(ValueError):
    """The ONNX model does not predict what the pipeline predicts.

    Examples
    --------
    >>> from granulearn.models import OnnxMismatchError
    >>> issubclass(OnnxMismatchError, Exception)  # raised instead of writing such a file
    True
    """


def to_onnx(
    pipeline: Any, X: Any, *, schema: Schema | None = None, tolerance: float = TOLERANCE
) -> Any:
    """Convert a fitted model to ONNX and check it on `X` with onnxruntime.

    Parameters
    ----------
    pipeline : estimator
        A fitted classifier or regressor of granulearn, or a `Pipeline` of a `TablePreprocessor`
        and one.
    X : DataFrame or ndarray of shape (n_samples, n_features)
        Rows to compare predictions on: the more they vary, the more the check says.
    schema : Schema, default=None
        How the columns of a file become those of `X`; it becomes part of the metadata, so that
        `onnx_inputs` takes rows of such files.
    tolerance : float, default=1e-05
        Largest difference that is accepted: of a probability, or of a predicted
        number as a share of the range of its target's predictions.

    Returns
    -------
    onnx.ModelProto
        A DataFrame becomes one input per column, by its name: doubles, text with ``""`` for a
        missing cell, and an input of doubles for each part of a date. An array becomes one
        input ``X``. The outputs of a classifier are ``label`` and ``probabilities``; that of a
        regressor is ``variable``, of shape (n, n_outputs), so (n, 1) for one target. The
        metadata holds ``granulearn_version``, ``model``, ``classes``, ``inputs``, ``schema`` and
        ``largest_difference``, as JSON.

    Raises
    ------
    OnnxMismatchError
        If onnxruntime and the pipeline differ by more than `tolerance`.
    ModelFileError
        If the model, a step or a label has no form in ONNX.

    See Also
    --------
    granulearn.models.save_model : A file that Python reads again, with its card.
    granulearn.models.onnx_inputs : Rows as such a model takes them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from granulearn import RVFLClassifier
    >>> from granulearn.models import to_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> onnx_model = to_onnx(RVFLClassifier(random_state=0).fit(X, y), X)
    >>> [output.name for output in onnx_model.graph.output]
    ['label', 'probabilities']
    """
    check_installed(*EXTRAS["onnx"])
    onnx_model = _graph_of(pipeline, X, schema)
    largest = largest_difference(pipeline, onnx_model, X)
    if not largest <= tolerance:  # also true for NaN
        raise OnnxMismatchError(
            f"the ONNX model's predictions differ from the pipeline's by up to {largest:g}, more "
            f"than {tolerance:g}; it is not written. Please report the model's settings."
        )
    onnx_model.metadata_props.add(key="largest_difference", value=json.dumps(largest))
    return onnx_model


def _graph_of(pipeline: Any, X: Any, schema: Schema | None) -> Any:
    from granulearn.models.onnx.graph import Graph
    from granulearn.models.onnx.models import onnx_labels, outputs_of

    _check_steps(pipeline)
    model, preprocessors = final_predictor(pipeline), preprocessors_of(pipeline)
    columns = input_columns(preprocessors[0] if preprocessors else None, X)
    graph = Graph(name for column in columns for name in names_of(column))
    for output in outputs_of(model, add_inputs(graph, columns, preprocessors)):
        graph.output(*output)
    made_by = version("granulearn")
    metadata: dict[str, Any] = {
        "granulearn_version": made_by,
        "model": type(model).__name__,
        "inputs": columns,
    }
    if not is_regressor(model):
        metadata["classes"] = onnx_labels(model.classes_).tolist()
    if schema is not None:
        metadata["schema"] = schema.to_json()
    as_json = {key: json.dumps(value, ensure_ascii=False) for key, value in metadata.items()}
    return graph.model(made_by, as_json)


def _check_steps(pipeline: Any) -> None:
    """Raise for a pipeline with other steps than a preprocessor and a model."""
    steps = [type(step) for _, step in getattr(pipeline, "steps", [])[:-1]]
    if steps not in ([], [TablePreprocessor]):
        names = ", ".join(step.__name__ for step in steps)
        raise ModelFileError(
            f"a pipeline of {names} and a model cannot be written as ONNX; what can be is a model "
            "of granulearn, alone or in a pipeline of one TablePreprocessor and the model."
        )


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
        label differs although the expected costs are not tied. For a regressor, the
        largest difference of a number, as a share of the range of its target's
        predictions: targets come in any unit, and may lie far from zero.
    """
    found = _run(onnx_model, X)
    rows = rows_for(pipeline, X) if hasattr(X, "columns") else X
    predicted = pipeline.predict(rows)
    if is_regressor(pipeline):
        return _difference_of_numbers(found[0], predicted.reshape(len(predicted), -1))
    labels, probabilities = found
    expected = pipeline.predict_proba(rows)
    cost = final_predictor(pipeline).class_cost_
    compared = expected if cost is None else expected * (cost / cost.max())
    top_two = np.sort(compared, axis=1)[:, -2:]
    decided = top_two[:, 1] - top_two[:, 0] > 2 * TOLERANCE
    if (labels[decided] != predicted[decided]).any():
        return float("inf")
    return float(np.abs(probabilities - expected).max())


def _difference_of_numbers(found: np.ndarray, expected: np.ndarray) -> float:
    differences = np.abs(found - expected).max(axis=0)
    # Predictions that hardly vary differ by their rounding alone.
    least = SMALLEST_SPREAD * np.abs(expected).max(axis=0)
    spreads = np.maximum(np.ptp(expected, axis=0), least)
    return float((differences / np.where(spreads > 0, spreads, 1.0)).max())


def _run(onnx_model: Any, X: Any) -> list[np.ndarray]:
    from onnxruntime import InferenceSession, SessionOptions

    from granulearn.models.onnx.inputs import metadata_of

    options = SessionOptions()
    options.log_severity_level = 4  # what is wrong is raised, too
    session = InferenceSession(
        onnx_model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, typed_inputs(X, metadata_of(onnx_model)["inputs"]))
