"""Processes: results come back, a dead worker is known, none outlives its parent."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from granulearn.bench.studies.workers import WorkerDiedError, run_in_processes
from tests.bench.studies.small_studies import use_warm_workers
from tests.warm_processes import Code

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[3]


def nothing() -> None:
    pass


def square_or_die(number: int) -> tuple[int, int]:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number, os.getpid()


@pytest.fixture(scope="module")
def results():
    with pytest.MonkeyPatch.context() as patch:
        use_warm_workers(patch)
        return dict(run_in_processes(square_or_die, range(8), 2, nothing))


def test_every_task_gives_its_own_result(results):
    squares = {task: result[0] for task, result in results.items() if task != 3}
    assert squares == {n: n * n for n in range(8) if n != 3}


def test_the_task_whose_process_died_is_known_and_the_others_go_on(results):
    assert isinstance(results[3], WorkerDiedError)
    assert "code -9" in str(results[3])


def test_the_work_is_shared_by_processes_that_are_not_this_one(results):
    processes = {result[1] for task, result in results.items() if task != 3}
    assert len(processes) >= 2
    assert os.getpid() not in processes


def test_stopping_early_ends_the_processes(monkeypatch):
    use_warm_workers(monkeypatch)
    running = run_in_processes(square_or_die, range(100, 200), 1, nothing)
    _, (_, process) = next(running)
    running.close()
    assert not _alive(process)


PARENT = """
import time
from granulearn.bench.studies.workers import run_in_processes
from tests.bench.studies.test_workers import nothing, sleep_and_tell

if __name__ == "__main__":
    for _ in run_in_processes(sleep_and_tell, range(4), 2, nothing):
        pass
"""


def sleep_and_tell(number: int) -> None:
    sys.stdout.write(f"{os.getpid()}\n")
    sys.stdout.flush()
    time.sleep(600)


def test_workers_end_when_their_parent_is_killed():
    with Code(PARENT) as parent:
        workers = [int(parent.stdout.readline()) for _ in range(2)]
        assert all(map(_alive, workers))
        parent.kill()
    while any(map(_alive, workers)):
        time.sleep(0.05)


def _alive(process: int) -> bool:
    """Return whether a process runs; one that ended but was not waited for does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.parametrize("delay", [0.0, 0.03, 0.1, 0.3, 0.6])
def test_an_interrupt_of_the_whole_group_leaves_no_worker_and_no_traceback(delay):
    parent = Code(INTERRUPTED)
    assert parent.stdout.readline() == "starting\n"
    time.sleep(delay)  # workers are being started
    os.killpg(parent.pid, signal.SIGINT)
    _, said = parent.communicate()  # returns when no worker holds the pipes either
    assert (parent.returncode, said) == (130, "")


def test_the_end_of_a_terminal_leaves_no_worker_and_no_warning(tmp_path):
    """In a new process: a copy has the tracker of resources of the one that it is copied from."""
    script = tmp_path / "parent.py"
    script.write_text(INTERRUPTED)
    parent = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])},
    )
    assert parent.stdout.readline() == "starting\n"
    parent.stdout.readline()  # a worker has its task
    os.killpg(parent.pid, signal.SIGHUP)
    _, said = parent.communicate()
    assert (parent.returncode, said) == (130, "")


INTERRUPTED = """
import signal
import subprocess
import sys
from granulearn.bench.studies.workers import run_in_processes
from tests.bench.studies.test_workers import nothing, sleep_and_tell

if __name__ == "__main__":
    for stopping in (signal.SIGINT, signal.SIGHUP):
        signal.signal(stopping, signal.default_int_handler)
    try:
        print("starting", flush=True)
        for _ in run_in_processes(sleep_and_tell, range(4), 4, nothing):
            pass
    except KeyboardInterrupt:
        sys.exit(130)
"""
