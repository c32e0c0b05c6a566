"""From a table as it comes to the numbers a model can use."""

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler


def make_pipeline_for(frame: pd.DataFrame, estimator=None) -> Pipeline:
    """Build a pipeline that imputes, one-hot encodes and scales this table.

    Numeric columns: median for missing values, then zero mean and unit variance.
    Others: the most frequent value for missing ones, then one column of 0 and 1
    per category; a category that training did not have becomes all zeros. All of
    it is learned by ``fit``, so nothing leaks from test rows.

    Parameters
    ----------
    frame : DataFrame
        A table with the columns and types to expect; no value is looked at.
    estimator : estimator, default=None
        Added as the last step, under the name ``model``.

    Returns
    -------
    Pipeline
        Not fitted. The first step, ``prepare``, is the `ColumnTransformer`.

    Examples
    --------
    >>> import pandas as pd
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
    truths = [name for name in frame.columns if frame[name].dtype == np.bool_]
    numeric = list(frame.select_dtypes("number").columns)
    others = [name for name in frame.columns if name not in {*truths, *numeric}]
    number_steps = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
    )
    category_steps = make_pipeline(
        FunctionTransformer(with_nan, feature_names_out="one-to-one"),
        SimpleImputer(strategy="most_frequent", keep_empty_features=True),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    )
    prepare = ColumnTransformer(
        [
            ("numbers", number_steps, numeric),
            # Plain truth values are never missing, and SimpleImputer refuses them.
            ("truths", StandardScaler(), truths),
            ("categories", category_steps, others),
        ],
        verbose_feature_names_out=False,
    )
    steps = [("prepare", prepare)]
    if estimator is not None:
        steps.append(("model", estimator))
    return Pipeline(steps)


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
