"""A study to begin with: a commented file that runs as it is, a method and a table beside it."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

from granulearn.bench.studies.spec import StudyError
from granulearn.bench.studies.study_files import PAPER, list_studies
from granulearn.datasets import load
from granulearn.utils.files import write_text_atomically

_TEMPLATE = files("granulearn.bench.studies") / "template"


def write_new_study(name: str, parent: Path = Path()) -> list[Path]:
    """Write the folder of a new study; nothing that is there is touched.

    Parameters
    ----------
    name : str
        Name of the study, of its folder and of its file.
    parent : Path, default=Path()
        Where to put the folder.

    Returns
    -------
    list of Path
        The study file first, then what stands beside it.

    Raises
    ------
    StudyError
        If the name is none, or taken.
    """
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]*", name):
        raise StudyError(
            f"{name!r} is no name of a study; use letters, digits and -, _, ., as in my-study."
        )
    name = name.removesuffix(".toml")
    if name in (PAPER, *list_studies()):
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
