"""One line about a model that another version of scikit-learn made, in place of one per part."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import sklearn
from sklearn.exceptions import InconsistentVersionWarning


@contextmanager
def one_remark_on_versions(file: str | os.PathLike, versions: Mapping[str, str]) -> Iterator[None]:
    """Let a model be loaded without a warning per part; give one if versions differ.

    Parameters
    ----------
    file : path
        The model file, for the message.
    versions : mapping
        Of the packages that made the model, as its card has them.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        yield
    made, installed = versions.get("scikit-learn"), sklearn.__version__
    if made and made != installed:
        warnings.warn(
            f"{file} was made with scikit-learn {made}, and {installed} is installed: predictions "
            f"may differ. Fit again, or install scikit-learn {made}.",
            UserWarning,
            stacklevel=4,
        )
