"""Ratings that a list of suspects brings along: rows of a larger table, audited elsewhere."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from granulearn.audit.label_audit import LabelAudit
from granulearn.audit.noise_rate import NOTHING, NoiseRate
from granulearn.audit.ratings import UNKNOWN, VERDICTS, Ratings
from granulearn.audit.verified import VerifiedLabels
from granulearn.tables import TrainingTable
from granulearn.tables.parse.cells import as_text

NEEDED = (
    "row",
    "hash",
    "given_label",
    "predicted_label",
    "verdict",
    "error_probability",
    "label_quality",
)
FURTHER = ("is_label_issue", "decision", "new_label")
OF_WHOLE_TABLE = "drawn"
"""A list with this column is of a table that can be reviewed itself, which is better."""


def is_listing(names: Sequence[str]) -> bool:
    """Return whether a table is a list of suspects that `granulearn audit` wrote of a large one.

    Parameters
    ----------
    names : sequence of str
        Its columns.
    """
    return set(NEEDED) <= set(names) and OF_WHOLE_TABLE not in names


def columns_of_listing(names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of a list that tell of ratings, and are no inputs.

    Parameters
    ----------
    names : sequence of str
        Its columns.
    """
    return tuple(name for name in names if name in NEEDED or name in FURTHER)


def audit_of_listing(table: TrainingTable, verified: VerifiedLabels) -> LabelAudit:
    """Return the audit that a list tells of; no label is rated again.

    Of a class that is neither given nor predicted, the list says nothing: its probability is
    an even share of what is left. A suggestion that no row of the list has as its label
    is none.

    Parameters
    ----------
    table : TrainingTable
        The list, with its cells.
    verified : VerifiedLabels
        What a person has said since.
    """
    assert table.cells is not None
    cells = table.cells.take(pa.array(table.rows))
    classes, given = np.unique(table.y, return_inverse=True)
    names = {str(label): code for code, label in enumerate(classes.tolist())}
    predicted = np.array([names.get(text, -1) for text in _texts(cells, "predicted_label")])
    predicted = np.where(predicted < 0, given, predicted)
    label_quality = _numbers(cells, "label_quality")
    verdicts = np.array(_texts(cells, "verdict"), dtype="<U9")
    verdicts[~np.isin(verdicts, VERDICTS)] = UNKNOWN
    ratings = Ratings(
        classes=classes,
        given=given,
        proba=_probabilities(given, predicted, label_quality, len(classes)),
        label_quality=label_quality,
        error_proba=_numbers(cells, "error_probability"),
        predicted=predicted,
        verdicts=verdicts,
        verified=np.zeros(len(given), dtype=bool),
    )
    words = (
        "these are the most doubtful labels of a larger table; how many of all are wrong, its own "
        "audit says."
    )
    nothing = NoiseRate(math.nan, math.nan, math.nan, NOTHING, words, ())
    return LabelAudit()._told(ratings, nothing, verified)


def _probabilities(given, predicted, label_quality, n_classes: int) -> np.ndarray:
    """Return what a list tells of the probabilities of classes."""
    rows, n_rows = np.arange(len(given)), len(given)
    rest = (1 - label_quality) / max(n_classes - 1, 1)
    proba = np.repeat(rest[:, None], n_classes, axis=1)
    differs = predicted != given
    proba[differs] = 0
    proba[rows[differs], predicted[differs]] = 1 - label_quality[differs]
    proba[np.arange(n_rows), given] = label_quality
    return proba


def _texts(cells: pa.Table, name: str) -> list[str]:
    return [text or "" for text in as_text(cells[name].combine_chunks()).to_pylist()]


def _numbers(cells: pa.Table, name: str) -> np.ndarray:
    return np.array([float(text) if text else np.nan for text in _texts(cells, name)])
