"""Which errors say that a disk has no room."""

from __future__ import annotations

import errno

# The disk is full, a file may not grow, a user's share is used up.
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


def is_disk_full(error: OSError) -> bool:
    """Return whether something could not be written for want of room.

    Parameters
    ----------
    error : OSError
        What was raised.
    """
    return error.errno in _FULL
