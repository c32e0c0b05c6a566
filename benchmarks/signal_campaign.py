"""Stop all verbs at random moments, and let their disks fill up; count what is wrong.

    python benchmarks/signal_campaign.py [N] [SEED] [SECONDS]

N times (100 by default) a verb is stopped by SIGINT, SIGTERM, SIGHUP or SIGKILL, verb by verb
and signal by signal, at a moment drawn from the time that the verb takes. Within SECONDS, five
unless stated (a busy machine needs more), it must have ended with the exit code of the signal,
without a process, a part of a file, a temporary file or a stack trace left behind; what was
killed is run again, and tidies up. Then each verb is run with files of limited sizes, N / 2
times in all. Linux only.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.end_to_end.signals import (
    SECONDS_TO_END,
    SIGNALS,
    VERBS,
    again,
    fill_up,
    prepare,
    started,
    stop,
    wait_until_heard,
)

REVIEW_SECONDS = 6.0


def durations(inputs: Path, folder: Path) -> dict[str, float]:
    """Return how long each verb takes once it hears signals, undisturbed."""
    found = {}
    for verb in VERBS:
        if verb == "review":  # it ends when it is stopped
            found[verb] = REVIEW_SECONDS
            continue
        process = started(verb, inputs, folder / f"whole {verb}", "whole")
        wait_until_heard(process)
        began = time.monotonic()
        assert process.wait() == 0, (verb, (folder / f"whole {verb}" / "tmp.err").read_text())
        found[verb] = time.monotonic() - began
    return found


def main(n_moments: int = 100, seed: int = 0, seconds: int = SECONDS_TO_END) -> int:
    """Run the campaign; return the exit code."""
    rng, bad, codes, slowest = random.Random(seed), [], Counter(), 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        inputs = folder / "inputs"
        prepare(inputs)
        takes = durations(inputs, folder)
        sizes = {
            verb: max([p.stat().st_size for p in (folder / f"whole {verb}").iterdir()], default=0)
            for verb in takes
            if verb != "review"
        }
        for number in range(n_moments):
            verb = [*VERBS][number % len(VERBS)]
            own = SIGNALS[(number + number // len(VERBS)) % len(SIGNALS)]
            place = folder / f"stopped {number}"
            after = rng.uniform(0, takes[verb])
            found = stop(verb, inputs, place, own, after, seconds)
            if own == SIGNALS[-1]:
                found.faults += again(verb, inputs, place)
            codes[found.code] += 1
            slowest = max(slowest, found.seconds)
            if found.faults:
                bad.append(found)
                print(found, flush=True)
        told = ", ".join(f"{code}: {count}" for code, count in codes.most_common())
        print(f"{n_moments} moments, exit codes {told}; slowest end {slowest:.1f} s", flush=True)
        full = Counter()
        for number in range(n_moments // 2):
            verb = [*sizes][number % len(sizes)]
            limit = rng.randrange(sizes[verb] + 1)
            found = fill_up(verb, inputs, folder / f"full {number}", limit)
            full[found.code] += 1
            if found.faults:
                bad.append(found)
                print(found, flush=True)
        told = ", ".join(f"{code}: {count}" for code, count in full.most_common())
        print(f"{n_moments // 2} full disks, exit codes {told}")
    print(f"{len(bad)} with a fault")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
