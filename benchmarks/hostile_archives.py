"""How long model files that were made to take time are looked at before they are refused.

    python benchmarks/hostile_archives.py

Each file is one of `tests/models/hostile_archives.py`, close to a limit of the reader or
far beyond it. The time is that of the processor, from the path to the message, in a
process that has loaded a model before. The exit code is 1 if a file is accepted, or takes a second.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from granulearn.models import ModelFileError, load_model
from tests.models.hostile_archives import hostile_files, plain_model


def main() -> int:
    """Time all files; return the exit code."""
    slowest, accepted = 0.0, 0
    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder, "first.granulearn")
        plain_model(first)
        load_model(first)
        print("| file | MB | seconds | refused, since |\n|---|---|---|---|")
        for name, path in hostile_files(Path(folder)):
            began = time.process_time()
            try:
                load_model(path)
                said, accepted = "ACCEPTED", accepted + 1
            except ModelFileError as error:
                said = str(error).partition("is refused: ")[2][:80]
            seconds = time.process_time() - began
            slowest = max(slowest, seconds)
            print(
                f"| {name} | {path.stat().st_size / 1e6:.1f} | {seconds:.2f} | {said} |", flush=True
            )
    print(f"\nslowest: {slowest:.2f} s of processor time")
    return int(slowest >= 1 or accepted > 0)


if __name__ == "__main__":
    sys.exit(main())
