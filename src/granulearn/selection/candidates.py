"""Which candidates of a grid can share work, and how much of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils._param_validation import InvalidParameterError, validate_parameter_constraints

from granulearn.estimators import (
    ACRVFLClassifier,
    CRVFLClassifier,
    ELMClassifier,
    FGBRVFLClassifier,
    GBRVFLClassifier,
    GEGBRVFLClassifier,
    RVFLClassifier,
    SDAPGBRVFLClassifier,
)

# Exactly these classes: a subclass may change any stage, and is fitted as it is.
SHARES_ROWS = frozenset(
    {
        RVFLClassifier,
        ELMClassifier,
        GBRVFLClassifier,
        FGBRVFLClassifier,
        SDAPGBRVFLClassifier,
        GEGBRVFLClassifier,
        CRVFLClassifier,
        ACRVFLClassifier,
    }
)

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)


class Network(NamedTuple):
    """The settings that come after the rows."""

    activation: str
    C: float
    n_hidden: int


class Candidate(NamedTuple):
    """One setting of the grid."""

    place: int
    """Where it stands in the grid."""
    parameters: dict
    """What the grid says, for `set_params`."""
    inputs: tuple
    """Equal for candidates whose last step gets the same inputs."""
    rows: tuple
    """Equal for candidates that, besides, regress on the same rows."""
    network: Network


@dataclass(frozen=True, eq=False)
class Grid:
    """The candidates, by what can be done with them."""

    sharing: list[Candidate]
    """Work can be shared among these."""
    alone: dict[int, dict]
    """Parameters of those to be fitted as they are, by place."""

    def __len__(self) -> int:
        return len(self.sharing) + len(self.alone)


def describe_candidates(estimator: BaseEstimator, settings: Iterable[dict]) -> Grid:
    """Say of each setting in a grid what it can share with others.

    Parameters
    ----------
    estimator : estimator
        What is searched: a classifier, or a `Pipeline` that ends in one.
    settings : iterable of dict
        The grid; an unknown name is scikit-learn's ``ValueError``.
    """
    reader = _SettingReader(estimator)
    sharing, alone = [], {}
    for place, parameters in enumerate(settings):
        inputs, rows = reader.keys(parameters)
        network = reader.network(parameters, inputs, rows)
        if network is None:
            alone[place] = parameters
        else:
            sharing.append(Candidate(place, parameters, inputs, rows, network))
    return Grid(sharing, alone)


class _SettingReader:
    """Takes settings apart; does once what many of them need."""

    def __init__(self, estimator: BaseEstimator):
        self.estimator = estimator
        self.prefix = last_step_prefix(estimator)
        self.network_names = tuple(self.prefix + name for name in Network._fields)
        self.last_steps: dict[tuple, BaseEstimator | None] = {}
        self.valid: dict[tuple, bool] = {}

    def keys(self, parameters: dict) -> tuple[tuple, tuple]:
        """Return what the last step's inputs depend on, and what its rows do."""
        others = [name for name in parameters if name not in self.network_names]
        if not others:
            return (), ()
        keys: tuple[list, list] = ([], [])
        for name in others:
            of_last_step = name.startswith(self.prefix) or f"{name}__" == self.prefix
            keys[of_last_step].append((name, _identity(parameters[name])))
        return tuple(keys[0]), tuple(keys[1])

    def network(self, parameters: dict, inputs: tuple, rows: tuple) -> Network | None:
        """Return the network's settings; None where nothing can be shared."""
        setting = (inputs, rows)
        if setting not in self.last_steps:
            others = {name: parameters[name] for name, _ in inputs + rows}
            self.last_steps[setting] = self._sharing_last_step(others)
        last = self.last_steps[setting]
        if last is None:
            return None
        values = []
        for name, full_name in zip(Network._fields, self.network_names, strict=True):
            value = parameters.get(full_name, self)  # None may be a value
            if value is self:
                value = getattr(last, name)
            elif not self._is_valid(last, name, value):
                return None  # the ordinary fit reports it, as ever
            values.append(value)
        return Network(*values)

    def _sharing_last_step(self, parameters: dict) -> BaseEstimator | None:
        whole = clone(self.estimator).set_params(**clone(parameters, safe=False))
        last = last_step(whole)
        # A grid may replace the last step, by a pipeline too.
        same_place = last_step_prefix(whole) == self.prefix
        return last if same_place and type(last) in SHARES_ROWS else None

    def _is_valid(self, last: BaseEstimator, name: str, value) -> bool:
        # The grid keeps its values, so no other object can get the same id.
        key = (type(last), name, id(value))
        if key not in self.valid:
            constraints = {name: last._parameter_constraints[name]}
            try:
                validate_parameter_constraints(constraints, {name: value}, type(last).__name__)
                self.valid[key] = True
            except InvalidParameterError:
                self.valid[key] = False
        return self.valid[key]


def last_step(estimator: BaseEstimator) -> BaseEstimator:
    """Return the last step of a pipeline, of pipelines in it too; else the estimator."""
    while type(estimator) is Pipeline:
        estimator = estimator.steps[-1][1]
    return estimator


def last_step_prefix(estimator: BaseEstimator) -> str:
    """Return what stands before the names of the last step's parameters."""
    prefix = ""
    while type(estimator) is Pipeline:
        name, estimator = estimator.steps[-1]
        prefix += f"{name}__"
    return prefix


def group_by(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Return lists of the items of equal key, in order of first appearance."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def _identity(value) -> Hashable:
    """Return what equal values have in common; of a mutable value only itself is equal."""
    if isinstance(value, str | int | float | None):
        return type(value), value
    return type(value), id(value)
