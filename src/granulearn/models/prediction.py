"""The rows of an output file: a model predicts a table batch by batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import pyarrow as pa

from granulearn.models.loaded_model import LoadedModel, final_predictor
from granulearn.models.row_reader import Location, RowReader, chunks
from granulearn.tables.inspection import no_column
from granulearn.tables.io.table_file import TableFile
from granulearn.tables.messages import Message, Setting, TableError
from granulearn.tables.schema import TypedRows

PREDICTION = "prediction"


class Predictor:
    """One prediction of a table, whose cells are read as training did.

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
        self.loaded = loaded
        self.reader = RowReader(loaded.inputs, strict)
        self.classes = loaded.classes_.tolist() if loaded.is_classifier else []
        self.proba = proba
        self.keep = keep
        self.counts: Counter = Counter(dict.fromkeys(self.classes, 0))

    @property
    def input_names(self) -> list[str]:
        """Columns to read from the file."""
        names = self.loaded.inputs.names
        return [*names, *(name for name in self.keep if name not in names)]

    def check_columns(self, path: object, names: Sequence[str]) -> None:
        """Raise a `TableError` if a table lacks a column.

        Parameters
        ----------
        path : object
            The table, for the message.
        names : sequence of str
            Its columns.
        """
        problems = self.loaded.inputs.missing_columns(path, names)
        problems += [
            Message(f"{path}: ", no_column(name, names, Setting("keep")))
            for name in self.keep
            if name not in names
        ]
        if problems:
            raise TableError(*problems)

    def predict_batch(self, batch: pa.RecordBatch, location: Location) -> pa.RecordBatch:
        """Return the output rows of the next batch: the columns to copy, then what is predicted.

        A copied column keeps its name even if what is predicted has the same one.

        Parameters
        ----------
        batch : RecordBatch
            The columns of `input_names`.
        location : callable
            Says where a row stands, for messages.
        """
        read = self.reader.read(batch, location)
        predicted = self._labels(read) if self.classes else self._numbers(read)
        kept = {name: batch.column(name) for name in self.keep}
        names, columns = [*kept, *predicted], [*kept.values(), *predicted.values()]
        return pa.RecordBatch.from_arrays(columns, names=names)

    def write(
        self,
        source: TableFile,
        open_writer: Callable[[pa.Schema], Any],
        location: Location,
        progress: Callable[[int], None] = lambda n_rows: None,
    ) -> None:
        """Predict all rows of a table and write the output rows.

        Parameters
        ----------
        source : TableFile
            The rows.
        open_writer : callable
            Returns a writer, which is a context manager, for output rows of a schema.
        location : callable
            Says where a row stands, for messages.
        progress : callable
            Gets the number of rows done.
        """
        writer = None
        with ExitStack() as opened:
            for chunk in chunks(source, self.input_names, self.loaded.rows_per_chunk):
                answers = self.predict_batch(chunk, location)
                if writer is None:
                    writer = opened.enter_context(open_writer(answers.schema))
                writer.write(answers)
                progress(self.reader.n_rows)

    def starting_at(self, first_row: int) -> Predictor:
        """Return a predictor of the same model for rows from this number on."""
        strict = self.reader.strict
        new = Predictor(self.loaded, proba=self.proba, keep=self.keep, strict=strict)
        new.reader.first_row = first_row
        return new

    def ignored_columns(self, names: Sequence[str]) -> list[str]:
        """Return the columns of a table that are not used.

        Parameters
        ----------
        names : sequence of str
            Its columns.
        """
        used = set(self.input_names)
        return [name for name in names if name not in used]

    def _numbers(self, read: TypedRows) -> dict[str, pa.Array]:
        predicted = self.loaded.answers("predict", read)
        if predicted.ndim == 1:
            return {PREDICTION: pa.array(predicted)}
        targets = enumerate(predicted.T, start=1)
        return {f"{PREDICTION}_{number}": pa.array(target) for number, target in targets}

    def _labels(self, read: TypedRows) -> dict[str, pa.Array]:
        outputs = {}
        if self.proba:  # the classes of highest probability, times cost, are those of `predict`
            proba = self.loaded.answers("predict_proba", read)
            cost = final_predictor(self.loaded.pipeline).class_cost_
            compared = proba if cost is None else proba * cost
            predicted = self.loaded.classes_[compared.argmax(axis=1)]
            for label, column in zip(self.classes, proba.T, strict=True):
                outputs[f"probability_{label}"] = pa.array(column)
        else:
            predicted = self.loaded.answers("predict", read)
        self.counts.update(predicted.tolist())
        return {PREDICTION: pa.array(predicted), **outputs}
