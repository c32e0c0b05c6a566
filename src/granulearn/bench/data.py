"""The data of a run: a data set is loaded, sampled, split, disturbed and preprocessed.

Only the training part is disturbed (cells are missing in both parts), and the preprocessor is
fitted to it. The test part is only transformed.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from granulearn.bench.runs import CLEAN, GIVEN, Condition, Part, TableFile, Unit
from granulearn.bench.study import OwnTable, StudyError, hint_for
from granulearn.datasets import (
    Dataset,
    DatasetDescription,
    add_outliers,
    flip_labels,
    load,
    make_imbalanced,
)
from granulearn.preprocess import TablePreprocessor
from granulearn.tables import (
    ColumnOptions,
    TableError,
    open_table,
    read_training_table,
)

PAPER_TRAIN_SHARE = 0.7


class ImpossibleSplitError(ValueError):
    """A data set cannot be sampled or divided as the study asks."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """Training and test part of a unit, the same for every method."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    n_disturbed: int
    """Training rows whose label or values were changed, or that were dropped."""
    source: str
    """Where the data set was read from."""
    fingerprint: str
    """Hash of the whole data set, to tell copies apart."""


@lru_cache(maxsize=4)
def load_dataset(
    name: str, data_dir: str | None, file: TableFile | None = None
) -> tuple[Dataset, str]:
    """Load a named set or the user's table, without the network; return it and its fingerprint."""
    dataset = read_own_table(name, file) if file else load(name, data_dir)
    values = pd.util.hash_pandas_object(dataset.X.assign(_target=dataset.y), index=False)
    return dataset, hashlib.sha256(values.to_numpy().tobytes()).hexdigest()[:16]


@lru_cache(maxsize=2)
def prepare(unit: Unit, data_dir: str | None) -> Prepared:
    """Return the training and test parts of a unit; test labels are the true ones, if known."""
    dataset, fingerprint = load_dataset(unit.dataset, data_dir, unit.file)
    labels = dataset.y if dataset.truth is None else dataset.truth
    kept = sample_rows(labels, unit.rows, unit.sample_seed)
    train, test = (kept[part] for part in split_rows(labels[kept], unit.part, unit.split_seed))
    X, y = dataset.X.iloc[train], labels[train]
    if unit.condition.kind != GIVEN:
        X, y, n_disturbed = disturb(X, y, unit.condition, unit.seed)
    elif dataset.truth is None:
        raise ValueError(
            f"noise of kind 'given' needs right labels beside the given ones, and {unit.dataset!r} "
            "has one kind of labels; leave the set or this noise out."
        )
    else:
        y, n_disturbed = dataset.y[train], int((dataset.y[train] != y).sum())
    preprocessor = TablePreprocessor()
    X_train, X_test = preprocessor.fit_transform(X, y), preprocessor.transform(dataset.X.iloc[test])
    if unit.condition.kind == "missing":
        random = np.random.default_rng(unit.seed)
        for part in (X_train, X_test):
            part[random.uniform(size=part.shape) < unit.condition.rate] = np.nan
        n_disturbed = int(np.isnan(X_train).any(axis=1).sum())
    return Prepared(
        X_train=X_train,
        y_train=y,
        X_test=X_test,
        y_test=labels[test],
        n_disturbed=n_disturbed,
        source=dataset.description.source,
        fingerprint=fingerprint,
    )


def sample_rows(y: np.ndarray, rows: int | None, seed: int) -> np.ndarray:
    """Return the positions of a stratified sample of rows, in the order of the set."""
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


