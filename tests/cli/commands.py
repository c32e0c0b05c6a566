"""Run the command line, in this process or in a real one, on small tables."""

import contextlib
import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from pyarrow import csv

from granulearn.cli.main import run

COMMAND = [sys.executable, "-m", "granulearn"]


@dataclass(frozen=True)
class Finished:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


def granulearn(*arguments) -> Finished:
    """Run a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([str(argument) for argument in arguments])
    return Finished(code, out.getvalue(), err.getvalue())


def succeeds(*arguments) -> Finished:
    """Run a command that must end well."""
    done = granulearn(*arguments)
    assert done.code == 0, done.err
    return done


def fails(code: int, *arguments) -> str:
    """Run a command that must fail with this code and exactly one line on stderr."""
    done = granulearn(*arguments)
    assert done.code == code, (done.code, done.err)
    assert done.out == ""
    (line,) = done.err.splitlines()
    assert line.startswith("granulearn: error: ")
    return line


def fails_with(code: int, *arguments) -> list[str]:
    """Run a command that must fail with this code; return its problems, one line each."""
    done = granulearn(*arguments)
    assert done.code == code, (done.code, done.err)
    assert done.out == ""
    lines = done.err.splitlines()
    assert lines
    assert all(line.startswith("granulearn: error: ") for line in lines), lines
    return lines


def people(n_rows: int = 120, seed: int = 0) -> pd.DataFrame:
    """Return a table with two numbers, a category, missing cells and a label."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n_rows).astype(float),
            "income": rng.normal(50, 10, n_rows).round(3),
            "città": rng.choice(["Graz", "Lyon", "Ōsaka"], n_rows),
        }
    )
    score = frame["age"] / 20 + (frame["città"] == "Lyon") * 2 + rng.normal(0, 0.4, n_rows)
    frame["label"] = np.where(score > 3.3, "yes", "no")
    frame.loc[rng.random(n_rows) < 0.05, "income"] = np.nan
    frame.loc[rng.random(n_rows) < 0.05, "città"] = None
    return frame


def write_people(folder: Path, n_rows: int = 120, seed: int = 0) -> Path:
    """Write the table as a CSV file."""
    path = folder / "people.csv"
    people(n_rows, seed).to_csv(path, index=False)
    return path


def read_exactly(path: Path) -> pd.DataFrame:
    """Return a CSV file that a command wrote, every number as the nearest one to its digits."""
    return csv.read_csv(path).to_pandas()
