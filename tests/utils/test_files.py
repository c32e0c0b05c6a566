"""A file or folder is there in full or not at all, and nothing else is left."""

import errno
import os
import re
import shutil
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from granulearn.utils.files import (
    _HOST,
    folder_written_atomically,
    remove_temporary_files,
    write_text_atomically,
    written_atomically,
)
from tests.processes import Code

WRITER = """
import sys
from pathlib import Path
from granulearn.utils.files import folder_written_atomically, written_atomically

is_folder = sys.argv[2] == "folder"
with (folder_written_atomically if is_folder else written_atomically)(sys.argv[1]) as temporary:
    (temporary / "part" if is_folder else temporary).write_text("half")
    print(temporary.name, flush=True)
    sys.stdin.read()
"""
DEAD = 2**22 + 1  # more than any system gives to a process
ways = pytest.mark.parametrize(
    ("kind", "write"), [("file", written_atomically), ("folder", folder_written_atomically)]
)


def names(folder) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_the_file_appears_only_at_the_end(tmp_path):
    target = tmp_path / "out.csv"
    with written_atomically(target) as temporary:
        temporary.write_text("whole")
        assert not target.exists()
        assert (temporary.parent, temporary.suffix) == (target.parent, ".csv")
    assert target.read_text() == "whole"
    assert names(tmp_path) == {"out.csv"}


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_failure_leaves_the_old_file_and_no_debris(tmp_path, failure):
    target = write_text_atomically(tmp_path / "out.csv", "old")

    def half_a_file():
        with written_atomically(target) as temporary:
            temporary.write_text("half")
            raise failure

    with pytest.raises(failure):
        half_a_file()
    assert target.read_text() == "old"
    assert names(tmp_path) == {"out.csv"}


def test_content_that_cannot_be_kept_on_the_disk_replaces_nothing(tmp_path, monkeypatch):
    target = write_text_atomically(tmp_path / "out.csv", "old")

    def full_disk(*_):
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space") as caught:
        write_text_atomically(target, "new")
    assert caught.value.filename == str(target)
    assert target.read_text() == "old"
    assert names(tmp_path) == {"out.csv"}


def test_a_text_is_there_as_it_is_in_a_folder_that_is_made(tmp_path):
    target = tmp_path / "new" / "folder" / "a.html"
    assert write_text_atomically(str(target), "ä\nb") == target
    assert target.read_bytes() == "ä\nb".encode()


def test_rights_follow_the_umask_or_the_file_that_is_replaced(tmp_path):
    target = tmp_path / "out"
    before = os.umask(0o027)
    try:
        write_text_atomically(target, "")
        assert stat.S_IMODE(target.stat().st_mode) == 0o640
        os.chmod(target, 0o622)
        write_text_atomically(target, "")
        assert stat.S_IMODE(target.stat().st_mode) == 0o622
    finally:
        os.umask(before)


def test_a_folder_appears_with_all_its_files_or_not_at_all(tmp_path):
    target = tmp_path / "out"
    with pytest.raises(IsADirectoryError), folder_written_atomically(target) as temporary:
        temporary.write_text("a folder is no file")
    assert names(tmp_path) == set()
    with folder_written_atomically(target) as temporary:
        (temporary / "a").write_text("1")
        assert not target.exists()
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "a"]


def test_a_missing_folder_and_a_folder_in_place_of_a_file_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere does not exist"):
        written_atomically(tmp_path / "nowhere" / "out.csv").__enter__()
    with pytest.raises(FileNotFoundError, match="nowhere"):
        folder_written_atomically(tmp_path / "nowhere" / "out").__enter__()
    with pytest.raises(IsADirectoryError, match="is a folder"):
        written_atomically(tmp_path).__enter__()


