"""The first step of a pipeline, fitted to statistics in place of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from granulearn.datasets import make_pipeline_for
from granulearn.datasets.pipelines import MANY_CATEGORIES
from granulearn.datasets.target_encoding import (
    N_FOLDS,
    cross_fitted,
    scaler_of_counts,
    target_encoder_of_counts,
)
from granulearn.tables.schema import TypedRows
from granulearn.training.part_statistics import (
    CategoryStatistics,
    NumberStatistics,
    Statistics,
)


@dataclass(frozen=True, eq=False)
class Preparation:
    """How typed rows become numbers; training rows of many categories by the other folds."""

    step: Any
    """The fitted first step of the pipeline."""
    many: dict[str, CategoryStatistics]
    """Features of many categories, in the order of the step."""

    @property
    def n_features(self) -> int:
        """Number of columns that come out."""
        return len(self.step.get_feature_names_out())

    def new_rows(self, typed: TypedRows) -> np.ndarray:
        """Return rows that the model does not learn from.

        Parameters
        ----------
        typed : TypedRows
            At least one row.
        """
        return self.step.transform(typed.to_frame())

    def training_rows(self, typed: TypedRows, folds: np.ndarray) -> np.ndarray:
        """Return rows that the model learns from, as `fit_transform` of all of them would.

        Parameters
        ----------
        typed : TypedRows
            At least one row.
        folds : ndarray of shape (n_samples,)
            As of `folds_of_rows`.
        """
        X = self.new_rows(typed)
        if self.many:
            scaler = self.step.named_transformers_["many categories"][-1]
            encoded = [
                cross_fitted(_places(typed.cells[name], known), folds, known.filled())
                for name, known in self.many.items()
            ]
            where = self.step.output_indices_["many categories"]
            X[:, where] = scaler.transform(np.hstack(encoded))
        return X


def prepare_from_statistics(
    statistics: Mapping[str, Statistics], classes: np.ndarray
) -> Preparation:
    """Return the first step that is fitted to rows of which only statistics are known.

    Parameters
    ----------
    statistics : mapping of str to statistics
        Of each feature, over all training rows.
    classes : ndarray of shape (n_classes,)
        All labels, sorted.
    """
    many = {
        name: known
        for name, known in statistics.items()
        if isinstance(known, CategoryStatistics) and len(known.names) > MANY_CATEGORIES
    }
    step = _fitted_to_example(statistics, list(many), classes)
    numbers = [known for known in statistics.values() if isinstance(known, NumberStatistics)]
    if numbers:
        imputer, scaler = (part for _, part in step.named_transformers_["numbers"].steps)
        imputer.statistics_ = np.array([known.median for known in numbers])
        filled = [known.filled() for known in numbers]
        scaler.mean_, scaler.var_ = (np.array(values) for values in zip(*filled, strict=True))
        scaler.scale_ = np.where(scaler.var_ == 0, 1.0, np.sqrt(scaler.var_))
        scaler.n_samples_seen_ = numbers[0].n + numbers[0].missing
    if many:
        counts = [known.filled() for known in many.values()]
        fitted = {
            "targetencoder": target_encoder_of_counts(
                [known.names for known in many.values()],
                classes,
                [table.sum(axis=0) for table in counts],
            ),
            "standardscaler": scaler_of_counts(counts),
        }
        steps = step.named_transformers_["many categories"].steps
        steps[:] = [(name, fitted.get(name, part)) for name, part in steps]
    return Preparation(step, many)


def _fitted_to_example(
    statistics: Mapping[str, Statistics], many: list[str], classes: np.ndarray
) -> Any:
    # The frame holds every category, and the most frequent one most often: the steps that fill
    # in and list categories need no more. What the others learn from it is replaced.
    sizes = [len(s.names) for s in statistics.values() if isinstance(s, CategoryStatistics)]
    length = max(2 + max(sizes, default=0), N_FOLDS * len(classes))
    frame = pd.DataFrame({name: _example(known, length) for name, known in statistics.items()})
    labels = np.resize(classes, length)
    return make_pipeline_for(frame, many=many).fit(frame, labels).named_steps["prepare"]


def _example(known: Statistics, length: int) -> Any:
    if isinstance(known, NumberStatistics):
        return np.zeros(length)
    if not len(known.names):
        return pd.Categorical([None] * length)
    names = known.names.tolist()
    return pd.Categorical(names + [names[known.usual]] * (length - len(names)))


def _places(text: pa.Array, known: CategoryStatistics) -> np.ndarray:
    """Return the place of each cell among the categories; a missing one is the most frequent."""
    names = pa.array(known.names, pa.string())
    return np.asarray(pc.index_in(text, value_set=names).fill_null(known.usual))
