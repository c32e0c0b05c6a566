"""From a method of a study to an estimator: classes by name, and code beside the study file.

The hash of a module beside the study file, and of the modules that it imports from there, is part
of the key of a run: changed code makes new runs.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module, invalidate_caches
from inspect import signature
from itertools import product
from modulefinder import ModuleFinder
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import (
    GridSearchCV,
    ParameterGrid,
    RandomizedSearchCV,
    StratifiedKFold,
)

from granulearn import balls, ensemble, forest, rvfl
from granulearn._extras import EXTRAS, how_to_install
from granulearn.balls import BallGenerator, Membership, membership_names, resolve_membership
from granulearn.balls.generators import generator_names, resolve_generator
from granulearn.bench.scores import scoring_for_tuning
from granulearn.bench.study import Grid, Method, StudyError, Tuning, hint_for
from granulearn.model_selection import PathSearchCV, paper_grid
from granulearn.model_selection.path_search import search_of

_PUBLIC = {
    name: vars(room)[name]
    for room in (balls, rvfl, forest, ensemble)
    for name in room.__all__
    if isinstance(vars(room)[name], type) and issubclass(vars(room)[name], ClassifierMixin)
}
CLASSIFIERS = tuple(sorted(_PUBLIC))
# Parameters that take a scheme: its class, and what resolves a name, an instance or a function.
_SCHEMES: dict[str, tuple[type, Callable]] = {
    "membership": (Membership, resolve_membership),
    "balls": (BallGenerator, resolve_generator),
}
SCHEME_NAMES = {"membership": membership_names, "balls": generator_names}
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")


def check_method(method: Method) -> None:
    """Raise if a method cannot be built, before anything is run."""
    for variant in variants(method):
        model = build_estimator(variant)
        # CatBoost has tags of its own, or none.
        tags = getattr(model, "__sklearn_tags__", None)
        kind = tags().estimator_type if tags else getattr(model, "_estimator_type", None)
        if kind not in (None, "classifier"):
            raise StudyError(f"estimator: {method.estimator!r} is no classifier but a {kind}.")
        if method.selection == "loo" and not search_of(model):
            raise StudyError(
                f"selection: 'loo' is for random vector networks, not for {method.estimator}; "
                "leave it out."
            )
        grids = _built_grids(variant)
        for key in sorted({key for grid in grids for key in grid}):
            _check_parameter(type(model), model.get_params(), key, "grid")
        _check_schemes(model, grids)


def variants(method: Method) -> Iterator[Method]:
    """Yield one method per combination of varied values, or the method itself.

    The values are in ``fixed`` and in the name.
    """
    if not method.vary:
        yield method
        return
    for values in product(*method.vary.values()):
        settings = dict(zip(method.vary, values, strict=True))
        shown = ", ".join(f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}"
                          for key, value in settings.items())  # fmt: skip
        name, fixed = f"{method.name} [{shown}]", {**method.fixed, **settings}
        yield replace(method, name=name, fixed=fixed, vary=None)


def as_grids(grid: Grid | list[Grid] | str | None) -> list[Grid]:
    """Return a grid as a list of plain grids, the paper's spelled out; empty for none."""
    if grid is None:
        return []
    if isinstance(grid, str):
        return [{key: list(values) for key, values in paper_grid().items()}]
    return grid if isinstance(grid, list) else [grid]


def build_estimator(method: Method, seed: int | None = None) -> BaseEstimator:
    """Return the estimator of a method; parameters called random_state or seed get the seed."""
    model = _build(_find_class(method.estimator), method.estimator, method.fixed, "fixed")
    if seed is not None:
        for key, value in model.get_params().items():
            if key.rpartition("__")[2] in ("random_state", "seed") and value is None:
                model.set_params(**{key: seed})
    return model


def build_search(method: Method, tuning: Tuning, seed: int) -> BaseEstimator:
    """Return the estimator, or a search over its grid."""
    model = build_estimator(method, seed)
    grids = _built_grids(method)
    if not grids:
        return model
    grid = grids if len(grids) > 1 else grids[0]
    if method.selection == "loo":
        return PathSearchCV(model, grid, selection="loo", error_score="raise")
    settings: dict[str, Any] = {
        "cv": StratifiedKFold(tuning.folds, shuffle=True, random_state=seed),
        "scoring": scoring_for_tuning(tuning.score),
        "error_score": "raise",
    }
    if method.candidates is not None and method.candidates < len(ParameterGrid(grids)):
        draws = {"n_iter": method.candidates, "random_state": seed}
        return RandomizedSearchCV(model, grids, **draws, **settings)
    search = GridSearchCV if not search_of(model) else PathSearchCV
    return search(model, grid, **settings)


