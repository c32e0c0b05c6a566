"""Any file is opened by what it holds; the same table has the same cells in every format."""

import gzip
import os
import subprocess
import sys
import threading
from pathlib import Path

import pandas as pd
import pytest

from granulearn.tables import TableError
from granulearn.tables.io import files
from granulearn.tables.io.files import open_table
from tests.tables.nasty_tables import rows_of


@pytest.mark.parametrize("header", ["ORC,ID", "PAR1,x", "ID3,GIF8", "RIFF,BZh", "ARROW1,y"])
def test_names_that_read_like_marks_of_formats_are_names(tmp_path, header):
    (tmp_path / "t.csv").write_text(f"{header}\n1,2\n")
    assert open_table(tmp_path / "t.csv").names == header.split(",")


@pytest.mark.parametrize(
    "content", [b"a,b\n1,2\n", gzip.compress(b"a,b\n1,2\n", mtime=0), b'{"a":1,"b":2}']
)
def test_a_pipe_is_read_by_what_it_holds_and_its_copy_is_removed(tmp_path, content):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    with open_table(pipe) as table:
        copies = table.parts()
        assert table.path == pipe
        assert rows_of(table.batches()) == rows_of(table.batches()) == [["1", "2"]]
        assert rows_of(copies[0].batches()) == [["1", "2"]]
    writer.join()
    with pytest.raises(FileNotFoundError):
        list(copies[0].batches())


def test_standard_input_is_named_in_messages_and_leaves_nothing_behind(tmp_path):
    code = (
        "from granulearn.tables.io.files import open_table\n"
        "print(open_table('-').names)\n"
        "try: open_table('/dev/stdin')\n"
        "except ValueError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=b"a;b\n1;2\n",
        capture_output=True,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        check=True,
    )
    assert done.stdout.decode().splitlines()[0] == "['a', 'b']"
    assert "standard input is empty" in done.stdout.decode()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero"])
def test_a_device_is_never_copied(device, tmp_path, monkeypatch):
    monkeypatch.setattr(files.shutil, "copyfileobj", None)  # /dev/zero would fill the disk
    (tmp_path / "t.csv").symlink_to(device)
    for path in (Path(device), tmp_path / "t.csv"):
        with pytest.raises(TableError, match=f"{path} is a device"):
            open_table(path)


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_the_first_look_and_the_first_pass_share_one_opening(ending, tmp_path, monkeypatch):
    path = tmp_path / f"t{ending}"
    pd.DataFrame({"a": range(5), "label": list("xyxyx")}).to_csv(path, index=False)
    opened, as_before = [], Path.open
    monkeypatch.setattr(
        Path, "open", lambda self, *given: [opened.append(self), as_before(self, *given)][1]
    )
    with open_table(path) as table:
        assert opened == [path]
        list(table.batches())
    assert opened == [path, path]
