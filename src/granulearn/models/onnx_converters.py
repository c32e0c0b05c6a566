"""How skl2onnx writes our classifiers and regressors as ONNX, in double precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, reduce
from typing import Any

import numpy as np
from skl2onnx import update_registered_converter
from skl2onnx.common.data_types import (
    DoubleTensorType,
    Int64TensorType,
    StringTensorType,
)
from sklearn.base import ClassifierMixin

from granulearn import estimators
from granulearn.models.onnx_activations import add_complex_activation
from granulearn.models.onnx_balls import add_nearest_ball_scores
from granulearn.models.onnx_boosted import add_boosted_mean
from granulearn.models.onnx_checks import NO_ANSWER, refuse_all_but_finite
from granulearn.models.onnx_forest import add_posterior
from granulearn.models.onnx_graph import Graph, Name
from granulearn.models.onnx_layers import (
    add_ensemble_scores,
    add_hidden,
    add_linked,
    add_one_ridge_scores,
)
from granulearn.models.onnx_steps import double_inputs
from granulearn.network import ComplexFeatures, RandomFeatures


def check_convertible(model: Any) -> None:
    """Raise where a model, or one inside it, has no form in ONNX, or its labels have none.

    Parameters
    ----------
    model : estimator
        A fitted classifier or regressor.
    """
    form = _form(type(model))
    if form is None:
        names = ", ".join(kind.__name__ for kind in convertible())
        raise TypeError(f"{type(model).__name__} has no form in ONNX here; these have: {names}.")
    if isinstance(model, ClassifierMixin):
        _onnx_labels(model)
    for part in form.parts(model):
        check_convertible(part)


@cache
def register_converters() -> None:
    """Teach skl2onnx every model that has a form in ONNX."""
    for kind in convertible():
        name = f"Granulearn{kind.__name__}"
        if issubclass(kind, ClassifierMixin):
            options = {"zipmap": [True, False, "columns"], "nocl": [True, False]}
            update_registered_converter(
                kind, name, _classifier_shapes, _convert_classifier, options=options
            )
        else:
            update_registered_converter(kind, name, _regressor_shapes, _convert_regressor)


def _classifier_shapes(operator: Any) -> None:
    model = operator.raw_operator
    n_rows = operator.inputs[0].get_first_dimension()
    label_type = StringTensorType if _onnx_labels(model).dtype.kind == "O" else Int64TensorType
    operator.outputs[0].type = label_type([n_rows])
    operator.outputs[1].type = DoubleTensorType([n_rows, len(model.classes_)])


def _convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    graph, model = Graph(scope, container), operator.raw_operator
    labels, probabilities = (output.full_name for output in operator.outputs)
    scores = _finite_scores(graph, model, operator)
    graph.add("Identity", _probabilities(graph, model, scores), output=probabilities)
    best = graph.add("ArgMax", scores, axis=1, keepdims=0)
    graph.add("Gather", graph.constant(_onnx_labels(model)), best, output=labels, axis=0)


def _regressor_shapes(operator: Any) -> None:
    # coef_ is one matrix, or a list or stack of them; the outputs are its last axis.
    n_outputs = operator.raw_operator.coef_[-1].shape[-1]
    n_rows = operator.inputs[0].get_first_dimension()
    operator.outputs[0].type = DoubleTensorType([n_rows, n_outputs])


def _convert_regressor(scope: Any, operator: Any, container: Any) -> None:
    graph = Graph(scope, container)
    predictions = _finite_scores(graph, operator.raw_operator, operator)
    graph.add("Identity", predictions, output=operator.outputs[0].full_name)


def _finite_scores(graph: Graph, model: Any, operator: Any) -> Name:
    """Add the model's outputs for inputs that are finite, as long as they are finite, too."""
    X = refuse_all_but_finite(graph, double_inputs(graph, operator))
    return refuse_all_but_finite(graph, _scores(graph, model, X), NO_ANSWER)


def _onnx_labels(model: Any) -> np.ndarray:
    """Return the classes as text or whole numbers, the two kinds ONNX has."""
    classes = model.classes_.tolist()
    if all(isinstance(label, str) for label in classes):
        return np.array(classes, dtype=object)
    if all(-(2**63) <= label < 2**63 and int(label) == label for label in classes):
        return np.array([int(label) for label in classes])
    raise TypeError(
        f"the classes {classes} are neither text nor whole numbers of 64 bits, and ONNX has no "
        "other labels; fit with text labels."
    )


def _scores(graph: Graph, model: Any, X: Name) -> Name:
    """Add the model's outputs: predictions of numbers, or scores of classes."""
    form = _form(type(model))
    assert form is not None  # `check_convertible` checked it
    return form.scores(graph, model, X)


def _probabilities(graph: Graph, model: Any, scores: Name) -> Name:
    if model._probability_form == "scores":
        return scores
    if model._probability_form == "softmax":
        return graph.add("Softmax", scores, axis=1)
    if model._probability_form == "temperature":
        return _temperature_scaled(graph, model, scores)
    return _to_sum_one(graph, graph.add("Relu", scores))


def _network_scores(graph: Graph, model: Any, X: Name) -> Name:
    return _real_scores(graph, model.features_, model.coef_, X)


def _real_scores(graph: Graph, features: RandomFeatures, coef: np.ndarray, X: Name) -> Name:
    return add_linked(graph, add_hidden(graph, features, X), X, coef, features.bias_column)


