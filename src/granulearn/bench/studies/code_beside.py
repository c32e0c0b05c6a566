"""Classes from files beside a study file: found, hashed, imported.

A result belongs to the code that made it. The hash of a module and of what it imports
from the same folder is part of the key of a cell, so that results of changed code are
never taken for those of the code before.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from importlib import import_module, invalidate_caches
from pathlib import Path
from types import ModuleType
from typing import Any

from granulearn.bench.studies.spec import Method, StudyError

_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
# The hash of the code that this process has imported, by folder and module.
_imported: dict[tuple[str, str], str] = {}


def dotted_names(method: Method) -> list[str]:
    """List what may be the path of a class or function among the values of a method.

    Parameters
    ----------
    method : Method
        As the study states it.

    Returns
    -------
    list of str
        Texts of the form ``module.name``, each once.
    """
    values = [method.estimator, method.fixed, method.grid, method.vary]
    texts = (text for text in _texts(values) if _DOTTED.fullmatch(text))
    return list(dict.fromkeys(texts))


def code_beside(methods: Iterable[Method], directory: Path) -> dict[str, str]:
    """Find the modules of a folder that methods name, and hash them.

    Parameters
    ----------
    methods : iterable of Method
        As the study states them.
    directory : Path
        The folder of the study file.

    Returns
    -------
    dict
        Module to hash of its code and of all that it imports from the folder.

    Raises
    ------
    StudyError
        If a module is in a folder that is no package.
    """
    names = [name for method in methods for name in dotted_names(method)]
    for name in names:
        _check_is_in_package(name, directory)
    modules = {name.partition(".")[0] for name in names}
    return {
        module: hash_of_module(module, directory)
        for module in sorted(modules)
        if _files_of(module, directory)
    }


def classes_beside(name: str, directory: Path) -> list[str]:
    """Find the files of a folder that define a class, by their text: nothing is imported.

    Parameters
    ----------
    name : str
        Name of the class; one with a module is that of no class here.
    directory : Path
        The folder of the study file.

    Returns
    -------
    list of str
        What a study calls the class: ``module.name``, sorted.
    """
    if not name.isidentifier():
        return []
    files = sorted(path for path in directory.glob("*.py") if path.stem.isidentifier())
    return [
        f"{path.stem}.{name}"
        for path in files
        if any(isinstance(node, ast.ClassDef) and node.name == name for node in _parsed(path).body)
    ]


def hash_of_module(module: str, directory: Path) -> str:
    """Hash a module of a folder together with what it imports from there.

    Parameters
    ----------
    module : str
        A name without dots.
    directory : Path
        The folder.

    Returns
    -------
    str
        Depends on names and contents of the files, not on where the folder is.
    """
    digest = hashlib.sha256()
    files = [path for found in _joined_modules(module, directory).values() for path in found]
    for path in sorted(files):
        content = path.read_bytes()
        name = path.relative_to(directory).as_posix()
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:20]


def import_beside(code: dict[str, str], directory: str | None) -> None:
    """Make modules of a folder importable in this process, as the study file knew them.

    Parameters
    ----------
    code : dict
        What `code_beside` returned.
    directory : str or None
        The folder; None if it is not known, as in a report.

    Raises
    ------
    StudyError
        If a module cannot be imported, changed meanwhile, or has the name of another one.
    """
    if directory is None:
        return
    for module, expected in code.items():
        if _imported.get((directory, module)) != expected:
            if hash_of_module(module, Path(directory)) != expected:
                raise StudyError(
                    f"the code of {module!r} was changed while the study ran; the same command "
                    "begins anew with the cells that it makes."
                )
            _forget_modules(module, directory)
            # Known even if it fails halfway: what it has imported by then is forgotten, too.
            _imported[directory, module] = ""
            _import(module, directory)
            _imported[directory, module] = expected


def _import(module: str, directory: str) -> ModuleType:
    if directory not in sys.path:
        # At the end: a file beside a study never takes the place of an installed module.
        sys.path.append(directory)
    invalidate_caches()
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        found = import_module(module)
    except Exception as error:  # code of others may raise anything
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
    return found


def _forget_modules(module: str, directory: str) -> None:
    """Forget modules that came from folders of studies: this one, which may have changed."""
    known = [*_imported, (directory, module)]
    for folder, imported in known:
        for name in _joined_modules(imported, Path(folder)):
            if name in sys.modules and not _lies_in(sys.modules[name], folder):
                continue
            for loaded in [key for key in sys.modules if key.partition(".")[0] == name]:
                del sys.modules[loaded]
        if folder != directory and folder in sys.path:
            sys.path.remove(folder)
    for place in [place for place in _imported if place[0] != directory]:
        del _imported[place]


def _lies_in(module: ModuleType, directory: str) -> bool:
    place = getattr(module, "__file__", None)
    if not place:
        return False
    return Path(place).resolve().is_relative_to(Path(directory).resolve())


def _joined_modules(module: str, directory: Path) -> dict[str, list[Path]]:
    """Return the files of a module, and of all modules of the folder that it imports."""
    waiting, found = [module], {module: _files_of(module, directory)}
    while waiting:
        for path in found[waiting.pop()]:
            for name in _imports(path):
                files = _files_of(name, directory)
                if name not in found and files:
                    found[name] = files
                    waiting.append(name)
    return found


def _files_of(module: str, directory: Path) -> list[Path]:
    """Return the files of a module, or of all modules of a package; none if it is not there."""
    if (directory / module / "__init__.py").is_file():
        return sorted((directory / module).rglob("*.py"))
    single = directory / f"{module}.py"
    return [single] if single.is_file() else []


def _check_is_in_package(name: str, directory: Path) -> None:
    """Refuse a module of a folder without __init__.py: Python would find it in some places only."""
    first, *inner = name.split(".")[:-1]
    if not inner or _files_of(first, directory):
        return
    place = directory.joinpath(first, *inner)
    if place.with_suffix(".py").is_file() or (place / "__init__.py").is_file():
        raise StudyError(
            f"{name!r} is in the folder {first}/ beside the study file, which has no __init__.py; "
            "add an empty one."
        )


def _parsed(path: Path) -> ast.Module:
    """Return a file as a tree; an empty one if it is no Python, as importing it would say."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nor are odd escapes of interest here
            return ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, OSError):
        return ast.Module(body=[], type_ignores=[])


def _imports(path: Path) -> Iterator[str]:
    """Yield the first part of the name of each module that a file imports."""
    for node in ast.walk(_parsed(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
