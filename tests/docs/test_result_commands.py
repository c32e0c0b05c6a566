"""The commands on pages of results can be typed as they stand there."""

import argparse
import os
import re
import runpy
import shlex
import sys
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from tests.docs.warm_processes import started

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "benchmarks"
WRITTEN = {
    str(page.relative_to(ROOT)): page.read_text(encoding="utf-8")
    for page in [ROOT / "docs" / "compare.md", *sorted((ROOT / "docs" / "results").glob("*.md"))]
}
BLOCK = re.compile(r"Made by:\n\n```\n(.*?)\n```", re.DOTALL)
PAGES = {
    Path(page).stem: found[1].splitlines()
    for page, text in WRITTEN.items()
    if page != "docs/compare.md" and (found := BLOCK.search(text))
}
OF_STUDIES = {name: lines for name, lines in PAGES.items() if " bench " in lines[0]}
SCRIPTED = [name for name, lines in PAGES.items() if lines[-1].startswith("python ")]
# A command in a line of its own, in a block, or between backticks, where lines may be broken.
IN_BLOCKS = re.compile(r"^(?:[A-Z_]+=\S+ )?(python benchmarks/.*)$", re.MULTILINE)
INLINE = re.compile(r"`(?:[A-Z_]+=\S+\s)?(python\sbenchmarks/[^`]*)`")
STATED = sorted(
    {
        (page, " ".join(command.split()))
        for page, text in WRITTEN.items()
        for command in [*IN_BLOCKS.findall(text), *INLINE.findall(text)]
    }
)
# What they take is one number or one page, which they read without a parser.
WITHOUT_PARSER = {"bench_serving.py", "load_test.py", "soak.py"}
# Pages whose command keeps a file of results, which a second command turns into the page.
OF_KEPT_RESULTS = ("audit", "doubtlab", "reviews", "values", "verdicts")


class Parsed(Exception):  # noqa: N818
    """The arguments of a script were read."""


def test_the_pages_of_studies_state_their_commands():
    studies = {"makers", "noise", "paper", "real_noise", "rivals_large", "sensitivity", "stress"}
    assert {*studies, "table1"} <= set(OF_STUDIES)


@pytest.mark.parametrize("name", OF_STUDIES)
def test_the_result_file_that_is_written_is_the_one_that_is_read(name):
    *studies, last = PAGES[name]
    stores = {shlex.split(line)[-1] for line in studies if " bench " in line}
    assert len(stores) == 1
    assert stores < set(shlex.split(last))
    assert all(line.startswith("GRANULEARN_DATA=") for line in studies)
    assert f"docs/results/{name}.md" in last or last.endswith("--tables docs/results")


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTED)
def test_a_script_takes_the_arguments_that_its_page_states(name, tmp_path):
    """Without results it stops at the missing result file, not at its arguments."""
    _, script, *arguments = shlex.split(PAGES[name][-1])
    words = ["python", str(ROOT / script), *arguments]
    process = started(shlex.join(words), tmp_path, tmp_path / "log", os.environ)
    process.join()
    assert process.exitcode == 1
    assert f"{arguments[0]} does not exist" in (tmp_path / "log").read_text()


@pytest.mark.parametrize("name", OF_KEPT_RESULTS)
def test_a_page_of_kept_results_states_what_its_script_prints(name):
    text = WRITTEN[f"docs/results/{name}.md"]
    commands = re.search(r"^```\n.*?^```\n", text, re.MULTILINE | re.DOTALL)[0]
    script = (BENCHMARKS / f"compare_{name}.py").read_text(encoding="utf-8")
    assert f'COMMANDS = """\\\n{commands}"""' in script
    run, report = commands.splitlines()[-3:-1]
    kept = f"python benchmarks/compare_{name}.py out/{name}.csv"
    assert (run, report) == (
        f"GRANULEARN_DATA=DIRECTORY {kept}", f"{kept} --report docs/results/{name}.md",
    )  # fmt: skip


def test_every_script_that_a_page_is_made_by_is_given_with_its_command():
    """`Made by` alone, with the name of a file, leaves out what the file has to be given."""
    for page, text in WRITTEN.items():
        for script in re.findall(r"Made by `benchmarks/([\w.]+)`", text):
            assert any(page == there and script in command for there, command in STATED), page


@pytest.mark.slow
@pytest.mark.parametrize(("page", "command"), STATED)
def test_the_parser_of_a_script_takes_what_a_page_gives_it(page, command, monkeypatch, tmp_path):
    _, script, *arguments = shlex.split(command)
    assert (ROOT / script).exists()
    if Path(script).name in WITHOUT_PARSER:
        assert len(arguments) <= 1
        return
    read = argparse.ArgumentParser.parse_args

    def read_and_stop(parser, *given, **named):
        read(parser, *given, **named)
        raise Parsed

    for name in ("doubtlab", "doubtlab.ensemble", "doubtlab.reason"):  # it is no part of ours
        monkeypatch.setitem(sys.modules, name, MagicMock())
    monkeypatch.syspath_prepend(BENCHMARKS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [script, *arguments])
    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", read_and_stop)
    # One script looks for a figure to draw before it reads the rest.
    with pytest.raises(FileNotFoundError if "--figure" in arguments else Parsed):
        runpy.run_path(str(ROOT / script), run_name="__main__")