def _ensemble_of_balls_scores(graph: Graph, model: Any, X: Name) -> Name:
    return graph.mean([_scores(graph, member, X) for member in model.estimators_])


def _committee_scores(graph: Graph, model: Any, X: Name) -> Name:
    """Return the mean of the networks as one network with the hidden nodes of all."""
    layers: tuple[RandomFeatures, ...] = model.features_
    n_unhidden = layers[0].bias_column + 1
    joined = replace(
        layers[0],
        weights=np.concatenate([layer.weights for layer in layers]),
        biases=np.concatenate([layer.biases for layer in layers]),
    )
    unhidden = model.coef_[:, :n_unhidden].mean(axis=0)
    hidden = np.concatenate(model.coef_[:, n_unhidden:]) / len(layers)
    return _real_scores(graph, joined, np.concatenate([unhidden, hidden]), X)


def _forest_scores(graph: Graph, model: Any, X: Name) -> Name:
    return add_posterior(graph, model.forest_, X)


def _boosting_scores(graph: Graph, model: Any, X: Name) -> Name:
    return add_boosted_mean(graph, model.boosters_, X, len(model.classes_))


def _stacked_scores(graph: Graph, model: Any, X: Name) -> Name:
    """Return the weighted mean of the members; with known noise, of the true class."""
    parts = [
        graph.scaled(weight, _probabilities(graph, member, _scores(graph, member, X)))
        for member, weight in _weighted_members(model)
    ]
    mean = reduce(graph.plus, parts)
    if model.noise_matrix_ is None:
        return mean
    return graph.matmul(mean, graph.constant(np.linalg.inv(model.noise_matrix_)))


def _weighted_members(model: Any) -> list[tuple[Any, float]]:
    """Return the members of a robust classifier that have a weight, and their weights."""
    return [(getattr(model, f"{name}_"), w) for name, w in model.weights_.items() if w > 0]


def _temperature_scaled(graph: Graph, model: Any, scores: Name) -> Name:
    proba = _to_sum_one(graph, graph.add("Max", scores, graph.constant(model._least)))
    scaled = graph.scaled(1 / model.temperature_, graph.add("Log", proba))
    return graph.add("Softmax", scaled, axis=1)


def _to_sum_one(graph: Graph, values: Name) -> Name:
    return graph.over(values, graph.add("ReduceSum", values, graph.constant([1]), keepdims=1))


def _complex_scores(graph: Graph, model: Any, X: Name) -> Name:
    """Return Re(H theta) with H = P + iQ, as P times one matrix plus Q times another."""
    features: ComplexFeatures = model.features_
    coef = model.coef_
    of_real, of_imaginary = (
        (coef[0::2], coef[1::2]) if features.as_real_pairs else (coef.real, -coef.imag)
    )
    n_features = features.weights.shape[1]
    shifted = graph.minus(X, graph.constant(features.lowest))
    turn = graph.scaled(np.pi, graph.over(shifted, graph.constant(features.width)))
    P, Q = graph.cosine(turn), graph.add("Sin", turn)
    real_weights = graph.constant(features.weights.real.T)
    imaginary_weights = graph.constant(features.weights.imag.T)
    received = (
        graph.plus(
            graph.minus(graph.matmul(P, real_weights), graph.matmul(Q, imaginary_weights)),
            graph.constant(features.biases.real),
        ),
        graph.plus(
            graph.plus(graph.matmul(P, imaginary_weights), graph.matmul(Q, real_weights)),
            graph.constant(features.biases.imag),
        ),
    )
    hidden = add_complex_activation(graph, features.activation, received)
    scores = graph.constant(of_real[n_features])  # the part of the bias, which is 1 + 0i
    for part, weights in (
        (P, of_real[:n_features]),
        (Q, of_imaginary[:n_features]),
        (hidden[0], of_real[n_features + 1 :]),
        (hidden[1], of_imaginary[n_features + 1 :]),
    ):
        scores = graph.plus(graph.matmul(part, graph.constant(weights)), scores)
    return scores


@dataclass(frozen=True)
class Form:
    """How the scores of a kind of model are written as ONNX."""

    scores: Callable[[Graph, Any, Name], Name]
    parts: Callable[[Any], Sequence[Any]] = lambda model: ()
    """The models inside a fitted model that must have a form too."""


# The forms, by the name that a class of models states in its abilities.
FORMS = {
    "ball forest": Form(_forest_scores),
    "committee": Form(_committee_scores),
    "boosting": Form(_boosting_scores),
    "complex network": Form(_complex_scores),
    "deep network": Form(add_one_ridge_scores),
    "ensemble of layers": Form(add_ensemble_scores),
    "mean of members": Form(_ensemble_of_balls_scores, lambda model: model.estimators_[:1]),
    "stacked": Form(_stacked_scores, lambda model: [m for m, _ in _weighted_members(model)]),
    "nearest balls": Form(add_nearest_ball_scores),
    "network": Form(_network_scores),
}


def convertible() -> list[type]:
    """Return the public classes that have a form in ONNX, by name."""
    kinds = [getattr(estimators, name) for name in estimators.__all__]
    return [kind for kind in kinds if _form(kind) is not None]


def _form(kind: type) -> Form | None:
    abilities = getattr(kind, "_abilities", None)
    return None if abilities is None else FORMS.get(abilities.onnx)
