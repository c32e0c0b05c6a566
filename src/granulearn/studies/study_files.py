"""Read a study from its file, or by the name of one that is shipped."""

from __future__ import annotations

import os
import tomllib
from importlib.resources import files
from pathlib import Path

from pydantic import ValidationError

from granulearn.studies.methods import check_method
from granulearn.studies.scores import check_score
from granulearn.studies.spec import Study, StudyError, hint_for

DEFAULT_STUDY = "quick"
_SHIPPED = files("granulearn.studies") / "shipped"


def list_studies() -> dict[str, str]:
    """Return the studies that come with the package.

    Returns
    -------
    dict
        Name to question, sorted by name.

    Examples
    --------
    >>> from granulearn.studies import list_studies
    >>> sorted({"quick", "noise", "table1"} & set(list_studies()))
    ['noise', 'quick', 'table1']
    """
    return {name: _shipped(name).question for name in _shipped_names()}


def load_study(name: str | os.PathLike = DEFAULT_STUDY) -> Study:
    """Read and check a study.

    Parameters
    ----------
    name : str or path, default="quick"
        Name of a shipped study, or a path that ends in ``.toml``.

    Returns
    -------
    Study
        Checked: every method can be built, every score is known.

    Raises
    ------
    StudyError
        Names the file, the key, what was found and what is wanted.

    Examples
    --------
    >>> from granulearn.studies import load_study
    >>> print(load_study("quick").question)
    Clean labels or a fifth of them wrong: which of the eight methods to trust?
    """
    given = os.fspath(name)
    if given.endswith(".toml"):
        path = Path(given)
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise StudyError(f"{path} does not exist; check the path.") from None
        except (OSError, UnicodeDecodeError) as error:
            raise StudyError(f"{path} cannot be read: {error}") from error
        return check_study(_parse(text, given), given)
    if given not in _shipped_names():
        hint = hint_for(given, _shipped_names(), f"there are {', '.join(_shipped_names())}.")
        raise StudyError(
            f"no shipped study is named {given!r}; {hint} A file of your own ends in .toml."
        )
    return check_study(_shipped(given), f"{given}.toml")


def check_study(study: Study, file: str) -> Study:
    """Check what the file alone cannot say: that methods and scores exist.

    Parameters
    ----------
    study : Study
        A parsed study.
    file : str
        Its file, for messages.

    Returns
    -------
    Study
        The same.
    """
    for position, method in enumerate(study.method):
        try:
            check_method(method)
        except StudyError as error:
            raise StudyError(f"{file}, method[{position}] ({method.name!r}): {error}") from error
    for key, score in [
        *((f"scores[{i}]", score) for i, score in enumerate(study.scores)),
        ("tuning.score", study.tuning.score),
    ]:
        try:
            check_score(score)
        except StudyError as error:
            raise StudyError(f"{file}, {key}: {error}") from error
    return study


def _shipped_names() -> list[str]:
    known = (item.name for item in _SHIPPED.iterdir())
    return sorted(name.removesuffix(".toml") for name in known if name.endswith(".toml"))


def _shipped(name: str) -> Study:
    return _parse((_SHIPPED / f"{name}.toml").read_text("utf-8"), f"{name}.toml")


def _parse(text: str, file: str) -> Study:
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{file} is no TOML: {error}.") from error
    try:
        return Study(name=Path(file).stem, **content)
    except ValidationError as error:
        raise StudyError(f"{file}: {_first_problems(error)}") from error
    except TypeError as error:  # the file states `name` itself
        raise StudyError(f"{file}, name: the file's name is the study's; leave it out.") from error


def _first_problems(error: ValidationError, most: int = 5) -> str:
    """Return one clause per wrong key: where, what is wrong, what was found."""
    lines = []
    for problem in error.errors()[:most]:
        where = ".".join(str(part) for part in problem["loc"]) or "the study"
        said = problem["msg"].removeprefix("Value error, ")
        found = problem["input"]
        shown = "" if isinstance(found, dict) else f", found {found!r}"
        lines.append(f"{where}: {said}{shown}")
    return "; ".join(lines)
