"""The example server answers as the model does, refuses what is wrong, and keeps its memory."""

import http.client
import json
import subprocess
import sys

import pytest

from benchmarks.load_test import APP, free_port, load_test, make_model, wait_for
from benchmarks.soak import ALLOWED, soak
from granulearn.cli.export import rows_to_compare
from granulearn.persistence import to_onnx

pytestmark = pytest.mark.slow


@pytest.fixture(name="model", scope="module")
def make_served_model(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(name="port", scope="module")
def serve(model, tmp_path_factory):
    file = tmp_path_factory.mktemp("onnx") / "model.onnx"
    file.write_bytes(to_onnx(model.pipeline, rows_to_compare(model)).SerializeToString())
    port = free_port()
    server = subprocess.Popen([sys.executable, str(APP), str(file), str(port)])
    wait_for(port, server)
    yield port
    server.terminate()
    server.wait(30)


def post(port, content):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("POST", "/predict", content)
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


def test_the_memory_of_a_process_that_predicts_in_a_loop_stays(model):
    sizes, n_calls = soak(model, seconds=4.0)
    assert n_calls > 20
    assert max(sizes[5:]) - sizes[5] < ALLOWED
