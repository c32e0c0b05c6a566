"""A loaded model predicts record batches of a table, and counts what surprises it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.base import is_regressor

from granulearn.datasets import TableError
from granulearn.datasets.tables import check_has_column
from granulearn.learning.sources import Source
from granulearn.learning.table_cells import (
    NotANumberError,
    as_categories,
    as_numbers,
    as_text,
    holds_dates,
)
from granulearn.persistence import ColumnCard, LoadedModel, ModelFileError
from granulearn.persistence.predictors import final_predictor

# Encoded cells per call of the model: one-hot columns must not multiply memory.
CELLS_PER_CHUNK = 2**20
MAX_ROWS_PER_CHUNK = 2**15
PREDICTION = "prediction"


class Predictor:
    """A loaded model that reads cells as training did, and counts what surprises it.

    Parameters
    ----------
    loaded : LoadedModel
        From a model file; its card names the columns.
    proba : bool
        Whether to give probabilities of classes too; numbers have none.
    keep : tuple of str
        Columns to copy to the output.
    strict : bool
        Whether an unknown category is an error.
    """

    def __init__(self, loaded: LoadedModel, *, proba: bool, keep: tuple[str, ...], strict: bool):
        if not loaded.card.columns:
            raise ModelFileError(
                "the model was saved without the columns of a table; fit it with `granulearn fit`, "
                "or name them in the card that save_model is given."
            )
        self.pipeline = loaded.pipeline
        self.classes = [] if is_regressor(self.pipeline) else self.pipeline.classes_.tolist()
        self.columns = loaded.card.columns
        self.proba = proba
        self.keep = keep
        self.strict = strict
        self.counts: Counter = Counter(dict.fromkeys(self.classes, 0))
        self._known = {
            column.name: frozenset(column.categories)
            for column in self.columns
            if column.kind == "category"
        }
        self._unknown: dict[str, Counter] = {}
        self._first_unknown: dict[str, str] = {}

    @property
    def rows_per_chunk(self) -> int:
        """How many rows the model gets at a time."""
        width = max(1, final_predictor(self.pipeline).n_features_in_)
        return int(np.clip(CELLS_PER_CHUNK // width, 64, MAX_ROWS_PER_CHUNK))

    @property
    def input_names(self) -> list[str]:
        """Columns to read from the file."""
        names = [column.name for column in self.columns]
        return names + [name for name in self.keep if name not in names]

    @property
    def writes_plain_text(self) -> bool:
        """Whether nothing in the output can need quotation marks."""
        special = set(',;\t|"\r\n')
        return not self.keep and not any(special & set(str(c)) for c in self.classes)

    def check_columns(self, source: Source) -> None:
        """Raise a `TableError` if the file lacks a column.

        Parameters
        ----------
        source : Source
            The file to predict.
        """
        there = set(source.names)
        missing = [column.name for column in self.columns if column.name not in there]
        if missing:
            shown = ", ".join(map(repr, missing[:5])) + (", ..." if len(missing) > 5 else "")
            extra = self.ignored_columns(source)
            hint = f"; it has {', '.join(map(repr, extra[:5]))} instead" if extra else ""
            raise TableError(
                f"{source.path} lacks {len(missing)} of the {len(self.columns)} columns that the "
                f"model was trained on: {shown}{hint}. Rename or add them."
            )
        for name in self.keep:
            check_has_column(source.path, source.names, name)

    def predict_batch(
        self, batch: pa.RecordBatch, source: Source, first_row: int
    ) -> pa.RecordBatch:
        """Return the output rows of a batch: the columns to copy, then what is predicted.

        A copied column keeps its name even if what is predicted has the same one.

        Parameters
        ----------
        batch : RecordBatch
            The columns of `input_names`.
        source : Source
            Where it is from, for messages.
        first_row : int
            Number of its first row in the file.
        """
        X = pd.DataFrame(
            {
                column.name: self._typed(column, batch[column.name], source, first_row)
                for column in self.columns
            }
        )
        kept: dict[str, Any] = {name: as_text(batch[name]) for name in self.keep}
        try:
            predicted = self._labels(X) if self.classes else self._numbers(X)
        except ValueError as error:
            raise self._refusal(error, X, source, first_row) from error
        return pa.RecordBatch.from_arrays(
            [*kept.values(), *predicted.values()], names=[*kept, *predicted]
        )

    def _numbers(self, X: pd.DataFrame) -> dict[str, pa.Array]:
        predicted = self.pipeline.predict(X)
        if predicted.ndim == 1:
            return {PREDICTION: pa.array(predicted)}
        return {
            f"{PREDICTION}_{number}": pa.array(target)
            for number, target in enumerate(predicted.T, start=1)
        }

    def _labels(self, X: pd.DataFrame) -> dict[str, pa.Array]:
        if self.proba:
            probabilities = self.pipeline.predict_proba(X)
            # The classes of highest probability are what `predict` returns.
            predicted = self.pipeline.classes_[probabilities.argmax(axis=1)]
        else:
            predicted = self.pipeline.predict(X)
        self._count(predicted)
        outputs = {PREDICTION: pa.array(predicted)}
        if self.proba:
            for position, label in enumerate(self.pipeline.classes_):
                outputs[f"probability_{label}"] = pa.array(probabilities[:, position])
        return outputs

    def _refusal(
        self, error: ValueError, X: pd.DataFrame, source: Source, first_row: int
    ) -> ValueError:
        """Return the error for rows that a model made in Python refuses."""
        for name in X.columns:
            missing = X[name].isna().to_numpy()
            if missing.any():
                place = source.place(first_row + int(missing.argmax()))
                return TableError(
                    f"{source.path}, {place}: column {name!r} has a missing cell, and the model "
                    f"fills in none ({_first_line(error)}); fill it in, or fit a pipeline that "
                    "does, as make_pipeline_for builds it."
                )
        return wrong_columns(error)

    def _count(self, predicted: np.ndarray) -> None:
        labels, counts = np.unique(predicted, return_counts=True)
        self.counts.update(dict(zip(labels.tolist(), counts.tolist(), strict=True)))

    def _typed(self, column: ColumnCard, cells: pa.Array, source: Source, first_row: int) -> Any:
        if holds_dates(cells):
            raise TableError(
                f"{source.path}: column {column.name!r} holds dates or times, but held "
                f"{'numbers' if column.kind == 'number' else 'categories'} in training; convert it."
            )
        if column.kind == "category":
            return self._categories(column.name, as_categories(cells), source, first_row)
        try:
            return as_numbers(cells)
        except NotANumberError as error:
            raise TableError(
                f"{source.path}, {source.place(first_row + error.position)}: column "
                f"{column.name!r} held numbers in training, but here it holds {error.cell!r}; "
                "correct the cell or leave it empty."
            ) from error

    def _categories(
        self, name: str, values: pd.Categorical, source: Source, first_row: int
    ) -> pd.Categorical:
        new = [text for text in values.categories if text not in self._known[name]]
        if not new:
            return values
        is_new = np.isin(values.codes, values.categories.get_indexer(pd.Index(new)))
        if name not in self._first_unknown:
            position = int(is_new.argmax())
            text, place = values[position], source.place(first_row + position)
            if self.strict:
                raise TableError(
                    f"{source.path}, {place}: column {name!r} holds {text!r}, a category that "
                    "training did not have; correct it, or leave out --strict."
                )
            self._first_unknown[name] = f"{text!r} at {place}"
        self._unknown.setdefault(name, Counter()).update(values[is_new].tolist())
        return values

    def surprises(self) -> Iterator[str]:
        """Yield a line for each column in which there were unknown categories."""
        for name, counter in self._unknown.items():
            yield (
                f"column {name!r}: {counter.total()} cells hold {len(counter)} categories that "
                f"training did not have (first {self._first_unknown[name]}); they count as none "
                "of the known ones."
            )

    def new_categories(self) -> dict[str, dict[str, int]]:
        """Return how often each unknown category was met, by column."""
        return {name: dict(counter) for name, counter in self._unknown.items()}

    def ignored_columns(self, source: Source) -> list[str]:
        """Return the columns of the file that were not used.

        Parameters
        ----------
        source : Source
            The file.
        """
        used = set(self.input_names)
        return [name for name in source.names if name not in used]


def wrong_columns(error: ValueError) -> ModelFileError:
    """Return the error for a model that refuses complete rows with the columns of its card.

    Parameters
    ----------
    error : ValueError
        What the model said.
    """
    return ModelFileError(
        f"the model cannot predict rows with the columns of its card ({_first_line(error)}); save "
        "it with a card of the columns that it was fitted to."
    )


def _first_line(error: ValueError) -> str:
    return str(error).partition("\n")[0].rstrip(".")
