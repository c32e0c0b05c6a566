"""Which candidates of a grid can share work, and how much of it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from granulearn._sklearn_compat import InvalidParameterError, validate_parameter_constraints
from granulearn.estimators.estimator import SharedWork
from granulearn.selection.setting_columns import MISSING, SettingColumn

PENALTY = "C"


@dataclass(frozen=True, eq=False)
class PenaltyGroup:
    """Candidates that share columns and penalty: they differ in size alone."""

    C: float
    """Inverse of the penalty."""
    places: np.ndarray
    """Positions of the candidates in the grid."""
    sizes: np.ndarray
    """Size of each candidate, in hidden nodes or layers, ascending."""

    def without(self, left_out: np.ndarray) -> PenaltyGroup:
        """Return the candidates that are not left out."""
        return PenaltyGroup(self.C, self.places[~left_out], self.sizes[~left_out])


@dataclass(frozen=True, eq=False)
class ColumnsGroup:
    """Candidates that share their columns."""

    shared: dict[str, Any]
    """Values of the parameters that decide the columns."""
    size_name: str
    """Name of the parameter that decides how many of the columns a candidate takes."""
    penalties: list[PenaltyGroup]

    def network(self, C: float, size: int) -> dict[str, Any]:
        """Return all parameters of one network."""
        return {**self.shared, PENALTY: C, self.size_name: int(size)}


@dataclass(frozen=True, eq=False)
class RowsGroup:
    """Candidates that share the rows they regress on."""

    same_columns: list[ColumnsGroup]

    @property
    def places(self) -> np.ndarray:
        """Positions of the candidates in the grid."""
        groups = [group.places for same in self.same_columns for group in same.penalties]
        return np.concatenate(groups)


@dataclass(frozen=True, eq=False)
class InputsGroup:
    """Candidates whose last step gets the same inputs."""

    same_rows: list[RowsGroup]

    @property
    def places(self) -> np.ndarray:
        """Positions of the candidates in the grid."""
        return np.concatenate([group.places for group in self.same_rows])


@dataclass(frozen=True, eq=False)
class Grid:
    """The candidates: groups that share work, and the others."""

    sharing: list[InputsGroup]
    """Groups of candidates that share work."""
    alone: list[int]
    """Positions in the grid of the candidates that are fitted one by one."""


def describe_candidates(
    estimator: BaseEstimator, settings: list[dict], columns: dict[str, SettingColumn]
) -> Grid:
    """Group the settings of a grid by the work that they can share.

    Parameters
    ----------
    estimator : estimator
        The estimator that is searched: a network, or a `Pipeline` that ends in one.
    settings : list of dict
        The grid; for an unknown name scikit-learn raises ``ValueError``.
    columns : dict of str -> SettingColumn
        What `setting_columns` returned for the grid.
    """
    reader = _SettingReader(estimator, settings, columns)
    sharing: dict[tuple, list[RowsGroup]] = {}
    alone: list[int] = []
    for (inputs, rows), places in reader.places_by_rows().items():
        last = reader.sharing_step(settings[places[0]], inputs + rows)
        shares = np.zeros(len(places), dtype=bool)
        if last is not None:
            networks = reader.networks(places, last)
            shares = networks.valid
            if shares.any():
                group = RowsGroup(list(networks.groups(places)))
                sharing.setdefault(inputs, []).append(group)
        alone += places[~shares].tolist()
    return Grid([InputsGroup(same_rows) for same_rows in sharing.values()], sorted(alone))


class _SettingReader:
    """Reads the settings of a grid; what many of them have in common is read once."""

    def __init__(
        self, estimator: BaseEstimator, settings: list[dict], columns: dict[str, SettingColumn]
    ):
        self.estimator = estimator
        self.settings = settings
        self.columns = columns
        self.prefix = last_step_prefix(estimator)
        # The grid may replace the last step, by a network of another kind too.
        steps = [estimator, *(value for column in columns.values() for value in column.values)]
        kinds = {shared_work(last_step(step)) for step in steps}
        names = {name for axes in kinds if axes is not None for name in _names(axes)}
        self.network_names = {self.prefix + name for name in names}

    def places_by_rows(self) -> dict[tuple[tuple, tuple], np.ndarray]:
        """Return the positions of settings, by the values that decide their inputs and rows."""
        if self.columns.keys() <= self.network_names:
            return {((), ()): np.arange(len(self.settings))} if self.settings else {}
        places: dict[tuple, list[int]] = {}
        for place, parameters in enumerate(self.settings):
            places.setdefault(self._keys(parameters), []).append(place)
        return {keys: np.array(same) for keys, same in places.items()}

    def _keys(self, parameters: dict) -> tuple[tuple, tuple]:
        keys: tuple[list, list] = ([], [])
        for name, value in parameters.items():
            if name not in self.network_names:
                of_last_step = name.startswith(self.prefix) or f"{name}__" == self.prefix
                keys[of_last_step].append((name, _identity(value)))
        return tuple(keys[0]), tuple(keys[1])

    def sharing_step(self, parameters: dict, keys: tuple) -> BaseEstimator | None:
        """Return the last step without its network's settings; None if it can share nothing."""
        others = {name: parameters[name] for name, _ in keys}
        whole = clone(self.estimator).set_params(**clone(others, safe=False))
        last = last_step(whole)
        # A grid may replace the last step, by a pipeline too.
        shares = shared_work(last) is not None and last_step_prefix(whole) == self.prefix
        return last if shares else None

    def networks(self, places: np.ndarray, last: BaseEstimator) -> _Networks:
        """Return the settings of the networks: from the grid, else from the last step itself."""
        axes = shared_work(last)
        assert axes is not None  # `last_step` checked it
        parameters = {name: self._parameter(name, places, last) for name in _names(axes)}
        valid = np.all([one.valid[one.codes] for one in parameters.values()], axis=0)
        own_names = {self.prefix + name for name in _names(axes)}
        for name in self.columns.keys() & (self.network_names - own_names):
            # The parameter belongs to another kind of network: `set_params` will raise.
            column = self.columns[name]
            valid &= np.array([value is MISSING for value in column.values])[column.codes[places]]
        return _Networks(axes, parameters, valid)

    def _parameter(self, name: str, places: np.ndarray, last: BaseEstimator) -> _Parameter:
        default = getattr(last, name)
        column = self.columns.get(self.prefix + name)
        if column is None:
            column = SettingColumn([default], np.zeros(len(self.settings), dtype=np.intp))
        values = [default if value is MISSING else value for value in column.values]
        valid = np.array([_can_share(type(last), name, value) for value in values])
        return _Parameter(values, column.codes[places], valid)


