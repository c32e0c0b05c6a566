"""Check that a model file holds a predictor: a fitted classifier or regressor of granulearn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted

from granulearn.models.trusted_types import TRUSTED_PREDICTORS


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


def full_name(value: Any) -> str:
    """Return the name of an object's type, with that of its module.

    Parameters
    ----------
    value : object
        Anything.
    """
    return f"{type(value).__module__}.{type(value).__name__}"


def check_predictor(model: Any, trusted: Sequence[str] = ()) -> None:
    """Raise unless a model is, or ends in, a predictor of granulearn, with all steps fitted.

    Parameters
    ----------
    model : estimator
        What is saved or was loaded.
    trusted : sequence of str, default=()
        Full names of further types that count as predictors if they can predict.
    """
    predictor = final_predictor(model)
    kind = type(predictor)
    known = full_name(predictor) in {*TRUSTED_PREDICTORS, *trusted}
    if not known or not callable(getattr(predictor, "predict", None)):
        raise TypeError(
            f"{kind.__name__} is no classifier or regressor of granulearn; use a fitted one, or a "
            "pipeline that ends in one."
        )
    for step in (predictor, *_steps(model)):
        check_is_fitted(step)


def _steps(model: Any) -> Iterator[Any]:
    """Yield the steps of a pipeline, however deeply nested; else the model itself."""
    if not isinstance(model, Pipeline):
        yield model
        return
    for _, step in model.steps:
        if step is not None and step != "passthrough":
            yield from _steps(step)
