"""Dask collections are handed to `granulearn.dask`, which audits them block by block."""

from __future__ import annotations

from typing import Any

# What a lazy table of ratings has for each label, by the attribute of `LabelAudit`.
COLUMNS = {
    "given_label_": "given_label",
    "predicted_label_": "predicted_label",
    "verdict_": "verdict",
    "error_proba_": "error_probability",
    "label_quality_": "label_quality",
    "is_label_issue_": "is_label_issue",
}


def is_collection(X: Any) -> bool:
    """Return whether X is a Dask collection; Dask need not be installed."""
    return hasattr(X, "__dask_graph__")


def fit_collection(X: Any, y: Any, given: dict[str, Any], **settings: Any) -> Any:
    """Return the fitted audit of a collection.

    Parameters
    ----------
    X, y : collection
        Inputs and labels.
    given : dict
        What only an audit in memory can make use of; None where it was left out.
    **settings : object
        ``n_estimators`` and ``random_state``.
    """
    from granulearn.dask import DaskLabelAudit

    needs_all = [name for name, value in given.items() if value is not None]
    if needs_all:
        raise ValueError(
            f"{', '.join(needs_all)}: needs all rows in memory, and X is a {type(X).__name__} in "
            "blocks; leave it out, or audit a sample of the rows."
        )
    if isinstance(y, str):
        raise TypeError(
            f"y={y!r} is the name of a column, and X is a {type(X).__name__} in blocks, whose "
            f"cells are not read: pass X.drop(columns={y!r}) and X[{y!r}]; inputs must be numbers."
        )
    return DaskLabelAudit(**settings).fit(X, y)
