"""Small files are read as a whole; folders and what would fill the memory are not."""

import pytest

from granulearn.learning import size
from granulearn.learning.size import is_large


@pytest.fixture(name="path")
def file_of_100_bytes(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"x" * 100)
    return path


def test_a_folder_is_large(tmp_path):
    assert is_large(tmp_path)


@pytest.mark.parametrize(("memory", "large"), [(399.0, True), (400.0, False)])
def test_a_file_is_large_if_it_would_take_a_quarter_of_the_memory(path, monkeypatch, memory, large):
    monkeypatch.setattr(size, "SMALL_BYTES", 10)
    monkeypatch.setattr(size, "_memory", lambda: memory)
    assert is_large(path) is large


def test_nobody_asks_for_the_memory_because_of_a_small_file(path, monkeypatch):
    monkeypatch.setattr(size, "_memory", lambda: pytest.fail("it was asked for"))
    assert not is_large(path)


def test_what_is_no_file_is_not_large(tmp_path):
    assert not is_large(tmp_path / "nothing.csv")


def test_the_memory_is_that_of_a_machine():
    assert 2**26 < size._memory() < 2**50
