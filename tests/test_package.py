"""What holds for the package as a whole."""

import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import granulearn
from granulearn._extras import EXTRAS
from tests.test__extras import PLAIN

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "granulearn"
# What estimators need that are given arrays; the rest reads tables, draws, writes and talks.
CORE = {"numpy", "scipy", "sklearn"}
NOT_CORE = {*PLAIN, *(module for modules in EXTRAS.values() for module in modules)} - CORE


def run_python(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


WITH_THREE_PACKAGES = f"""
import sys


class NotThere:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {sorted(NOT_CORE)}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)


sys.meta_path.insert(0, NotThere())
import numpy as np
import granulearn

rng = np.random.RandomState(0)
X, y = rng.standard_normal((200, 3)), rng.randint(2, size=200)
for name in granulearn.__all__:
    if name.endswith("Classifier") and name != "TableClassifier":
        print(name, getattr(granulearn, name)().fit(X, y).predict(X).shape)
print(len(granulearn.generate_balls(X, y)) > 1)
try:
    granulearn.TableClassifier().fit([{{"a": 1, "label": "x"}}], "label")
except ModuleNotFoundError as error:
    print(error.name)
"""


@pytest.mark.slow
def test_learning_from_arrays_needs_three_packages():
    *_, balls_are_made, tables_need = run_python(WITH_THREE_PACKAGES).splitlines()
    assert balls_are_made == "True"
    assert tables_need in ("msgspec", "pandas", "pyarrow")


@pytest.mark.slow
def test_import_loads_nothing_heavy():
    heavy = ["sklearn", "matplotlib", "onnx", "typer", "pydantic"]
    code = f"import granulearn, sys; print([m for m in {heavy} if m in sys.modules])"
    assert run_python(code).strip() == "[]"


def test_version_is_stated_once():
    assert granulearn.__version__ == version("granulearn")


def public_callables():
    packages = [granulearn] + [
        importlib.import_module(f"granulearn.{info.name}")
        for info in pkgutil.iter_modules(granulearn.__path__)
        if info.ispkg
    ]
    things = {
        id(getattr(package, name)): getattr(package, name)
        for package in packages
        for name in getattr(package, "__all__", [])
    }
    return [thing for thing in things.values() if callable(thing)]


@pytest.mark.parametrize("thing", public_callables(), ids=lambda thing: thing.__name__)
def test_documented_parameters_and_defaults_equal_the_signature(thing):
    documentation = inspect.getdoc(thing) or ""
    assert documentation.strip(), f"{thing.__name__} has no docstring"
    section = re.search(r"\nParameters\n-+\n(.*?)(\n\n\w[^\n]*\n---|\Z)", documentation, re.DOTALL)
    if section is None:
        return
    described = re.findall(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*) ?:? ?(.*)$", section[1], re.MULTILINE)
    signature = inspect.signature(thing)
    names = [name.strip().lstrip("*") for group, _ in described for name in group.split(",")]
    assert names == list(signature.parameters)
    for group, kind in described:
        for name in group.split(","):
            default = signature.parameters[name.strip().lstrip("*")].default
            if stated := re.search(r"default=(.+)$", kind):
                assert stated[1].replace('"', "'") == repr(default).replace('"', "'")
            elif default not in (inspect.Parameter.empty, None):
                pytest.fail(f"the default {default!r} of {name} is not documented")


@pytest.mark.parametrize("thing", public_callables(), ids=lambda thing: thing.__name__)
def test_every_public_name_has_an_example(thing):
    documentation = inspect.getdoc(thing) or ""
    section = re.search(r"\nExamples\n--------\n(.*)", documentation, re.DOTALL)
    assert section is not None, f"{thing.__name__} has no section Examples"
    assert ">>> " in section[1]


@pytest.mark.slow
def test_an_install_holds_the_code_and_what_it_reads(tmp_path):
    command = [sys.executable, "setup.py", "--quiet", "build_py", "--build-lib", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    packed = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    needed = {
        path.relative_to(SOURCE.parent)
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
        if path.suffix not in (".so", ".pyd")  # compiled loops
    }
    assert SOURCE.relative_to(SOURCE.parent) / "py.typed" in needed
    assert needed == packed


def test_every_public_name_is_found_when_it_is_used_and_no_other():
    assert {getattr(granulearn, name).__name__ for name in granulearn.__all__} == set(
        granulearn.__all__
    )
    assert set(granulearn.__all__) <= set(dir(granulearn))
    with pytest.raises(AttributeError, match="has no attribute 'RVFL'"):
        granulearn.RVFL  # noqa: B018


STAGES = {path.parent.name for path in SOURCE.glob("*/__init__.py")}


@pytest.mark.parametrize("stage", sorted(STAGES))
def test_every_stage_is_an_attribute_of_the_package(stage):
    assert getattr(granulearn, stage) is importlib.import_module(f"granulearn.{stage}")


@pytest.mark.slow
def test_a_stage_is_imported_when_it_is_used():
    code = (
        "import granulearn, sys; name = 'granulearn.datasets'; print(name in sys.modules, end=' ')"
    )
    assert run_python(f"{code}; granulearn.datasets; print(name in sys.modules)") == "False True\n"


def test_dir_shows_the_public_names_and_no_other():
    assert set(dir(granulearn)) == {*granulearn.__all__, *STAGES, "__version__"}


def test_a_star_import_brings_the_public_names():
    names: dict = {}
    exec("from granulearn import *", names)
    assert set(names) - {"__builtins__"} == set(granulearn.__all__)
