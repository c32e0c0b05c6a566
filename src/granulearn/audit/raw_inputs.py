"""What was passed to an audit: numbers, or a table whose cells must be read."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any


def is_raw_table(X: Any) -> bool:
    """Return whether X is a table whose cells must be read, rather than numbers.

    Parameters
    ----------
    X : object
        What was passed as inputs.
    """
    if isinstance(X, (str, os.PathLike, Mapping)) or hasattr(X, "__arrow_c_stream__"):
        if not hasattr(X, "dtypes") or not hasattr(X, "iloc"):
            return True
        return any(dtype.kind not in "iuf" for dtype in X.dtypes)
    return isinstance(X, Sequence) and bool(X) and isinstance(X[0], Mapping)


def row_names(X: Any, y: Any) -> Any:
    """Return the names of the rows, if the data has any.

    Parameters
    ----------
    X, y : object
        Inputs and labels as they were passed.
    """
    named = X if hasattr(X, "iloc") else y if hasattr(y, "iloc") else None
    return None if named is None else named.index
