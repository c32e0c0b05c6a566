"""Files are written as a whole or not at all."""

import os
import stat

import pytest

from granulearn.report.files import write_atomically


def test_the_text_is_there_and_nothing_beside_it(tmp_path):
    path = tmp_path / "folder" / "a.html"
    write_atomically(path, "ä\nb")
    assert path.read_bytes() == "ä\nb".encode()
    assert list(path.parent.iterdir()) == [path]


def test_a_failure_leaves_the_old_file_and_no_draft(tmp_path, monkeypatch):
    path = tmp_path / "a.html"
    write_atomically(path, "old")

    def full_disk(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="no space"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_others_may_read_it_as_the_system_says(tmp_path):
    path = tmp_path / "a.html"
    before = os.umask(0o022)
    try:
        write_atomically(path, "text")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
