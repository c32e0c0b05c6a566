"""Laws of the extras: each message names one that exists and brings what is missing."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

import granulearn.bench
from granulearn._extras import EXTRAS, check_installed, how_to_install, missing_package

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
CONFIGURATION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = CONFIGURATION["project"]
FOR_DEVELOPERS = {"dev", "docs", "release", "test"}
# What comes with a package that is stated: with scikit-learn and jinja2.
BROUGHT_ALONG = {"joblib", "threadpoolctl", "markupsafe", "packaging"}


# Packages whose module has another name.
MODULES = {
    "scikit-learn": "sklearn",
    "imbalanced-learn": "imblearn",
    "crowd-kit": "crowdkit",
}


def modules_of(requirements):
    """Return the modules of packages; those of granulearn's own extras are left out."""
    names = [re.match(r"[\w-]+", requirement)[0] for requirement in requirements]
    modules = {MODULES.get(name, name.replace("-", "_")) for name in names}
    return modules - {"granulearn"}


PLAIN = modules_of(PROJECT["dependencies"])


def imported_modules(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def test_the_table_of_extras_is_that_of_pyproject():
    stated = {
        extra: modules_of(requirements)
        for extra, requirements in PROJECT["optional-dependencies"].items()
        if extra not in FOR_DEVELOPERS | {"all"}
    }
    assert {extra: set(modules) for extra, modules in EXTRAS.items()} == stated


def test_whatever_is_imported_comes_with_the_plain_install_or_with_an_extra():
    imported = {name for path in SOURCES for name in imported_modules(path)}
    optional = {module for modules in EXTRAS.values() for module in modules}
    known = PLAIN | BROUGHT_ALONG | optional | set(sys.stdlib_module_names) | {"granulearn"}
    assert imported - known == set()
    assert PLAIN - imported == set()


def test_every_extra_that_is_named_exists():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    studies = (ROOT / "src").rglob("*.toml")
    for path in [*SOURCES, *pages, *studies, ROOT / "Makefile"]:
        text = path.read_text(encoding="utf-8")
        for named in re.findall(r"(?:granulearn|\s[\"']\.)\[([a-z][a-z, -]*)\]", text):
            unknown = set(re.split(r", *", named)) - set(PROJECT["optional-dependencies"])
            assert not unknown, f"{path.relative_to(ROOT)} names {unknown}"


@pytest.mark.parametrize("module", sorted({m for modules in EXTRAS.values() for m in modules}))
def test_the_extra_of_a_message_brings_the_package(module):
    (extra,) = re.findall(
        r'pip install "granulearn\[([\w-]+)\]"$', missing_package(f"{module}.part")
    )
    assert module in modules_of(PROJECT["optional-dependencies"][extra])


@pytest.mark.parametrize("module", sorted(PLAIN))
def test_what_the_plain_install_brings_needs_no_extra(module):
    assert how_to_install(module) == "pip install granulearn"


def test_a_missing_package_is_refused_in_words(monkeypatch):
    check_installed("numpy", "sklearn")
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ModuleNotFoundError, match=r"'onnx' is not .*granulearn\[onnx\]") as caught:
        check_installed("numpy", "onnx")
    assert caught.value.name == "onnx"


@pytest.mark.parametrize("name", ["load_study", "write_page"])
def test_a_name_of_studies_tells_the_extra_that_brings_all_it_needs(name, monkeypatch):
    monkeypatch.setattr("granulearn._extras.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"granulearn\[studies\]"):
        getattr(granulearn.bench, name)