@dataclass(frozen=True, eq=False)
class _Parameter:
    """One parameter of many networks."""

    values: list
    """The values that occur."""
    codes: np.ndarray
    """Index into `values` for each network."""
    valid: np.ndarray
    """Whether networks of each value can share work; other values are left to `fit`."""

    def of(self, network: int) -> Any:
        """Return the value of one network."""
        return self.values[self.codes[network]]

    def equal_codes(self) -> np.ndarray:
        """Return one number per network, the same where values are equal."""
        first: dict[Hashable, int] = {}
        merged = [first.setdefault(_identity(value), at) for at, value in enumerate(self.values)]
        return np.array(merged)[self.codes]

    def numbers(self) -> np.ndarray:
        """Return the valid values as an array, zero in place of the others."""
        numbers = [value if ok else 0 for value, ok in zip(self.values, self.valid, strict=True)]
        return np.array(numbers)[self.codes]


@dataclass(frozen=True, eq=False)
class _Networks:
    """Networks on the same rows, as columns: an object for each would cost more than its fit."""

    axes: SharedWork
    parameters: dict[str, _Parameter]
    valid: np.ndarray

    def groups(self, places: np.ndarray) -> Iterator[ColumnsGroup]:
        """Yield the valid networks grouped by columns, then by penalty, then sorted by size."""
        columns = np.array([self.parameters[name].equal_codes() for name in self.axes.columns])
        penalty = self.parameters[PENALTY].equal_codes()[None]
        sizes = self.parameters[self.axes.size].numbers()
        order = np.lexsort((sizes, *penalty, *columns[::-1]))
        for same_columns in _runs(order[self.valid[order]], columns):
            yield ColumnsGroup(
                {name: self.parameters[name].of(same_columns[0]) for name in self.axes.columns},
                self.axes.size,
                [
                    PenaltyGroup(self.parameters[PENALTY].of(same[0]), places[same], sizes[same])
                    for same in _runs(same_columns, penalty)
                ],
            )


def shared_work(estimator: Any) -> SharedWork | None:
    """Return what networks of this class can share; None if nothing."""
    abilities = getattr(type(estimator), "_abilities", None)
    return None if abilities is None else abilities.shared_work


def _names(axes: SharedWork) -> tuple[str, ...]:
    """Return the parameters that matter only after the rows are made."""
    return (*axes.columns, PENALTY, axes.size)


def _runs(order: np.ndarray, keys: np.ndarray) -> list[np.ndarray]:
    """Cut an order into runs of equal keys."""
    changes = np.diff(keys[:, order]).any(axis=0)
    return np.split(order, np.flatnonzero(changes) + 1)


def _can_share(model: type, name: str, value) -> bool:
    """Return whether `fit` accepts a value, and the value is the same for every layer."""
    if not isinstance(value, Real | str):
        return False
    constraints = {name: model._parameter_constraints[name]}  # type: ignore[attr-defined]
    try:
        validate_parameter_constraints(constraints, {name: value}, model.__name__)
    except InvalidParameterError:
        return False
    return True


def last_step(estimator: BaseEstimator) -> BaseEstimator:
    """Return the last step of a pipeline, however deeply nested; else the estimator itself."""
    while type(estimator) is Pipeline:
        estimator = estimator.steps[-1][1]
    return estimator


def last_step_prefix(estimator: BaseEstimator) -> str:
    """Return the prefix of the names of the last step's parameters."""
    prefix = ""
    while type(estimator) is Pipeline:
        name, estimator = estimator.steps[-1]
        prefix += f"{name}__"
    return prefix


def _identity(value) -> Hashable:
    """Return a key that equal values share; a mutable value is equal only to itself."""
    if isinstance(value, str | int | float | None):
        return type(value), value
    return type(value), id(value)
