"""Tables cut into blocks, and the classifiers in pairs: for Dask, and plain."""

from itertools import pairwise

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask import delayed

from granulearn.dask import (
    DaskFGBRVFLClassifier,
    DaskGBRVFLClassifier,
    DaskRVFLClassifier,
    DaskSDAPGBRVFLClassifier,
)
from granulearn.rvfl import (
    FGBRVFLClassifier,
    GBRVFLClassifier,
    RVFLClassifier,
    SDAPGBRVFLClassifier,
)
from tests.rvfl.families import overlapping_classes

PAIRS = [
    (DaskRVFLClassifier, RVFLClassifier),
    (DaskGBRVFLClassifier, GBRVFLClassifier),
    (DaskFGBRVFLClassifier, FGBRVFLClassifier),
    (DaskSDAPGBRVFLClassifier, SDAPGBRVFLClassifier),
]
every_pair = pytest.mark.parametrize(
    ("on_dask", "plain"), PAIRS, ids=[plain.__name__ for _, plain in PAIRS]
)


def chunked(array, rows=-1):
    """Return an array in blocks of so many rows; -1 means one block."""
    return da.from_array(np.asarray(array), chunks=(rows, *np.shape(array)[1:]))


def framed(X, y, cuts):
    """Return a DataFrame whose partitions begin and end at the cuts, and its labels."""
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y)
    edges = [0, *cuts, len(table)]
    parts = [table.iloc[first:end] for first, end in pairwise(edges)]
    frame = dd.from_delayed([delayed(part) for part in parts], meta=table.iloc[:0])
    return frame[[name for name in table if name != "y"]], frame["y"]


def table(n_classes=3, n_samples=600, seed=0):
    """Return overlapping classes, in no order."""
    return overlapping_classes(n_classes, n_samples, seed)


def write_parts(folder, frame, cuts):
    """Write a table as files that begin and end at the cuts."""
    folder.mkdir()
    for number, (begin, end) in enumerate(pairwise([0, *cuts, len(frame)])):
        frame[begin:end].to_parquet(folder / f"{number}.parquet", index=False)
    return folder
