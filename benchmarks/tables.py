"""Reading tables: speed beside Arrow and pandas, and reports of dirt planted in real tables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.csv as arrow_csv

from benchmarks.harness import Benchmark, Row, Task, markdown
from benchmarks.processor_times import SOURCE, count_opens, run, seconds, write_mixed
from granulearn.tables import inspect_table, open_table
from tests.end_to_end.messy_records import unsaid
from tests.end_to_end.messy_sources import shared_directory
from tests.end_to_end.messy_tables import SHARED, TABLES, Planted

# ---- Speed ---------------------------------------------------------------------------------

SPEED = """\
A made-up table: 8 columns of numbers, a price, a date, 2 categories and a label. Processor time
on one thread, the median of five rounds; commands in processes of their own."""
# The peak since the program began; getrusage would count that of the process that started it.
PEAK = """
import sys
from granulearn.tables import open_table
rows = sum(batch.num_rows for batch in open_table(sys.argv[1]).batches())
with open("/proc/self/status") as status:
    print(next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""


def inspect(path: Path) -> None:
    """Read a table and profile its columns and labels."""
    with open_table(path) as file:
        inspect_table(file, "label")


def reading(n_rows: int, rounds: int) -> list[Row]:
    """Return the time of reading with a profile over Arrow's, and the memory of batches."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        write_mixed(path, n_rows)
        ratios = [
            seconds(lambda: inspect(path)) / seconds(lambda: arrow_csv.read_csv(path))
            for _ in range(rounds)
        ]
        command = [sys.executable, "-c", PEAK, str(path)]
        peak = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=own_environment())
    return [
        {"measure": "reading with profile / pyarrow.csv", "value": float(np.median(ratios))},
        {"measure": "peak memory of batches, MB", "value": int(peak.stdout) / 1024},
    ]


def commands(n_rows: int, rounds: int) -> list[Row]:
    """Return the time of commands over the import of pandas, and how often they open the table."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        write_mixed(path, n_rows)
        target = [str(path), "--target", "label"]
        verbs = {
            "check": ["check", *target],
            "fit": ["fit", *target, "--model", "rvfl", "-o", f"{folder}/model.granulearn"],
            "audit": ["audit", *target, "-o", f"{folder}/audit.csv"],
        }
        for verb, arguments in verbs.items():
            command = [sys.executable, "-m", "granulearn", *arguments]
            run(command)  # the files are in the cache of the system
            imports = [sys.executable, "-c", "import pandas"]
            ratios = [run(command) / run(imports) for _ in range(rounds)]
            rows.append({"measure": f"{verb} / import pandas", "value": float(np.median(ratios))})
            opens = count_opens(command, path)
            if opens is not None:
                rows.append({"measure": f"opens of the table, {verb}", "value": opens})
    return rows


def help_text(rounds: int) -> Row:
    """Return the seconds of `granulearn --help`."""
    command = [sys.executable, "-m", "granulearn", "--help"]
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=own_environment())
        times.append(time.perf_counter() - began)
    return {"measure": "granulearn --help, seconds of the clock", "value": float(np.median(times))}


