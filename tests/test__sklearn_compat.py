"""Private names of scikit-learn are used through one module."""

import ast
from importlib.metadata import requires
from pathlib import Path

import granulearn
from granulearn import _sklearn_compat

SOURCE = Path(granulearn.__file__).parent


def private_imports(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sklearn"):
            names = [*node.module.split("."), *(alias.name for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [part for alias in node.names for part in alias.name.split(".")]
            names = names if names[0] == "sklearn" else []
        else:
            continue
        yield from (name for name in names if name.startswith("_"))


def test_no_other_module_imports_a_private_name():
    using = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if any(private_imports(path))
    }
    assert using == {"_sklearn_compat.py"}


def test_every_name_is_used():
    others = [path for path in SOURCE.rglob("*.py") if path.name != "_sklearn_compat.py"]
    text = "\n".join(path.read_text(encoding="utf-8") for path in others)
    names = [name for name in vars(_sklearn_compat) if not name.startswith("__")]
    assert [name for name in names if name not in text] == []


def test_the_dependency_is_bounded_on_both_sides():
    (bounds,) = [need for need in requires("granulearn") if need.startswith("scikit-learn")]
    assert ">=" in bounds
    assert "<" in bounds
