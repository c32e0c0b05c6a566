"""A worker of `mutations` that one seed aborts and another one keeps in a loop, for its test."""

import os
import sys
from pathlib import Path

from tests.models import mutations

ABORTS, LOOPS = 2, 4
damaged, outcome_of = mutations.damaged, mutations.outcome_of
seeds = []


def damaged_and_noted(members, seed):
    """Damage a file, and remember by which seed."""
    seeds.append(seed)
    return damaged(members, seed)


def outcome_or_end(*args):
    """Return what comes of a file, unless its seed ends the process."""
    if seeds and seeds[-1] == ABORTS:
        os.abort()
    while seeds and seeds[-1] == LOOPS:
        pass
    return outcome_of(*args)


if __name__ == "__main__":
    mutations.damaged, mutations.outcome_of, mutations.SECONDS = (
        damaged_and_noted,
        outcome_or_end,
        1,
    )
    mutations.serve(Path(sys.argv[1]), bool(int(sys.argv[2])))
