"""A file is there in full or not at all."""

import os
import stat

import pytest

from granulearn.persistence import written_atomically


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


def test_a_missing_folder_and_a_folder_in_place_of_a_file_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere does not exist"):
        written_atomically(tmp_path / "nowhere" / "out.csv").__enter__()
    with pytest.raises(IsADirectoryError, match="is a folder"):
        written_atomically(tmp_path).__enter__()
