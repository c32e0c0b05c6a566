"""What a killed process has left of a file is removed by the next one; nothing else is."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from granulearn.models import draft_files, written_atomically
from granulearn.models.atomic_files import folder_written_atomically
from granulearn.models.draft_files import held_draft, held_folder
from tests.warm_processes import Code

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no locks that end with a process")

WRITER = """
import sys
from pathlib import Path
from granulearn.models import draft_files, written_atomically

with written_atomically(Path(sys.argv[1])) as draft:
    draft.write_text("half")
    print(draft.name, flush=True)
    sys.stdin.read()
"""

FOLDER_WRITER = """
import sys
from pathlib import Path
from granulearn.models.atomic_files import folder_written_atomically

with folder_written_atomically(Path(sys.argv[1])) as draft:
    (draft / "part").write_text("half")
    print(draft.name, flush=True)
    sys.stdin.read()
"""


def writer(target, program=WRITER) -> tuple[Code, str]:
    """Start a process that is in the middle of writing; return it and the name of its draft."""
    process = Code(program, target, asked=True)
    return process, process.stdout.readline().strip()


def names(folder) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_what_a_killed_process_left_is_removed_by_the_next_that_writes_the_file(tmp_path):
    process, left = writer(tmp_path / "out.csv")
    with process:
        process.kill()
    assert names(tmp_path) == {left}
    with written_atomically(tmp_path / "other.csv") as draft:
        draft.touch()
    assert names(tmp_path) == {left, "other.csv"}  # the draft of another file
    with written_atomically(tmp_path / "out.csv") as draft:
        assert names(tmp_path) == {draft.name, "other.csv"}
    assert names(tmp_path) == {"out.csv", "other.csv"}


def test_what_a_living_process_writes_is_left_alone(tmp_path):
    target = tmp_path / "out.csv"
    process, theirs = writer(target)
    with process:
        with written_atomically(target) as draft:
            draft.write_text("ours")
        assert names(tmp_path) == {theirs, "out.csv"}
        process.communicate()
    assert process.returncode == 0
    assert target.read_text() == "half"
    assert names(tmp_path) == {"out.csv"}


@pytest.mark.parametrize(
    "name",
    ["out.csv", ".out.csv", ".out-abcdefgh.part.csv", ".out.granulearn-notes.part.csv",
     ".out.granulearn-abcdefgh.part.tsv", ".output.granulearn-abcdefgh.part.csv"],
)  # fmt: skip
def test_files_of_other_names_are_never_touched(tmp_path, name):
    (tmp_path / name).write_text("kept")
    with held_draft(tmp_path / "out.csv", ".csv"):
        pass
    assert (tmp_path / name).read_text() == "kept"


def test_a_link_with_the_name_of_a_draft_is_not_followed(tmp_path):
    (tmp_path / "precious").write_text("kept")
    link = tmp_path / ".out.granulearn-abcdefgh.part.csv"
    link.symlink_to(tmp_path / "precious")
    with held_draft(tmp_path / "out.csv", ".csv"):
        pass
    assert (tmp_path / "precious").read_text() == "kept"


def test_many_writers_of_one_file_do_not_take_each_others_drafts(tmp_path):
    target = tmp_path / "out.csv"

    def write(number: int) -> None:
        with written_atomically(target) as draft:
            draft.write_text(str(number))

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(write, range(400)))
    assert int(target.read_text()) in range(400)
    assert names(tmp_path) == {"out.csv"}


def test_without_locks_nothing_is_taken_for_left_behind(tmp_path, monkeypatch):
    left = tmp_path / ".out.granulearn-abcdefgh.part.csv"
    left.touch()
    monkeypatch.setattr("granulearn.models.draft_files.fcntl", None)
    with held_draft(tmp_path / "out.csv", ".csv") as draft:
        os.replace(draft, tmp_path / "out.csv")
    assert names(tmp_path) == {"out.csv", left.name}


def test_a_signal_that_comes_while_a_draft_is_made_leaves_none(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(draft_files, "_hold", interrupted)
    with pytest.raises(KeyboardInterrupt), held_draft(tmp_path / "t.csv", ".csv"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_a_killed_process_left_is_removed_by_the_next_that_writes_it(tmp_path):
    process, left = writer(tmp_path / "out", FOLDER_WRITER)
    with process:
        process.kill()
    assert names(tmp_path) == {left}
    with folder_written_atomically(tmp_path / "other"):
        pass
    assert names(tmp_path) == {left, "other"}  # the draft of another folder
    with folder_written_atomically(tmp_path / "out") as draft:
        assert names(tmp_path) == {draft.name, "other"}
    assert names(tmp_path) == {"out", "other"}


def test_a_folder_that_a_living_process_writes_is_left_alone(tmp_path):
    process, theirs = writer(tmp_path / "out", FOLDER_WRITER)
    with process:
        with pytest.raises(ValueError, match="wrong"), folder_written_atomically(tmp_path / "out"):
            raise ValueError("wrong")
        assert names(tmp_path) == {theirs}
        process.communicate()
    assert process.returncode == 0
    assert names(tmp_path) == {"out"}
    assert (tmp_path / "out" / "part").read_text() == "half"


def test_a_folder_that_was_being_removed_when_its_process_was_killed_is_removed(tmp_path):
    (tmp_path / ".out.granulearn-abcdefgh.parts.gone").mkdir()
    (tmp_path / ".out.granulearn-abcdefgh.parts.gone" / "part").touch()
    with held_folder(tmp_path / "out") as draft:
        assert names(tmp_path) == {draft.name}


@pytest.mark.parametrize(
    "name", ["out", ".out", ".out.granulearn-notes.parts", ".out.csv.granulearn-abcdefgh.parts"]
)
def test_folders_of_other_names_are_never_touched(tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "kept").touch()
    with held_folder(tmp_path / "out"):
        assert (tmp_path / name / "kept").exists()


def test_neither_a_link_nor_a_file_is_taken_for_a_folder_left_behind(tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "kept").touch()
    (tmp_path / ".out.granulearn-abcdefgh.parts").symlink_to(tmp_path / "precious")
    (tmp_path / ".out.granulearn-ijklmnop.parts").write_text("kept")
    with held_folder(tmp_path / "out"):
        assert (tmp_path / "precious" / "kept").exists()
        assert (tmp_path / ".out.granulearn-ijklmnop.parts").exists()


def test_folders_under_way_are_removed_with_a_process_that_ends_without_a_further_word(tmp_path):
    with held_folder(tmp_path / "out") as draft:
        (draft / "part").touch()
        draft_files.remove_open_drafts()
        assert names(tmp_path) == set()
