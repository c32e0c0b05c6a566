"""A disk without room is known by its errors."""

import errno

import pytest

from granulearn._full_disk import is_disk_full


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EFBIG, errno.EDQUOT])
def test_a_full_disk_a_file_that_may_not_grow_and_a_used_up_share_are_no_room(number):
    assert is_disk_full(OSError(number, "no room"))


def test_other_errors_are_not_want_of_room():
    assert not is_disk_full(OSError(errno.EACCES, "no right"))
    assert not is_disk_full(OSError("without a number"))
