"""Sets of openml.org, through scikit-learn's own fetcher and its cache."""

from __future__ import annotations

from urllib.error import URLError

import numpy as np
import pandas as pd

from granulearn.datasets.records import SourceUnavailableError


def load_openml(place: str, *, version: int = 1) -> tuple[pd.DataFrame, np.ndarray, str]:
    """Fetch a set from openml.org, or from scikit-learn's cache if it is there.

    Parameters
    ----------
    place : str
        The number of the set on openml.org, or its name.
    version : int, default=1
        Version of the set, if ``place`` is a name.

    Returns
    -------
    X : DataFrame
        Features as OpenML types them.
    y : ndarray
        The set's default target.
    licence : str
        As stated on openml.org.
    """
    from sklearn.datasets import fetch_openml  # it takes a while, and few need it

    which = {"data_id": int(place)} if place.isdigit() else {"name": place, "version": version}
    try:
        bunch = fetch_openml(**which, as_frame=True, parser="liac-arff")
    except (URLError, OSError) as error:
        raise SourceUnavailableError(
            f"openml.org could not be reached for {place!r} ({error}), and scikit-learn's "
            "cache does not hold it"
        ) from error
    except ValueError as error:
        raise SourceUnavailableError(f"openml.org has no usable set {place!r}: {error}") from error
    if bunch.target is None or getattr(bunch.target, "ndim", 1) != 1:
        raise SourceUnavailableError(
            f"set {place!r} of openml.org has not exactly one target column"
        )
    return bunch.data, bunch.target.to_numpy(), bunch.details.get("licence") or "not stated"
