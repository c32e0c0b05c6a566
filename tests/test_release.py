"""What a release states in several files is the same in all of them."""

import os
import re
import subprocess
import sys
from pathlib import Path
from runpy import run_path

import pytest
import yaml
from packaging.version import Version

from granulearn.datasets.catalogue import catalogue
from release.newcomer import commands_of, link_commands, steps
from release.pythons import find_python, named_versions
from tests.test__extras import CONFIGURATION, PROJECT

ROOT = Path(__file__).resolve().parents[1]


def released(changelog):
    """Return the versions of the changelog with their dates, the newest first."""
    return re.findall(r"^## (\d+\.\d+\.\d+) \((\d{4}-\d\d-\d\d)\)$", changelog, re.MULTILINE)


def test_pyproject_citation_and_changelog_agree_on_the_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    version, date = released((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))[0]
    assert PROJECT["version"] == version == citation["version"]
    assert citation["date-released"].isoformat() == date
    assert citation["license"] == PROJECT["license"]
    assert [author["name"] for author in citation["authors"]] == [
        author["name"] for author in PROJECT["authors"]
    ]


def test_the_changelog_begins_with_what_is_not_released():
    headings = re.findall(r"^## .*$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert headings[0] == "## Unreleased"
    assert len(released("\n".join(headings))) == len(headings) - 1


def test_a_package_index_is_given_no_picture_and_no_link_that_it_cannot_resolve():
    text = run_path(str(ROOT / "setup.py"))["readme"]()
    assert "](" not in re.sub(r"\]\(https?://", "", text)
    assert "A review: 569" not in text
    assert "## Evidence" in text
    assert "archive of sources" in text


def bounds():
    """Yield each package that users may get, and its lowest version."""
    extras = PROJECT["optional-dependencies"]
    for_users = [PROJECT["dependencies"], *(extras[name] for name in USERS_EXTRAS)]
    for line in (line for lines in for_users for line in lines):
        found = re.match(r"([\w-]+)(?:\[[\w,]+\])?>=([\d.]+)", line)
        if found and "== 'darwin'" not in line:
            yield found.groups()


USERS_EXTRAS = ("excel", "plots", "datasets", "onnx", "dask", "studies", "rivals")


def test_every_bound_is_a_version_that_the_lowest_tests_install():
    lines = (ROOT / "constraints-lowest.txt").read_text(encoding="utf-8").splitlines()
    tried = dict(line.split("==") for line in lines if "==" in line)
    found = dict(bounds())
    assert {*found} == {*tried}
    for package, lowest in found.items():
        assert Version(tried[package]) == Version(lowest), package


WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))


def test_the_workflow_calls_make_and_only_what_it_knows():
    runs = [
        step["run"] for job in WORKFLOW["jobs"].values() for step in job["steps"] if "run" in step
    ]
    assert all(run.startswith("make ") for run in runs)
    asked = {target for run in runs for target in run.split()[1:]}
    # The parts of `make test`, in jobs of their own, and what is too slow for it.
    whole = {"lint", "types", "flow", "pytest", "docs", "dist", "test-lowest", "test-newest"}
    assert asked >= whole
    assert asked <= TARGETS


def test_the_workflow_tests_every_python_that_is_named():
    assert WORKFLOW["jobs"]["tests"]["strategy"]["matrix"]["python"] == named_versions()


@pytest.mark.parametrize("name", ["ci.yml", "wheels.yml"])
def test_workflows_need_no_secret_and_may_only_read(name):
    text = (ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8")
    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}
    assert "secrets" not in text


def test_wheels_are_built_for_every_python_that_is_named():
    built = CONFIGURATION["tool"]["cibuildwheel"]["build"].split()
    assert built == [f"cp{version.replace('.', '')}-*" for version in named_versions()]


def test_the_commands_of_a_newcomer_have_no_compiler(tmp_path):
    names = "gcc", "cc", "x86_64-linux-gnu-gcc-12", "clang", "sh", "tcc-like", "python3"
    (tmp_path / "bin").mkdir()
    for name in names:
        (tmp_path / "bin" / name).touch()
    link_commands(f"{tmp_path / 'bin'}{os.pathsep}/nowhere", tmp_path / "linked")
    assert {path.name for path in (tmp_path / "linked").iterdir()} == {"sh", "tcc-like", "python3"}


@pytest.mark.slow
def test_a_build_without_a_compiler_names_the_package_to_install(tmp_path):
    command = [sys.executable, "setup.py", "build_ext", "--force", "--build-temp", tmp_path / "t",
               "--build-lib", tmp_path / "lib"]  # fmt: skip
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"CC": "no-such-compiler"}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "no-such-compiler is missing" in done.stderr
    assert "apt-get install gcc" in done.stderr


PAGE = """
Install it with `pip install "granulearn[onnx]"`, or in a checkout with `pip install .`.

```sh
granulearn check a.csv \\
    --target b    # see what it holds
# a remark
zcat a.csv.gz | granulearn predict m -
make test
```

```python
>>> 1 + 1
2

```
"""


def test_the_commands_of_a_page_are_taken_word_for_word():
    commands, left_out = commands_of(PAGE)
    assert commands == [
        'pip install "granulearn[onnx]"',
        "granulearn check a.csv --target b",
        "zcat a.csv.gz | granulearn predict m -",
    ]
    assert left_out == ["pip install .", "make test"]


def test_a_command_finds_what_was_installed_before_it_and_nothing_else():
    plain, more = "pip install granulearn", 'pip install "granulearn[onnx]"'
    assert list(steps(["a", plain, "b", more])) == [
        ((plain,), "a"),  # a page that installs nothing first takes the package for granted
        ((plain,), "b"),
        ((plain, more), None),
    ]


@pytest.mark.parametrize("page", ["README.md", "docs/start/install.md", "docs/start/csv.md"])
def test_the_first_table_of_a_newcomer_comes_without_any_extra(page):
    commands, _ = commands_of((ROOT / page).read_text(encoding="utf-8"))
    exported = {
        command.split()[3]: installs
        for installs, command in steps(commands)
        if command and command.startswith("granulearn datasets export ")
    }
    assert exported
    for name, installs in exported.items():
        assert installs == ("pip install granulearn",)
        assert catalogue()[name].sources[0].startswith(("generated:", "sklearn:"))


def test_a_python_that_is_not_installed_is_not_found():
    this = "{}.{}".format(*sys.version_info)
    assert find_python(this) is not None
    assert find_python("3.99") is None