@pytest.mark.parametrize("exists", [True, False], ids=["old", "new"])
def test_of_a_link_the_file_it_leads_to_is_replaced(tmp_path, exists):
    (tmp_path / "far").mkdir()
    real, link = tmp_path / "far" / "real.csv", tmp_path / "link.csv"
    if exists:
        real.write_text("old")
    link.symlink_to(real)
    write_text_atomically(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert sorted(tmp_path.rglob("*")) == [real.parent, real, link]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_written_through_and_stays_a_pipe(tmp_path):
    pipe, link = tmp_path / "pipe.csv", tmp_path / "link.csv"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    text = "row\n" * 100_000  # more than a pipe holds
    for path in (pipe, link):
        with pytest.raises(KeyboardInterrupt), written_atomically(path) as temporary:
            raise KeyboardInterrupt  # would wait for a reader if the pipe was opened
        with ThreadPoolExecutor(1) as reader:
            got = reader.submit(pipe.read_text)
            with written_atomically(path) as temporary:
                temporary.write_text(text)
                assert temporary.suffix == ".csv"
            assert got.result(timeout=60) == text
        assert not temporary.parent.exists()
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert names(tmp_path) == {"pipe.csv", "link.csv"}


def test_standard_output_that_is_a_file_is_added_to_and_not_replaced(tmp_path):
    if not os.path.exists("/dev/stdout"):
        pytest.skip("this system has no /dev/stdout")
    program = (
        "import sys; from granulearn.utils.files import write_text_atomically\n"
        "for path in sys.argv[1:]: write_text_atomically(path, 'new')"
    )
    (tmp_path / "link").symlink_to("/dev/stdout")
    with (tmp_path / "out").open("w") as out:
        print("old", end=" ", file=out, flush=True)
        paths = ["/dev/stdout", tmp_path / "link"]
        subprocess.run([sys.executable, "-c", program, *paths], stdout=out, check=True)
    assert (tmp_path / "out").read_text() == "old newnew"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES])
def test_errors_name_the_file_asked_for_and_not_the_temporary_one(tmp_path, number):
    def fails():
        with written_atomically(tmp_path / "out.csv") as temporary:
            named = [str(temporary)] if number == errno.EACCES else []
            raise OSError(number, "so said the library", *named)

    with pytest.raises(OSError, match=re.escape(os.strerror(number))) as caught:
        fails()
    assert caught.value.filename == str(tmp_path / "out.csv")
    with pytest.raises(FileNotFoundError) as other, written_atomically(tmp_path / "out.csv"):
        (tmp_path / "input.csv").read_text()
    assert other.value.filename == str(tmp_path / "input.csv")
    assert names(tmp_path) == set()


@pytest.mark.skipif(os.name != "posix", reason="no way to ask for a process")
@ways
def test_what_a_killed_process_left_is_removed_by_the_next_that_writes_the_same(
    tmp_path, kind, write
):
    with Code(WRITER, tmp_path / "out", kind, asked=True) as process:
        left = process.stdout.readline().strip()
        process.kill()
    assert names(tmp_path) == {left}
    with write(tmp_path / "other"):
        pass
    assert names(tmp_path) == {left, "other"}
    with write(tmp_path / "out") as temporary:
        assert names(tmp_path) == {temporary.name, "other"}
    assert names(tmp_path) == {"out", "other"}


@ways
def test_what_a_living_process_writes_is_left_alone(tmp_path, kind, write):
    with Code(WRITER, tmp_path / "out", kind, asked=True) as process:
        theirs = process.stdout.readline().strip()
        with pytest.raises(ValueError, match="wrong"), write(tmp_path / "out"):
            raise ValueError("wrong")
        assert names(tmp_path) == {theirs}
        process.communicate()
    assert process.returncode == 0
    assert names(tmp_path) == {"out"}


@pytest.mark.parametrize(
    "name",
    ["out.csv", ".out.csv", ".out.granulearn-notes.part.csv",
     f".out.granulearn-{_HOST}-{DEAD}-0123abcd.part.tsv",
     f".out.granulearn-elsewhere-{DEAD}-0123abcd.part.csv",
     f".output.granulearn-{_HOST}-{DEAD}-0123abcd.part.csv"],
)  # fmt: skip
def test_files_of_other_names_are_never_touched(tmp_path, name):
    (tmp_path / name).write_text("kept")
    with pytest.raises(ValueError), written_atomically(tmp_path / "out.csv"):  # noqa: PT011
        raise ValueError
    assert (tmp_path / name).read_text() == "kept"


def test_many_writers_of_one_file_do_not_take_each_others_temporary_files(tmp_path):
    target = tmp_path / "out.csv"
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda number: write_text_atomically(target, str(number)), range(400)))
    assert int(target.read_text()) in range(400)
    assert names(tmp_path) == {"out.csv"}


@ways
def test_temporary_files_are_removed_with_a_process_that_ends_at_once(tmp_path, kind, write):
    with pytest.raises(FileNotFoundError), write(tmp_path / "out"):
        remove_temporary_files()
    assert names(tmp_path) == set()


def test_tasks_that_write_late_do_not_find_a_folder_that_was_given_up(tmp_path, monkeypatch):
    remove = shutil.rmtree

    def remove_while_a_task_writes(path, **options):
        with pytest.raises(FileNotFoundError):
            (folder / "late").touch()
        remove(path, **options)

    monkeypatch.setattr(shutil, "rmtree", remove_while_a_task_writes)
    with pytest.raises(FileExistsError), folder_written_atomically(tmp_path / "out") as folder:
        folder.mkdir()
    assert list(tmp_path.iterdir()) == []
