"""A model from a file: it reads rows as training did, predicts them, and tells what is new."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.pipeline import Pipeline

from granulearn.models.model_card import ModelCard
from granulearn.models.row_reader import ModelInputs, RowReader, opened_rows
from granulearn.models.rows_check import RowsCheck, check_rows
from granulearn.preprocess import TablePreprocessor
from granulearn.tables.messages import TableError
from granulearn.tables.schema import TypedRows

# Encoded cells, or probabilities, per call of the model: neither one-hot columns nor very many
# classes must multiply memory.
CELLS_PER_CHUNK = 2**20
MAX_ROWS_PER_CHUNK = 2**13


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """What a model file holds.

    Rows are given as a dict or a Series (one row), a list of dicts, a frame of pandas or polars,
    an Arrow table or a `Path`, never as text: what a stranger sent must not name a file.
    Cells are read as `granulearn predict` reads them: by the card, which says how training
    did. Several threads may ask the same model.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from granulearn import RVFLClassifier
    >>> from granulearn.models import ModelCard, load_model, save_model
    >>> model = RVFLClassifier(random_state=0).fit([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = save_model(model, Path(folder, "model.granulearn"), ModelCard(target="label"))
    ...     loaded = load_model(Path(folder, "model.granulearn"))
    >>> loaded.card.target, loaded.pipeline.predict([[5.5]]).tolist()
    ('label', ['b'])
    """

    pipeline: Any
    """The fitted classifier or regressor, or the pipeline that ends in it."""
    card: ModelCard
    """What the file says about it."""

    @cached_property
    def inputs(self) -> ModelInputs:
        """How cells become what the pipeline takes."""
        return ModelInputs.of_card(self.card)

    @property
    def classes_(self) -> np.ndarray:
        """The classes, in the order of probabilities."""
        return self.pipeline.classes_

    def predict(self, rows: Any, *, strict: bool = False, warn: bool = True) -> np.ndarray:
        """Return the class, or the number, of each row.

        Parameters
        ----------
        rows : dict, list of dicts, frame, Arrow table or Path
            Rows with the columns of training, in any order; others are ignored.
        strict : bool, default=False
            Whether an unknown category, or a cell of another form, is an error. Cells of
            another form always are where they are more than one in a hundred of a column,
            and so in a single row.
        warn : bool, default=True
            Whether to warn of such cells. A server that asks very often should not: Python
            remembers the text of every warning.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_targets)
            What `granulearn predict` writes.
        """
        return self._ask("predict", rows, strict, warn)

    def predict_proba(self, rows: Any, *, strict: bool = False, warn: bool = True) -> np.ndarray:
        """Return the probability of each class for each row.

        Parameters
        ----------
        rows : dict, list of dicts, frame, Arrow table or Path
            Rows with the columns of training, in any order; others are ignored.
        strict, warn : bool
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            In the order of ``classes_``.
        """
        if not self.is_classifier:
            raise AttributeError(
                f"{type(final_predictor(self.pipeline)).__name__} predicts numbers, and has no "
                "probabilities; use predict."
            )
        return self._ask("predict_proba", rows, strict, warn)

    def check(self, rows: Any) -> RowsCheck:
        """Say what rows hold that training did not: drift, column by column.

        Parameters
        ----------
        rows : dict, list of dicts, frame, Arrow table or Path
            Rows with the columns of training.

        Returns
        -------
        RowsCheck
            Numbers and dates outside of the range of training, unknown categories, cells of
            another form, and more missing ones than training had, counted.
        """
        reader = RowReader(self.inputs)
        with opened_rows(rows) as file:
            return check_rows(self.card, reader, reader.rows_of(file))

    @cached_property
    def is_classifier(self) -> bool:
        """Whether it predicts classes, not numbers."""
        return not is_regressor(self.pipeline)

    @cached_property
    def rows_per_chunk(self) -> int:
        """How many rows the model gets at a time."""
        predictor = final_predictor(self.pipeline)
        n_classes = len(getattr(predictor, "classes_", ()))
        width = getattr(predictor, "_n_inputs", predictor.n_features_in_)
        width = max(1, width, n_classes)
        return int(np.clip(CELLS_PER_CHUNK // width, 64, MAX_ROWS_PER_CHUNK))

    @cached_property
    def _takes_columns(self) -> bool:
        """Whether the model takes columns as they were read."""
        first = preprocessors_of(self.pipeline)[:1]
        return bool(first) and hasattr(first[0], "feature_names_in_")

    def answers(self, method: str, rows: TypedRows) -> np.ndarray:
        """Return what a method of the pipeline says of rows that were read.

        Parameters
        ----------
        method : str
            "predict" or "predict_proba".
        rows : TypedRows
            The rows.
        """
        inputs: Any = rows.cells
        if not self._takes_columns:
            inputs = rows_for(self.pipeline, rows.to_frame())
        try:
            return getattr(self.pipeline, method)(inputs)
        except ValueError as error:
            reason = str(error).partition("\n")[0].rstrip(".")
            raise TableError(
                f"the model cannot predict these rows ({reason}); fill in missing cells, or fit a "
                "pipeline that begins with TablePreprocessor."
            ) from error

    def _ask(self, method: str, rows: Any, strict: bool, warn: bool) -> np.ndarray:
        reader = RowReader(self.inputs, strict)
        with opened_rows(rows) as file:
            chunks = reader.rows_of(file, self.rows_per_chunk)
            answers = [self.answers(method, chunk) for chunk in chunks]
            reader.finish(file.path, file.location, warn=warn)
        return np.concatenate(answers)


def final_predictor(model: Any) -> Any:
    """Return the last step of a pipeline; else the model itself.

    Parameters
    ----------
    model : estimator
        A pipeline or anything else.
    """
    return model[-1] if isinstance(model, Pipeline) else model


def preprocessors_of(model: Any) -> list[TablePreprocessor]:
    """Return what makes numbers of columns before a model: a first step, and one inside it.

    Parameters
    ----------
    model : estimator
        Fitted.
    """
    first = model[0] if isinstance(model, Pipeline) else None
    inside = getattr(final_predictor(model), "preprocessor_", None)
    return [each for each in (first, inside) if isinstance(each, TablePreprocessor)]


def rows_for(model: Any, rows: Any) -> Any:
    """Return rows without names if a model was fitted to none: it would warn of them.

    Parameters
    ----------
    model : estimator
        Fitted.
    rows : DataFrame
        With the columns of the model.
    """
    return rows if hasattr(model, "feature_names_in_") else rows.to_numpy()
