"""The last step of a pipeline, and rows as its first step takes them."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline


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
    """Return rows without names if a model was fitted to none: it would warn of them.

    Parameters
    ----------
    model : estimator
        Fitted.
    rows : DataFrame
        With the columns of the model.
    """
    return rows if hasattr(model, "feature_names_in_") else rows.to_numpy()
