"""What comes of small models of every kind whose files are damaged at random.

A worker process loads what was damaged and predicts with it, so that a crash or a hang
is seen and ends nothing else; an alarm ends a worker that hangs, even in a compiled loop. It
notes what comes of each file, so that the file that ended it is known. The law: a damaged
file is refused, or predicts numbers that are valid.
"""

import gc
import io
import json
import os
import resource
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from granulearn.cli.main import run
from granulearn.models import ModelFileError, load_model
from granulearn.tables.messages import TableError
from tests.models.damage import damaged, edited
from tests.models.loaded_models import messy_people
from tests.models.small_models import new_rows

REFUSED, VALID, INVALID, RAISED, CRASH, HANG = (
    "refused", "valid", "invalid", "raised", "crash", "hang",
)  # fmt: skip
# A model of columns of other names or types is a legal one, and says what is wrong with rows.
WORDS_OF_LEGAL_MODELS = {
    "of training not found": "the rows have other columns",
    "must hold": "the rows have cells of another type",
    "X has 3 features": "the rows have other columns",
}
SECONDS = 5
MEMORY = 2**30
N_ROWS = 70
DONE = "done"


def outcome_of(path: Path, rows) -> tuple[str, str]:
    """Return what comes of a file, and a word about it."""
    try:
        loaded = load_model(path)
    except ModelFileError as error:
        return REFUSED, str(error.__cause__)[:120]
    # Rows are as they come, so that the card is asked too, or as the pipeline takes them.
    is_read = isinstance(rows, list)
    model = loaded if is_read else loaded.pipeline
    try:
        predicted = model.predict(rows)
        if is_read:
            found = loaded.check(rows)
            json.dumps([str(found), found.to_json()])
            if code := inspected(path):
                return RAISED, f"inspect ended with {code}"
        if is_classifier(loaded.pipeline):
            proba = model.predict_proba(rows)
            valid = np.isfinite(proba).all() and (proba >= 0).all()
            valid = valid and np.allclose(proba.sum(axis=1), 1, atol=1e-6)
            valid = valid and proba.shape == (len(rows), len(model.classes_))
        else:
            valid = np.isfinite(predicted).all()
        return (VALID if valid and len(predicted) == len(rows) else INVALID), ""
    except (ModelFileError, TableError) as error:
        return REFUSED, str(error)[:120]
    except Exception as error:
        for said, word in WORDS_OF_LEGAL_MODELS.items():
            if isinstance(error, ValueError) and said in str(error):
                return REFUSED, word
        return RAISED, f"{type(error).__name__}: {error}"[:200]


def inspected(path: Path) -> int:
    """Return the code with which `granulearn inspect` ends."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        return run(["inspect", str(path)])


def rows_for(path: Path) -> Any:
    """Return rows for a saved model: enough for the tree of the nearest balls."""
    loaded = load_model(path)
    if loaded.card.schema is not None:
        return messy_people()[:N_ROWS].to_dict("records")
    return new_rows(loaded.pipeline)


def serve(folder: Path) -> None:
    """Note, line by line, what comes of a kind of model after the damage of each of some seeds."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    rows = {path.stem: rows_for(path) for path in sorted(folder.glob("*.granulearn"))}
    for name, own in rows.items():
        # What is compiled and imported on first use is no part of a time limit.
        word, said = outcome_of(folder / f"{name}.granulearn", own)
        assert word == VALID, (name, word, said)
    files = {name: (folder / f"{name}.granulearn").read_bytes() for name in rows}
    # A file in memory: half of the time would go to the disk.
    temporary = Path(f"/proc/self/fd/{os.memfd_create('temporary')}")

    def try_one(name: str, seed: int) -> tuple[str, str]:
        # Half of the seeds damage bytes, the others edit what is then signed anew.
        change = damaged if seed % 2 else edited
        temporary.write_bytes(change(files[name], seed))
        return outcome_of(temporary, rows[name])

    answer(try_one, SECONDS)


def answer(try_one: Callable[[str, int], tuple[str, str]], seconds: float) -> None:
    """Note, line by line, what comes of each question of a `Worker`, with limits."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    # Nothing in this process answers the alarm, so it ends whatever loop is running.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    # A tenth of the time would go to looking for what refers to itself, which little here does.
    gc.freeze()
    gc.set_threshold(20_000)
    tell(DONE)
    for line in sys.stdin:
        name, seeds, answers = json.loads(line)
        with open(answers, "wb", buffering=0) as file:
            for seed in seeds:
                signal.setitimer(signal.ITIMER_REAL, seconds)
                outcome = try_one(name, seed)
                signal.setitimer(signal.ITIMER_REAL, 0)
                file.write(json.dumps(outcome).encode() + b"\n")
        tell(DONE)


def tell(line: str) -> None:
    """Answer the process that asks."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


class Worker:
    """A process that tries files, and is replaced when one ends it.

    Parameters
    ----------
    folder : Path
        Has a file of each kind.
    module : str, default="tests.models.mutations"
        What the process runs, with the folder: it tries files and calls `answer`.
    """

    def __init__(self, folder: Path, module: str = "tests.models.mutations"):
        self.folder, self.module = folder, module
        self._start()

    def _start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", self.module, str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd=Path(__file__).parents[2],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        assert self._is_done()

    def _is_done(self) -> bool:
        """Wait for the process; say whether it has done what was asked, or has ended."""
        return self.process.stdout.readline().decode().strip() == DONE

    def try_many(self, name: str, seeds: Sequence[int]) -> dict[int, tuple[str, str]]:
        """Return, by seed, what comes of a kind of file after its damage."""
        outcomes: dict[int, tuple[str, str]] = {}
        answers = self.folder / "answers"
        while left := [seed for seed in seeds if seed not in outcomes]:
            question = json.dumps([name, left, str(answers)])
            self.process.stdin.write(question.encode() + b"\n")
            is_done = self._is_done()
            lines = answers.read_text().splitlines()
            noted = zip(left, lines, strict=False)  # fewer lines, if it has ended
            outcomes |= {seed: tuple(json.loads(line)) for seed, line in noted}
            if not is_done:
                # It has ended at the first seed without an answer.
                is_hang = self.process.wait() == -signal.SIGALRM
                outcomes[left[len(lines)]] = (HANG, "") if is_hang else (CRASH, "")
                self.close()
                self._start()
        return outcomes

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
