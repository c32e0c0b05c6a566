"""What comes of small models of every kind whose files are damaged at random.

A worker process loads what was damaged and predicts with it, so that a crash or a hang
is seen and ends nothing else. The law: a damaged file is refused, or predicts numbers
that are valid.
"""

import io
import json
import os
import resource
import select
import subprocess
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

from granulearn.cli.main import run
from granulearn.persistence import ModelFileError, load_model
from granulearn.tables.errors import TableError
from tests.persistence.damage import damaged, read_members, write_members
from tests.persistence.loaded_models import messy_people
from tests.persistence.small_models import table

REFUSED, VALID, INVALID, RAISED, CRASH, HANG = (
    "refused", "valid", "invalid", "raised", "crash", "hang",
)  # fmt: skip
# A model that fills in no gaps, or that was fitted to columns of other names and has no card of
# them, is a legal one, and says of rows what is wrong with them.
WORDS_OF_LEGAL_MODELS = {
    "Input X contains NaN": "the rows have gaps",
    "The feature names should match": "the rows have other columns",
}
SECONDS = 5
MEMORY = 2**30


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
            json.dumps([str(loaded.check(rows)), loaded.check(rows).to_json()])
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                code = run(["inspect", str(path)])
            if code != 0:
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


def rows_for(path: Path) -> pd.DataFrame | list[dict]:
    """Return rows for a saved model: enough for the tree of the nearest balls."""
    if load_model(path).card.schema is not None:
        return messy_people()[:70].to_dict("records")
    rows, _ = table(seed=1)
    rows.loc[3, "city"] = "a city that training did not have"
    return rows[[*load_model(path).pipeline.feature_names_in_]][:70]


def tell(line: str) -> None:
    """Answer the process that asks."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def serve(folder: Path) -> None:
    """Answer, line by line, what comes of a kind of model after the damage of a seed."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    rows = {path.stem: rows_for(path) for path in sorted(folder.glob("*.skops"))}
    for name, own in rows.items():
        # What is compiled and imported on first use is no part of a time limit.
        word, said = outcome_of(folder / f"{name}.skops", own)
        assert word == VALID, (name, word, said)
    members = {name: read_members(folder / f"{name}.skops") for name in rows}
    draft = folder / f"draft of {os.getpid()}"
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    tell("ready")
    for line in sys.stdin:
        name, seed = json.loads(line)
        write_members(draft, damaged(members[name], seed))
        tell("made")
        tell(json.dumps(outcome_of(draft, rows[name])))


class Worker:
    """A process that tries files, and is replaced when one ends it."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._start()

    def _start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.persistence.mutations", str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd=Path(__file__).parents[2],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
        assert self._answer(120).strip() == "ready"

    def _answer(self, seconds: float) -> str:
        # The stream has no buffer of its own, so what waits in it is seen.
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        return self.process.stdout.readline().decode() if ready else HANG

    def try_one(self, name: str, seed: int) -> tuple[str, str]:
        """Return what comes of a kind of model after the damage of a seed."""
        self.process.stdin.write(json.dumps([name, seed]).encode() + b"\n")
        assert self._answer(120).strip() == "made"
        answer = self._answer(SECONDS)
        if answer and answer != HANG:
            word, said = json.loads(answer)
            return word, said
        self.close()
        self._start()
        return (HANG, "") if answer else (CRASH, "")

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
