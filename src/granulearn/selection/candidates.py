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
        last = reader.last_step(parameters, inputs, rows)
        if last is None:
            alone[place] = parameters
        else:
            network = reader.network(parameters, last)
            sharing.append(Candidate(place, parameters, inputs, rows, network))
    invalid = reader.invalid(sharing)
    if invalid:
        alone |= {candidate.place: candidate.parameters for candidate in invalid}
        sharing = [candidate for candidate in sharing if candidate.place not in alone]
    return Grid(sharing, alone)


class _SettingReader:
    """Takes settings apart; does once what many of them need."""

    def __init__(self, estimator: BaseEstimator):
        self.estimator = estimator
        self.prefix = last_step_prefix(estimator)
        self.network_names = tuple(self.prefix + name for name in Network._fields)
        self.network_only = frozenset(self.network_names)
        self.last_steps: dict[tuple, BaseEstimator | None] = {}

    def keys(self, parameters: dict) -> tuple[tuple, tuple]:
        """Return what the last step's inputs depend on, and what its rows do."""
        if self.network_only.issuperset(parameters):
            return (), ()
        keys: tuple[list, list] = ([], [])
        for name, value in parameters.items():
            if name not in self.network_only:
                of_last_step = name.startswith(self.prefix) or f"{name}__" == self.prefix
                keys[of_last_step].append((name, _identity(value)))
        return tuple(keys[0]), tuple(keys[1])

    def last_step(self, parameters: dict, inputs: tuple, rows: tuple) -> BaseEstimator | None:
        """Return the last step before its network is set; None if it can share nothing."""
        setting = (inputs, rows)
        if setting not in self.last_steps:
            others = {name: parameters[name] for name, _ in inputs + rows}
            whole = clone(self.estimator).set_params(**clone(others, safe=False))
            last = last_step(whole)
            # A grid may replace the last step, by a pipeline too.
            shares = type(last) in SHARES_ROWS and last_step_prefix(whole) == self.prefix
            self.last_steps[setting] = last if shares else None
        return self.last_steps[setting]

    def network(self, parameters: dict, last: BaseEstimator) -> Network:
        """Return the network's settings: the grid's, else the last step's own."""
        activation, C, n_hidden = self.network_names
        return Network(
            parameters.get(activation, last.activation),
            parameters.get(C, last.C),
            parameters.get(n_hidden, last.n_hidden),
        )

    def invalid(self, candidates: list[Candidate]) -> list[Candidate]:
        """Return those with a value that `fit` rejects; it will say so, as ever."""
        found = []
        for setting, same in group_by(candidates, lambda c: (c.inputs, c.rows)).items():
            model = type(self.last_steps[setting])
            columns = zip(*(candidate.network for candidate in same), strict=True)
            for name, column in zip(Network._fields, columns, strict=True):
                # Grids repeat the same few objects: each is looked at once.
                values = dict(zip(map(id, column), column, strict=True))
                wrong = {key for key, value in values.items() if not _is_valid(model, name, value)}
                if wrong:
                    found += [same[at] for at, value in enumerate(column) if id(value) in wrong]
        return found


def _is_valid(model, name: str, value) -> bool:
    constraints = {name: model._parameter_constraints[name]}
    try:
        validate_parameter_constraints(constraints, {name: value}, model.__name__)
    except InvalidParameterError:
        return False
    return True


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
