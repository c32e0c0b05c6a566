"""What is large goes by the size of the file, whatever its format."""

import os
import sys

from granulearn.cli import options as size
from granulearn.cli.options import is_large


def test_directories_and_files_above_a_share_of_memory_are_large(tmp_path, monkeypatch):
    file = tmp_path / "t.xlsx"
    file.write_bytes(b"a,b\n1,2\n")
    assert is_large(tmp_path)
    assert not is_large(file)
    assert not is_large(tmp_path / "absent.csv")
    monkeypatch.setattr(size, "LARGE_SHARE", 1e-15)
    assert not is_large(file), "it is small on any machine"
    monkeypatch.setattr(size, "SMALL_BYTES", 1)
    assert is_large(file)


def test_without_dask_a_file_is_large_where_the_system_tells_its_memory(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed.system", None)
    monkeypatch.setattr(size, "SMALL_BYTES", 1)
    monkeypatch.setattr(size, "LARGE_SHARE", 1e-15)
    file = tmp_path / "t.csv"
    file.write_text("a,b\n1,2\n")
    assert is_large(file) == hasattr(os, "sysconf")
    monkeypatch.delattr(os, "sysconf", raising=False)  # as on Windows
    assert not is_large(file)
