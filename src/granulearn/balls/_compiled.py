"""How all loops are compiled, and where their random numbers come from.

Random numbers come from a counter-based generator (splitmix64): a draw is a
function of a key and a number, so neither the order of draws nor the number of
threads can change one. ``fastmath`` is never used: its rounding could change the
comparison that decides a split.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numba.core import event

LOGGER = logging.getLogger("granulearn.loops")


def compiled(function: Callable, **options: Any) -> Any:
    """Compile a loop when it is first called, and keep it for the next process.

    It is kept beside its source, or in the user's cache where that cannot be written
    (``NUMBA_CACHE_DIR`` names another place); if there is no place at all, it is compiled anew.

    Parameters
    ----------
    function : callable
        Arrays in, arrays out.
    **options
        Further ones of numba.
    """
    try:
        return njit(cache=True, nogil=True, error_model="numpy", **options)(function)
    except RuntimeError:  # numba has found no folder to write to
        return njit(nogil=True, error_model="numpy", **options)(function)


def uncounted(function: Callable) -> Any:
    """Compile a loop that allocates nothing and is called for every ball.

    Counting who refers to the arrays that it passes on would take as long as what it does.
    """
    return compiled(function, _nrt=False)


class _FirstRun(event.Listener):
    """Says once per process that loops are being compiled: for seconds, nothing is seen."""

    said = False

    def on_start(self, event: Any) -> None:
        loop = event.data["dispatcher"]
        if self.said or not loop.py_func.__module__.startswith("granulearn."):
            return
        self.said = True
        kept = loop.stats.cache_path
        where = f"kept in {kept}" if kept else "kept nowhere, set NUMBA_CACHE_DIR to keep them"
        # A warning, so that Python shows it where nobody has set up logging.
        LOGGER.warning(
            "compiling loops of granulearn for this machine: up to a minute; they are %s",
            where,
        )

    def on_end(self, event: Any) -> None:
        """Do nothing: the next loop is on its way."""


event.register("numba:compile", _FirstRun())

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
S11, S27, S30, S31 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31)

# The smaller part of a ball is always split first, so log2(n) entries would do.
STACK_SIZE = 128


@compiled
def mixed(z):
    """Return 64 well-mixed bits of a 64-bit state."""
    z = z + GOLDEN
    z = (z ^ (z >> S30)) * MIX_1
    z = (z ^ (z >> S27)) * MIX_2
    return z ^ (z >> S31)


@compiled
def uniform(key, counter):
    """Return draw number ``counter`` of the stream ``key``, in [0, 1)."""
    return float(mixed(key ^ mixed(np.uint64(counter))) >> S11) * 2.0**-53


@uncounted
def copy_into(target, begin, source, size):
    """Copy the first entries of one array into another, from ``begin`` on."""
    for i in range(size):
        target[begin + i] = source[i]
