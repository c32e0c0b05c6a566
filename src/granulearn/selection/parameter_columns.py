"""The columns ``param_*`` of a search's results, for very many candidates."""

from __future__ import annotations

from itertools import chain

import numpy as np
from numpy.ma import MaskedArray
from sklearn.model_selection._search import _yield_masked_array_for_each_param


def parameter_columns(candidates: list[dict]) -> dict[str, MaskedArray]:
    """Return one masked array per parameter, as scikit-learn makes them.

    It makes those of the distinct values only, because it takes microseconds
    for every entry; the rest is indexing.

    Parameters
    ----------
    candidates : list of dict
        The grid; entries are masked where a candidate lacks the parameter.
    """
    names = dict.fromkeys(chain.from_iterable(candidates))
    columns = {}
    for name in names:
        values, places = _distinct([candidate.get(name, _MISSING) for candidate in candidates])
        rows = [{} if value is _MISSING else {name: value} for value in values]
        ((column, array),) = _yield_masked_array_for_each_param(rows)
        columns[column] = array[places]
    return columns


_MISSING = object()


def _distinct(values: list) -> tuple[list, np.ndarray]:
    """Return the distinct objects, and where each of `values` stands among them."""
    ids = list(map(id, values))
    objects = dict(zip(ids, values, strict=True))
    place = {identity: at for at, identity in enumerate(objects)}
    return list(objects.values()), np.array([place[identity] for identity in ids])
