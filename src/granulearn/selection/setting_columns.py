"""The settings of a grid, parameter by parameter.

Grids hold few values and very many combinations of them. So work on a value is
done once here, not once for each candidate that has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.ma import MaskedArray

from granulearn._sklearn_compat import masked_arrays_of_parameters


class _Missing:
    """Stands where a setting lacks a parameter."""


MISSING = _Missing()


@dataclass(frozen=True, eq=False)
class SettingColumn:
    """One parameter of all settings."""

    values: list[Any]
    """Distinct objects, told apart by identity; perhaps `MISSING`."""
    codes: np.ndarray
    """(n_settings,) index into `values` for each setting."""


def setting_columns(settings: list[dict]) -> dict[str, SettingColumn]:
    """Return the columns of all parameters that occur, by name.

    Parameters
    ----------
    settings : list of dict
        Parameters and their values, which need not be hashable.
    """
    names = dict.fromkeys(chain.from_iterable(settings))
    return {name: _column([setting.get(name, MISSING) for setting in settings]) for name in names}


def _column(every: list) -> SettingColumn:
    ids = list(map(id, every))
    objects = dict(zip(ids, every, strict=True))
    place = {identity: at for at, identity in enumerate(objects)}
    codes = np.fromiter(map(place.__getitem__, ids), np.intp, len(ids))
    return SettingColumn(list(objects.values()), codes)


def parameter_columns(columns: dict[str, SettingColumn]) -> dict[str, MaskedArray]:
    """Return the columns ``param_*`` of the results: masked arrays, as scikit-learn makes them.

    scikit-learn makes only the entries of the distinct values, because it takes
    microseconds for each. The rest is indexing.

    Parameters
    ----------
    columns : dict of str -> SettingColumn
        Columns of the grid; entries are masked where a candidate lacks the parameter.
    """
    arrays = {}
    for name, column in columns.items():
        rows = [{} if value is MISSING else {name: value} for value in column.values]
        ((result_name, array),) = masked_arrays_of_parameters(rows)
        arrays[result_name] = array[column.codes]
    return arrays
