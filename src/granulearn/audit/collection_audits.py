"""Audits of collections that are not in memory, found among the plug-ins that are installed.

This stage knows no cluster. A package that does declares an entry point of the group
``granulearn.audits``: its name is the package of the collections, its object a class with the
face of `CollectionAudit`. granulearn declares its own for Dask.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import Any, Protocol

from granulearn.audit.noise_rate import NoiseRate

GROUP = "granulearn.audits"
# Packages whose objects are in memory: no plug-in is looked for.
_IN_MEMORY = {"builtins", "collections", "numpy", "pandas", "pathlib", "polars", "pyarrow", "scipy"}
# Collections that would be gathered without a word if no plug-in took them.
_NEVER_IN_MEMORY = {"dask", "dask_expr"}
# What a lazy table of ratings has for each label, by the attribute of `LabelAudit`.
COLUMNS = {
    "given_": "given",
    "suggested_": "suggested",
    "verdict_": "verdict",
    "wrong_proba_": "wrong_probability",
    "reliability_": "reliability",
    "flagged_": "flagged",
}


class CollectionAudit(Protocol):
    """What a plug-in's class must have; it is made with ``n_trees`` and ``random_state``."""

    classes_: Any
    noise_: NoiseRate
    ratings_: Any
    """Lazy table of one row per label, with the values of `COLUMNS` as its columns."""
    n_features_in_: int

    def fit(self, X: Any, y: Any) -> CollectionAudit:
        """Learn how to rate every label."""

    def worst(self, n: int) -> Any:
        """Return the most doubtful labels as a frame in memory, the worst first."""


def audit_of_collections(X: Any) -> Any:
    """Return the class that audits collections such as X; None if X is in memory.

    Parameters
    ----------
    X : object
        What was passed as inputs.
    """
    package = type(X).__module__.partition(".")[0]
    if package in _IN_MEMORY:
        return None
    found = _plug_in(package)
    if found is None and package in _NEVER_IN_MEMORY:
        raise TypeError(
            f"X is a collection of {package}, and no audit of such collections is installed: "
            f"granulearn declares one as an entry point ({GROUP}), which an installation from "
            "before does not have. Install granulearn again (pip install --force-reinstall "
            "--no-deps granulearn; in a checkout pip install -e . --no-deps), or pass X.compute() "
            "if it fits in memory."
        )
    return found


@cache
def _plug_in(package: str) -> Any:
    found = list(entry_points(group=GROUP, name=package))
    return found[0].load() if found else None


def fit_collection(kind: Any, X: Any, y: Any, given: dict[str, Any], **settings: Any) -> Any:
    """Return the fitted audit of a collection.

    Parameters
    ----------
    kind : type
        From `audit_of_collections`.
    X, y : collection
        Inputs and labels.
    given : dict
        What only an audit in memory can make use of; None where it was left out.
    **settings : object
        ``n_trees`` and ``random_state``.
    """
    needs_all = [name for name, value in given.items() if value is not None]
    if needs_all:
        raise ValueError(
            f"{', '.join(needs_all)}: needs all rows in memory, and X is a {type(X).__name__} in "
            "blocks; leave it out, or audit a sample of the rows."
        )
    if isinstance(y, str):
        raise TypeError(
            f"y={y!r} is the name of a column, and X is a {type(X).__name__} in blocks, whose "
            f"cells are not read: pass X.drop(columns={y!r}) and X[{y!r}]; inputs must be numbers."
        )
    return kind(**settings).fit(X, y)
