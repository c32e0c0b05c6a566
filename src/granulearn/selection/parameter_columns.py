"""The columns ``param_*`` of a search's results, for very many candidates."""

from __future__ import annotations

from numpy.ma import MaskedArray
from sklearn.model_selection._search import _yield_masked_array_for_each_param

from granulearn.selection.setting_columns import MISSING, SettingColumn


def parameter_columns(columns: dict[str, SettingColumn]) -> dict[str, MaskedArray]:
    """Return one masked array per parameter, as scikit-learn makes them.

    It makes those of the distinct values only, because it takes microseconds
    for every entry; the rest is indexing.

    Parameters
    ----------
    columns : dict of str -> SettingColumn
        Of the grid; entries are masked where a candidate lacks the parameter.
    """
    arrays = {}
    for name, column in columns.items():
        rows = [{} if value is MISSING else {name: value} for value in column.values]
        ((result_name, array),) = _yield_masked_array_for_each_param(rows)
        arrays[result_name] = array[column.codes]
    return arrays