def _built_grids(method: Method) -> list[Grid]:
    """Return the grids of a method, with the user's classes in the place of their names."""
    return [
        {
            key: [_built_value(key, value, f"grid.{key}") for value in values]
            for key, values in grid.items()
        }
        for grid in as_grids(method.grid)
    ]


def _build(kind: type, path: str, fixed: dict[str, Any], key: str) -> Any:
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
    """Return a parameter's value; estimators and schemes are built."""
    path, fixed = value, {}
    if nested := isinstance(value, dict) and "estimator" in value:
        path, fixed = value["estimator"], value.get("fixed", {})
    if name.rpartition("__")[2] not in _SCHEMES:
        return _build(_find_class(path), path, fixed, key) if nested else value
    if not nested and not (isinstance(path, str) and "." in path):
        return value
    family = _SCHEMES[name.rpartition("__")[2]][0]
    found = _find(path, key)
    if isinstance(found, type) and issubclass(found, family):
        return _build(found, path, fixed, f"{key}.fixed")
    if isinstance(found, type) or not callable(found) or fixed:
        raise StudyError(
            f"{key}: {path!r} is no {family.__name__}; derive the class from "
            f"{family.__module__.rpartition('.')[0]}.{family.__name__}, or name a function."
        )
    return found


def _find(path: str, key: str) -> Any:
    """Return the object of a dotted path."""
    module_name, _, name = path.rpartition(".")
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        message = f"needs {error.name!r}, which is not installed"
        if package in EXTRAS["rivals"] + EXTRAS["rivals-neural"]:
            message += f"; run: {how_to_install(package)}"
        else:
            message += f", and there is no {package}.py beside the study file; check the name."
        raise StudyError(f"{key}: {path!r} {message}") from error
    if hasattr(module, name):
        return getattr(module, name)
    # A package may load what it offers when it is asked for it: `dir` knows, and `vars` does not.
    there = [known for known in dir(module) if known[0] != "_"]
    raise StudyError(
        f"{key}: {module_name!r} has no {name!r}; {hint_for(name, there, 'check the name.')}"
    )


def _find_class(path: str) -> type[BaseEstimator]:
    if "." not in path:
        if path not in CLASSIFIERS:
            hint = hint_for(path, CLASSIFIERS, f"there are {', '.join(CLASSIFIERS)}.")
            raise StudyError(
                f"estimator: granulearn has no classifier {path!r}; {hint} "
                "Others are named in full, as in 'sklearn.svm.SVC' or 'my_method.MyClassifier'."
            )
        return _PUBLIC[path]
    found = _find(path, "estimator")
    # CatBoost has the methods of scikit-learn without its base class.
    wanted = ("fit", "predict", "get_params", "set_params")
    lacks = [name for name in wanted if not hasattr(found, name)]
    if not isinstance(found, type) or lacks:
        why = f"it has no {', no '.join(lacks)}" if lacks else "it is no class"
        raise StudyError(
            f"estimator: {path!r} is no scikit-learn estimator ({why}); derive the class from "
            "sklearn.base.ClassifierMixin and sklearn.base.BaseEstimator."
        )
    return found


def _check_schemes(model: Any, grids: list[Grid]) -> None:
    """Refuse memberships and ball generators that our estimators do not know."""
    if not type(model).__module__.startswith("granulearn."):
        return  # in a class of others the parameter means something else
    given = [*model.get_params().items()]
    given += [(key, value) for grid in grids for key, values in grid.items() for value in values]
    for key, value in given:
        if key in _SCHEMES:
            try:
                _SCHEMES[key][1](value)
            except (TypeError, ValueError) as error:
                raise StudyError(
                    f"{error} One of your own is named with its file: 'mymethod.MyScheme'."
                ) from error


