"""Run the tests with every version of Python that pyproject.toml names, where it is installed.

Run ``python release/pythons.py ARGUMENTS OF PYTEST``. Each version has an environment of its own,
``.venv-python3.X``. What is not installed is said, and fails nothing.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = "excel,plots,datasets,onnx,dask,studies,test"
_CLASSIFIER = "Programming Language :: Python :: 3."


def named_versions() -> list[str]:
    """Return the versions of Python that the package says it runs with."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [
        f"3.{classifier.removeprefix(_CLASSIFIER)}"
        for classifier in project["classifiers"]
        if classifier.startswith(_CLASSIFIER)
    ]


def find_python(version: str) -> str | None:
    """Return the command of a version of Python, or None where there is none.

    Parameters
    ----------
    version : str
        As in 3.12.
    """
    versions = Path.home() / ".pyenv" / "versions"
    candidates = [f"python{version}", *map(str, sorted(versions.glob(f"{version}.*/bin/python")))]
    for candidate in candidates:
        # pyenv puts a command on the path for each version, which fails unless it is chosen.
        try:
            said = subprocess.run([candidate, "--version"], capture_output=True, text=True)
        except OSError:
            continue
        if said.returncode == 0 and re.match(rf"Python {re.escape(version)}\.", said.stdout):
            return candidate
    return None


def environment(version: str, python: str) -> Path:
    """Return the folder of an environment with granulearn and what its tests need.

    Parameters
    ----------
    version : str
        As in 3.12.
    python : str
        What starts it.
    """
    folder = ROOT / f".venv-python{version}"
    installed = folder / "installed"
    project = ROOT / "pyproject.toml"
    if not installed.exists() or installed.stat().st_mtime < project.stat().st_mtime:
        print(f"== making the environment {folder.name}", flush=True)
        subprocess.run([python, "-m", "venv", folder], check=True)
        pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet"]
        subprocess.run(
            [*pip, "--disable-pip-version-check", "--editable", f".[{EXTRAS}]"],
            cwd=ROOT,
            check=True,
        )
        installed.touch()
    return folder


def main() -> None:
    """Run the tests with all versions, and leave with an error if one of them fails."""
    results = {}
    for version in named_versions():
        python = find_python(version)
        if python is None:
            results[version] = "not installed"
            continue
        folder = environment(version, python)
        print(f"== tests with Python {version} (pytest)", flush=True)
        pytest = [folder / "bin" / "python", "-m", "pytest", "--quiet", *sys.argv[1:]]
        passed = subprocess.run(pytest, cwd=ROOT).returncode == 0
        results[version] = "passed" if passed else "failed"
    for version, result in results.items():
        print(f"== Python {version}: {result}")
    sys.exit("failed" in results.values())


if __name__ == "__main__":
    main()
