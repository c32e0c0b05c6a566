"""The verbs: listed without being imported, helped by examples, wrong options in one line."""

import subprocess
import sys
from itertools import pairwise

import pytest

import granulearn
from granulearn.cli import application, exit_codes
from granulearn.cli.application import VERBS, Verb
from granulearn.cli.main import run
from tests.cli.commands import fails, succeeds
from tests.warm_processes import Command

OUR_VERBS = [
    "check",
    "audit",
    "correct",
    "decisions",
    "fit",
    "predict",
    "inspect",
    "balls",
    "export",
    "models",
    "datasets",
]


def test_version():
    assert succeeds("--version").out == f"granulearn {granulearn.__version__}\n"


def test_help_lists_every_verb_with_examples():
    shown = succeeds("--help").out
    for name in OUR_VERBS:
        assert f"{name} " in shown
        assert VERBS[name].summary in shown
    assert "granulearn fit credit.csv --target target -o credit.skops" in shown


@pytest.mark.parametrize("name", OUR_VERBS)
def test_help_of_each_verb_has_an_example(name):
    assert f"Example: granulearn {name}" in " ".join(succeeds(name, "--help").out.split())


@pytest.mark.parametrize("name", ["fit", "predict", "inspect", "correct"])
def test_paragraphs_of_help_flow(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    described = succeeds(name, "--help").out.partition("╭")[0].partition("Usage:")[2]
    lines = [line.strip() for line in described.splitlines()][1:]
    pairs = [(line, after) for line, after in pairwise(lines) if line and after]
    assert len(pairs) >= 3
    for line, after in pairs:
        # Had the first word of the next line found room, the line would have been broken too early.
        assert len(line) + 1 + len(after.split()[0]) > 76, line


def test_listing_imports_no_verb_and_nothing_they_need():
    code = (
        "import sys; from granulearn.cli.main import run; before = set(sys.modules); "
        "run(['--help']); new = set(sys.modules) - before; "
        "wanted = ['granulearn.cli.fit', 'granulearn.models', 'pyarrow', 'pandas', 'skops'];"
        "assert 'typer' in new; print([name for name in wanted if name in new])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_verb_whose_file_is_missing_is_not_listed(monkeypatch):
    monkeypatch.setitem(VERBS, "later", Verb("granulearn.cli.of_the_future:later", "Someday."))
    assert "later" not in succeeds("--help").out
    assert "No such command 'later'" in fails(exit_codes.USAGE, "later")


def test_a_verb_whose_packages_are_missing_is_listed_and_says_what_to_install(monkeypatch):
    def import_module(name):
        raise ModuleNotFoundError(name="skl2onnx")

    monkeypatch.setattr(application, "import_module", import_module)
    assert "predict" in succeeds("--help").out
    line = fails(exit_codes.MISSING_PACKAGE, "predict", "a", "b")
    assert 'pip install "granulearn[onnx]"' in line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["frobnicate"], "No such command 'frobnicate'"),
        (["fit", "x.csv", "-o", "m"], "Missing option '--target'"),
        (["fit", "x.csv", "--target", "y", "-o", "m", "--model", "tree"], "is not one of"),
        (["fit", "x.csv", "--target", "y", "-o", "m", "--test", "2"], "0.9"),
        (["predict", "--frob"], "No such option"),
    ],
)
def test_wrong_options_are_one_line_and_2(arguments, said):
    line = fails(exit_codes.USAGE, *arguments)
    assert said in line
    assert "--help" in line


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_offers_the_verbs_without_importing_them(shell, monkeypatch, capsys):
    monkeypatch.setattr(application, "import_module", None)
    variables = {"_GRANULEARN_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": "granulearn "}
    variables |= {"COMP_WORDS": "granulearn ", "COMP_CWORD": "1"}
    variables |= {"_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit):
        run([])
    offered = capsys.readouterr().out
    assert all(name in offered for name in OUR_VERBS)


def test_completion_offers_models_and_the_columns_of_the_table(tmp_path):
    (tmp_path / "t.tsv").write_text("age\tmy city\tlabel\n1\ta\tb\n")

    def offered(words):
        variables = {"_GRANULEARN_COMPLETE": "complete_bash", "COMP_WORDS": words}
        last = str(len(words.split(" ")) - 1)
        out, _ = Command(cwd=tmp_path, **variables, COMP_CWORD=last).communicate()
        return out.splitlines()

    assert offered("granulearn check t.tsv --target ") == ["age", "my city", "label"]
    assert offered("granulearn fit t.tsv --ignore a") == ["age"]
    assert offered("granulearn fit t.tsv --model g") == ["gb-rvfl", "ge-gbrvfl"]
