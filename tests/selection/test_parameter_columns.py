"""The columns of parameters, against scikit-learn's."""

import numpy as np
import pytest
from sklearn.model_selection import ParameterGrid
from sklearn.model_selection._search import _yield_masked_array_for_each_param

from granulearn.selection.parameter_columns import parameter_columns
from granulearn.selection.setting_columns import setting_columns


@pytest.mark.parametrize(
    "grid",
    [
        {"C": [0.1, 1, 10], "activation": ["relu", "sign"]},
        [{"C": [1, 2]}, {"n_hidden": np.arange(3), "purity": [None, 0.9]}],
        {"class_weight": [None, {0: 1, 1: 2}, "balanced"], "shape": [(1, 2), (3, 4)]},
        {},
    ],
)
def test_columns_are_scikit_learn_s(grid):
    candidates = list(ParameterGrid(grid))
    found = parameter_columns(setting_columns(candidates))
    expected = dict(_yield_masked_array_for_each_param(candidates))
    assert list(found) == list(expected)
    for name, column in expected.items():
        assert found[name].dtype == column.dtype
        assert found[name].tolist() == column.tolist()
