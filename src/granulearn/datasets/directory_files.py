"""Sets of a data directory that the catalogue knows by the path of their file.

Such a file has no line in a manifest; the catalogue states its figures, and loading
holds the file against them. The end of the path tells the form:

- ``.parquet``: columns ``f0 ..`` and ``target``; texts are categories, empty cells are missing.
- ``.csv.gz``: one release of a software project, one row per source file, with labels that are
  wrong in places and the right ones beside them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from granulearn.datasets.records import SourceUnavailableError

GIVEN, TRUTH = "HeuBug", "RealBug"
# The counts of bugs give both labels away, and a name is no measure.
_NO_INPUTS = ("File", GIVEN, "HeuBugCount", TRUTH, "RealBugCount")


def load_file(place: str, directory: Path) -> tuple[pd.DataFrame, np.ndarray, np.ndarray | None]:
    """Read the set that stands under a path of a data directory.

    Parameters
    ----------
    place : str
        Path below the directory; its end tells the form.
    directory : Path
        A data directory.

    Returns
    -------
    X : DataFrame
        Features.
    y : ndarray
        Labels as they were given.
    truth : ndarray or None
        The right labels, where the form has them beside the given ones.
    """
    path = directory / place
    if not path.is_file():
        raise SourceUnavailableError(f"the data directory {str(directory)!r} has no {place}")
    try:
        return _read_parquet(path) if path.suffix == ".parquet" else _read_release(path)
    except (OSError, KeyError, ValueError) as error:
        raise SourceUnavailableError(f"{path} cannot be read: {error}") from error


def _read_parquet(path: Path) -> tuple[pd.DataFrame, np.ndarray, None]:
    frame = pd.read_parquet(path)
    y = frame.pop("target").to_numpy()
    texts = frame.select_dtypes(exclude="number").columns
    return frame.astype(dict.fromkeys(texts, "category")), y, None


def _read_release(path: Path) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    frame = pd.read_csv(path)
    given, truth = (frame[name].to_numpy(dtype=np.int64) for name in (GIVEN, TRUTH))
    measures = frame.drop(columns=list(_NO_INPUTS)).astype(float)
    # Counts of lines and paths reach millions: a scale fitted to such tails hides the rest.
    values = measures.to_numpy()
    X = pd.DataFrame(np.sign(values) * np.log1p(np.abs(values)), columns=measures.columns)
    return X, given, truth