def _check_parameter(kind: type, known: Iterable[str], name: str, key: str) -> None:
    if name not in known:
        hint = hint_for(name, known, f"it takes {', '.join(sorted(known))}.")
        raise StudyError(f"{key}.{name}: {kind.__name__} has no such parameter; {hint}")


# Hash of each module that this process has imported from a study's folder.
_imported: dict[tuple[str, str], str] = {}


def dotted_names(method: Method) -> list[str]:
    """List the values of a method that may be the path of a class or function."""

    def texts(value: Any) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list | tuple):
            for item in value.values() if isinstance(value, dict) else value:
                yield from texts(item)

    values = [method.estimator, method.fixed, method.grid, method.vary]
    return list(dict.fromkeys(text for text in texts(values) if _DOTTED.fullmatch(text)))


def code_beside(method: Method, directory: Path) -> dict[str, str]:
    """Return the modules of a folder that a method names, each with the hash of its code."""
    modules = {name.partition(".")[0] for name in dotted_names(method)}
    return {
        module: hash_of_module(module, directory)
        for module in sorted(modules)
        if _file_of(module, directory)
    }


def hash_of_module(module: str, directory: Path) -> str:
    """Hash the code of a module of a folder and of the modules that it imports from there."""
    digest = hashlib.sha256()
    for path in sorted(_files_of(module, directory)):
        content = path.read_bytes()
        name = path.relative_to(directory).as_posix()
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:20]


def import_beside(code: dict[str, str], directory: str | None) -> None:
    """Make modules of a folder importable in this process, as the study file knew them.

    Raises a StudyError if a module cannot be imported, has changed meanwhile, or has the name of
    another one. Without a folder, as in a report, there is nothing to do.
    """
    if directory is None:
        return
    for module, expected in code.items():
        if _imported.get((directory, module)) == expected:
            continue
        if hash_of_module(module, Path(directory)) != expected:
            raise StudyError(
                f"the code of {module!r} was changed while the study ran; the same command "
                "begins anew with the runs that it makes."
            )
        _forget_modules(directory)
        # Known even if it fails halfway, so that modules imported by then are forgotten, too.
        _imported[directory, module] = ""
        _import(module, directory)
        _imported[directory, module] = expected


def _import(module: str, directory: str) -> None:
    if directory not in sys.path:
        # At the end: a file beside a study never takes the place of an installed module.
        sys.path.append(directory)
    invalidate_caches()
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        found = import_module(module)
    except Exception as error:  # users' code may raise anything
        line = getattr(error, "lineno", None)
        where = f", line {line}" if line else ""
        raise StudyError(
            f"{module}.py cannot be imported{where}: {type(error).__name__}: {error}"
        ) from error
    finally:
        sys.dont_write_bytecode = before
    if not _lies_in(found, directory):
        raise StudyError(
            f"{module}.py has the name of another module ({module!r} is installed or comes with "
            "Python); rename the file."
        )


def _forget_modules(directory: str) -> None:
    """Forget the modules of studies' folders: they may have changed, or share a name."""
    folders = {directory, *(folder for folder, _ in _imported)}
    for name, module in list(sys.modules.items()):
        if any(_lies_in(module, folder) for folder in folders):
            del sys.modules[name]
    for folder in folders - {directory}:
        if folder in sys.path:
            sys.path.remove(folder)
    _imported.clear()


def _lies_in(module: Any, directory: str) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and Path(file).resolve().is_relative_to(Path(directory).resolve())


def _file_of(module: str, directory: Path) -> Path | None:
    """Return the file of a module or package of a folder; None if it is not there."""
    files = (directory / module / "__init__.py", directory / f"{module}.py")
    return next((path for path in files if path.is_file()), None)


def _files_of(module: str, directory: Path) -> set[Path]:
    """Return the files of a module of a folder, and of all that it imports from there."""
    start = _file_of(module, directory)
    assert start is not None
    whole = set(start.parent.rglob("*.py")) if start.name == "__init__.py" else {start}
    finder = ModuleFinder(path=[str(directory)])
    try:
        finder.import_hook(module)
    except (SyntaxError, ValueError):
        return whole  # importing it says what is wrong
    files = (getattr(item, "__file__", None) for item in finder.modules.values())
    found = {Path(file) for file in files if file}
    return whole | found
