"""A worker of `mutations` that one seed aborts and another one keeps in a loop, for its test."""

import os
import sys
from pathlib import Path

from tests.models import mutations

ABORTS, LOOPS = 2, 4
edited, outcome_of = mutations.edited, mutations.outcome_of
seeds = []


def edited_and_noted(data, seed):
    """Edit a file, and remember by which seed."""
    seeds.append(seed)
    return edited(data, seed)


def outcome_or_end(*args):
    """Return what comes of a file, unless its seed ends the process."""
    if seeds and seeds[-1] == ABORTS:
        os.abort()
    while seeds and seeds[-1] == LOOPS:
        pass
    return outcome_of(*args)


if __name__ == "__main__":
    mutations.edited, mutations.outcome_of, mutations.SECONDS = (
        edited_and_noted,
        outcome_or_end,
        1,
    )
    mutations.serve(Path(sys.argv[1]), bool(int(sys.argv[2])))
