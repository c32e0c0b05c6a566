"""Lazy predictions: each block is predicted where it is, by the ordinary estimator."""

from __future__ import annotations

from copy import copy
from typing import Any

import dask.array as da
import numpy as np
import pandas as pd

from granulearn.distributed.blocks import check_collection


def predict_lazily(estimator: Any, method: str, X: Any) -> Any:
    """Return what a method of a fitted classifier gives for each block, not yet computed.

    Parameters
    ----------
    estimator : fitted classifier
        An ordinary one, in memory.
    method : str
        ``"predict"``, ``"predict_proba"`` or ``"decision_function"``.
    X : Dask array or DataFrame
        Inputs.

    Returns
    -------
    Dask array, Series or DataFrame
        An array for an array; for a DataFrame, a Series of labels or a
        DataFrame of one column per class, with its index.
    """
    check_collection(X, "X", f"estimator_.{method}")
    predictor = for_prediction(estimator)
    sample = _predict_block(np.zeros((0, estimator.n_features_in_)), predictor, method)
    if not isinstance(X, da.Array):
        meta = _like_frame(sample, X._meta.index[:0], estimator)
        return X.map_partitions(_predict_frame, predictor, method, meta=meta)
    X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    if sample.ndim == 1:
        return X.map_blocks(_predict_block, predictor, method, dtype=sample.dtype, drop_axis=1)
    chunks = (X.chunks[0], (sample.shape[1],))
    return X.map_blocks(_predict_block, predictor, method, dtype=sample.dtype, chunks=chunks)


def for_prediction(estimator: Any) -> Any:
    """Return the estimator without its balls: every task would carry them, none needs them.

    Parameters
    ----------
    estimator : fitted classifier
        Left as it is.
    """
    light = copy(estimator)
    for name in ("balls_", "membership_"):
        vars(light).pop(name, None)
    return light


def _predict_block(X: Any, estimator: Any, method: str) -> np.ndarray:
    if len(X):
        return getattr(estimator, method)(X)
    # There is no row to predict, but Dask needs the type and the columns of a prediction.
    names = getattr(estimator, "feature_names_in_", None)
    one_row = np.zeros((1, estimator.n_features_in_))
    row = one_row if names is None else pd.DataFrame(one_row, columns=names)
    return getattr(estimator, method)(row)[:0]


def _predict_frame(X: pd.DataFrame, estimator: Any, method: str) -> Any:
    return _like_frame(_predict_block(X, estimator, method), X.index, estimator)


def _like_frame(values: np.ndarray, index: pd.Index, estimator: Any) -> Any:
    if values.ndim == 1:
        return pd.Series(values, index=index)
    return pd.DataFrame(values, index=index, columns=estimator.classes_)
