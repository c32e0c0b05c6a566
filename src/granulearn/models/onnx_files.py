"""A fitted pipeline as an ONNX model, checked against the pipeline itself."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from granulearn._extras import EXTRAS, check_installed
from granulearn.models.errors import ModelFileError
from granulearn.models.onnx_columns import graph_inputs, onnx_inputs
from granulearn.models.predictors import final_predictor, rows_for

TOLERANCE = 1e-5
_MOST_SAID = 300
# A smaller spread of predictions, as a share of the largest prediction, is rounding.
SMALLEST_SPREAD = 1e-9
_OPSETS = {"": 19, "ai.onnx.ml": 3}


class OnnxMismatchError(ValueError):
    """The ONNX model does not predict what the pipeline predicts.

    Examples
    --------
    >>> from granulearn.models import OnnxMismatchError
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
    ModelFileError
        If a step has no form in ONNX, or none that onnxruntime can run.

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
    return checked_onnx(pipeline, X, tolerance=tolerance)[0]


def checked_onnx(pipeline: Any, X: Any, *, tolerance: float = TOLERANCE) -> tuple[Any, float]:
    """Return what `to_onnx` does, and how far its predictions are from the pipeline's.

    Parameters
    ----------
    pipeline : estimator
        As for `to_onnx`.
    X : DataFrame or ndarray
        Rows to compare on.
    tolerance : float, default=1e-05
        Largest difference that is accepted.
    """
    check_installed(*EXTRAS["onnx"])
    from skl2onnx import convert_sklearn

    from granulearn.models.onnx_converters import check_convertible, register_converters
    from granulearn.models.onnx_steps import step_converters

    register_converters()
    exportable = _without_text_cleaning(pipeline)
    model = final_predictor(exportable)
    check_convertible(model)
    inputs = graph_inputs(exportable, X)
    with _in_words():
        onnx_model = convert_sklearn(
            inputs.pipeline,
            name="granulearn",
            initial_types=inputs.shown,
            target_opset=_OPSETS,
            options=None if is_regressor(model) else {id(model): {"zipmap": False}},
            **step_converters(),
        )
        inputs.give(onnx_model)
    largest = largest_difference(pipeline, onnx_model, X)
    if not largest <= tolerance:  # also true for NaN
        raise OnnxMismatchError(
            f"the ONNX model's predictions differ from the pipeline's by up to {largest:g}, more "
            f"than {tolerance:g}; it is not written. Please report the model's settings."
        )
    return onnx_model, largest


@contextmanager
def _in_words() -> Iterator[None]:
    """Say that a model has no form in ONNX, whatever the packages that convert and run it raise."""
    try:
        yield
    except (MemoryError, OSError, Warning):
        raise
    except Exception as error:
        said = " ".join(str(error).split())
        raise ModelFileError(
            f"the model cannot be written as ONNX: {said[:_MOST_SAID]} ({type(error).__name__}); "
            "other steps or names may do; else serve the model file."
        ) from error


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
    with _in_words():
        answers = _run(onnx_model, X)
    rows = rows_for(pipeline, X)
    if is_regressor(pipeline):
        (predictions,) = answers
        return _difference_of_numbers(predictions, pipeline.predict(rows))
    labels, probabilities = answers
    return _difference_of_classes(labels, probabilities, pipeline, rows)


def _run(onnx_model: Any, X: Any) -> list[np.ndarray]:
    from onnxruntime import InferenceSession, OrtValue, SessionOptions

    options = SessionOptions()
    options.log_severity_level = 4  # what is wrong is raised, too
    session = InferenceSession(
        onnx_model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    inputs = onnx_inputs(X)
    if any(cells.dtype.kind == "O" for cells in inputs.values()):
        return session.run(None, inputs)
    # `session.run` looks for each input in a list of all: of 20,000 columns that takes seconds.
    # Values that are bound are found at once, but only numbers can be.
    values = {name: OrtValue.ortvalue_from_numpy(cells) for name, cells in inputs.items()}
    binding = session.io_binding()
    for name, value in values.items():
        binding.bind_ortvalue_input(name, value)
    for output in session.get_outputs():
        binding.bind_output(output.name)
    session.run_with_iobinding(binding)
    return [value.numpy() for value in binding.get_outputs()]


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
