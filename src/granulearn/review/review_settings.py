"""What a review is told at its start, checked; and who decides, with which version."""

from __future__ import annotations

import getpass
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

from granulearn.audit.verified import AT_RANDOM, WORST_FIRST

if TYPE_CHECKING:
    from granulearn.tables import ColumnOptions

ORDERS = (WORST_FIRST, AT_RANDOM)


def check_order(order: str) -> None:
    """Raise if rows cannot be gone through in this order.

    Parameters
    ----------
    order : str
        One of `ORDERS`, or a mistake.
    """
    if order not in ORDERS:
        raise ValueError(f"order={order!r} must be one of {', '.join(ORDERS)}.")


def check_settings(keep: Sequence[str], sample: int, refit_every: int) -> None:
    """Raise if a review cannot begin with these settings.

    Parameters
    ----------
    keep : sequence of str
        Columns to show.
    sample : int
        Rows to draw at random.
    refit_every : int
        Decisions after which the audit is fitted again.
    """
    if isinstance(keep, str):
        raise ValueError(f"keep={keep!r} must be a list of columns, such as [{keep!r}].")
    for name, value in (("sample", sample), ("refit_every", refit_every)):
        if value < 1:
            raise ValueError(f"{name}={value!r} must be 1 or more.")


def leaving_out(options: ColumnOptions, group: str | None) -> ColumnOptions:
    """Return options by which the column of groups is no input.

    Parameters
    ----------
    options : ColumnOptions
        What is asked of the columns.
    group : str or None
        The column of groups, if there is one.
    """
    if group is None or group in options.ignore:
        return options
    return replace(options, ignore=(*options.ignore, group))


def user_name() -> str:
    """Return who decides, unless it is said."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in some containers
        return "somebody"


@cache
def installed_version() -> str:
    """Return with which version decisions are taken."""
    return version("granulearn")
