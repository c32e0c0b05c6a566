"""How long reading a table with the survey takes, against Arrow reading it without one.

Limits: at most 2 times `pyarrow.csv.read_csv` for a million rows of 20 columns, constant memory
of batches; `granulearn check` of a small file at most twice the time of importing pandas;
`granulearn --help` below 0.4 s. Every figure is a ratio of times taken in turn in one run.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from granulearn.tables import open_table
from granulearn.tables.infer import infer_schema
from granulearn.tables.inspection import first_pass

ROWS = 1_000_000
ROUNDS = 5


def write_table(path: Path, rows: int) -> None:
    """Write 14 columns of decimals, 2 of whole numbers, 4 of categories."""
    random = np.random.default_rng(0)
    columns = {
        f"x{number}": np.round(random.normal(size=rows) * 10 ** (number % 5), 4)
        for number in range(14)
    }
    columns |= {f"n{number}": random.integers(0, 100_000, rows) for number in range(2)}
    colours = np.array(["red", "green", "blue", "yellow"])
    columns |= {f"c{number}": colours[random.integers(0, 4, rows)] for number in range(3)}
    columns["label"] = np.array(["good", "bad"])[random.integers(0, 2, rows)]
    options = arrow_csv.WriteOptions(quoting_style="none")
    arrow_csv.write_csv(pa.table(columns), path, options)


def seconds(work: Callable[[], object]) -> float:
    """Return how long some work takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def profiled(path: Path) -> object:
    """Read a table with its profile, down to its schema."""
    with open_table(path) as file:
        profile = first_pass(file.batches(), None)
    return infer_schema(profile.columns) if profile else None


def ratio(ours: Callable[[], object], theirs: Callable[[], object]) -> str:
    """Return the median of ratios of times taken in turn, with the lowest and the highest."""
    ratios = [seconds(ours) / seconds(theirs) for _ in range(ROUNDS)]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def command(*arguments: str) -> Callable[[], object]:
    """Return a call of Python in a process of its own."""
    return lambda: subprocess.run([sys.executable, *arguments], capture_output=True, check=True)


# The peak since the program began; getrusage would count that of the process that started it.
PEAK = """
import sys
from granulearn.tables import open_table
rows = sum(batch.num_rows for batch in open_table(sys.argv[1]).batches())
with open("/proc/self/status") as status:
    peak = next(line.split()[1] for line in status if line.startswith("VmHWM"))
print(rows, int(peak) // 1024)
"""


def main() -> None:
    """Print all figures."""
    with tempfile.TemporaryDirectory() as folder:
        path, small = Path(folder) / "table.csv", Path(folder) / "small.csv"
        write_table(path, ROWS)
        write_table(small, 500)
        size = path.stat().st_size / 1e6
        print(f"{ROWS:,} rows x 20 columns of CSV, {size:.0f} MB; {ROUNDS} rounds, median")
        arrow_csv.read_csv(path)  # the file is in the cache of the system
        reading = ratio(lambda: profiled(path), lambda: arrow_csv.read_csv(path))
        print(f"reading with the survey / pyarrow.csv.read_csv: {reading}")
        for rows in (ROWS, 3 * ROWS):
            write_table(path, rows)
            done = subprocess.run(
                [sys.executable, "-c", PEAK, str(path)], capture_output=True, text=True, check=True
            )
            n_rows, megabytes = done.stdout.split()
            print(f"memory of reading {int(n_rows):,} rows in batches: {megabytes} MB")
        check = command("-m", "granulearn", "check", str(small), "--target", "label")
        check_ratio = ratio(check, command("-c", "import pandas"))
        print(f"granulearn check of 500 rows / import pandas: {check_ratio}")
        help_text = command("-m", "granulearn", "--help")
        times = sorted(seconds(help_text) for _ in range(ROUNDS))
        print(f"granulearn --help: {times[ROUNDS // 2]:.2f} s")


if __name__ == "__main__":
    main()
