"""Damage thousands of model files at random, and count what comes of them.

    python benchmarks/fuzz_model_files.py [N] [SEED]

2 N files (N is 10,000 by default) of all kinds of models are made: in N of them some bytes are
damaged, in N of them arrays or the header are edited and the digest is computed anew. A file must
be refused, or predict valid probabilities or finite numbers. What does otherwise
is listed with its kind and seed; the exit code is then 1.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.models.mutations import REFUSED, VALID, Worker
from tests.models.small_models import save_models


def main(n_files: int = 10_000, seed: int = 0) -> int:
    """Run the campaign; return the exit code."""
    began, counts, bad = time.monotonic(), Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        names = save_models(Path(folder))
        worker = Worker(Path(folder))
        try:
            for place, name in enumerate(names):
                numbers = range(seed + place, seed + n_files, len(names))
                seeds = [2 * number + odd for number in numbers for odd in (0, 1)]
                for own, (word, said) in worker.try_many(name, seeds).items():
                    counts["damaged" if own % 2 else "edited", word] += 1
                    if word not in (REFUSED, VALID):
                        bad.append(word)
                        print(f"{word}: {name}, seed {own}: {said}", flush=True)
        finally:
            worker.close()
    seconds = time.monotonic() - began
    told = ", ".join(f"{way} and {word} {count}" for (way, word), count in sorted(counts.items()))
    print(f"{2 * n_files} files of {len(names)} kinds in {seconds:.0f} s: {told}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
