"""One cell computed: fit on the training part, score on the test part."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from threadpoolctl import threadpool_limits

from granulearn.bench.studies.cells import Cell
from granulearn.bench.studies.code_beside import import_beside
from granulearn.bench.studies.methods import build_search
from granulearn.bench.studies.preparation import Prepared, prepare
from granulearn.bench.studies.scores import TIMES, Prediction
from granulearn.forest import BallForestClassifier
from granulearn.rvfl import SDAPGBRVFLClassifier


@dataclass(frozen=True)
class Outcome:
    """What is known about a cell after it was tried; ``reason`` is empty if it worked.

    Examples
    --------
    >>> from granulearn.bench.studies import Outcome
    >>> Outcome(key="a1", seed=0, scores={"accuracy": 0.9}).reason == ""
    True
    """

    key: str
    seed: int
    reason: str = ""
    scores: dict[str, float | None] | None = None
    chosen: dict[str, Any] | None = None
    """Parameters that tuning chose; empty if nothing was tuned."""
    fold_scores: list[float] | None = None
    """Tuning score of the chosen parameters in each fold of the training part."""
    fit_seconds: float | None = None
    """Tuning and the final fit together."""
    predict_seconds: float | None = None
    n_balls: int | None = None
    n_train: int | None = None
    n_test: int | None = None
    n_disturbed: int | None = None
    source: str = ""
    fingerprint: str = ""
    notes: tuple[str, ...] = ()
    """Warnings, and scores that could not be given."""


def evaluate(cell: Cell, data_dir: str | None = None) -> Outcome:
    """Compute a cell; a failure becomes an outcome with a reason.

    Parameters
    ----------
    cell : Cell
        What to fit on what.
    data_dir : str, default=None
        Where data sets are read from, as for `granulearn.datasets.load`.

    Returns
    -------
    Outcome
        The same for the same cell, but for the times.

    Examples
    --------
    >>> from granulearn.bench.studies import evaluate, expand, load_study
    >>> cell = expand(load_study("quick"))[0]
    >>> outcome = evaluate(cell)
    >>> outcome.key == cell.key, outcome.reason
    (True, '')
    """
    seed = cell.unit.seed
    # One thread: cells run side by side, and sums keep their order.
    with warnings.catch_warnings(record=True) as caught, threadpool_limits(1):
        warnings.simplefilter("always")
        try:
            import_beside(dict(cell.code), cell.directory)
            outcome = _evaluate(cell, prepare(cell.unit, data_dir))
        except Exception as error:  # any method may raise anything; the run goes on
            return Outcome(cell.key, seed, reason=f"{type(error).__name__}: {error}")
    heard = dict.fromkeys(f"{item.category.__name__}: {item.message}" for item in caught)
    return replace(outcome, notes=(*outcome.notes, *heard))


def warm_up(estimators: Collection[str]) -> None:
    """Load the compiled kernels that classes of these names need, so that no time includes it."""
    X = np.random.default_rng(0).standard_normal((40, 2))
    SDAPGBRVFLClassifier(n_hidden=3, random_state=0).fit(X, X[:, 0] > 0)
    if "RobustClassifier" in estimators or "BallForestClassifier" in estimators:
        BallForestClassifier(random_state=0).fit(X, X[:, 0] > 0).predict(X)


def _evaluate(cell: Cell, data: Prepared) -> Outcome:
    search = build_search(cell.method, cell.tuning, cell.unit.seed)
    start = time.perf_counter()
    search.fit(data.X_train, data.y_train)
    fitted = time.perf_counter()
    labels = np.asarray(search.predict(data.X_test))
    predicted = time.perf_counter()
    _check_labels(labels, data)
    model = getattr(search, "best_estimator_", search)
    prediction = Prediction(model, data.X_test, data.y_test, labels)
    scores, notes = _scores(cell, prediction)
    balls = getattr(model, "balls_", None)
    return Outcome(
        cell.key,
        cell.unit.seed,
        scores=scores,
        chosen=_plain(getattr(search, "best_params_", {})),
        fold_scores=_fold_scores(search),
        fit_seconds=fitted - start,
        predict_seconds=predicted - fitted,
        n_balls=None if balls is None else len(balls),
        n_train=len(data.y_train),
        n_test=len(data.y_test),
        n_disturbed=data.n_disturbed,
        source=data.source,
        fingerprint=data.fingerprint,
        notes=notes,
    )


def _check_labels(labels: np.ndarray, data: Prepared) -> None:
    """Raise unless every row of the test part was given a class of the training part."""
    if labels.size != len(data.y_test):
        raise ValueError(
            f"predict returned an array of shape {labels.shape} for {len(data.y_test)} rows; "
            "return one class per row."
        )
    classes, found = set(data.y_train.tolist()), labels.ravel().tolist()
    if strange := [label for label in dict.fromkeys(found) if label not in classes]:
        known = ", ".join(map(repr, sorted(classes)[:3])) + (", ..." if len(classes) > 3 else "")
        raise ValueError(
            f"predict returned {strange[0]!r}, but the classes are {known}; return the classes "
            "that fit was given, as classes_[codes] does."
        )


def _scores(cell: Cell, prediction: Prediction) -> tuple[dict[str, float | None], tuple[str, ...]]:
    scores: dict[str, float | None] = {}
    notes = []
    for name in cell.scores:
        if name in TIMES:
            continue
        try:
            value = prediction.score(name)
        except Exception as error:  # a method without probabilities may raise anything
            # It has no log-loss, and its other scores stand.
            scores[name] = None
            notes.append(f"no {name}: {_in_words(error)}")
            continue
        scores[name] = value if math.isfinite(value) else None
        if scores[name] is None:
            notes.append(f"no {name}: it is {value}")
    if scores and all(value is None for value in scores.values()):
        raise ValueError("; ".join(notes))
    return scores, tuple(notes)


def _in_words(error: Exception) -> str:
    """Return what an error says, and what it is where that alone may say little."""
    plain = isinstance(error, AttributeError | ValueError)
    return str(error) if plain else f"{type(error).__name__}: {error}"


def _fold_scores(search: BaseEstimator) -> list[float]:
    results = getattr(search, "cv_results_", None)
    if results is None:
        return []
    return [
        float(results[f"split{fold}_test_score"][search.best_index_])
        for fold in range(search.n_splits_)
    ]


def _plain(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters as values JSON knows; others by their printed form."""
    return {
        key: value.item()
        if isinstance(value, np.generic)
        else value
        if isinstance(value, str | int | float | bool | None)
        else repr(value)
        for key, value in parameters.items()
    }
