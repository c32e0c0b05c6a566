"""What is no table is refused with a clear message, exit code 3, and nothing written."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.cli.commands import granulearn, in_real_process
from tests.end_to_end import bad_contents, bad_files
from tests.end_to_end.bad_tables import BAD, BadTable

pytestmark = pytest.mark.slow

SUBJECT = "granulearn: error: "
every_bad_table = pytest.mark.parametrize("name", BAD)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Return the folder of all files of this module."""
    return tmp_path_factory.mktemp("bad")


def made(folder: Path, name: str) -> Path:
    """Return the path of a bad file, which is made in a folder of its own."""
    if name == "unreadable_file" and os.geteuid() == 0:
        pytest.skip("the superuser may read everything")
    place = folder / name
    place.mkdir(parents=True)
    return BAD[name].make(place)


def unsaid(record: BadTable, path: Path, text: str) -> list[str]:
    """Return the words that a message lacks; those in the name of the folder do not count."""
    said = text.replace(str(path.parent), "")
    return [word for word in record.says if word not in said]


def test_every_maker_is_registered():
    makers = {
        name
        for module in (bad_files, bad_contents)
        for name, thing in vars(module).items()
        if callable(thing) and BAD.get(name) and BAD[name].make is thing
    }
    assert makers == set(BAD)
    assert len(BAD) >= 40


@every_bad_table
@pytest.mark.parametrize("verb", ["audit", "fit"])
def test_a_bad_table_is_refused_in_words_and_leaves_nothing(verb, name, folder):
    record = BAD[name]
    path = made(folder / verb, name)
    output = folder / verb / name / ("out.csv" if verb == "audit" else "out.granulearn")
    before = sorted(path.parent.rglob("*"))
    done = granulearn(verb, path, "--target", record.target, "-o", output, *record.options)
    assert (done.code, done.out) == (record.code, ""), done.err
    lines = done.err.splitlines()
    assert lines
    assert [line for line in lines if not line.startswith(SUBJECT)] == []
    assert unsaid(record, path, done.err) == []
    assert "please report" not in done.err
    assert sorted(path.parent.rglob("*")) == before


@every_bad_table
def test_check_refuses_what_no_verb_could_read(name, folder):
    record = BAD[name]
    path = made(folder / "check", name)
    done = granulearn("check", path, "--target", record.target, *record.options)
    # A table that can be read is surveyed all the same; what is wrong is said in either case.
    assert done.code in (0, record.code), done.err
    assert unsaid(record, path, done.out + done.err) == []


def test_a_real_process_says_the_same(folder):
    path = made(folder / "real", "ragged_rows")
    done = in_real_process("audit", path, "--target", "label")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(SUBJECT)
    assert "Traceback" not in done.stderr


def test_all_ragged_rows_are_listed_with_their_lines(folder):
    path = made(folder / "ragged", "ragged_rows")
    said = granulearn("audit", path, "--target", "label").err
    assert re.findall(r"line (\d+)", said) == ["4", "7", "19"]
