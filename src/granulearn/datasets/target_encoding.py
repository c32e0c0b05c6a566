"""Columns of many categories as numbers: how often their rows have each class.

A category that occurs n times, m times with a class of share p, is encoded as
``(m + SMOOTH * p) / (n + SMOOTH)``. Training rows are encoded without the rows of
their own fold: a category of two rows would otherwise tell their labels. All of it
needs counts alone, so that a cluster can add them up part by part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn
from sklearn.preprocessing import StandardScaler, TargetEncoder

# As many rows of a category as this say as much about it as all other rows together.
# A fixed number, since scikit-learn's "auto" needs variances that counts do not give.
SMOOTH = 10.0
N_FOLDS = 5

# Earlier versions take a number of folds only.
_TAKES_SPLITTER = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 9)


@dataclass(frozen=True)
class EvenFolds:
    """A splitter that shares out classes evenly, without refusing or warning of small ones.

    Rows are ordered by class, then by place. Each five of them go to five different
    folds, in an order drawn from their position: nothing but the labels and the order
    of rows decides, and a part of a table can be split where it is (`folds_of_rows`).

    Parameters
    ----------
    n_folds : int, default=5
        Number of folds.
    """

    n_folds: int = N_FOLDS

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds; fewer rows than that give fewer."""
        return self.n_folds

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the places of training and test rows, fold by fold.

        Parameters
        ----------
        X : array-like
            Not looked at.
        y : array-like of shape (n_samples,)
            Labels, or numbers: rows of similar ones go to different folds.
        groups : object
            Not looked at.
        """
        codes = np.unique(np.asarray(y), return_inverse=True)[1].ravel()
        if len(codes) < 2:
            raise ValueError(
                "Columns of many categories need at least 2 rows, since each row is encoded by "
                f"the others; got {len(codes)}. Add rows, or pass many=() to make_pipeline_for."
            )
        counts = np.bincount(codes)
        folds = folds_of_rows(codes, np.cumsum(counts) - counts, self.n_folds)
        for fold in np.unique(folds):
            yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)


def folds_of_rows(codes: np.ndarray, starts: np.ndarray, n_folds: int = N_FOLDS) -> np.ndarray:
    """Return the fold of each row, for a whole table or for a part of it.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
        Class of each row, as a number.
    starts : ndarray of shape (n_classes,)
        Rows before the first of each class: all of smaller classes, and those of
        the same class in earlier parts.
    n_folds : int, default=5
        Number of folds.

    Returns
    -------
    ndarray of shape (n_samples,)
        Between 0 and `n_folds` - 1.
    """
    order = np.argsort(codes, kind="stable")
    counts = np.bincount(codes, minlength=len(starts))
    shift = np.asarray(starts, dtype=np.int64) - (np.cumsum(counts) - counts)
    positions = np.empty(len(codes), dtype=np.int64)
    positions[order] = np.arange(len(codes)) + shift[codes[order]]
    # The fold is the rank of a row's draw in its block; all draws are different.
    first = positions - positions % n_folds
    own = _draws(positions)
    return np.sum([_draws(first + k) < own for k in range(n_folds)], axis=0)


def new_target_encoder(target_type: str = "auto") -> TargetEncoder:
    """Return the encoder of pipelines, not fitted.

    Parameters
    ----------
    target_type : str, default="auto"
        As for `TargetEncoder`: "continuous" for regressors.
    """
    if _TAKES_SPLITTER:
        return TargetEncoder(target_type=target_type, smooth=SMOOTH, cv=EvenFolds())
    # It makes its own folds, and warns of classes with fewer rows than folds.
    return TargetEncoder(target_type=target_type, smooth=SMOOTH, cv=N_FOLDS, random_state=0)


def target_encoder_of_counts(
    categories: Sequence[np.ndarray], classes: np.ndarray, counts: Sequence[np.ndarray]
) -> TargetEncoder:
    """Return the encoder that is fitted to rows of which only counts are known.

    Parameters
    ----------
    categories : sequence of ndarray
        Categories of each column, sorted, none missing.
    classes : ndarray of shape (n_classes,)
        At least two labels, sorted.
    counts : sequence of ndarray of shape (n_categories, n_classes)
        For each column, how many rows have a category and a class.

    Returns
    -------
    TargetEncoder
        Fitted, for arrays of such columns; equal to `fit` on the rows up to rounding.
    """
    length = max([len(classes), *map(len, categories)])
    # These rows have every category and class, which is all that is learnt from them.
    cells = [np.resize(np.asarray(names, dtype=object), length) for names in categories]
    encoder = new_target_encoder().fit(np.column_stack(cells), np.resize(classes, length))
    tables = [_rates(table) for table in counts]
    encoder.encodings_ = [np.ascontiguousarray(rate) for table in tables for rate in table.T]
    means = counts[0].sum(axis=0) / counts[0].sum()
    encoder.target_mean_ = means[1] if len(classes) == 2 else means
    return encoder


def cross_fitted(
    codes: np.ndarray, fold_of_row: np.ndarray, counts_per_fold: np.ndarray
) -> np.ndarray:
    """Return one column of training rows, each encoded by the rows of the other folds.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
        Category of each row, as its place among the sorted categories.
    fold_of_row : ndarray of shape (n_samples,)
        As of `folds_of_rows`.
    counts_per_fold : ndarray of shape (n_folds, n_categories, n_classes)
        How many rows of the whole table have a fold, a category and a class.

    Returns
    -------
    ndarray of shape (n_samples, 1) or (n_samples, n_classes)
        One number per row for two classes, else one per class.
    """
    return _rates_without_each_fold(counts_per_fold)[fold_of_row, codes]


def scaler_of_counts(counts_per_fold: Sequence[np.ndarray]) -> StandardScaler:
    """Return the scaler that is fitted to columns of which only counts are known.

    Parameters
    ----------
    counts_per_fold : sequence of ndarray of shape (n_folds, n_categories, n_classes)
        For each column, as for `cross_fitted`.

    Returns
    -------
    StandardScaler
        Equal to one fitted to what `cross_fitted` returns, columns side by side.
    """
    parts = []
    for counts in counts_per_fold:
        values = _rates_without_each_fold(counts)
        weights = counts.sum(axis=-1).ravel()
        seen = weights > 0
        rows = values.reshape(-1, values.shape[-1])[seen]
        parts.append(StandardScaler().fit(rows, sample_weight=weights[seen]))
    scaler = parts[0]
    for name in ("mean_", "var_", "scale_"):
        setattr(scaler, name, np.concatenate([getattr(part, name) for part in parts]))
    scaler.n_features_in_ = len(scaler.mean_)
    scaler.n_samples_seen_ = np.int64(counts_per_fold[0].sum())
    return scaler


def _rates_without_each_fold(counts_per_fold: np.ndarray) -> np.ndarray:
    """Return, for each fold, the encodings of all categories by the rows of the others."""
    return np.stack([_rates(table) for table in counts_per_fold.sum(axis=0) - counts_per_fold])


def _rates(counts: np.ndarray) -> np.ndarray:
    """Return the encodings of each category: of the second of two classes, else of all."""
    shares = counts.sum(axis=0) / counts.sum()
    rates = (counts + SMOOTH * shares) / (counts.sum(axis=1, keepdims=True) + SMOOTH)
    return rates[:, 1:] if counts.shape[1] == 2 else rates


def _draws(numbers: np.ndarray) -> np.ndarray:
    """Return 64 well-mixed bits for each number (splitmix64), different for different ones."""
    z = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
