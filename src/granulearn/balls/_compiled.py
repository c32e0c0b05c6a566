"""How all loops are compiled, and where their random numbers come from.

Random numbers come from a counter-based generator (splitmix64): a draw is a
function of a key and a number, so neither the order of draws nor the number of
threads can change one. ``fastmath`` is never used: its rounding could change the
comparison that decides a split.
"""

import numpy as np
from numba import njit

compiled = njit(cache=True, nogil=True, error_model="numpy")
# Loops that allocate nothing and are called for every ball: counting who refers to the arrays
# that they pass on would take as long as what they do. numba's types do not know the option.
uncounted = njit(cache=True, nogil=True, error_model="numpy", _nrt=False)  # type: ignore[call-overload]

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
