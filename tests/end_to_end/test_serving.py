"""The example server answers as the model does, refuses what is wrong, and keeps its memory."""

import http.client
import json
import socket
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline

from benchmarks.campaigns import (
    ALLOWED,
    APP,
    free_port,
    load_test,
    make_model,
    soak,
    wait_for,
)
from granulearn import TablePreprocessor
from granulearn.cli.export import rows_to_compare
from granulearn.models import to_onnx
from granulearn.rvfl import RVFLRegressor

pytestmark = pytest.mark.slow


@pytest.fixture(name="model", scope="module")
def make_served_model(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("model"))


@contextmanager
def served(pipeline, rows, folder):
    """Serve a model in a process of its own; yield the port."""
    file, port = folder / "model.onnx", free_port()
    file.write_bytes(to_onnx(pipeline, rows).SerializeToString())
    server = subprocess.Popen([sys.executable, str(APP), str(file), str(port)])
    try:
        wait_for(port, server)
        yield port
    finally:
        server.terminate()
        server.wait(30)


@pytest.fixture(name="port", scope="module")
def serve(model, tmp_path_factory):
    with served(model.pipeline, rows_to_compare(model), tmp_path_factory.mktemp("onnx")) as port:
        yield port


def post(port, content, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("POST", "/predict", content, headers, encode_chunked=bool(headers))
    answer = connection.getresponse()
    said = json.loads(answer.read())
    connection.close()
    return answer.status, said


def test_answers_under_load_are_those_of_the_model(model, tmp_path):
    found = load_test(model, tmp_path, n_requests=60, n_clients=3)
    assert found.requests == 60
    assert found.per_second > 0


def test_one_and_many_rows_get_labels_and_probabilities(model, port):
    rows = rows_to_compare(model).iloc[:7]
    status, said = post(port, rows.to_json(orient="records"))
    assert status == 200
    assert said["labels"] == model.pipeline.predict(rows).tolist()
    assert [sum(row) for row in said["probabilities"]] == pytest.approx([1.0] * 7)


@pytest.mark.parametrize(
    ("change", "status", "reason"),
    [
        (lambda rows: [], 422, "1 to 10000 rows"),
        (lambda rows: rows[0], 422, "1 to 10000 rows"),
        (lambda rows: [{}], 422, "KeyError"),
        (lambda rows: [3], 422, "TypeError"),
        (lambda rows: [rows[0] | {"f2": "many"}], 422, "'f2' must be a finite number"),
        (lambda rows: [rows[0] | {"f2": float("inf")}], 422, "'f2' must be a finite number"),
        (lambda rows: [rows[0] | {"f2": True}], 422, "'f2' must be a finite number"),
        (lambda rows: [rows[0] | {"f1": 3}], 422, "'f1' must be text"),
        (lambda rows: [rows[0] | {"f1": "\ud800"}], 422, "surrogates not allowed"),
        (lambda rows: "x" * 11_000_000, 413, "too large"),
    ],
)
def test_wrong_requests_are_refused_in_words(model, port, change, status, reason):
    rows = json.loads(rows_to_compare(model).iloc[:1].to_json(orient="records"))
    found, said = post(port, json.dumps(change(rows)))
    assert found == status
    assert reason in said["error"]
    assert post(port, json.dumps(rows))[0] == 200


def test_what_comes_is_counted_whatever_a_request_says_of_its_length(model, port):
    start = b"POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4\r\n"
    chunk = b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b" % (10_000_001, b"[" * 10_000_001)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(start + chunk)
        assert connection.recv(1000).startswith(b"HTTP/1.1 413")
    row = rows_to_compare(model).iloc[:1].to_json(orient="records").encode()
    pieces = [row[place : place + 20] for place in range(0, len(row), 20)]
    assert post(port, iter(pieces), **{"Transfer-Encoding": "chunked"})[0] == 200


def test_a_regressor_answers_with_its_values(tmp_path):
    rows = pd.DataFrame({"a": np.arange(30.0), "b": np.arange(30) % 7.0})
    model = make_pipeline(TablePreprocessor(), RVFLRegressor(random_state=0)).fit(
        rows, rows.a - rows.b
    )
    with served(model, rows, tmp_path) as port:
        status, said = post(port, rows.iloc[:3].to_json(orient="records"))
    assert (status, [*said]) == (200, ["values"])
    assert_allclose(np.ravel(said["values"]), model.predict(rows.iloc[:3]), atol=1e-4)


def test_the_memory_of_a_process_that_predicts_in_a_loop_stays(model):
    sizes, n_calls = soak(model, seconds=4.0)
    assert n_calls > 20
    assert max(sizes[5:]) - sizes[5] < ALLOWED
