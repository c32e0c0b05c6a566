"""Private names of scikit-learn are used through one module."""

import re
from importlib.metadata import requires
from pathlib import Path

import granulearn
from granulearn import _sklearn_compat

SOURCE = Path(granulearn.__file__).parent
PRIVATE = re.compile(r"^\s*(?:from|import) sklearn(?:\S*\._|\S* import (?:.*, )?_)", re.MULTILINE)


def test_no_other_module_imports_a_private_name():
    using = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if PRIVATE.search(path.read_text(encoding="utf-8"))
    }
    assert using == {"_sklearn_compat.py"}


def test_every_name_is_used():
    others = [path for path in SOURCE.rglob("*.py") if path.name != "_sklearn_compat.py"]
    text = "\n".join(path.read_text(encoding="utf-8") for path in others)
    assert [name for name in _sklearn_compat.__all__ if name not in text] == []


def test_the_dependency_is_bounded_on_both_sides():
    (bounds,) = [need for need in requires("granulearn") if need.startswith("scikit-learn")]
    assert ">=" in bounds
    assert "<" in bounds
