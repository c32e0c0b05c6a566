"""Read a study from its file, or by the name of one that is shipped."""

from __future__ import annotations

import os
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from granulearn.bench.studies.code_beside import classes_beside, code_beside, import_beside
from granulearn.bench.studies.methods import CLASSIFIERS, build_estimator, check_method, variants
from granulearn.bench.studies.own_tables import (
    look_at_table,
    refuse_path_as_name,
    target_is_missing,
)
from granulearn.bench.studies.scores import check_score, needed_for, scoring_for_tuning
from granulearn.bench.studies.spec import (
    NOT_IN_A_FILE,
    Found,
    OwnTable,
    Study,
    StudyError,
    hint_for,
)

DEFAULT_STUDY = "quick"
# All that the paper reports, by the studies that make it again.
PAPER = "paper"
PAPER_STUDIES = ("table1", "noise", "sensitivity-activation", "sensitivity-C-h")
_SHIPPED = files("granulearn.bench.studies") / "shipped"


def list_studies() -> dict[str, str]:
    """Return the studies that come with the package.

    Returns
    -------
    dict
        Name to question, sorted by name.

    Examples
    --------
    >>> from granulearn.bench.studies import list_studies
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
    >>> from granulearn.bench.studies import load_study
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
        study = _with_files_beside(_parse(text, given), given)
        return check_study(study, given)
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
    for key, check, score in [
        *((f"scores[{i}]", check_score, score) for i, score in enumerate(study.scores)),
        ("tuning.score", check_score, study.tuning.score),
        ("tuning.score", scoring_for_tuning, study.tuning.score),
    ]:
        try:
            check(score)
        except StudyError as error:
            raise StudyError(f"{file}, {key}: {error}") from error
    if study.compare.score not in study.scores:
        raise StudyError(
            f"{file}, compare.score: {study.compare.score!r} is not one of scores; add it there, "
            "or compare another one."
        )
    for name, key, score, lacks in scores_not_given(study):
        if key != "scores":
            raise StudyError(
                f"{file}, {key}: {score!r} needs {lacks}, which {name!r} does not give; choose "
                "another score, or leave the method out."
            )
    return study


def scores_not_given(study: Study) -> list[tuple[str, str, str, str]]:
    """List the scores that need what a method does not give, such as probabilities.

    Parameters
    ----------
    study : Study
        A parsed study whose methods can be built.

    Returns
    -------
    list of tuple
        Method; key that asks for the score, ``scores`` if it is only to be shown; score; and
        what is lacking.
    """
    found = []
    for method in study.method:
        model = build_estimator(next(variants(method)))
        tuned = method.grid is not None and method.selection == "cv"
        asked = [("tuning.score", study.tuning.score)] if tuned else []
        asked.append(("compare.score", study.compare.score))
        asked += [("scores", score) for score in study.scores if score != study.compare.score]
        for key, score in asked:
            answers = needed_for(score)
            if answers and not any(hasattr(model, answer) for answer in answers):
                words = " or ".join(_ANSWERS[answer] for answer in answers)
                found.append((method.name, key, score, words))
    return found


_ANSWERS = {
    "predict_proba": "probabilities (predict_proba)",
    "decision_function": "a decision_function",
}


def _with_files_beside(study: Study, file: str) -> Study:
    """Return the study with what was found in the folder of its file; code is imported."""
    directory = Path(file).resolve().parent
    tables = {}
    for position, given in enumerate(study.datasets):
        where = f"{file}, datasets[{position}]"
        try:
            if isinstance(given, OwnTable):
                tables[given.path] = look_at_table(given, directory)
            else:
                refuse_path_as_name(given, directory)
        except StudyError as error:
            # What is wrong with a table begins with one of its keys.
            sign = "." if isinstance(given, OwnTable) else ": "
            raise StudyError(f"{where}{sign}{error}") from error
    _refuse_class_without_file(study, file, directory)
    code: dict[str, str] = {}
    for position, method in enumerate(study.method):
        try:
            own = code_beside([method], directory)
            import_beside(own, str(directory))
        except StudyError as error:
            raise StudyError(f"{file}, method[{position}] ({method.name!r}): {error}") from error
        code |= own
    code = dict(sorted(code.items()))
    found = Found(directory=str(directory), file=file, tables=tables, code=code)
    return study.model_copy(update={"found": found}) if tables or code else study


def _refuse_class_without_file(study: Study, file: str, directory: Path) -> None:
    """Refuse a class that is named alone, if a file beside the study file has it."""
    for position, method in enumerate(study.method):
        name = method.estimator
        found = classes_beside(name, directory) if name not in CLASSIFIERS else []
        if found:
            raise StudyError(
                f"{file}, method[{position}] ({method.name!r}): estimator: granulearn has no "
                f"classifier {name!r}; did you mean {' or '.join(map(repr, found))}? A class of "
                "your own is named with its file."
            )


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
    for key in NOT_IN_A_FILE:
        if key in content:
            raise StudyError(f"{file}, {key}: it is not stated in a study file; leave it out.")
    try:
        return Study(name=Path(file).stem, **content)
    except ValidationError as error:
        directory = Path(file).resolve().parent
        raise StudyError(f"{file}: {_first_problems(error, directory)}") from error


def _first_problems(error: ValidationError, directory: Path, most: int = 5) -> str:
    """Return one clause per wrong key: where, what is wrong, what was found."""
    lines = []
    problems = error.errors()
    places = [problem["loc"] for problem in problems]
    for problem in [one for one in problems if not _follows(one, places)][:most]:
        place = list(problem["loc"])
        if place[:1] == ["datasets"]:
            del place[2:3]  # how pydantic tells a name from a table is no key of the file
        parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
        where = "".join(parts).removeprefix(".") or "the study"
        said = problem["msg"].removeprefix("Value error, ")
        said = said.replace("a valid tuple", "a list")  # TOML has no tuples
        found = problem["input"]
        if problem["type"] == "missing":
            said = "it must be there; add it"
            if place[::2] == ["datasets", "target"]:
                said = target_is_missing(found, directory)
        shown = "" if isinstance(found, dict) else f", found {found!r}"
        lines.append(f"{where}: {said}{shown}")
    return "; ".join(lines)


def _follows(problem: Any, places: list[tuple]) -> bool:
    """Return whether a list is too short only because entries of it are wrong, which is said."""
    own = problem["loc"]
    return problem["type"] == "too_short" and any(
        len(place) > len(own) and place[: len(own)] == own for place in places
    )
