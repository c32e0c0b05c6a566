"""From a method of a study to an estimator that can be fitted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from inspect import ismethod, signature
from itertools import product
from types import FunctionType, ModuleType
from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import (
    GridSearchCV,
    ParameterGrid,
    RandomizedSearchCV,
    StratifiedKFold,
)

from granulearn import balls, ensemble, forest, rvfl
from granulearn._extras import EXTRAS, how_to_install
from granulearn.balls import BallGenerator, Membership, membership_names
from granulearn.balls.generators import generator_names
from granulearn.bench.studies.scores import scoring_for_tuning
from granulearn.bench.studies.spec import Grid, Method, StudyError, Tuning, hint_for
from granulearn.model_selection import PathSearchCV, paper_grid
from granulearn.model_selection.sharing import shared_work

_PUBLIC = {
    name: vars(room)[name] for room in (balls, rvfl, forest, ensemble) for name in room.__all__
}
CLASSIFIERS = tuple(
    sorted(
        name
        for name, thing in _PUBLIC.items()
        if isinstance(thing, type) and issubclass(thing, ClassifierMixin)
    )
)
_SEED_NAMES = ("random_state", "seed")
# Parameters that take a scheme: its name, or the path of a class or function of one's own.
_SCHEMES: dict[str, type] = {"membership": Membership, "balls": BallGenerator}
# What a class of one's own writes; a function in its place is given the first argument alone.
_WRITTEN: dict[str, Callable] = {"membership": Membership._rate, "balls": BallGenerator._generate}
# Asked when they are needed: a scheme of one's own may have a name.
SCHEME_NAMES = {"membership": membership_names, "balls": generator_names}


def check_method(method: Method) -> None:
    """Raise if a method cannot be built, before anything is run.

    Parameters
    ----------
    method : Method
        As the study states it.
    """
    for variant in variants(method):
        model = build_estimator(variant)
        _check_is_classifier(model, method.estimator)
        if method.selection == "loo" and shared_work(model) is None:
            raise StudyError(
                f"selection: 'loo' is for random vector networks, not for {method.estimator}; "
                "leave it out."
            )
        for key in sorted({key for grid in as_grids(variant.grid) for key in grid}):
            _check_parameter(type(model), model.get_params(), key, "grid")
        _check_schemes(model, _built_grids(variant), method.vary or {})


def variants(method: Method) -> Iterator[Method]:
    """Yield one method per combination of varied values, or the method itself.

    Parameters
    ----------
    method : Method
        As the study states it.

    Yields
    ------
    Method
        Without ``vary``; the values stand in ``fixed`` and in the name.
    """
    if not method.vary:
        yield method
        return
    for values in product(*method.vary.values()):
        settings = dict(zip(method.vary, values, strict=True))
        shown = ", ".join(f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}"
                          for key, value in settings.items())  # fmt: skip
        yield method.model_copy(
            update={
                "name": f"{method.name} [{shown}]",
                "fixed": {**method.fixed, **settings},
                "vary": None,
            }
        )


def as_grids(grid: Grid | list[Grid] | str | None) -> list[Grid]:
    """Return a grid as a list of plain grids, the paper's spelled out.

    Parameters
    ----------
    grid : dict, list of dict, "paper_grid" or None
        As the study states it.

    Returns
    -------
    list of dict
        Empty if there is nothing to tune.
    """
    if grid is None:
        return []
    if grid == "paper_grid":
        spelled = paper_grid()
        return [{key: list(values) for key, values in spelled.items()}]
    return list(grid) if isinstance(grid, list) else [grid]  # type: ignore[list-item]


def build_estimator(method: Method, seed: int | None = None) -> BaseEstimator:
    """Build the estimator of a method, with its fixed parameters and a seed.

    Parameters
    ----------
    method : Method
        Without ``vary``.
    seed : int, default=None
        Given to every parameter called random_state or seed that is not fixed.

    Returns
    -------
    estimator
        Not fitted.
    """
    model = _build(method.estimator, method.fixed, "fixed")
    if seed is not None:
        for key, value in model.get_params().items():
            if key.rpartition("__")[2] in _SEED_NAMES and value is None:
                model.set_params(**{key: seed})
    return model


def build_search(method: Method, tuning: Tuning, seed: int) -> BaseEstimator:
    """Build what is fitted: the estimator, or a search over its grid.

    Parameters
    ----------
    method : Method
        Without ``vary``.
    tuning : Tuning
        Folds and score.
    seed : int
        Seed of the model, the folds and the draw of candidates.

    Returns
    -------
    estimator
        A search refits the best candidate on all it was given.
    """
    model = build_estimator(method, seed)
    grids = _built_grids(method)
    if not grids:
        return model
    grid = grids if len(grids) > 1 else grids[0]
    if method.selection == "loo":
        return PathSearchCV(model, grid, selection="loo", error_score="raise")
    folds = StratifiedKFold(tuning.folds, shuffle=True, random_state=seed)
    scoring = scoring_for_tuning(tuning.score)
    settings = {"cv": folds, "scoring": scoring, "error_score": "raise"}
    if method.candidates is not None and method.candidates < len(ParameterGrid(grids)):
        return RandomizedSearchCV(
            model, grids, n_iter=method.candidates, random_state=seed, **settings
        )
    search = GridSearchCV if shared_work(model) is None else PathSearchCV
    return search(model, grid, **settings)


def _built_grids(method: Method) -> list[Grid]:
    """Return the grids of a method, with schemes of one's own in the place of their names."""
    return [
        {
            key: [_built_value(key, value, f"grid.{key}") for value in values]
            for key, values in grid.items()
        }
        for grid in as_grids(method.grid)
    ]


