"""Streams become files, for as long as they are needed."""

import os
import threading
from pathlib import Path

import pytest

from granulearn.tables.readers import streams
from granulearn.tables.readers.streams import StreamCopy, is_pipe_or_device, is_standard_input


def test_what_is_a_stream_is_known(tmp_path):
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    assert [is_standard_input(Path(name)) for name in ("-", "/dev/stdin", "t.csv")] == [
        True,
        True,
        False,
    ]
    paths = [
        tmp_path / "pipe",
        tmp_path / "file",
        tmp_path,
        tmp_path / "nowhere",
        Path("/dev/null"),
    ]
    assert [is_pipe_or_device(path) for path in paths] == [True, False, False, False, True]


def test_a_copy_has_all_bytes_and_is_removed(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    content = bytes(range(256)) * 10_000
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(content,))
    writer.start()
    with StreamCopy(tmp_path / "pipe") as copy:
        assert copy.path.read_bytes() == content
    writer.join()
    assert not copy.path.parent.exists()


def test_a_closed_standard_input_is_said(monkeypatch):
    monkeypatch.setattr(streams.sys, "stdin", None)
    with pytest.raises(OSError, match="standard input is closed"):
        StreamCopy(Path("-"))


def test_no_room_for_a_copy_is_said(monkeypatch):
    def full(*_):
        raise OSError(streams.errno.ENOSPC, "no space")

    monkeypatch.setattr(streams.shutil, "copyfileobj", full)
    with pytest.raises(OSError, match="no room for a copy of /dev/null; set TMPDIR"):
        StreamCopy(Path("/dev/null"))