def split_rows(y: np.ndarray, part: Part, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of training and test rows; the paper's split ignores the seed."""
    split = part.split
    if split.kind == "paper":
        order = np.random.RandomState(0).permutation(len(y))
        train, test = np.split(order, [int(PAPER_TRAIN_SHARE * len(y))])
        if len(np.unique(y[train])) < len(np.unique(y)):
            raise ImpossibleSplitError(
                "a class has no row in the training part of the paper's split; "
                "use kind = 'holdout', which is stratified."
            )
        return train, test
    classes, counts = np.unique(y, return_counts=True)
    needed = split.folds or 2
    if counts.min() < needed:
        raise ImpossibleSplitError(
            f"class {classes.tolist()[counts.argmin()]!r} has {counts.min()} row(s), and a "
            f"stratified {split.kind} split needs at least {needed} of each class; "
            "leave the class or the data set out, or use fewer folds."
        )
    if split.kind == "holdout":
        splitter = StratifiedShuffleSplit(1, test_size=split.test_size, random_state=seed)
        return next(splitter.split(y, y))
    folds = StratifiedKFold(needed, shuffle=True, random_state=seed)
    return list(folds.split(y, y))[part.fold or 0]


def disturb(
    X: pd.DataFrame, y: np.ndarray, condition: Condition, seed: int
) -> tuple[pd.DataFrame, np.ndarray, int]:
    """Return a disturbed training part, and the number of rows that were changed or dropped."""
    n_disturbed = 0
    for kind in condition.kind.split("+"):
        if kind == "outliers":
            X, changed = add_outliers(X, condition.rate, random_state=seed)
        elif kind == "rare":
            counts = np.unique(y, return_counts=True)[1]
            # A class that is rarer already stays.
            ratio = min(condition.rate, counts.min() / counts.max())
            X, y, kept = make_imbalanced(X, y, ratio, random_state=seed)
            changed = ~kept
        elif kind not in (CLEAN, "missing"):
            # Distances decide where classes overlap, so features are scaled first; without labels,
            # since these are what changes.
            boundary = kind == "boundary"
            values = TablePreprocessor(max_one_hot=None).fit_transform(X) if boundary else None
            y, changed = flip_labels(y, condition.rate, kind, seed, X=values)  # type: ignore[arg-type]
        else:
            continue
        n_disturbed += int(changed.sum())
    return X, y, n_disturbed


def check_table(table: OwnTable, directory: Path) -> str:
    """Return the hash of a table's content, if it has the columns that are named.

    The message of a StudyError begins with the key that is wrong.
    """
    path = directory / table.path
    if not path.is_file():
        raise StudyError(f"path: {path} is no file; a relative path begins at the study file.")
    try:
        with open_table(path) as opened:
            names = list(opened.names)
    except (TableError, OSError) as error:
        raise StudyError(f"path: {error}") from error
    for key, wanted in [
        ("target", (table.target,)), ("ignore", table.ignore), ("categorical", table.categorical),
    ]:  # fmt: skip
        for name in wanted:
            if name not in names:
                hint = hint_for(name, names, f"it has {', '.join(map(repr, names[:12]))}.")
                raise StudyError(f"{key}: {table.path} has no column {name!r}; {hint}")
    return _hash(path)


def read_own_table(name: str, file: TableFile) -> Dataset:
    """Read the user's table as a data set; columns are those of `granulearn check`."""
    table = file.table
    path = Path(file.directory or ".") / table.path
    if not path.is_file() or _hash(path) != file.digest:
        raise StudyError(
            f"{path} was changed while the study ran; the same command begins anew with its runs."
        )
    options = ColumnOptions(ignore=table.ignore, categorical=table.categorical)
    try:
        with open_table(path) as opened:
            data = read_training_table(opened, table.target, options)
    except TableError as error:
        raise StudyError(f"{file.where}: {error}") from error
    counts = np.unique(data.y, return_counts=True)[1]
    description = DatasetDescription(
        name=name,
        rows=len(data.y),
        features=data.X.shape[1],
        classes=len(counts),
        minority_rows=int(counts.min()),
        source=f"file:{path.name}",
        origin="your own table",
        licence="not stated",
        quirks=tuple(map(str, data.report.warnings)),
    )
    return Dataset(data.X, data.y, description)


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:20]
