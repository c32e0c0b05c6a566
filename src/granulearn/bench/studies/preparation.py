"""The rows of one unit: load, sample, split, disturb the training part, scale.

Whatever is learned here (means, categories, which rows are the smallest class)
is learned from the training part. The test part is only transformed.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from granulearn.bench.studies.cells import CLEAN, GIVEN, Condition, SplitPart, TablePlace, Unit
from granulearn.bench.studies.own_tables import read_own_table
from granulearn.datasets import (
    Dataset,
    add_outliers,
    flip_labels,
    load,
    make_imbalanced,
)
from granulearn.preprocess import TablePreprocessor

PAPER_TRAIN_SHARE = 0.7


class ImpossibleSplitError(ValueError):
    """A data set cannot be sampled or divided as the study asks."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """What every method of a unit is given."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    n_disturbed: int
    """Training rows whose label or place was changed, or that were left out."""
    source: str
    """Where the data set was read from."""
    fingerprint: str
    """Hash of the whole data set, to tell copies apart."""


@lru_cache(maxsize=4)
def load_dataset(
    name: str, data_dir: str | None, place: TablePlace | None = None
) -> tuple[Dataset, str]:
    """Load a set without asking the network, and hash its values.

    Parameters
    ----------
    name : str
        Name of the set.
    data_dir : str or None
        Directory with a manifest; None asks the environment.
    place : TablePlace, default=None
        Where a table of one's own is.

    Returns
    -------
    tuple
        The data set and its fingerprint.
    """
    dataset = read_own_table(name, place) if place else load(name, data_dir, download=False)
    values = pd.util.hash_pandas_object(dataset.X.assign(_target=dataset.y), index=False)
    return dataset, hashlib.sha256(values.to_numpy().tobytes()).hexdigest()[:16]


@lru_cache(maxsize=2)
def prepare(unit: Unit, data_dir: str | None) -> Prepared:
    """Make the training and test parts of a unit.

    Parameters
    ----------
    unit : Unit
        Data set, noise and split.
    data_dir : str or None
        As for `load_dataset`.

    Returns
    -------
    Prepared
        Scaled by training statistics, labels of the test part as they came; the right
        ones, for a set that has them beside the given ones.
    """
    dataset, fingerprint = load_dataset(unit.dataset, data_dir, unit.place)
    labels = dataset.y if dataset.truth is None else dataset.truth
    kept = sample_rows(labels, unit.rows, unit.sample_seed)
    train, test = (kept[part] for part in split_rows(labels[kept], unit.part, unit.split_seed))
    X, y, n_disturbed = _training_part(dataset, labels, train, unit)
    preprocessor = TablePreprocessor()
    return Prepared(
        X_train=preprocessor.fit_transform(X, y),
        y_train=y,
        X_test=preprocessor.transform(dataset.X.iloc[test]),
        y_test=labels[test],
        n_disturbed=n_disturbed,
        source=dataset.description.source,
        fingerprint=fingerprint,
    )


def _training_part(
    dataset: Dataset, labels: np.ndarray, train: np.ndarray, unit: Unit
) -> tuple[pd.DataFrame, np.ndarray, int]:
    X, y = dataset.X.iloc[train], labels[train]
    if unit.condition.kind != GIVEN:
        return disturb(X, y, unit.condition, unit.seed)
    if dataset.truth is None:
        raise ValueError(
            f"noise of kind 'given' needs right labels beside the given ones, and {unit.dataset!r} "
            "has one kind of labels; leave the set or this noise out."
        )
    given = dataset.y[train]
    return X, given, int((given != y).sum())


