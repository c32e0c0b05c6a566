"""From a table in parts to a fitted pipeline: the work of `training`, on a Dask cluster.

Nothing but sums, counts and balls leaves the parts. The parts are read once to
tell kinds and statistics, once or twice to fit, once to score.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from dask import delayed
from sklearn.metrics import confusion_matrix
from sklearn.pipeline import Pipeline

from granulearn._words import counted
from granulearn.datasets import make_pipeline_for
from granulearn.distributed.blocks import Block, check_block
from granulearn.distributed.classifiers import fit_blocks
from granulearn.distributed.cluster import compute
from granulearn.distributed.prediction import for_prediction
from granulearn.distributed.reduction import tree_reduce
from granulearn.learning.model_kinds import make_model
from granulearn.learning.table_parts import TablePart, TableParts
from granulearn.learning.table_survey import (
    ColumnSurvey,
    Request,
    TableSurvey,
    card_of,
    check_survey,
    features_and_labels,
    join_surveys,
    read_rows,
    survey_part,
)
from granulearn.learning.trained_model import (
    Trained,
    cannot_be_split,
    make_card,
    scores_of_confusion,
    told_to_users,
)


@dataclass(frozen=True, eq=False)
class Reading:
    """How a part becomes what a model learns from."""

    request: Request
    kinds: dict[str, str]
    whole_labels: bool
    prepare: Any
    """The fitted first step of the pipeline."""


def train_on_cluster(
    table: TableParts, model: str, request: Request, tell: Callable[[str], None]
) -> Trained:
    """Survey, fit, and score on the rows held out; there is no cross-validation.

    Parameters
    ----------
    table : TableParts
        What to learn from.
    model : str
        A name of `model_kinds` whose classifier can be fitted in parts.
    request : Request
        What the user asked for.
    tell : callable
        Told what is being done.
    """
    tell(f"looking at {counted(len(table.parts), 'part')}")
    looks = [delayed(survey_part)(part, number, request) for number, part in enumerate(table.parts)]
    (survey,) = compute(tree_reduce(join_surveys, looks))
    whole = check_survey(survey, table.path, request.target)
    _check_held_out(survey, request)
    kinds = {column.name: column.kind for column in survey.columns}
    prepare = prepare_from_survey(survey.columns)
    reading = Reading(request, kinds, whole, prepare)
    tell(f"fitting {model} to {survey.train_labels.total()} rows")
    classifier = make_model(model, request.seed)
    if "n_jobs" in classifier.get_params():
        classifier.set_params(n_jobs=None)  # each worker has a core of its own
    shared = delayed(reading)
    blocks = [
        delayed(block_of_part)(part, number, shared) for number, part in enumerate(table.parts)
    ]
    with told_to_users(model):
        fit_blocks(classifier, blocks, len(prepare.get_feature_names_out()))
    pipeline = Pipeline([("prepare", prepare), ("model", classifier)])
    scores = {}
    if request.test:
        tell("scoring on the rows held out")
        scores["held_out"] = _held_out(table.parts, shared, classifier)
    card = make_card(
        model,
        classifier,
        survey.train_labels,
        target=request.target,
        columns=tuple(map(card_of, survey.columns)),
        dropped_rows=survey.unlabelled,
        scores=scores,
        seed=request.seed,
    )
    return Trained(pipeline, card)


def block_of_part(part: TablePart, number: int, reading: Reading) -> Block:
    """Read the rows of a part that are learnt from.

    Parameters
    ----------
    part : TablePart
        Some rows.
    number : int
        Number of the part.
    reading : Reading
        How they are read.
    """
    rows = read_rows(part, number, reading.request)
    X, y = _prepared(rows, ~rows.held_out, reading)
    return check_block(number, X, y, None, None)


def confusion_of_part(part: TablePart, number: int, reading: Reading, classifier: Any):
    """Count true against predicted classes among the rows of a part that are held out.

    Parameters
    ----------
    part : TablePart
        Some rows.
    number : int
        Number of the part.
    reading : Reading
        How they are read.
    classifier : fitted classifier
        What predicts them.
    """
    rows = read_rows(part, number, reading.request)
    X, y = _prepared(rows, rows.held_out, reading)
    n_classes = len(classifier.classes_)
    if len(y) == 0:
        return np.zeros((n_classes, n_classes), dtype=np.int64)
    return confusion_matrix(y, classifier.predict(X), labels=classifier.classes_)


def prepare_from_survey(columns: Sequence[ColumnSurvey]) -> Any:
    """Return the first step of the pipeline, fitted to statistics in place of rows.

    Parameters
    ----------
    columns : sequence of ColumnSurvey
        Over all training rows.
    """
    # The frame holds every category, and the most frequent one most often: the steps for
    # categories need no more. What the steps for numbers learn from it is replaced.
    length = 2 + max([len(column.categories) for column in columns], default=0)
    frame = pd.DataFrame({column.name: _example(column, length) for column in columns})
    prepare = make_pipeline_for(frame, many=()).fit(frame).named_steps["prepare"]
    numbers = [column for column in columns if column.kind == "number"]
    if numbers:
        imputer, scaler = (step for _, step in prepare.named_transformers_["numbers"].steps)
        imputer.statistics_ = np.array([column.median for column in numbers])
        filled = [_with_missing_filled(column) for column in numbers]
        scaler.mean_, scaler.var_ = (np.array(values) for values in zip(*filled, strict=True))
        constant = np.array([column.lowest >= column.highest for column in numbers])
        scaler.scale_ = np.where(constant, 1.0, np.sqrt(scaler.var_))
        scaler.n_samples_seen_ = numbers[0].n + numbers[0].missing
    return prepare


def _prepared(rows: Any, chosen: np.ndarray, reading: Reading) -> tuple[np.ndarray, np.ndarray]:
    frame, y = features_and_labels(rows, chosen, reading.kinds, reading.whole_labels)
    if len(frame) == 0:
        return np.empty((0, len(reading.prepare.get_feature_names_out()))), y
    return reading.prepare.transform(frame), y


def _check_held_out(survey: TableSurvey, request: Request) -> None:
    """Raise, as `train` does, if too few rows can be held out; by chance it may be none."""
    rows, n_classes, test = survey.labels.total(), len(survey.labels), request.test
    none_held_out = rows == survey.train_labels.total()
    if test and (none_held_out or round(test * rows) < n_classes):
        raise cannot_be_split(rows, n_classes, test)


def _held_out(parts: Sequence[TablePart], reading: Any, classifier: Any) -> dict[str, Any]:
    shared = delayed(for_prediction(classifier))
    count = delayed(confusion_of_part)
    tables = [count(part, number, reading, shared) for number, part in enumerate(parts)]
    (counts,) = compute(tree_reduce(np.add, tables))
    return scores_of_confusion(counts, classifier.classes_)


def _example(column: ColumnSurvey, length: int) -> Any:
    if column.kind == "number":
        return np.zeros(length)
    if not column.categories:
        return pd.Categorical([None] * length)
    usual = min(column.categories, key=lambda name: (-column.categories[name], name))
    names = sorted(column.categories)
    return pd.Categorical(names + [usual] * (length - len(names)))


def _with_missing_filled(column: ColumnSurvey) -> tuple[float, float]:
    """Return mean and variance of the column with its median in place of missing cells."""
    total = column.n + column.missing
    gap = column.median - column.mean if column.n else 0.0
    share = column.missing / total if column.n else 0.0
    mean = column.mean + gap * share
    return mean, (column.squares + gap**2 * column.n * share) / total
