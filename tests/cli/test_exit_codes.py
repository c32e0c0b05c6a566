"""Each kind of failure has its code, and each code its meaning."""

import os
import re
from pathlib import Path

import pytest

from granulearn.cli import exit_codes
from granulearn.datasets import DatasetUnavailableError, UnknownDatasetError
from granulearn.models import ModelFileError, OnnxMismatchError
from granulearn.tables import TableError
from tests.cli.commands import fails, succeeds

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "command-line.md"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (TableError("x"), exit_codes.BAD_DATA),
        (UnknownDatasetError("x"), exit_codes.BAD_DATA),
        (DatasetUnavailableError("x"), exit_codes.BAD_DATA),
        (MemoryError(), exit_codes.BAD_DATA),
        (ModelFileError("x"), exit_codes.BAD_MODEL),
        (OnnxMismatchError("x"), exit_codes.BAD_MODEL),
        (PermissionError(13, "Permission denied", "out.csv"), exit_codes.NOT_WRITTEN),
        (FileNotFoundError("the folder x does not exist"), exit_codes.NOT_WRITTEN),
        (exit_codes.UsageError("x"), exit_codes.USAGE),
        (exit_codes.MissingToolError("x"), exit_codes.MISSING_PACKAGE),
        (exit_codes.InterruptedRunError("x"), exit_codes.INTERRUPTED),
        (ModuleNotFoundError(name="skl2onnx.common"), exit_codes.MISSING_PACKAGE),
        (ValueError("x"), exit_codes.UNEXPECTED),
    ],
    ids=lambda value: type(value).__name__,
)
def test_codes_of_failures(error, code):
    message, found = exit_codes.explain_failure(error)
    assert found == code
    assert message


def test_the_problems_of_a_table_are_said_one_by_one():
    problems = ("There is no column 'a'.", "There is no column 'b'.")
    assert exit_codes.explain_failure(TableError(*problems)) == (problems, exit_codes.BAD_DATA)


def test_a_missing_package_names_the_extra_to_install():
    message, _ = exit_codes.explain_failure(ModuleNotFoundError(name="skl2onnx.common"))
    assert message.endswith('pip install "granulearn[onnx]"')


def test_a_refused_file_is_named():
    message, _ = exit_codes.explain_failure(PermissionError(13, "Permission denied", "out.csv"))
    assert message == "out.csv: permission denied; check the path and the rights."


def test_every_code_is_documented_in_the_help_and_in_the_guide():
    listed = re.findall(r"^\| (\d+) \| (.+?) \|$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {int(code): meaning for code, meaning in listed} == exit_codes.MEANINGS
    shown = " ".join(succeeds("--help").out.split())
    assert all(f"{code}: " in shown for code in exit_codes.MEANINGS)


@pytest.mark.parametrize(
    "command",
    [
        ["predict", "MODEL", "none.csv"],
        ["predict", "none.skops", "TABLE"],
        ["export", "none.skops"],
        ["fit", "none.csv", "-t", "label"],
        ["balls", "none.csv", "-t", "label"],
        ["audit", "none.csv", "-t", "label"],
        ["check", "none.csv"],
    ],
    ids=" ".join,
)
def test_what_is_not_there_is_5(fitted, tmp_path, command):
    table, model = fitted
    named = {"MODEL": model, "TABLE": table}
    written = [] if command[0] == "check" else ["-o", tmp_path / "out.csv"]
    line = fails(exit_codes.NOT_WRITTEN, *[named.get(a, a) for a in command], *written)
    assert "none" in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("unreadable", ["table", "model"])
@pytest.mark.parametrize("who_finds_out", ["typer", "open"])
def test_what_may_not_be_read_is_5(fitted, tmp_path, monkeypatch, unreadable, who_finds_out):
    table, model = fitted
    path = table if unreadable == "table" else model

    def opened(self, *arguments, _open=Path.open, **options):
        if self == path:
            raise PermissionError(13, "Permission denied", str(self))
        return _open(self, *arguments, **options)

    def access(name, *arguments, _access=os.access, **options):
        return str(name) != str(path) and _access(name, *arguments, **options)

    if who_finds_out == "typer":
        monkeypatch.setattr("os.access", access)
    else:
        monkeypatch.setattr(Path, "open", opened)
    line = fails(exit_codes.NOT_WRITTEN, "predict", model, table, "-o", tmp_path / "out.csv")
    assert str(path) in line
    assert "rights" in line
