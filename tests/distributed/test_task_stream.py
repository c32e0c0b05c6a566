"""Tasks on a cluster: each gives its result or a reason, and nothing is left behind."""

import os
import signal
import threading
import time

import pytest

from granulearn.distributed import open_client
from granulearn.distributed.task_stream import TaskLostError, run_alone, run_on_cluster


def square_or_die(number):
    """Return the square and the process; die at 3."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number**2, os.getpid()


def fail(number):
    raise ValueError(f"no {number}")


def nothing():
    """Do nothing."""


@pytest.fixture
def client(mortal_cluster, monkeypatch):
    monkeypatch.setattr(mortal_cluster.cluster.scheduler, "allowed_failures", 0)
    with open_client(mortal_cluster.scheduler.address) as client:
        yield client


def test_every_task_has_its_result_and_a_killed_one_a_reason(client):
    results = dict(run_on_cluster(square_or_die, range(8), client, nothing))
    assert set(results) == set(range(8))
    lost = results.pop(3)
    assert isinstance(lost, TaskLostError)
    assert "memory" in str(lost)
    assert {number: result[0] for number, result in results.items()} == {
        number: number**2 for number in results
    }
    assert os.getpid() not in {process for _, process in results.values()}


def test_an_error_in_a_task_is_its_reason(client):
    results = dict(run_on_cluster(fail, ["a"], client, nothing))
    assert str(results["a"]) == "ValueError: no a"
    assert list(run_on_cluster(fail, [], client, nothing)) == []


def test_tasks_are_taken_when_a_worker_is_free_and_not_before(client):
    taken = []

    def tasks():
        for number in range(4, 10):
            taken.append(number)
            yield number

    stream = run_on_cluster(square_or_die, tasks(), client, nothing)
    next(stream)
    assert len(taken) <= 4
    stream.close()
    assert len(taken) <= 4


def test_one_task_runs_at_a_time_in_a_process_and_the_start_comes_first_and_once():
    heard = []

    def start():
        heard.append("start")

    def task(number):
        heard.append(f"begin {number}")
        time.sleep(0.01)
        heard.append(f"end {number}")

    threads = [threading.Thread(target=run_alone, args=(task, start, at)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard[0] == "start"
    pairs = list(zip(heard[1::2], heard[2::2], strict=True))
    assert len(pairs) == 4
    assert all(begin.split()[1] == end.split()[1] for begin, end in pairs)
