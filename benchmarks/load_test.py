"""Load test of the example server, on this machine alone.

    python benchmarks/load_test.py [REQUESTS] [CLIENTS]

Starts examples/serve_with_onnxruntime.py on 127.0.0.1 with a model of a real table, sends
single rows over connections that stay open, and prints requests per second, latency at 50 and 99 %,
and the server's memory at the start, halfway and at the end. Every answer is held against the
model's own.
The clients run on the same cores as the server: a server of its own is faster.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

import numpy as np

from granulearn import TableClassifier
from granulearn.cli.export import rows_to_compare
from granulearn.datasets import load
from granulearn.models import LoadedModel, load_model, to_onnx

APP = Path(__file__).parents[1] / "examples" / "serve_with_onnxruntime.py"
PATIENCE = 60


@dataclass(frozen=True)
class Loaded:
    """What a load test measured."""

    requests: int
    clients: int
    per_second: float
    milliseconds_50: float
    milliseconds_99: float
    megabytes: tuple[float, float, float]
    """The server's resident memory after the first requests, halfway and at the end."""


def main() -> None:
    """Run the load test and print what it measured."""
    n_requests = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    n_clients = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    with tempfile.TemporaryDirectory() as folder:
        found = load_test(make_model(Path(folder)), Path(folder), n_requests, n_clients)
    print(
        f"{found.requests} requests of one row by {found.clients} clients: "
        f"{found.per_second:.0f} per second; latency {found.milliseconds_50:.1f} ms at 50 %, "
        f"{found.milliseconds_99:.1f} ms at 99 %; memory of the server "
        + ", ".join(f"{size:.1f}" for size in found.megabytes)
        + " MB after the first requests, halfway and at the end"
    )


def make_model(folder: Path) -> LoadedModel:
    """Fit the default model to the table of credit approvals and return it as from its file."""
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
        first, *_ = ask_many(port, rows, expected, max(1, n_requests // 100), n_clients)
        sizes, waits, begun = [megabytes(server.pid)], [first], time.perf_counter()
        for _ in range(2):
            waits.append(ask_many(port, rows, expected, n_requests // 2, n_clients)[0])
            sizes.append(megabytes(server.pid))
        seconds = time.perf_counter() - begun
    finally:
        server.terminate()
        server.wait(PATIENCE)
    times = 1000 * np.concatenate(waits[1:])
    middle, slow = np.percentile(times, [50, 99])
    return Loaded(len(times), n_clients, len(times) / seconds, middle, slow, tuple(sizes))


def ask_many(
    port: int, rows: list[dict], expected: np.ndarray, n_requests: int, n_clients: int
) -> tuple[np.ndarray, float]:
    """Return how long each request took, and the largest difference from the model."""

    def ask(client: int) -> tuple[list[float], float]:
        connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        waits, largest = [], 0.0
        for number in range(client, n_requests, n_clients):
            place = number % len(rows)
            begun = time.perf_counter()
            connection.request("POST", "/predict", json.dumps([rows[place]]))
            answer = json.loads(connection.getresponse().read())
            waits.append(time.perf_counter() - begun)
            (found,) = answer["probabilities"]
            largest = max(largest, float(np.abs(found - expected[place]).max()))
        connection.close()
        return waits, largest

    with ThreadPoolExecutor(n_clients) as pool:
        parts = list(pool.map(ask, range(n_clients)))
    largest = max(part[1] for part in parts)
    if not largest < 1e-5:
        raise RuntimeError(f"an answer differs from the model's by {largest}")
    return np.concatenate([part[0] for part in parts]), largest


def free_port() -> int:
    """Return a port of this machine that nobody listens on."""
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


if __name__ == "__main__":
    main()
