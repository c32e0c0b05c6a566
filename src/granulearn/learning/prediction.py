"""A model predicts rows of a table, and counts what surprises it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from sklearn.base import is_regressor

from granulearn._words import counted
from granulearn.persistence import LoadedModel, ModelFileError
from granulearn.persistence.model_card import schema_of_card
from granulearn.persistence.predictors import final_predictor
from granulearn.tables import TableError
from granulearn.tables.columns.kinds import NEEDED_SHARE
from granulearn.tables.columns.schema import NUMBER, YES_NO, Misfits, TypedRows
from granulearn.tables.messages import Message, Setting
from granulearn.tables.readers.naming import similar_names

if TYPE_CHECKING:
    import pandas as pd

# Encoded cells per call of the model: one-hot columns must not multiply memory.
CELLS_PER_CHUNK = 2**20
MAX_ROWS_PER_CHUNK = 2**15
PREDICTION = "prediction"

Place = Callable[[int], str]
"""Says where a row, by its number from 0, stands in its file."""


class Predictor:
    """A loaded model that reads cells as training did, and counts what surprises it.

    Parameters
    ----------
    loaded : LoadedModel
        From a model file; its card says how cells are read.
    proba : bool, default=False
        Whether to give probabilities of classes too.
    keep : tuple of str, default=()
        Columns to copy to the output, as they were read.
    strict : bool, default=False
        Whether an unknown category, or a cell of another form, is an error.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        *,
        proba: bool = False,
        keep: tuple[str, ...] = (),
        strict: bool = False,
    ):
        if not loaded.card.columns:
            raise ModelFileError(
                "the model was saved without the columns of a table; fit it with `granulearn fit`, "
                "or name them in the card that save_model is given."
            )
        self.pipeline = loaded.pipeline
        self.classes = [] if is_regressor(self.pipeline) else self.pipeline.classes_.tolist()
        self.schema = schema_of_card(loaded.card)
        self.proba = proba
        self.keep = keep
        self.strict = strict
        self.counts: Counter = Counter(dict.fromkeys(self.classes, 0))
        self._known = {
            column.name: frozenset(column.categories)
            for column in loaded.card.columns
            if column.kind == "category"
        }
        self._unknown: dict[str, Counter] = {}
        self._first_unknown: dict[str, tuple[str, int]] = {}
        self._misfits: dict[str, Misfits] = {}
        self._known_cells: Counter = Counter()

    @property
    def rows_per_chunk(self) -> int:
        """How many rows the model gets at a time."""
        width = max(1, final_predictor(self.pipeline).n_features_in_)
        return int(np.clip(CELLS_PER_CHUNK // width, 64, MAX_ROWS_PER_CHUNK))

    @property
    def input_names(self) -> list[str]:
        """Columns to read from the file."""
        names = [column.name for column in self.schema.used]
        return names + [name for name in self.keep if name not in names]

    def check_columns(self, path: object, names: Sequence[str]) -> None:
        """Raise a `TableError` if a table lacks a column.

        Parameters
        ----------
        path : object
            The table, for the message.
        names : sequence of str
            Its columns.
        """
        used = [column.name for column in self.schema.used]
        missing = [name for name in used if name not in set(names)]
        problems = []
        if missing:
            shown = ", ".join(map(repr, missing[:5])) + (", ..." if len(missing) > 5 else "")
            extra = self.ignored_columns(names)
            hint = f"; it has {', '.join(map(repr, extra[:5]))} instead" if extra else ""
            problems.append(
                f"{path} lacks {len(missing)} of the {len(used)} columns that the "
                f"model was trained on: {shown}{hint}. Rename or add them."
            )
        problems += [
            Message(
                f"{path} has no column {name!r} (", Setting("keep"), f"); {_meant(name, names)}"
            )
            for name in self.keep
            if name not in names
        ]
        if problems:
            raise TableError(*problems)

    def predict_batch(self, batch: pa.RecordBatch, place: Place, first_row: int) -> pa.RecordBatch:
        """Return the output rows of a batch: the columns to copy, then what is predicted.

        A copied column keeps its name even if what is predicted has the same one.

        Parameters
        ----------
        batch : RecordBatch
            The columns of `input_names`.
        place : callable
            Says where a row stands, for messages.
        first_row : int
            Number of the first row in the file.
        """
        X = self.typed(batch, place, first_row)
        try:
            predicted = self._numbers(X) if not self.classes else self._labels(X)
        except ValueError as error:
            raise self._refusal(error, X, place, first_row) from error
        kept = {name: batch.column(name) for name in self.keep}
        names, columns = [*kept, *predicted], [*kept.values(), *predicted.values()]
        return pa.RecordBatch.from_arrays(columns, names=names)

    def typed(self, batch: pa.RecordBatch, place: Place, first_row: int = 0) -> pd.DataFrame:
        """Return rows as the pipeline takes them, and remember what is odd about them.

        Parameters
        ----------
        batch : RecordBatch
            The columns of `input_names`.
        place : callable
            Says where a row stands, for messages.
        first_row : int, default=0
            Number of the first row in the file.
        """
        rows = self.schema.read(batch, first_row)
        self._remember_misfits(rows, batch.num_rows, place)
        for name, known in self._known.items():
            self._remember_unknown(name, rows.cells[name], known, place, first_row)
        return rows.to_frame()

    def check_cells(self, path: object, place: Place) -> None:
        """Raise a `TableError` if too many cells did not have the form of training.

        Parameters
        ----------
        path : object
            The table, for the message.
        place : callable
            Says where a row stands.
        """
        wrong = [
            f"{path}: column {name!r} held {self._form(name)} in training, but here "
            f"{misfits.count} of {self._known_cells[name]} cells do not: "
            f"{_listed(misfits, place)}; correct the cells or leave them empty."
            for name, misfits in self._misfits.items()
            if misfits.count > (1 - NEEDED_SHARE) * self._known_cells[name]
        ]
        if wrong:
            raise TableError(*wrong)

    def surprises(self, place: Place) -> Iterator[str]:
        """Yield a line for each column with cells of another form, or unknown categories.

        Parameters
        ----------
        place : callable
            Says where a row stands.
        """
        for name, misfits in self._misfits.items():
            one = misfits.count == 1
            do, count = ("does", "counts") if one else ("do", "count")
            yield (
                f"column {name!r}: {counted(misfits.count, 'cell')} {do} not hold "
                f"{self._form(name)}, as in training, and {count} as missing: "
                f"{_listed(misfits, place)}."
            )
        for name, counter in self._unknown.items():
            text, row = self._first_unknown[name]
            hold = "holds" if counter.total() == 1 else "hold"
            yield (
                f"column {name!r}: {counted(counter.total(), 'cell')} {hold} "
                f"{counted(len(counter), 'category', 'categories')} that training did not have "
                f"(first {text!r} at {place(row)}), counted as none of the known ones."
            )

    def absorb(self, other: Predictor) -> None:
        """Add what surprised another predictor of the same model, on later rows.

        Parameters
        ----------
        other : Predictor
            It has predicted some rows.
        """
        self.counts.update(other.counts)
        self._known_cells.update(other._known_cells)
        for name, found in other._misfits.items():
            self._misfits[name] = self._misfits[name] + found if name in self._misfits else found
        for name, counter in other._unknown.items():
            self._unknown[name] = self._unknown.get(name, Counter()) + counter
            self._first_unknown.setdefault(name, other._first_unknown[name])

    def new_categories(self) -> dict[str, dict[str, int]]:
        """Return how often each unknown category was met, by column."""
        return {name: dict(counter) for name, counter in self._unknown.items()}

    def misfits(self) -> dict[str, int]:
        """Return how many cells did not have the form of training, by column."""
        return {name: found.count for name, found in self._misfits.items()}

    def ignored_columns(self, names: Sequence[str]) -> list[str]:
        """Return the columns of a table that are not used.

        Parameters
        ----------
        names : sequence of str
            Its columns.
        """
        used = set(self.input_names)
        return [name for name in names if name not in used]

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
        labels, counts = np.unique(predicted, return_counts=True)
        self.counts.update(dict(zip(labels.tolist(), counts.tolist(), strict=True)))
        outputs = {PREDICTION: pa.array(predicted)}
        if self.proba:
            for position, label in enumerate(self.pipeline.classes_):
                outputs[f"probability_{label}"] = pa.array(probabilities[:, position])
        return outputs

    def _refusal(
        self, error: ValueError, X: pd.DataFrame, place: Place, first_row: int
    ) -> ValueError:
        """Return the error for rows that a model made in Python refuses."""
        for name in X.columns:
            missing = X[name].isna().to_numpy()
            if missing.any():
                where = place(first_row + int(missing.argmax()))
                return TableError(
                    f"{where}: column {name!r} has a missing cell, and the model "
                    f"fills in none ({_first_line(error)}); fill it in, or fit a pipeline that "
                    "does, as make_pipeline_for builds it."
                )
        return wrong_columns(error)

    def _remember_misfits(self, rows: TypedRows, n_rows: int, place: Place) -> None:
        for column in self.schema.used:
            cells = rows.cells[column.feature_names[-1]]
            missing = np.isnan(cells).sum() if isinstance(cells, np.ndarray) else cells.null_count
            found = rows.misfits.get(column.name)
            self._known_cells[column.name] += n_rows - int(missing) + (found.count if found else 0)
            if found is None:
                continue
            if self.strict:
                said = (
                    f"{place(found.first[0].row)}: column {column.name!r} held "
                    f"{self._form(column.name)} in training, but here it holds "
                    f"{found.first[0].text!r}; correct it, or leave out "
                )
                raise TableError(Message(said, Setting("strict", True), "."))
            earlier = self._misfits.get(column.name)
            self._misfits[column.name] = earlier + found if earlier else found

    def _remember_unknown(
        self, name: str, cells: pa.Array, known: frozenset[str], place: Place, first_row: int
    ) -> None:
        encoded = cells.dictionary_encode()
        texts = encoded.dictionary.to_pylist()
        new = [code for code, text in enumerate(texts) if text not in known]
        if not new:
            return
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        is_new = np.isin(codes, new)
        if name not in self._first_unknown:
            position = int(is_new.argmax())
            text, row = texts[codes[position]], first_row + position
            if self.strict:
                said = (
                    f"{place(row)}: column {name!r} holds {text!r}, a category that "
                    "training did not have; correct it, or leave out "
                )
                raise TableError(Message(said, Setting("strict", True), "."))
            self._first_unknown[name] = text, row
        counts = np.bincount(codes[is_new], minlength=len(texts))
        met = Counter({texts[code]: int(counts[code]) for code in new})
        self._unknown[name] = self._unknown.get(name, Counter()) + met

    def _form(self, name: str) -> str:
        column = self.schema[name]
        if column.kind == NUMBER:
            unit = f" of {column.number.unit}" if column.number.unit else ""
            return f"numbers{unit}"
        return "yes or no" if column.kind == YES_NO else "dates"


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


def _meant(name: str, names: Sequence[str]) -> str:
    return f"did you mean one of {similar_names(name, names) or list(names[:10])}?"


def _listed(misfits: Misfits, place: Place) -> str:
    shown = ", ".join(f"{cell.text!r} at {place(cell.row)}" for cell in misfits.first)
    return shown + (", ..." if misfits.count > len(misfits.first) else "")


def _first_line(error: ValueError) -> str:
    return str(error).partition("\n")[0].rstrip(".")
