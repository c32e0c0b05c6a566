"""The audit of a raw table: its labels rated, its rows listed as they were read, and read back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from granulearn.audit.error_probability import prior_model
from granulearn.audit.explanation import CATEGORY, Origin
from granulearn.audit.label_audit import LabelAudit, input_names
from granulearn.audit.ratings import LISTING
from granulearn.audit.validation import check_groups, in_order_of, row_names
from granulearn.audit.verified import (
    AT_RANDOM,
    CHANGE,
    KEEP,
    WORST_FIRST,
    VerifiedLabels,
    check_verified,
)
from granulearn.preprocess import TablePreprocessor
from granulearn.preprocess.table_preprocessor import NUMBER
from granulearn.tables import ColumnOptions, TableError, TrainingTable
from granulearn.tables.parse.cells import as_text, is_nested
from granulearn.tables.parse.dates import RUNNING
from granulearn.tables.training_table import read_labelled_table

if TYPE_CHECKING:
    import pandas as pd

_RATINGS = (
    "row",
    "hash",
    "given_label",
    "predicted_label",
    "verdict",
    "error_probability",
    "label_quality",
)
_DECISIONS = ("is_label_issue", "decision", "new_label")
_OF_WHOLE_TABLE = "drawn"
"""A listing with this column is of a table that can be reviewed itself, which is better."""


@dataclass(frozen=True, eq=False)
class TableAudit:
    """A table and the audit of its labels."""

    table: TrainingTable
    X: np.ndarray
    """The inputs that were audited: imputed, encoded, scaled."""
    origins: list[Origin]
    """Where these inputs come from."""
    audit: LabelAudit

    def listing(self, keep: Sequence[str] | None = None, sample: int = 0) -> pa.Table:
        """Return one row per row of the table, worst first, rows without a label last.

        Parameters
        ----------
        keep : sequence of str, default=None
            Columns of the table to show; None shows all. Cells are as they were read.
        sample : int, default=0
            Number of unverified rows, drawn at random, that come first.

        Returns
        -------
        pyarrow Table
            ``row`` (number of the data row, from 1), ``line`` (of the file, if it has
            lines), ``hash`` of its cells, what `LabelAudit.to_frame` has (the consensus of
            annotators is the given label),
            ``decision`` and ``new_label`` (of verified rows; else empty, to be filled in),
            ``drawn`` ("random" or "worst"), and the columns of the table in its own order.
        """
        data, cells, audit = self.table, self._cells(), self.audit
        frame = audit.to_frame(np.arange(len(audit.given_label_)))
        frame = frame.rename(columns={"consensus_label": "given_label"})
        at = frame.index.to_numpy()
        frame["given_label"] = audit.given_label_[at]
        # What was decided so far, and room for more.
        changed = audit.verified_ & (audit.predicted_label_ != audit.given_label_)
        decided = np.where(audit.verified_, np.where(changed, CHANGE, KEEP), "")
        frame["decision"] = decided[at]
        frame["new_label"] = np.where(changed, audit.predicted_label_.astype(str), "")[at]
        frame["drawn"] = np.where(audit.at_random_, AT_RANDOM, WORST_FIRST)[at]
        if sample:
            drawn = audit.next_to_review(sample, random_fraction=1.0, index=range(len(at))).index
            frame.loc[drawn, "drawn"] = AT_RANDOM
            frame = frame.loc[[*drawn, *frame.index.difference(drawn, sort=False)]]
        unlabelled = np.setdiff1d(np.arange(cells.num_rows), data.rows)
        rows = np.concatenate([data.rows[frame.index], unlabelled])
        in_order = pa.array(rows)
        columns: dict[str, Any] = {"row": pa.array(rows + 1)}
        if data.lines is not None:
            columns["line"] = pa.array(data.lines[rows])
        columns["hash"] = pa.array(self.table.hashes).take(in_order)
        for name in frame.columns:
            values = pa.array(frame[name].to_numpy(), from_pandas=True)
            columns[name] = pa.concat_arrays([values, pa.nulls(len(unlabelled), values.type)])
        for name in cells.column_names if keep is None else keep:
            # Two columns of the file must not have one name.
            free = f"{name} (column)" if name in columns else name
            columns[free] = cells[name].take(in_order).combine_chunks()
        return pa.table(columns)

    def _cells(self) -> pa.Table:
        if self.table.cells is None:
            raise ValueError("the table was read without keep_cells, so none can be shown.")
        return self.table.cells

    def shown_cells(self) -> pd.DataFrame:
        """Return the cells of the rows with a label as text, as they were read."""
        import pandas as pd

        cells = self._cells().take(pa.array(self.table.rows))
        shown = {
            name: as_text(cells[name].combine_chunks()).to_pandas()
            for name in cells.column_names
            if name not in (self.table.target, *self.table.annotators)
            and not is_nested(cells[name].type)
        }
        return pd.DataFrame(shown)


def audit_table(
    table: TrainingTable,
    *,
    verified: Any = None,
    groups: Any = None,
    times: Any = None,
    proba: Any = None,
    **settings: Any,
) -> TableAudit:
    """Rate every label of a raw table.

    Parameters
    ----------
    table : TrainingTable
        What was read; with its cells, if groups or times are asked for by name.
    verified, proba : optional
        As in `LabelAudit.fit`; one entry per row of the table or per row with a label.
    groups : str or array-like, default=None
        The column, or the values, that say which rows stay together.
    times : str or array-like, default=None
        The column, or the values, of times.
    **settings : object
        Of `LabelAudit`.
    """
    X, names, origins = encoded_inputs(table)
    audit = LabelAudit(categorical_features=None, **settings).fit(
        X,
        table.y,
        verified=verified,
        **groups_and_times(table, groups, times),
        proba=_of_rows(table, proba),
        names=names,
        rows=table.rows + 1,
    )
    return TableAudit(table, X, origins, audit)


def encoded_inputs(
    table: TrainingTable,
) -> tuple[np.ndarray, list[str | tuple[str, str]], list[Origin]]:
    """Return the encoded inputs of a table, their names, and where they come from.

    Parameters
    ----------
    table : TrainingTable
        The table; its labels serve categories that are encoded by class.
    """
    preprocessor = TablePreprocessor(table.schema.feature_types, scale_binary=False)
    # Not fit and transform: an encoding that holds a row's own label must not vouch for it.
    X = preprocessor.fit_transform(table.typed.cells, table.y)
    column_of = {f: column.name for column in table.schema.used for f in column.feature_names}
    origins = []
    for name, kind, _ in preprocessor.outputs():
        column = column_of[name]
        part = name.removeprefix(column).removeprefix(": ") if kind == NUMBER else CATEGORY
        origins.append(Origin(column, part))
    return X, input_names(preprocessor), origins


def audit_raw_table(X: Any, y: Any, known: dict[str, Any], **settings: Any) -> pd.DataFrame:
    """Return the frame of `audit_labels` for a raw table.

    Parameters
    ----------
    X : path, frame, Arrow table, list of dicts or dict of columns
        The table.
    y : str or array-like
        The column of labels, or the labels.
    known : dict
        Verified labels, groups, times and proba, as for `audit_labels`.
    **settings : object
        Of `LabelAudit`.
    """
    verified, groups = known["verified"], known["groups"]
    by_name = isinstance(groups, str) or isinstance(known["times"], str)
    options = ColumnOptions(ignore=(groups,) if isinstance(groups, str) else ())
    data = read_labelled_table(X, y, options, keep_cells=by_name)
    names = row_names(X, y)
    index = data.rows if names is None else names[data.rows]
    if verified is not None and not hasattr(verified, "keys"):
        verified = _of_rows(data, verified)
    verified = check_verified(verified, len(data.y), np.unique(data.y), list(index))
    whole = known["proba"] is not None and len(known["proba"]) == data.report.rows
    proba = in_order_of(known["proba"], names if whole or names is None else index)
    done = audit_table(data, **{**known, "verified": verified, "proba": proba}, **settings)
    frame = done.audit.to_frame(index)
    frame.attrs["warnings"] = list(data.report.warnings)
    return frame


def _of_rows(table: TrainingTable, values: Any) -> Any:
    """Return the entries of the rows with a label, of values for all rows."""
    if values is None or len(values) != table.report.rows:
        return values
    return values.iloc[table.rows] if hasattr(values, "iloc") else [values[r] for r in table.rows]


def groups_and_times(table: TrainingTable, groups: Any, times: Any) -> dict[str, Any]:
    """Return groups and times by row; a column that cannot be either is an error of the table.

    Parameters
    ----------
    table : TrainingTable
        The table.
    groups, times : str or array-like
        Names of columns, or values.
    """
    units = {
        "groups": _texts(table, groups) if isinstance(groups, str) else _of_rows(table, groups),
        "times": _times(table, times) if isinstance(times, str) else _of_rows(table, times),
    }
    named = [name for name in (groups, times) if isinstance(name, str)]
    if named:
        try:
            check_groups(units["groups"], units["times"], len(table.y))
        except ValueError as error:
            raise TableError(f"column {' and '.join(map(repr, named))}: {error}") from error
    return units


def _texts(table: TrainingTable, name: str) -> list[str]:
    """Return the cells of a column as text, of the rows with a label."""
    if table.cells is None or name not in table.cells.column_names:
        found = [] if table.cells is None else table.cells.column_names
        raise TableError(f"there is no column {name!r}; the table has {', '.join(found[:20])}")
    if is_nested(table.cells[name].type):
        raise TableError(
            f"column {name!r} holds lists or bytes ({table.cells[name].type}), not one value per "
            "row; choose another column."
        )
    texts = as_text(table.cells[name].combine_chunks()).take(pa.array(table.rows)).to_pylist()
    n_missing = sum(text is None or not text.strip() for text in texts)
    if n_missing:
        raise TableError(
            f"column {name!r} is empty in {n_missing} of {len(texts)} rows with a label; fill it, "
            "or choose another column."
        )
    return texts


def _times(table: TrainingTable, name: str) -> Any:
    """Return what orders the rows by a column: dates and numbers as such, else text."""
    texts = _texts(table, name)
    for column in (f"{name}: {RUNNING}", name):
        if column in table.X.columns and table.X[column].dtype.kind == "f":
            return table.X[column].to_numpy()
    try:
        return np.array([float(text) for text in texts])
    except ValueError:
        return texts


# ---- a listing of the most doubtful labels of a larger table ---------------------------------


def is_listing(names: Sequence[str]) -> bool:
    """Return whether a table is a listing of labels that `granulearn audit` wrote of a large one.

    Parameters
    ----------
    names : sequence of str
        Its columns.
    """
    return set(_RATINGS) <= set(names) and _OF_WHOLE_TABLE not in names


def columns_of_listing(names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of a listing that hold ratings or decisions, and are no inputs.

    Parameters
    ----------
    names : sequence of str
        Its columns.
    """
    return tuple(name for name in names if name in _RATINGS + _DECISIONS)


