"""Whether every verb takes time in proportion to the columns of a wide table of few rows.

Prints a Markdown table: the processor time of each verb for 5,000, 10,000 and 20,000 columns of
numbers, over that of ``python -c "import pandas, sklearn"`` in the same run. The growth is the
last over the one before it: 2 is in proportion, 4 would be the square. About two minutes.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROWS = 6
WIDTHS = (5_000, 10_000, 20_000)


def write_table(path: Path, columns: int) -> None:
    """Write columns of decimals, and a label."""
    numbers = np.random.default_rng(0).normal(size=(ROWS, columns)).round(4)
    lines = [",".join([*(f"x{number}" for number in range(columns)), "label"])]
    for row, cells in enumerate(numbers.tolist()):
        lines.append(",".join([*map(repr, cells), ("no", "yes")[row % 2]]))
    path.write_text("\n".join(lines) + "\n")


def processor_seconds(*arguments: str) -> float:
    """Return the processor time of Python in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def verbs(folder: Path) -> dict[str, list[str]]:
    """Return the arguments of each verb, in an order in which each finds what it needs."""
    table, model = str(folder / "table.csv"), str(folder / "model.granulearn")
    target = ["--target", "label"]
    return {
        "check": ["check", table, *target],
        "fit": ["fit", table, *target, "--test", "0", "-o", model],
        "audit": ["audit", table, *target, "-o", str(folder / "audit.csv")],
        "predict": ["predict", model, table, "-o", str(folder / "predicted.csv")],
        "export": ["export", model, "-o", str(folder / "model.onnx")],
        "inspect": ["inspect", model],
    }


def main() -> None:
    """Print the table."""
    # Modules are imported, and files are in the cache of the system, before anything is measured.
    ratios: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(folder / "table.csv", 50)
        for arguments in verbs(folder).values():
            processor_seconds("-m", "granulearn", *arguments)
        for columns in WIDTHS:
            write_table(folder / "table.csv", columns)
            imports = processor_seconds("-c", "import pandas, sklearn")
            for verb, arguments in verbs(folder).items():
                taken = processor_seconds("-m", "granulearn", *arguments)
                ratios.setdefault(verb, []).append(taken / imports)
    print(f"{ROWS} rows; processor time over that of importing pandas and scikit-learn\n")
    print("| verb | " + " | ".join(f"{columns:,} columns" for columns in WIDTHS) + " | growth |")
    print("|---" * (len(WIDTHS) + 2) + "|")
    for verb, found in ratios.items():
        cells = " | ".join(f"{each:.1f}" for each in found)
        print(f"| {verb} | {cells} | {found[-1] / found[-2]:.2f} |")


if __name__ == "__main__":
    main()
