"""Processor times of work here and of other programs, and a table to read in that time."""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

SOURCE = Path(__file__).resolve().parents[1] / "src"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def write_mixed(path: Path, rows: int) -> None:
    """Write 8 columns of numbers, a price, a date, 2 categories, and a label of 2 classes.

    Parameters
    ----------
    path : Path
        CSV file to write.
    rows : int
        Number of rows.
    """
    rng = np.random.default_rng(0)
    numbers = {f"x{i}": np.round(rng.normal(size=rows) * 10 ** (i % 4), 3) for i in range(8)}
    days = pd.to_timedelta(rng.integers(0, 1500, rows), unit="D")
    frame = pd.DataFrame(numbers).assign(
        price=[f"${price:,.2f}" for price in rng.lognormal(6, 1, rows)],
        day=(pd.Timestamp("2020-01-01") + days).strftime("%Y-%m-%d"),
        colour=rng.choice(["red", "green", "blue"], rows),
        city=rng.choice([f"city {number}" for number in range(30)], rows),
        label=np.where(numbers["x0"] + rng.normal(size=rows) > 0, "good", "bad"),
    )
    frame.to_csv(path, index=False)


def seconds(work: Callable[[], object], rounds: int = 1) -> float:
    """Return the processor time of some work in this process, the median of some rounds.

    Parameters
    ----------
    work : callable
        What to time.
    rounds : int, default=1
        How often.
    """
    found = []
    for _ in range(rounds):
        begin = time.process_time()
        work()
        found.append(time.process_time() - begin)
    return statistics.median(found)


def run(call: list[str]) -> float:
    """Run a program with one thread, and this checkout on its path; return its processor time.

    Parameters
    ----------
    call : list of str
        The program and its arguments.
    """
    path = os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        call, check=True, capture_output=True, env=os.environ | ONE_THREAD | {"PYTHONPATH": path}
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def count_opens(call: list[str], path: Path) -> int | None:
    """Return how often a program opens a file, or None without strace.

    Parameters
    ----------
    call : list of str
        The program and its arguments.
    path : Path
        The file.
    """
    if shutil.which("strace") is None:
        return None
    log = path.with_suffix(".strace")
    run(["strace", "-f", "-e", "trace=open,openat", "-o", str(log), *call])
    return sum(f'"{path}"' in line for line in log.read_text(errors="replace").splitlines())