def audit_listing(table: TrainingTable, verified: VerifiedLabels) -> TableAudit:
    """Return the audit that a listing comes from, with the inputs of its rows.

    No label is rated again: error probabilities are those of the listing. Of a class that is
    neither given nor predicted, it says nothing: its probability is an even share of what is left.
    A predicted class that no row of the listing has as its label is dropped.

    Parameters
    ----------
    table : TrainingTable
        The listing, with its cells.
    verified : VerifiedLabels
        What a person has found since.
    """
    assert table.cells is not None
    cells = table.cells.take(pa.array(table.rows))

    def texts(name: str) -> list[str]:
        return [text or "" for text in as_text(cells[name].combine_chunks()).to_pylist()]

    def numbers(name: str) -> np.ndarray:
        return np.array([float(text) if text else np.nan for text in texts(name)])

    classes, given = np.unique(table.y, return_inverse=True)
    codes = {str(label): code for code, label in enumerate(classes.tolist())}
    predicted = np.array([codes.get(text, -1) for text in texts("predicted_label")])
    predicted = np.where(predicted < 0, given, predicted)
    label_quality = numbers("label_quality")
    rows, rest = np.arange(len(given)), 1 - label_quality
    proba = np.repeat((rest / max(len(classes) - 1, 1))[:, None], len(classes), axis=1)
    differs = predicted != given
    proba[differs] = 0
    proba[rows[differs], predicted[differs]] = rest[differs]
    proba[rows, given] = label_quality
    model = prior_model(np.bincount(given), basis=LISTING)
    rated = model.rate(classes, proba, given, ~np.isnan(label_quality))
    error_proba = np.where(rated.known, numbers("error_probability"), np.nan)
    ratings = replace(rated, error_proba=error_proba, predicted=predicted)
    X, _, origins = encoded_inputs(table)
    return TableAudit(table, X, origins, LabelAudit.from_ratings(ratings, model, verified))
