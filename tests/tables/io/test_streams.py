"""Streams become files, for as long as they are needed."""

import errno
import io
import os
import threading
from pathlib import Path

import pytest

from granulearn.tables import TableError
from granulearn.tables.io import streams
from granulearn.tables.io.files import StreamCopy, is_pipe_or_device, is_standard_input


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


@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero"])
def test_a_device_is_never_copied(device, tmp_path, monkeypatch):
    monkeypatch.setattr(streams.shutil, "copyfileobj", None)  # /dev/zero would fill the disk
    (tmp_path / "t.csv").symlink_to(device)
    for path in (Path(device), tmp_path / "t.csv"):
        with pytest.raises(TableError, match=f"{path} is a device"):
            StreamCopy(path)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EFBIG])
def test_no_room_for_a_copy_is_said(number, monkeypatch, tmp_path):
    def full(*_):
        raise OSError(number, "no space")

    monkeypatch.setattr(streams.shutil, "copyfileobj", full)
    monkeypatch.setattr(streams, "_opened", lambda _: io.BytesIO())
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match=r"no room for a copy of .*pipe; set TMPDIR"):
        StreamCopy(tmp_path / "pipe")
