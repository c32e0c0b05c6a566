"""Settings, parameter by parameter."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import ParameterGrid
from sklearn.model_selection._search import _yield_masked_array_for_each_param

from granulearn.selection.setting_columns import MISSING, parameter_columns, setting_columns

VALUES = st.one_of(st.integers(0, 2), st.sampled_from(["a", "b"]), st.lists(st.integers()))


@given(st.lists(st.dictionaries(st.sampled_from("xyz"), VALUES)))
def test_columns_hold_exactly_the_settings(settings):
    columns = setting_columns(settings)
    read_back = [
        {
            name: column.values[column.codes[at]]
            for name, column in columns.items()
            if column.values[column.codes[at]] is not MISSING
        }
        for at in range(len(settings))
    ]
    assert read_back == settings


def test_a_value_stands_once_however_many_settings_have_it():
    shared = [1, 2]
    column = setting_columns([{"x": shared}, {}, {"x": shared}, {"x": [1, 2]}])["x"]
    assert len(column.values) == 3
    assert column.codes.tolist() == [0, 1, 0, 2]


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
