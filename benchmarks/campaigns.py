"""Campaigns: damaged model and result files, load on a server, memory, signals, full disks.

The tests do the same in short; a campaign before a release does it thousands of times.
"""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.harness import Benchmark, Row, Task, markdown
from granulearn import TableClassifier
from granulearn.cli import exit_codes
from granulearn.cli.export import rows_to_compare
from granulearn.datasets import load
from granulearn.models import LoadedModel, load_model, to_onnx

ABOUT = """\
- *Tables*: bytes of tables of every format are damaged at random; `check`, `predict` and `correct`
  must end with 0 or 3.
- *Model files*: bytes of files of every kind of model are damaged at random, or their arrays and
  header are edited and the digest is recomputed. A file must be refused or predict valid
  numbers.
- *Load*: clients send single rows to `examples/serve_with_onnxruntime.py` on the same cores;
  every answer is compared with the model's prediction.
- *Memory*: a loaded model predicts in a loop; some rows have cells that did not occur in training.
- *Signals*: a verb is stopped at a random moment. It must end in time with the exit code of the
  signal and leave no process, temporary file or stack trace; after SIGKILL the next run tidies
  up.
- *Full disks*: a verb may only write files up to a limited size.
- *Result files*: a cell of a result file is edited at random. `granulearn report` must write its
  page, without markup of the file, or refuse the file with exit code 2 or 5 and write nothing."""
APP = Path(__file__).parents[1] / "examples" / "serve_with_onnxruntime.py"
PATIENCE = 60
ALLOWED = 16.0
"""Megabytes by which memory may grow: what allocators keep."""
REVIEW_SECONDS = 6.0


def model_files(n_files: int) -> Row:
    """Damage and edit as many files; count the outcomes."""
    from tests.models.mutations import REFUSED, VALID, Worker
    from tests.models.small_models import save_models

    counts: Counter = Counter()
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        names = save_models(Path(folder))
        worker = Worker(Path(folder))
        try:
            for place, name in enumerate(names):
                numbers = range(place, n_files, len(names))
                seeds = [2 * number + odd for number in numbers for odd in (0, 1)]
                for seed, (outcome, message) in worker.try_many(name, seeds).items():
                    counts["damaged" if seed % 2 else "edited", outcome] += 1
                    if outcome not in (REFUSED, VALID):
                        faults.append(f"{outcome}: {name}, seed {seed}: {message}")
        finally:
            worker.close()
    outcomes = [f"{way} and {outcome} {n}" for (way, outcome), n in sorted(counts.items())]
    return {"outcome": ", ".join(outcomes), "faults": len(faults), "first": faults[:3]}


def damaged_tables(n_files: int) -> Row:
    """Damage as many files of each format; count the outcomes."""
    from tests.models.mutations import REFUSED, VALID, Worker
    from tests.tables.damage import save_tables

    lines, faults = [], []
    with tempfile.TemporaryDirectory() as folder:
        names = save_tables(Path(folder))
        worker = Worker(Path(folder), "tests.tables.damage")
        try:
            for name in names:
                found = worker.try_many(name, range(n_files))
                counts = Counter(outcome for outcome, _ in found.values())
                lines.append(f"{name}: refused {counts[REFUSED]}, read {counts[VALID]}")
                faults += [
                    f"{outcome}: {name}, seed {seed}: {message}"
                    for seed, (outcome, message) in found.items()
                    if outcome not in (REFUSED, VALID)
                ]
        finally:
            worker.close()
    return {"outcome": "; ".join(lines), "faults": len(faults), "first": faults[:3]}


# ---- The example server --------------------------------------------------------------------


@dataclass(frozen=True)
class Loaded:
    """The measurements of a load test."""

    requests: int
    per_second: float
    milliseconds_50: float
    milliseconds_99: float
    megabytes: tuple[float, float, float]
    """The server's resident memory after the first requests, halfway and at the end."""


def make_model(folder: Path) -> LoadedModel:
    """Fit the default model to credit approvals and return it as from its file."""
    data = load("crx")
    TableClassifier(random_state=0).fit(data.X, data.y).save(folder / "model.granulearn")
    return load_model(folder / "model.granulearn")


