"""What each messy table needed before there was one way in, and what it needs now.

    python benchmarks/messy_tables.py docs/results/messy_tables.md

Every table of `tests/end_to_end/messy_tables.py` is made in a folder, and given to `audit`, `fit`
and `check` in processes of their own, with no flag but the target. The column `now` is what came of
it. The column `before` was written down once, in `messy_before.csv` beside this file.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.end_to_end.messy_records import unsaid  # noqa: E402
from tests.end_to_end.messy_sources import shared_directory  # noqa: E402
from tests.end_to_end.messy_tables import SHARED, TABLES, Planted  # noqa: E402

BEFORE = Path(__file__).with_name("messy_before.csv")
# The last commit of the old readers.
COMMIT = "b4b3111"
COUNTS = ("duplicates", "conflicts")
INTRODUCTION = """\
# Messy tables: before and now

Real data with the dirt of real life planted in it, given to `granulearn audit` and `granulearn fit`
with no flag but `--target`.

- **before** is commit {commit}, the last with the old readers. `audit` and then `fit` were run;
  where a run was refused, a script did what the message asked and ran again, at most six times.
  Files in another encoding were converted from the right one. Written down is how often runs were
  refused, why, and what was learnt from or misread without a remark in the end. A false all-clear:
  it ran, and nothing was said of anything planted, or a column that leaks the target was used.
  These facts were recorded once, in `benchmarks/messy_before.csv`.
- **now** is the first run: exit codes, and what was said of what was planted. This column is
  written by `python benchmarks/messy_tables.py docs/results/messy_tables.md`.
"""


@dataclass(frozen=True)
class Run:
    """What the three verbs said about a table."""

    audit: int
    fit: int
    said: str
    refusals: int
    report: Mapping | None


def run(path: Path, target: str, folder: Path) -> Run:
    """Run the verbs as a new user would.

    Parameters
    ----------
    path : Path
        The table.
    target : str
        Its column of labels.
    folder : Path
        Where to write the model.
    """
    audit = _granulearn("audit", path, "--target", target)
    fit = _granulearn("fit", path, "--target", target, "-o", folder / "model.granulearn")
    check = _granulearn("check", path, "--target", target, "--json")
    said = "\n".join((audit.stdout, audit.stderr, fit.stdout, fit.stderr))
    refusals = audit.stderr.count("granulearn: error:")
    report = json.loads(check.stdout) if check.returncode == 0 else None
    return Run(audit.returncode, fit.returncode, said, refusals, report)


def _granulearn(*arguments: object) -> subprocess.CompletedProcess:
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "granulearn", *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": path, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def in_words(done: Run, words: Iterable[str], planted: Planted | None = None) -> str:
    """Return one line: exit codes, what was reported, and what was not.

    Parameters
    ----------
    done : Run
        What the verbs said.
    words : iterable of str
        The names that had to be said.
    planted : Planted or None, default=None
        What is known about the table beyond these names.
    """
    words = list(dict.fromkeys(words))
    lost = unsaid(words, done.said)
    found = [word for word in words if word not in lost]
    parts = [f"audit {done.audit}, fit {done.fit}"]
    if done.refusals:
        parts.append(f"problems said: {done.refusals}")
    if found:
        parts.append(f"said: {_some(found)}")
    if planted is not None and done.report is not None:
        found_too, lost_too = _by_report(done.report, planted)
        parts += found_too
        lost += lost_too
    if lost:
        parts.append(f"**not said: {_some(lost)}**")
    return "; ".join(parts)


def _by_report(report: Mapping, planted: Planted) -> tuple[list[str], list[str]]:
    """Return what the survey counted and parsed as it should, and what it did not."""
    counted = [
        f"{report[name]} {name}" for name in COUNTS if report[name] >= getattr(planted, name) > 0
    ]
    lost = [name for name in COUNTS if report[name] < getattr(planted, name)]
    kinds = {column["name"]: column["kind"] for column in report["columns"]}
    right = [name for name, kind in planted.kinds.items() if kinds.get(name) == kind]
    lost += [f"{name} is a {kind}" for name, kind in planted.kinds.items() if name not in right]
    if right:
        counted.append(f"read as meant: {_some(right)}")
    return counted, lost


def _some(names: list[str], shown: int = 5) -> str:
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more


def rows() -> Iterable[tuple[str, str, str]]:
    """Yield name, what is odd, and what came of it, for every table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for table in TABLES.values():
            place = folder / table.name
            place.mkdir()
            planted = table.make(place)
            done = run(planted.path, planted.target, place)
            words = [*planted.oddities, *planted.small]
            if planted.unlabelled:
                words.append(str(planted.unlabelled))
            yield table.name, table.odd, in_words(done, words, planted)
        directory = shared_directory()
        if directory is None:
            return
        for file, (target, odd, names) in SHARED.items():
            yield file, odd, in_words(run(directory / file, target, folder), names)


def page(found: Iterable[tuple[str, str, str]]) -> str:
    """Return the results as a page.

    Parameters
    ----------
    found : iterable of (str, str, str)
        Name, what is odd, and what came of it.
    """
    with BEFORE.open(newline="", encoding="utf-8") as file:
        before = {row["table"]: row["before"] for row in csv.DictReader(file)}
    found = list(found)
    lines = [
        INTRODUCTION.format(commit=COMMIT),
        f"{_summary(before.values(), [now for *_, now in found])}\n",
        "| table | what is odd | before | now |",
        "|---|---|---|---|",
    ]
    for name, odd, now in found:
        cells = (name, odd, before.get(name, ""), now)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _summary(before: Collection[str], now: Collection[str]) -> str:
    refused = sum(facts.startswith("refused") for facts in before)
    silent = sum("false all-clear" in facts for facts in before)
    text = (
        f"Before, {refused} of {len(before)} tables were refused at least once, and {silent} ended "
        "in a false all-clear."
    )
    if not any(now):
        return text
    first = sum(facts.startswith("audit 0, fit 0") for facts in now)
    complete = sum("not said" not in facts for facts in now)
    return (
        f"{text} Now, {first} of {len(now)} get in on the first run, and of {complete} all is said "
        "that was planted."
    )


def main() -> None:
    """Write the page, or print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", nargs="?", type=Path, help="Markdown file to write")
    output = parser.parse_args().output
    text = page(rows())
    if output is None:
        print(text, end="")
    else:
        output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