def wide(n_columns: int) -> Row:
    """Return the time of `check` over that of half the columns: 2 is in proportion."""
    with tempfile.TemporaryDirectory() as folder:
        times = []
        for count in (n_columns, n_columns // 2):
            path = Path(folder) / f"{count}.csv"
            numbers = np.random.default_rng(0).normal(size=(6, count)).round(4)
            frame = pd.DataFrame(numbers).add_prefix("x").assign(label=["no", "yes"] * 3)
            frame.to_csv(path, index=False)
            command = [sys.executable, "-m", "granulearn", "check", str(path), "--target", "label"]
            times.append(run(command))
    return {"measure": "check, over half the columns", "value": times[0] / times[1]}


def speed_tasks(quick: bool) -> Iterator[Task]:
    """Yield sizes of tables."""
    rounds, scale = (1, 20) if quick else (5, 1)

    def task(measure: Callable, *sizes) -> Task:
        return {"of": f"{sizes[0]:,}"}, partial(measure, *sizes)

    for n_rows in (300_000, 1_000_000):
        yield task(reading, n_rows // scale, rounds)
    for n_rows in (500, 100_000):
        yield task(commands, n_rows // scale + 100, rounds)
    yield task(wide, 20_000 // scale)
    yield {"of": "help"}, partial(help_text, rounds)


def speed_tables(found: pd.DataFrame) -> Iterator[str]:
    """Yield one table."""
    yield markdown(found.set_index("measure")[["of", "value"]], 2)


# ---- Messy tables --------------------------------------------------------------------------

MESSY = """\
Faults are planted in real tables. `granulearn audit` and `granulearn fit` read them with no option
but `--target`. The page lists the exit codes and the reported faults."""
COUNTS = ("duplicates", "conflicts")


def own_environment() -> dict[str, str]:
    """Return the environment of processes that use this checkout."""
    path = os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")])
    return os.environ | {"PYTHONPATH": path, "COLUMNS": "200"}


def granulearn(*arguments: object) -> subprocess.CompletedProcess:
    """Run a command."""
    return subprocess.run(
        [sys.executable, "-m", "granulearn", *map(str, arguments)],
        env=own_environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip


def report(path: Path, target: str, names: list[str], planted: Planted | None = None) -> Row:
    """Return exit codes, and which of the planted faults are reported."""
    with tempfile.TemporaryDirectory() as folder:
        audit = granulearn("audit", path, "--target", target)
        model = Path(folder) / "model.granulearn"
        fit = granulearn("fit", path, "--target", target, "-o", model)
    missing = unsaid(names, "\n".join((audit.stdout, audit.stderr, fit.stdout, fit.stderr)))
    reported = [name for name in names if name not in missing]
    if planted is not None:
        check = granulearn("check", path, "--target", target, "--json")
        found = json.loads(check.stdout) if check.returncode == 0 else {}
        types = {column["name"]: column["type"] for column in found.get("columns", [])}
        for name, kind in planted.kinds.items():
            (reported if types.get(name) == kind else missing).append(f"{name} is a {kind}")
        for name in COUNTS:
            if getattr(planted, name):
                enough = found.get(name, 0) >= getattr(planted, name)
                (reported if enough else missing).append(name)
    return {
        "audit": audit.returncode,
        "fit": fit.returncode,
        "reported": ", ".join(reported),
        "not reported": ", ".join(missing),
    }


def report_made(name: str) -> Row:
    """Make a table of the tests, and report it."""
    table = TABLES[name]
    with tempfile.TemporaryDirectory() as folder:
        planted = table.make(Path(folder))
        names = [*planted.oddities, *planted.small]
        names += [str(planted.unlabelled)] if planted.unlabelled else []
        row = report(planted.path, planted.target, list(dict.fromkeys(names)), planted)
    return {"what is odd": table.odd} | row


def messy_tasks(quick: bool) -> Iterator[Task]:
    """Yield the tables of the tests, and those of the data folder."""
    for name in [*TABLES][: 4 if quick else None]:
        yield {"table": name}, partial(report_made, name)
    folder = None if quick else shared_directory()
    for file, (target, odd, names) in SHARED.items() if folder else ():
        path = folder / file

        def of_file(path=path, target=target, odd=odd, names=names) -> Row:
            return {"what is odd": odd} | report(path, target, list(dict.fromkeys(names)))

        yield {"table": file}, of_file


def messy_tables(found: pd.DataFrame) -> Iterator[str]:
    """Yield one line per table."""
    runs = (found[["audit", "fit"]] == 0).all(axis=1).sum()
    complete = (found["not reported"] == "").sum()
    yield (
        f"{runs} of {len(found)} tables are audited and fitted on the first run; in {complete} "
        "all planted faults are reported."
    )
    yield markdown(found.set_index("table"))


BENCHMARKS = {
    "tables-speed": Benchmark("Speed of reading tables", SPEED, speed_tasks, speed_tables),
    "messy-tables": Benchmark("Messy tables", MESSY, messy_tasks, messy_tables),
}
