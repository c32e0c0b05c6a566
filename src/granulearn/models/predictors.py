"""The last step of a pipeline, and rows as its first step takes them."""

from __future__ import annotations

from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer


def final_predictor(model: Any) -> Any:
    """Return what a pipeline ends in, however deep pipelines are nested; else the model itself.

    Parameters
    ----------
    model : estimator
        A pipeline or anything else.
    """
    ends_in_a_step = isinstance(model, Pipeline) and model.steps
    return final_predictor(model.steps[-1][1]) if ends_in_a_step else model


def rows_for(model: Any, rows: Any) -> Any:
    """Return rows as a model takes them: without names if its first step was fitted to none.

    A step that was would warn of them. Where it is not known that names tell the step nothing
    (it is the caller's own, or takes columns by name), rows are left as they are.

    Parameters
    ----------
    model : estimator
        Fitted.
    rows : DataFrame or ndarray
        With the columns of the model.
    """
    first = model
    while isinstance(first, Pipeline) and first.steps:
        first = first.steps[0][1]
    known = type(first).__module__.startswith(("sklearn.", "granulearn."))
    by_name = isinstance(first, ColumnTransformer | FunctionTransformer)
    nameless = hasattr(first, "n_features_in_") and not hasattr(first, "feature_names_in_")
    named = hasattr(rows, "columns") and all(isinstance(name, str) for name in rows.columns)
    return rows.to_numpy() if known and nameless and named and not by_name else rows