def _build(path: str, fixed: dict[str, Any], key: str) -> BaseEstimator:
    kind = _find_class(path)
    return _build_kind(kind, path, fixed, key)


def _build_kind(kind: type, path: str, fixed: dict[str, Any], key: str) -> Any:
    parameters = {name: _built_value(name, value, f"{key}.{name}") for name, value in fixed.items()}
    own = {name: value for name, value in parameters.items() if "__" not in name}
    try:
        model = kind(**own)
    except TypeError as error:
        for name in own:
            _check_parameter(kind, signature(kind).parameters, name, key)
        raise StudyError(f"{path} cannot be built: {error}") from error
    for name, value in parameters.items():
        if "__" in name:
            _check_parameter(kind, model.get_params(), name, key)
            model.set_params(**{name: value})
    return model


def _built_value(name: str, value: Any, key: str) -> Any:
    """Return a parameter's value; what stands for an estimator or a scheme is built."""
    family = _SCHEMES.get(name.rpartition("__")[2])
    nested = isinstance(value, dict) and "estimator" in value
    if family is not None and isinstance(value, str) and "." in value:
        return _build_scheme(value, {}, family, key)
    if family is not None and nested:
        return _build_scheme(value["estimator"], value.get("fixed", {}), family, key)
    return _build(value["estimator"], value.get("fixed", {}), key) if nested else value


def _build_scheme(path: str, fixed: dict[str, Any], family: type, key: str) -> Any:
    """Return an instance of a class of a family, or a function that stands for one."""
    found = _find(path, key)
    if isinstance(found, type) and issubclass(found, family):
        return _build_kind(found, path, fixed, f"{key}.fixed")
    if callable(found) and not isinstance(found, type) and not fixed:
        return found
    raise StudyError(
        f"{key}: {path!r} is no {family.__name__}; derive the class from "
        f"{family.__module__.rpartition('.')[0]}.{family.__name__}, or name a function."
    )


def _find(path: str, key: str) -> Any:
    """Return what a dotted path names."""
    module_name, _, name = path.rpartition(".")
    try:
        return getattr(import_module(module_name), name)
    except ModuleNotFoundError as error:
        raise StudyError(f"{key}: {path!r} {_said_missing(str(error.name))}") from error
    except AttributeError as error:
        hint = hint_for(name, _nameable(import_module(module_name), key), "check the name.")
        raise StudyError(f"{key}: {module_name!r} has no {name!r}; {hint}") from error


def _nameable(module: ModuleType, key: str) -> list[str]:
    """Return what of a module may stand in a study: classes, and functions that are schemes."""
    kinds = type if key == "estimator" else (type, FunctionType)
    # A package may load what it offers when it is asked for it: `dir` knows, and `vars` does not.
    return [
        name
        for name in dir(module)
        if name[0] != "_" and isinstance(getattr(module, name, None), kinds)
    ]


