"""Studies from files: shipped ones by name, your own by path, and a new one to begin with."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from msgspec.structs import replace

from granulearn.bench.data import check_table
from granulearn.bench.methods import (
    build_estimator,
    check_method,
    code_beside,
    import_beside,
    variants,
)
from granulearn.bench.scores import check_score, needed_for, scoring_for_tuning
from granulearn.bench.study import Found, OwnTable, Study, StudyError, hint_for, read_content
from granulearn.datasets import load
from granulearn.utils.files import write_text_atomically

DEFAULT_STUDY = "quick"
# The studies that repeat the experiments of the paper.
PAPER = "paper"
PAPER_STUDIES = ("table1", "noise", "sensitivity-activation", "sensitivity-C-h")
_SHIPPED = files("granulearn.bench") / "shipped"
_TEMPLATE = files("granulearn.bench") / "template"


def list_studies() -> dict[str, str]:
    """Return the studies that come with the package.

    Returns
    -------
    dict
        Name to question, sorted by name.

    Examples
    --------
    >>> from granulearn.bench import list_studies
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
    >>> from granulearn.bench import load_study
    >>> print(load_study("quick").question)
    Clean labels or a fifth of them wrong: which of the nine methods to trust?
    """
    given = os.fspath(name)
    if not given.endswith(".toml"):
        names = _shipped_names()
        if given in names:
            return check_study(_shipped(given), f"{given}.toml")
        hint = hint_for(given, names, f"there are {', '.join(names)}.")
        raise StudyError(
            f"no shipped study is named {given!r}; {hint} A file of your own ends in .toml."
        )
    path = Path(given)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"{path} cannot be read: {error}") from error
    return check_study(_with_files_beside(_parse(text, given), given), given)


def check_study(study: Study, file: str) -> Study:
    """Return the study, if its methods and scores exist; `file` is named in messages."""
    for position, method in enumerate(study.method):
        with _place(f"{file}, method[{position}] ({method.name!r}): "):
            check_method(method)
    for position, score in enumerate(study.scores):
        with _place(f"{file}, scores[{position}]: "):
            check_score(score)
    with _place(f"{file}, tuning.score: "):
        check_score(study.tuning.score)
        scoring_for_tuning(study.tuning.score)
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
    """List scores that a method cannot have: method, key, score, the missing answer.

    The key is ``scores`` where the score is only to be shown.
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
                found.append((method.name, key, score, " or ".join(answers)))
    return found


def write_new_study(name: str, parent: Path = Path()) -> list[Path]:
    """Write the folder of a new study and return its files; an existing folder is refused."""
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]*", name):
        raise StudyError(
            f"{name!r} is no name of a study; use letters, digits and -, _, ., as in my-study."
        )
    name = name.removesuffix(".toml")
    if name in (PAPER, *_shipped_names()):
        raise StudyError(
            f"{name!r} is the name of a shipped study, whose results it would join; name another."
        )
    folder = parent / name
    if folder.exists():
        raise StudyError(f"{folder} is there already, and was left as it is; choose another name.")
    folder.mkdir(parents=True)
    moons = load("two_moons", n_samples=200, noise=0.3, random_state=1)
    table = moons.X.round(3).assign(label=["ill" if label else "well" for label in moons.y])
    contents = {
        f"{name}.toml": (_TEMPLATE / "study.toml").read_text("utf-8").replace("{{name}}", name),
        "my_method.py": (_TEMPLATE / "my_method.txt").read_text("utf-8"),
        "my_table.csv": table.to_csv(index=False, lineterminator="\n"),
    }
    return [write_text_atomically(folder / file, text) for file, text in contents.items()]


@contextmanager
def _place(place: str) -> Iterator[None]:
    """Put the place before the message of a StudyError."""
    try:
        yield
    except StudyError as error:
        raise StudyError(f"{place}{error}") from error


def _with_files_beside(study: Study, file: str) -> Study:
    """Return the study with the tables and code in the folder of its file; code is imported."""
    directory = Path(file).resolve().parent
    tables: dict[str, str] = {}
    code: dict[str, str] = {}
    for position, given in enumerate(study.datasets):
        if isinstance(given, OwnTable):
            # What is wrong with a table begins with one of its keys.
            with _place(f"{file}, datasets[{position}]."):
                tables[given.path] = check_table(given, directory)
        elif (directory / given).is_file():
            raise StudyError(
                f"{file}, datasets[{position}]: {given!r} is a file; write a table of your own as "
                f'{{ path = {json.dumps(given, ensure_ascii=False)}, target = "COLUMN" }}.'
            )
    for position, method in enumerate(study.method):
        with _place(f"{file}, method[{position}] ({method.name!r}): "):
            own = code_beside(method, directory)
            import_beside(own, str(directory))
            code |= own
    if not (tables or code):
        return study
    code = dict(sorted(code.items()))
    found = Found(directory=str(directory), file=file, tables=tables, code=code)
    return replace(study, found=found)


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
    with _place(f"{file}: "):
        return read_content(content, Path(file).stem)
