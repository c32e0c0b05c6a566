"""Verbs that are stopped at any moment, or whose disk is full: what must be true afterwards.

A verb runs in a session of its own, with a word in its environment by which all processes
that come of it are known. Moments count from when the verb hears signals, which is
after the interpreter itself has started.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from granulearn.cli import exit_codes
from granulearn.models import load_model
from tests.bench.small_studies import write_study
from tests.cli.commands import COMMAND, people, succeeds
from tests.cli.decided import ANN, BEN
from tests.processes import Command

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
# What a terminal sends reaches every process of a command.
TO_ALL = (signal.SIGINT, signal.SIGHUP)
MARK = "GRANULEARN_STOPPED_BY"
SECONDS_TO_END = 5

VERBS: dict[str, list[str]] = {
    "check": ["check", "{in}/people.csv", "--target", "label"],
    "audit": ["audit", "{in}/people.csv", "-t", "label", "-o", "s.csv", "--report", "a.html"],
    "audit --verify": ["audit", "people.csv", "-t", "label", "--verify", "4"],
    "review": ["review", "people.csv", "-t", "label", "--no-browser"],
    "correct": ["correct", "{in}/people.csv", "--decisions", "{in}/ann.csv", "-o", "c.csv",
                "-t", "label"],
    "fit": ["fit", "{in}/people.csv", "-t", "label", "-o", "m.granulearn"],
    "predict": ["predict", "{in}/m.granulearn", "{in}/people.csv", "--proba", "-o", "p.csv"],
    "inspect": ["inspect", "{in}/m.granulearn"],
    "models": ["models"],
    "export": ["export", "{in}/m.granulearn", "-o", "m.onnx"],
    "balls": ["balls", "{in}/people.csv", "-t", "label", "-o", "b.csv", "--plot", "b.png"],
    "bench": ["bench", "{in}/small.toml", "--results", "r.db", "--jobs", "2"],
    "report": ["report", "{in}/r.db", "-o", "r.html"],
    "datasets": ["datasets"],
    "datasets export": ["datasets", "export", "iris", "-o", "i.csv"],
    "decisions merge": ["decisions", "merge", "{in}/ann.csv", "{in}/ben.csv", "-o", "d.csv"],
}  # fmt: skip


@dataclass
class Stopped:
    """What a verb left behind."""

    verb: str
    how: str
    code: int
    seconds: float
    """From the signal to the end."""
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.verb}, {self.how}: code {self.code}, {'; '.join(self.faults) or 'fine'}"


def prepare(folder: Path) -> None:
    """Write what the verbs read: a table, a model, decisions, a study and its results."""
    folder.mkdir()
    people(400).to_csv(folder / "people.csv", index=False)
    given = people(400)["label"].tolist()
    for name, text in (("ann.csv", ANN), ("ben.csv", BEN)):
        lines = [line.split(",") for line in text.splitlines()]
        for line in lines[1:]:
            line[1] = given[int(line[0]) - 1]
            line[3] = {"change": "no" if line[1] == "yes" else "yes"}.get(line[2], "")
        (folder / name).write_text("".join(",".join(line) + "\n" for line in lines))
    write_study(folder)
    model = folder / "m.granulearn"
    succeeds("fit", folder / "people.csv", "-t", "label", "-m", "gb-rvfl", "-o", model)
    only = ["--only", "dataset=circles", "--jobs", "1"]
    succeeds("bench", folder / "small.toml", "--results", folder / "r.db", *only)


def words_of(verb: str, inputs: Path, place: Path) -> list[str]:
    """Return the words of a verb, once its folder has what it takes for granted."""
    (place / "tmp").mkdir(parents=True, exist_ok=True)
    if "people.csv" in VERBS[verb]:
        shutil.copy(inputs / "people.csv", place)
    return [argument.replace("{in}", str(inputs)) for argument in VERBS[verb]]


def started(verb: str, inputs: Path, place: Path, word: str):
    """Start a verb in a folder of its own."""
    arguments = words_of(verb, inputs, place)

    def as_from_a_terminal() -> None:
        # Whoever started us in the background may have had these ignored.
        for number in TO_ALL:
            signal.signal(number, signal.SIG_DFL)

    with (place / "tmp.out").open("w") as out, (place / "tmp.err").open("w") as err:
        return subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=place, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True,
            env=os.environ | {"TMPDIR": str(place / "tmp"), MARK: word},
            preexec_fn=as_from_a_terminal,
        )  # fmt: skip


def wait_until_heard(process: subprocess.Popen) -> None:
    """Return when a process has said what is to come of SIGTERM, or has ended."""
    bit = 1 << (signal.SIGTERM - 1)
    while process.poll() is None:
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
        caught = next((line.split()[1] for line in lines if line.startswith("SigCgt")), "0")
        if int(caught, 16) & bit:
            return
        time.sleep(0.005)


def descendants(word: str) -> Iterator[int]:
    """Yield the processes that came of a verb."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                environment = (folder / "environ").read_bytes().split(b"\0")
                dead = (folder / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
            except OSError:  # it has ended, or is not ours
                continue
            if f"{MARK}={word}".encode() in environment and not dead:
                yield int(folder.name)


def stop(
    verb: str, inputs: Path, place: Path, number: int, after: float, patience: float
) -> Stopped:
    """Stop a verb some seconds after it hears signals, and look at what is left."""
    word = f"{os.getpid()}-{place.name}"
    process = started(verb, inputs, place, word)
    wait_until_heard(process)
    time.sleep(after)
    if process.poll() is None:
        (os.killpg if number in TO_ALL else os.kill)(process.pid, number)
    began = time.monotonic()
    found = Stopped(verb, f"{signal.Signals(number).name} after {after:.2f} s", 0, 0)
    try:
        found.code = process.wait(timeout=patience)
    except subprocess.TimeoutExpired:
        found.faults.append(f"still there after {patience} s")
        process.kill()
        found.code = process.wait()
    found.seconds = time.monotonic() - began
    if found.code not in codes_after(verb, number):
        found.faults.append(f"exit code {found.code}")
    while (left := [*descendants(word)]) and time.monotonic() < began + patience:
        time.sleep(0.05)
    for orphan in left:
        found.faults.append(f"process {orphan} is left")
        os.kill(orphan, signal.SIGKILL)
    look_around(found, place, was_killed=number == signal.SIGKILL)
    return found


def codes_after(verb: str, number: int) -> tuple[int, ...]:
    """Return the exit codes that are right: of the signal, or of a verb that had ended before.

    A process that is at its very end, its work done, may end by the signal itself.
    """
    own = () if number == signal.SIGKILL else (128 + number,)
    return (exit_codes.OK, -number, *own)


def look_around(found: Stopped, place: Path, was_killed: bool = False) -> None:
    """Note what should not be in a folder, or is not whole, or was said."""
    said = (place / "tmp.err").read_text()
    if "Traceback" in said:
        found.faults.append(f"traceback: {said[-300:]}")
    for line in said.splitlines():
        talks = found.verb in ("bench", "review", "audit --verify")
        if not line.startswith("granulearn: ") and not talks:
            found.faults.append(f"said {line[:200]!r}")
    parts = [path.name for path in place.rglob(".*") if ".part" in path.name]
    if parts and not was_killed:
        found.faults.append(f"left {parts}")
    temporary = [path.name for path in (place / "tmp").glob("*granulearn*")]
    if temporary and not was_killed:
        found.faults.append(f"left {temporary} in the folder of temporary files")
    for path in place.iterdir():
        if path.is_file() and not path.name.startswith((".", "tmp")) and not is_whole(path):
            found.faults.append(f"{path.name} is not whole")


def is_whole(path: Path) -> bool:
    """Return whether a file has an end, by its kind."""
    content = path.read_bytes()
    if path.name.endswith(("-wal", "-shm")):
        return True  # a part of the store beside it, which SQLite takes up again; it may be empty
    if path.suffix == ".html":
        return content.rstrip().endswith(b"</html>")
    if path.suffix == ".granulearn":
        return bool(load_model(path))
    if path.suffix == ".png":
        return b"IEND" in content[-20:]
    if path.suffix == ".csv":
        return content.endswith(b"\n")
    return bool(content)


def again(verb: str, inputs: Path, place: Path) -> list[str]:
    """Run a verb once more after it was killed; return what is wrong afterwards."""
    found = Stopped(verb, "once more", 0, 0)
    process = started(verb, inputs, place, f"{os.getpid()}-again")
    if verb == "review":  # it would wait for a person
        wait_until_heard(process)
        process.send_signal(signal.SIGTERM)
    found.code = process.wait()
    if found.code != exit_codes.OK and verb != "review":
        found.faults.append(f"exit code {found.code}: {(place / 'tmp.err').read_text()[-300:]}")
    # Nobody can know whose a temporary file of a killed process is: the system removes those.
    shutil.rmtree(place / "tmp")
    (place / "tmp").mkdir()
    look_around(found, place)
    return found.faults


def fill_up(verb: str, inputs: Path, place: Path, limit: int) -> Stopped:
    """Run a verb on a disk that takes no more than some bytes of each file."""
    words = words_of(verb, inputs, place)
    process = Command(*words, cwd=place, largest=limit, TMPDIR=str(place / "tmp"))
    _, said = process.communicate()
    (place / "tmp.err").write_text(said)
    found = Stopped(verb, f"files of {limit} bytes", process.wait(), 0)
    if found.code not in (exit_codes.OK, exit_codes.NOT_WRITTEN):
        found.faults.append(f"exit code {found.code}: {(place / 'tmp.err').read_text()[-300:]}")
    look_around(found, place)
    return found


if sys.platform != "linux":  # processes are looked up in /proc
    SIGNALS = ()