def load_test(model: LoadedModel, folder: Path, n_requests: int, n_clients: int) -> Loaded:
    """Serve a model in a process of its own, and ask it from threads of this one."""
    probes = rows_to_compare(model)
    (folder / "model.onnx").write_bytes(to_onnx(model.pipeline, probes).SerializeToString())
    rows = json.loads(probes.to_json(orient="records"))
    expected = model.pipeline.predict_proba(probes)
    port = free_port()
    server = subprocess.Popen([sys.executable, str(APP), str(folder / "model.onnx"), str(port)])
    try:
        wait_for(port, server)
        ask_many(port, rows, expected, max(1, n_requests // 100), n_clients)
        sizes, waits, began = [megabytes(server.pid)], [], time.perf_counter()
        for _ in range(2):
            waits.append(ask_many(port, rows, expected, n_requests // 2, n_clients))
            sizes.append(megabytes(server.pid))
        seconds = time.perf_counter() - began
    finally:
        server.terminate()
        server.wait(PATIENCE)
    times = 1000 * np.concatenate(waits)
    middle, slow = np.percentile(times, [50, 99])
    return Loaded(len(times), len(times) / seconds, middle, slow, tuple(sizes))


def ask_many(
    port: int, rows: list[dict], expected: np.ndarray, n_requests: int, n_clients: int
) -> np.ndarray:
    """Return the seconds of each request; refuse an answer that differs from the model's."""

    def ask(client: int) -> list[float]:
        connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        waits = []
        for number in range(client, n_requests, n_clients):
            row = number % len(rows)
            began = time.perf_counter()
            connection.request("POST", "/predict", json.dumps([rows[row]]))
            answer = json.loads(connection.getresponse().read())
            waits.append(time.perf_counter() - began)
            difference = float(np.abs(answer["probabilities"][0] - expected[row]).max())
            if not difference < 1e-5:
                raise RuntimeError(f"an answer differs from the model's by {difference}")
        connection.close()
        return waits

    with ThreadPoolExecutor(n_clients) as pool:
        return np.concatenate(list(pool.map(ask, range(n_clients))))


def free_port() -> int:
    """Return a port of this machine that is not in use."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port: int, server: subprocess.Popen) -> None:
    """Wait until the server answers."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError("the server did not start")


def megabytes(process: int) -> float:
    """Return the resident memory of a process."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024


def load_campaign(n_requests: int) -> Row:
    """Send requests from four clients."""
    with tempfile.TemporaryDirectory() as folder:
        found = load_test(make_model(Path(folder)), Path(folder), n_requests, 4)
    sizes = ", ".join(f"{size:.1f}" for size in found.megabytes)
    return {
        "outcome": f"{found.per_second:.0f} requests per second; latency "
        f"{found.milliseconds_50:.1f} ms at 50 %, {found.milliseconds_99:.1f} ms at 99 %; memory "
        f"{sizes} MB after the first requests, halfway and at the end",
        "faults": int(found.megabytes[2] - found.megabytes[0] > ALLOWED),
    }


# ---- Memory --------------------------------------------------------------------------------


def soak(model: LoadedModel, seconds: float) -> tuple[list[float], int]:
    """Predict in a loop; return the memory after each of 20 intervals, and the number of calls."""
    rows = rows_to_compare(model).astype(object)
    records = [
        {name: None if cell != cell else cell for name, cell in row.items()}
        for row in rows.to_dict("records")
    ]
    text = next(card.name for card in model.card.columns if card.type == "category")
    rng, sizes, n_calls = np.random.default_rng(0), [], 0
    for _ in range(20):
        end = time.monotonic() + seconds / 20
        while time.monotonic() < end:
            row = records[int(rng.integers(len(records)))]
            model.predict_proba(row, warn=False)
            model.predict(row | {text: f"new {n_calls}"}, warn=False)
            if n_calls % 300 == 0:
                model.check(rows)
                model.predict_proba(rows, warn=False)
            n_calls += 2
        sizes.append(megabytes(os.getpid()))
    return sizes, n_calls


def memory_campaign(minutes: float) -> Row:
    """Watch the memory of this process for some minutes."""
    with tempfile.TemporaryDirectory() as folder:
        sizes, n_calls = soak(make_model(Path(folder)), 60 * minutes)
    settled = sizes[len(sizes) // 10 :]
    growth = max(settled) - settled[0]
    return {
        "outcome": f"{n_calls} calls; {settled[0]:.1f} MB, then at most {growth:.1f} MB more",
        "faults": int(growth > ALLOWED),
    }


# ---- Signals and full disks ----------------------------------------------------------------


def signal_campaign(n_moments: int) -> list[Row]:
    """Stop verbs at random moments, and let their disks fill up."""
    from tests.end_to_end import signals

    rng, codes, full = random.Random(0), Counter(), Counter()
    faults: dict[str, list[str]] = {"signals": [], "full disks": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        inputs = folder / "inputs"
        signals.prepare(inputs)
        takes, sizes = {"review": REVIEW_SECONDS}, {}
        for verb in signals.VERBS:
            if verb == "review":  # it ends when it is stopped
                continue
            whole = folder / f"whole {verb}"
            process = signals.started(verb, inputs, whole, "whole")
            signals.wait_until_heard(process)
            began = time.monotonic()
            if process.wait() != 0:
                raise RuntimeError(f"{verb}: {(whole / 'tmp.err').read_text()}")
            takes[verb] = time.monotonic() - began
            sizes[verb] = max([path.stat().st_size for path in whole.iterdir()], default=0)
        for number in range(n_moments):
            verb = [*signals.VERBS][number % len(signals.VERBS)]
            kinds = signals.SIGNALS
            kind = kinds[(number + number // len(signals.VERBS)) % len(kinds)]
            place, after = folder / f"stopped {number}", rng.uniform(0, takes[verb])
            found = signals.stop(verb, inputs, place, kind, after, signals.SECONDS_TO_END)
            if kind == kinds[-1]:
                found.faults += signals.again(verb, inputs, place)
            codes[found.code] += 1
            faults["signals"] += [str(found)] if found.faults else []
        for number in range(n_moments // 2):
            verb = [*sizes][number % len(sizes)]
            limit = rng.randrange(sizes[verb] + 1)
            found = signals.fill_up(verb, inputs, folder / f"full {number}", limit)
            full[found.code] += 1
            faults["full disks"] += [str(found)] if found.faults else []
    return [
        {
            "campaign": name,
            "outcome": "exit codes " + ", ".join(f"{c}: {n}" for c, n in counts.most_common()),
            "faults": len(faults[name]),
            "first": faults[name][:3],
        }
        for name, counts in (("signals", codes), ("full disks", full))
    ]


def results_campaign(n_files: int) -> Row:
    """Report on as many edited result files; count the exit codes."""
    from tests.bench.hostile_results import EVIL, edit, full_results
    from tests.cli.commands import granulearn

    codes, faults = Counter(), []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole, path, page = full_results(folder), folder / "edited.db", folder / "page.html"
        for seed in range(n_files):
            kind = edit(whole, path, seed)
            done = granulearn("report", path, "-o", page)
            codes[done.code] += 1
            refused = done.code in (exit_codes.USAGE, exit_codes.NOT_WRITTEN) and not page.exists()
            shown = done.code == exit_codes.OK and EVIL not in page.read_text(encoding="utf-8")
            if not (refused or shown):
                faults.append(f"{kind}, seed {seed}: code {done.code}: {done.err[-300:]}")
            page.unlink(missing_ok=True)
    outcome = "exit codes " + ", ".join(f"{c}: {n}" for c, n in codes.most_common())
    return {"outcome": outcome, "faults": len(faults), "first": faults[:3]}


def tasks(quick: bool) -> Iterator[Task]:
    """Yield the campaigns."""
    wanted = {
        "model files": (model_files, 100 if quick else 10_000, "times two"),
        "tables": (damaged_tables, 3 if quick else 200, "of each format"),
        "load": (load_campaign, 200 if quick else 100_000, "requests"),
        "memory": (memory_campaign, 0.1 if quick else 10, "minutes"),
        "signals": (signal_campaign, 4 if quick else 100, "moments, half as many full disks"),
        "result files": (results_campaign, 4 if quick else 400, "files"),
    }
    for name, (campaign, size, unit) in wanted.items():
        yield {"campaign": name, "size": f"{size:,} {unit}"}, partial(campaign, size)


def tables(found: pd.DataFrame) -> Iterator[str]:
    """Yield one line per campaign, and the first faults."""
    yield markdown(found.set_index("campaign")[["size", "outcome", "faults"]])
    first = [line for lines in found["first"].dropna() for line in lines]
    if first:
        yield "```text\n" + "\n".join(first) + "\n```"


BENCHMARKS = {"campaigns": Benchmark("Campaigns", ABOUT, tasks, tables)}
