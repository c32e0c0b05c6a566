"""A file is there in full or not at all."""

import errno
import os
import re
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from granulearn.models import written_atomically
from granulearn.models.atomic_files import folder_written_atomically, write_text_atomically


def test_the_file_appears_only_at_the_end(tmp_path):
    target = tmp_path / "out.csv"
    with written_atomically(target) as draft:
        draft.write_text("whole")
        assert not target.exists()
        assert draft.parent == target.parent
    assert target.read_text() == "whole"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_failure_leaves_the_old_file_and_no_debris(tmp_path, failure):
    target = tmp_path / "out.csv"
    target.write_text("old")

    def half_a_file():
        with written_atomically(target) as draft:
            draft.write_text("half")
            raise failure

    with pytest.raises(failure):
        half_a_file()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_content_that_cannot_be_kept_on_the_disk_replaces_nothing(tmp_path, monkeypatch):
    target = tmp_path / "out.csv"
    write_text_atomically(target, "old")

    def full_disk(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="no space"):
        write_text_atomically(target, "new")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_text_is_there_as_it_is_in_a_folder_that_is_made(tmp_path):
    target = tmp_path / "new" / "folder" / "a.html"
    assert write_text_atomically(str(target), "ä\nb") == target
    assert target.read_bytes() == "ä\nb".encode()
    assert list(target.parent.iterdir()) == [target]


def test_rights_are_those_of_any_new_file_or_of_the_one_replaced(tmp_path):
    plain, target = tmp_path / "plain", tmp_path / "out"
    plain.touch()
    with written_atomically(target):
        pass
    assert stat.S_IMODE(target.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    os.chmod(target, 0o640)
    with written_atomically(target):
        pass
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_folder_appears_with_all_its_files_or_not_at_all(tmp_path):
    target = tmp_path / "out"
    with pytest.raises(IsADirectoryError), folder_written_atomically(target) as draft:
        draft.write_text("a folder is no file")
    assert list(tmp_path.iterdir()) == []
    with folder_written_atomically(target) as draft:
        (draft / "a").write_text("1")
        assert not target.exists()
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "a"]
    with (
        pytest.raises(FileNotFoundError, match="nowhere"),
        folder_written_atomically(tmp_path / "nowhere" / "out"),
    ):
        pass


def add_files(folder, begun):
    """Add files to a folder until it is gone, as a worker that has not heard of the end."""
    for number in range(2_000):
        try:
            (folder / f"{threading.get_ident()}-{number}").touch()
        except FileNotFoundError:
            return
        if number == 100:
            begun.set()


def fail_while_others_write(path, writers):
    """Raise within a folder that four threads write to."""
    begun = threading.Event()
    with folder_written_atomically(path) as draft:
        for _ in range(4):
            writers.submit(add_files, draft, begun)
        begun.wait()
        raise ValueError("wrong")


def test_a_folder_of_which_nothing_comes_is_gone_while_others_still_write_to_it(tmp_path):
    with ThreadPoolExecutor(4) as writers:
        for name in "abcde":
            with pytest.raises(ValueError, match="wrong"):
                fail_while_others_write(tmp_path / name, writers)
            assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_and_a_folder_in_place_of_a_file_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere does not exist"):
        written_atomically(tmp_path / "nowhere" / "out.csv").__enter__()
    with pytest.raises(IsADirectoryError, match="is a folder"):
        written_atomically(tmp_path).__enter__()


def test_a_new_file_follows_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        with written_atomically(tmp_path / "out"):
            pass
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640


@pytest.mark.parametrize("exists", [True, False], ids=["old", "new"])
def test_of_a_link_the_file_it_leads_to_is_replaced(tmp_path, exists):
    (tmp_path / "far").mkdir()
    real, link = tmp_path / "far" / "real.csv", tmp_path / "link.csv"
    if exists:
        real.write_text("old")
        inode = real.stat().st_ino
    link.symlink_to(real)
    with written_atomically(link) as draft:
        draft.write_text("new")
        assert not exists or real.read_text() == "old"
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert not exists or real.stat().st_ino != inode
    assert sorted(tmp_path.rglob("*")) == [real.parent, real, link]


@pytest.fixture(name="pipe")
def make_pipe(tmp_path):
    """Return a named pipe."""
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no named pipes")
    os.mkfifo(tmp_path / "pipe.csv")
    return tmp_path / "pipe.csv"


@pytest.mark.parametrize("linked", [False, True], ids=["direct", "by a link"])
def test_a_pipe_is_written_through_and_stays_a_pipe(pipe, tmp_path, linked):
    path = tmp_path / "link.csv" if linked else pipe
    if linked:
        path.symlink_to(pipe)
    before = sorted(tmp_path.iterdir())
    text = "row\n" * 100_000  # more than a pipe holds
    with ThreadPoolExecutor(1) as reader:
        got = reader.submit(pipe.read_text)
        with written_atomically(path) as draft:
            draft.write_text(text)
            assert draft.suffix == ".csv"
        assert got.result(timeout=60) == text
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert sorted(tmp_path.iterdir()) == before
    assert not draft.parent.exists()


def test_a_failure_opens_no_pipe_and_leaves_no_draft(pipe):
    drafts = []

    def half_a_file():
        with written_atomically(pipe) as draft:
            drafts.append(draft)
            draft.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        half_a_file()  # would wait for a reader if it opened the pipe
    assert not drafts[0].parent.exists()
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_device_is_written_through_and_stays_a_device(tmp_path):
    null, link = tmp_path / "null", tmp_path / "link.csv"
    try:
        os.mknod(null, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        null.write_text("")
    except (OSError, AttributeError) as error:
        pytest.skip(f"a device cannot be made here: {error}")
    link.symlink_to(null)
    for path in (null, link):
        with written_atomically(path) as draft:
            draft.write_text("anything")
    assert stat.S_ISCHR(null.stat().st_mode)
    assert link.is_symlink()


def test_standard_output_that_is_a_file_is_added_to_and_not_replaced(tmp_path):
    if not os.path.exists("/dev/stdout"):
        pytest.skip("this system has no /dev/stdout")
    program = (
        "import sys; from granulearn.models import written_atomically\n"
        "for path in sys.argv[1:]:\n"
        "    with written_atomically(path) as draft: draft.write_text('new')"
    )
    (tmp_path / "link").symlink_to("/dev/stdout")
    with (tmp_path / "out").open("w") as out:
        print("old", end=" ", file=out, flush=True)
        paths = ["/dev/stdout", tmp_path / "link"]
        subprocess.run([sys.executable, "-c", program, *paths], stdout=out, check=True)
    assert (tmp_path / "out").read_text() == "old newnew"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES])
def test_errors_name_the_file_asked_for_and_not_the_draft(tmp_path, number):
    def fails():
        with written_atomically(tmp_path / "out.csv") as draft:
            named = [str(draft)] if number == errno.EACCES else []
            raise OSError(number, "so said the library", *named)

    with pytest.raises(OSError, match=re.escape(os.strerror(number))) as caught:
        fails()
    assert caught.value.filename == str(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_errors_about_other_files_are_passed_on(tmp_path):
    def fails():
        with written_atomically(tmp_path / "out.csv"):
            (tmp_path / "input.csv").read_text()

    with pytest.raises(FileNotFoundError) as caught:
        fails()
    assert caught.value.filename == str(tmp_path / "input.csv")
