"""Every model of granulearn as ONNX: its scores, labels and probabilities."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from onnx import TensorProto
from sklearn.base import is_regressor

from granulearn import rvfl
from granulearn.balls import GranularBallKNNClassifier
from granulearn.ensemble import BoostedTreesClassifier, RobustClassifier
from granulearn.forest import BallForestClassifier
from granulearn.models.model_card import ModelFileError
from granulearn.models.onnx.graph import FINITE_AND_FILLED_IN, NO_ANSWER, Value
from granulearn.models.onnx.networks import (
    complex_scores,
    deep_ensemble_scores,
    deep_scores,
    mean_network_scores,
    network_scores,
)
from granulearn.models.onnx.trees import boosted_proba, forest_proba, nearest_ball_scores
from granulearn.rvfl.deep import DeepNetwork, EnsembleNetwork
from granulearn.rvfl.rvfl import RandomNetwork


def outputs_of(model: Any, X: Value) -> list[tuple[str, Value, int, list[int | None]]]:
    """Return name, value, type and shape of each output of a fitted model.

    Parameters
    ----------
    model : estimator
        A fitted classifier or regressor.
    X : Value
        Its inputs, in double precision.
    """
    if is_regressor(model):
        scores = _finite_scores(model, X)
        # coef_ is one matrix, or several; the outputs are its last axis.
        return [("variable", scores, TensorProto.DOUBLE, [None, model.coef_[-1].shape[-1]])]
    labels = onnx_labels(model.classes_)
    scores = _finite_scores(model, X)
    proba = _proba(model, scores)
    compared = scores if model.class_cost_ is None else proba * model.class_cost_
    best = compared.op("ArgMax", axis=1, keepdims=0)
    label = X.graph.add("Gather", labels, best, axis=0)
    kind = TensorProto.STRING if labels.dtype.kind == "O" else TensorProto.INT64
    return [
        ("label", label, kind, [None]),
        ("probabilities", proba, TensorProto.DOUBLE, [None, len(labels)]),
    ]


def onnx_labels(classes: np.ndarray) -> np.ndarray:
    """Return classes as text or whole numbers, the two kinds ONNX has."""
    labels = classes.tolist()
    if all(isinstance(label, str) for label in labels):
        return np.array(labels, dtype=object)
    if all(-(2**63) <= label < 2**63 and int(label) == label for label in labels):
        return np.array([int(label) for label in labels])
    raise ModelFileError(
        f"the classes {labels} are neither text nor whole numbers of 64 bits, and ONNX has no "
        "other labels; fit with text labels."
    )


def _finite_scores(model: Any, X: Value) -> Value:
    return scores_of(model, X.finite(FINITE_AND_FILLED_IN)).finite(NO_ANSWER)


def scores_of(model: Any, X: Value) -> Value:
    """Return the predictions of a regressor, or the scores of classes."""
    for kind in type(model).__mro__:
        if kind in SCORES:
            return SCORES[kind](model, X)
    raise ModelFileError(
        f"{type(model).__name__} has no form in ONNX. What can be exported is a model of "
        "granulearn, alone or in a pipeline of a TablePreprocessor and the model."
    )


def _proba(model: Any, scores: Value) -> Value:
    form = model._probability_form
    if form == "scores":
        return scores
    if form == "softmax":
        return scores.op("Softmax", axis=1)
    if form == "temperature":
        log_proba = _normalised(scores.op("Max", model._least)).op("Log")
        return (1 / model.temperature_ * log_proba).op("Softmax", axis=1)
    return _normalised(scores.op("Relu"))


def _normalised(values: Value) -> Value:
    return values / values.op("ReduceSum", [1], keepdims=1)


def _forest(model: Any, X: Value) -> Value:
    return forest_proba(model.forest_, X)


def _mean_of_members(model: Any, X: Value) -> Value:
    return X.graph.mean([scores_of(member, X) for member in model.estimators_])


def _boosted(model: Any, X: Value) -> Value:
    n_classes = len(model.classes_)
    return X.graph.mean([boosted_proba(booster, X, n_classes) for booster in model.boosters_])


def _stacked(model: Any, X: Value) -> Value:
    """Return the weighted mean of the members; with known noise, of the true class."""
    members = zip(model.members_, model.weights_.values(), strict=True)
    mean = reduce(add, [w * _proba(each, scores_of(each, X)) for each, w in members if w > 0])
    return mean if model.noise_matrix_ is None else mean @ np.linalg.inv(model.noise_matrix_)


# A class has the form of the first of its bases that is here.
SCORES: dict[type, Callable[[Any, Value], Value]] = {
    RandomNetwork: network_scores,
    rvfl.CRVFLClassifier: complex_scores,
    rvfl.RVFLEnsembleClassifier: mean_network_scores,
    rvfl.RVFLEnsembleRegressor: mean_network_scores,
    DeepNetwork: deep_scores,
    EnsembleNetwork: deep_ensemble_scores,
    GranularBallKNNClassifier: nearest_ball_scores,
    rvfl.BallEnsembleClassifier: _mean_of_members,
    BallForestClassifier: _forest,
    BoostedTreesClassifier: _boosted,
    RobustClassifier: _stacked,
}
