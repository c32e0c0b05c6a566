"""Compiled loops that makers share: keys of the parts of a ball, and rows sorted by their part."""

import numpy as np

from granulearn.balls._compiled import compiled, mixed


@compiled
def part_key(key, part):
    """Return the key of one part of a ball: it depends on the path to the part alone."""
    return mixed(key ^ mixed(np.uint64(part)))


@compiled
def sort_by_part(
    perm,  # IN and OUT: rows of part 0 first, then of part 1, each in its old order
    start,
    stop,
    part,  # (stop - start,): the part of each row of the ball
    bounds,  # OUT (n_parts + 1,): where each part begins in perm, and the end of the last
    spare,  # OUT (stop - start,)
):
    """Sort the rows of a ball by their part, stably; return how many parts have rows."""
    n_parts = len(bounds) - 1
    bounds[:] = 0
    for i in range(stop - start):
        bounds[part[i] + 1] += 1
    n_filled = 0
    bounds[0] = start
    for k in range(n_parts):
        n_filled += bounds[k + 1] > 0
        bounds[k + 1] += bounds[k]
    for i in range(stop - start):
        spare[i] = perm[start + i]
    for i in range(stop - start):
        perm[bounds[part[i]]] = spare[i]
        bounds[part[i]] += 1
    # Each bound has moved to where the next part begins.
    for k in range(n_parts, 0, -1):
        bounds[k] = bounds[k - 1]
    bounds[0] = start
    return n_filled
