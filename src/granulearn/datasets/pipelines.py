"""From a table as it comes to the numbers a model can use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone, is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from granulearn._sklearn_compat import plain_column_lists, set_columns
from granulearn.datasets.target_encoding import new_target_encoder

MANY_CATEGORIES = 40
"""A column with more categories is encoded by the target, not one column for each."""


def make_pipeline_for(
    frame: pd.DataFrame, estimator: Any = None, *, many: Sequence[Any] | None = None
) -> Pipeline:
    """Build a pipeline that imputes, encodes and scales this table.

    Numeric columns: median for missing values, then zero mean and unit variance.
    Others: the most frequent value for missing ones, then one column of 0 and 1
    per category; a category that training did not have becomes all zeros. Columns
    of many categories: scikit-learn's `TargetEncoder`, which puts the share of each
    class among the rows of a category in its place (of the second one, for two
    classes; the mean, for a regressor), or that among all rows for a category that
    training did not have; then zero mean and unit variance. All of it is learned by
    ``fit``, so nothing leaks from test rows.

    Such shares tell the labels of training rows unless each row is encoded by other
    rows. ``fit`` with an estimator does that. Without one call ``fit_transform(X, y)``
    for training rows, and ``transform`` for new ones only.

    Parameters
    ----------
    frame : DataFrame
        A table with the columns and types to expect. Of its cells, only the number
        of different ones in each column that is not numeric is looked at, and not
        even that if `many` is given.
    estimator : estimator, default=None
        Added as the last step, under the name ``model``.
    many : sequence of column names, default=None
        Columns of many categories; they need ``y``, with one target. None means those
        that are not numeric and have more than 40 different values in `frame`.

    Returns
    -------
    Pipeline
        Not fitted. The first step, ``prepare``, is the `ColumnTransformer`.

    Examples
    --------
    >>> import pandas as pd
    >>> from granulearn.datasets import make_pipeline_for
    >>> frame = pd.DataFrame({"age": [30, None, 50], "city": ["A", "B", None]})
    >>> make_pipeline_for(frame).fit_transform(frame).round(2).tolist()
    [[-1.22, 1.0, 0.0], [0.0, 0.0, 1.0], [1.22, 1.0, 0.0]]
    """
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(
            f"frame must be a pandas DataFrame, since its column types decide; "
            f"got {type(frame).__name__}."
        )
    if frame.shape[1] == 0:
        raise ValueError("frame has no columns; there is nothing to prepare.")
    truths = [name for name, kind in frame.dtypes.items() if kind == np.bool_]
    numeric = list(frame.select_dtypes("number").columns)
    known = {*truths, *numeric}
    texts = [name for name in frame.columns if name not in known]
    crowded = _many_of(frame, texts) if many is None else _checked(many, texts)
    many_set = {*crowded}
    others = [name for name in texts if name not in many_set]
    number_steps = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
    )
    category_steps = make_pipeline(
        *_filling_steps(), OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    )
    regression = estimator is not None and is_regressor(estimator)
    many_steps = make_pipeline(
        *_filling_steps(),
        # Whole numbers as targets of a regressor would be taken for classes.
        new_target_encoder("continuous" if regression else "auto"),
        StandardScaler(),
    )
    prepare = ColumnTransformer(
        [
            ("numbers", number_steps, numeric),
            # Plain truth values are never missing, and SimpleImputer refuses them.
            ("truths", StandardScaler(), truths),
            ("categories", category_steps, others),
            ("many categories", many_steps, crowded),
        ],
        verbose_feature_names_out=False,
        **plain_column_lists(),
    )
    steps = [("prepare", prepare)]
    if estimator is not None:
        steps.append(("model", estimator))
    return Pipeline(steps)


def columns_by_place(pipeline: Pipeline, frame: pd.DataFrame) -> Pipeline:
    """Return a pipeline that learns the same, with columns by place.

    scikit-learn looks for each name among all names, in time that grows with the square of
    their number: seconds for each fit to twenty thousand columns.

    Parameters
    ----------
    pipeline : Pipeline
        As `make_pipeline_for` builds it, not fitted; what is returned has the same model.
    frame : DataFrame
        The table that it is for.
    """
    places = {name: place for place, name in enumerate(frame.columns)}
    # The model is no copy: a generator of random numbers that the caller gave it goes on.
    (name, prepare), *others = pipeline.steps
    prepare = clone(prepare)
    prepare.transformers = [
        (kind, steps, np.array([places[name] for name in columns], dtype=np.int64))
        for kind, steps, columns in prepare.transformers
    ]
    return Pipeline([(name, prepare), *others])


def columns_by_name(pipeline: Pipeline, frame: pd.DataFrame) -> Pipeline:
    """Name the columns of a fitted pipeline, which is then as if it had been fitted by names.

    Parameters
    ----------
    pipeline : Pipeline
        Of `columns_by_place`, or a copy, fitted; it is changed.
    frame : DataFrame
        The table that it is for.

    Returns
    -------
    Pipeline
        The same pipeline.
    """
    names = list(frame.columns)
    prepare = pipeline["prepare"]
    set_columns(prepare, [[names[i] for i in places] for _, _, places in prepare.transformers])
    return pipeline


def with_nan(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the cells as objects, with NaN for every kind of missing value.

    Parameters
    ----------
    frame : DataFrame
        Columns of any type.

    Returns
    -------
    DataFrame
        The same, with None and ``pandas.NA`` as NaN, which is all that
        scikit-learn's imputer looks for.
    """
    return frame.astype(object).where(frame.notna(), np.nan)


def _filling_steps() -> tuple[FunctionTransformer, SimpleImputer]:
    return (
        FunctionTransformer(with_nan, feature_names_out="one-to-one"),
        SimpleImputer(strategy="most_frequent", keep_empty_features=True),
    )


def _many_of(frame: pd.DataFrame, texts: list[Any]) -> list[Any]:
    return [name for name in texts if frame[name].nunique() > MANY_CATEGORIES]


def _checked(many: Sequence[Any], texts: list[Any]) -> list[Any]:
    """Return the columns that the caller names, in the order of the table."""
    if isinstance(many, str):
        raise TypeError(f"many must be a list of columns; pass many=[{many!r}].")
    known, wanted = {*texts}, {*many}
    foreign = [name for name in many if name not in known]
    if foreign:
        raise ValueError(
            f"many names {', '.join(map(repr, foreign))}, which frame does not have as columns of "
            "categories; leave them out, or convert the columns to text."
        )
    return [name for name in texts if name in wanted]