def sample_rows(y: np.ndarray, rows: int | None, seed: int) -> np.ndarray:
    """Return the positions of a stratified sample, in the order of the set.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels of the whole set.
    rows : int or None
        Size of the sample; None, or no less than the set has, means every row.
    seed : int
        Seed of the draw.

    Returns
    -------
    ndarray
        Each class has its share of the sample, rounded up or down.
    """
    if rows is None or rows >= len(y):
        return np.arange(len(y))
    random = np.random.default_rng(seed)
    shuffled = random.permutation(len(y))
    by_class = shuffled[np.argsort(y[shuffled], kind="stable")]
    # Equal steps through rows sorted by class take its share of each class.
    steps = (np.arange(rows) + random.uniform()) * (len(y) / rows)
    kept = np.sort(by_class[steps.astype(int)])
    lost = np.setdiff1d(y, y[kept])
    if len(lost):
        raise ImpossibleSplitError(
            f"a sample of {rows} rows has none of class {lost.tolist()[0]!r}; "
            "raise rows, or leave the data set out."
        )
    return kept


def split_rows(y: np.ndarray, part: SplitPart, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of training and test rows.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels of the whole set.
    part : SplitPart
        Which of the divisions.
    seed : int
        Ignored by the paper's split, which is fixed.

    Returns
    -------
    tuple of ndarray
        Training and test positions; together every row, once.
    """
    split = part.split
    if split.kind == "paper":
        order = np.random.RandomState(0).permutation(len(y))
        n_train = int(PAPER_TRAIN_SHARE * len(y))
        train, test = order[:n_train], order[n_train:]
        _check_two_classes(y, train)
        return train, test
    _check_class_sizes(y, split.folds or 2, split.kind)
    if split.kind == "holdout":
        splitter = StratifiedShuffleSplit(1, test_size=split.test_share, random_state=seed)
        return next(splitter.split(y, y))
    folds = StratifiedKFold(split.folds, shuffle=True, random_state=seed)
    return list(folds.split(y, y))[part.fold or 0]


def disturb(
    X: pd.DataFrame, y: np.ndarray, condition: Condition, seed: int
) -> tuple[pd.DataFrame, np.ndarray, int]:
    """Change the training part as a condition says.

    Parameters
    ----------
    X : DataFrame
        Training features, as they come.
    y : ndarray
        Training labels.
    condition : Condition
        Kind, perhaps several one after the other, and rate.
    seed : int
        Seed of the draws.

    Returns
    -------
    tuple
        Features, labels, and how many rows were changed or left out.
    """
    n_disturbed = 0
    for kind in condition.kind.split("+"):
        X, y, n_more = _disturb_once(X, y, kind, condition.rate, seed)
        n_disturbed += n_more
    return X, y, n_disturbed


def _disturb_once(
    X: pd.DataFrame, y: np.ndarray, kind: str, rate: float, seed: int
) -> tuple[pd.DataFrame, np.ndarray, int]:
    if kind == CLEAN:
        return X, y, 0
    if kind == "outliers":
        moved, mask = add_outliers(X, rate, random_state=seed)
        return moved, y, int(mask.sum())
    if kind == "rare":
        counts = np.unique(y, return_counts=True)[1]
        # A class that is rarer already stays as it is.
        ratio = min(rate, counts.min() / counts.max())
        thinned, labels, kept = make_imbalanced(X, y, ratio, random_state=seed)
        return thinned, labels, int((~kept).sum())
    # Distances decide where classes overlap, so features are scaled first; without labels,
    # since these are what changes.
    boundary = kind == "boundary"
    features = TablePreprocessor(max_one_hot=None).fit_transform(X) if boundary else None
    labels, mask = flip_labels(
        y,
        rate,
        kind,  # type: ignore[arg-type]
        seed,
        X=features,
    )
    return X, labels, int(mask.sum())


def _check_class_sizes(y: np.ndarray, needed: int, kind: str) -> None:
    classes, counts = np.unique(y, return_counts=True)
    if counts.min() < needed:
        raise ImpossibleSplitError(
            f"class {classes.tolist()[counts.argmin()]!r} has {counts.min()} row(s), and a "
            f"stratified {kind} split needs at least {needed} of each class; "
            "leave the class or the data set out, or use fewer folds."
        )


def _check_two_classes(y: np.ndarray, train: np.ndarray) -> None:
    if len(np.unique(y[train])) < len(np.unique(y)):
        raise ImpossibleSplitError(
            "a class has no row in the training part of the paper's split; "
            "use kind = 'holdout', which is stratified."
        )