def _said_missing(module: str) -> str:
    """Return what to say of a module that cannot be found, and what to do."""
    package, _, inner = module.partition(".")
    if inner:
        return f"needs the module {module!r}, which {package!r} does not have; check the name."
    found = f"needs the package {package!r}, which is not installed"
    if package in EXTRAS["rivals"]:
        return f"{found}; run: {how_to_install(package)}"
    return f"{found}, and there is no {package}.py beside the study file; check the name."


def _find_class(path: str) -> type[BaseEstimator]:
    if "." not in path:
        if path not in CLASSIFIERS:
            hint = hint_for(path, CLASSIFIERS, f"there are {', '.join(CLASSIFIERS)}.")
            raise StudyError(
                f"estimator: granulearn has no classifier {path!r}; {hint} "
                "Others are named in full, as in 'sklearn.svm.SVC'."
            )
        return _PUBLIC[path]
    found = _find(path, "estimator")
    # CatBoost has the face of scikit-learn without its base class.
    face = ("fit", "predict", "get_params", "set_params")
    lacks = [name for name in face if not hasattr(found, name)]
    if not isinstance(found, type) or lacks:
        why = f"it has no {', no '.join(lacks)}" if lacks else "it is no class"
        raise StudyError(
            f"estimator: {path!r} is no scikit-learn estimator ({why}); derive the class from "
            "sklearn.base.ClassifierMixin and sklearn.base.BaseEstimator."
        )
    return found


def _check_is_classifier(model: Any, path: str) -> None:
    """Refuse what says that it is something else; a class that says nothing may be one."""
    try:
        kind = model.__sklearn_tags__().estimator_type
    except AttributeError:  # not derived from scikit-learn's base, as classes of one's own may be
        kind = getattr(model, "_estimator_type", None)
    if kind not in (None, "classifier"):
        words = str(kind).replace("_", " ")
        raise StudyError(f"estimator: {path!r} is no classifier but a {words}; name a classifier.")


def _check_schemes(model: Any, grids: list[Grid], varied: Grid) -> None:
    """Refuse memberships and ball generators that our estimators could not use."""
    parameters = model.get_params()
    given = [
        ("vary" if key in varied else "fixed", key, value) for key, value in parameters.items()
    ]
    given += [
        ("grid", key, value) for grid in grids for key, values in grid.items() for value in values
    ]
    for where, key, value in given:
        before, _, name = key.rpartition("__")
        owner = parameters.get(before) if before else model
        if name in _SCHEMES and _takes_as_ours(owner, name):
            _check_scheme(name, value, f"{where}.{key}")


def _takes_as_ours(estimator: Any, name: str) -> bool:
    """Return whether a parameter means what it means in a class of granulearn."""
    return any(
        base.__module__.startswith("granulearn.") and name in signature(base.__init__).parameters  # type: ignore[misc]
        for base in type(estimator).__mro__
    )


def _check_scheme(name: str, value: Any, key: str) -> None:
    family, written, known = _SCHEMES[name], _WRITTEN[name], SCHEME_NAMES[name]()
    _, *given = signature(written).parameters
    own = f"One of your own is named with its file, as in 'mymethod.My{family.__name__}'."
    if isinstance(value, str):
        if value not in known:
            hint = hint_for(value, known, f"there are {', '.join(known)}.")
            raise StudyError(f"{key}: none is named {value!r}; {hint} {own}")
    elif isinstance(value, family):
        _check_arguments(getattr(value, written.__name__), given, key)
    elif callable(value):
        _check_arguments(value, given[:1], key)
    else:
        raise StudyError(
            f"{key}: {value!r} is no {family.__name__}; name one of {', '.join(known)}. {own}"
        )


def _check_arguments(function: Callable, given: list[str], key: str) -> None:
    """Refuse a function of one's own that cannot be called with what it is given."""
    try:
        found = signature(function)
    except ValueError:  # some that are compiled do not tell
        return
    try:
        found.bind(*given)
    except TypeError:
        name = getattr(function, "__qualname__", repr(function))
        own = ["self", *given] if ismethod(function) else given
        short = name.rpartition(".")[2]
        raise StudyError(
            f"{key}: {name}{found} is given {', '.join(given)}; write "
            f"def {short}({', '.join(own)})."
        ) from None


def _check_parameter(kind: type, known: Iterable[str], name: str, key: str) -> None:
    if name not in known:
        hint = hint_for(name, known, f"it takes {', '.join(sorted(known))}.")
        raise StudyError(f"{key}.{name}: {kind.__name__} has no such parameter; {hint}")
