"""A signal ends a verb, also one that is inside of a compiled loop."""

import signal
import subprocess
import sys
import time

import pytest

from granulearn.cli import exit_codes
from granulearn.cli.stopping import Stop
from tests.warm_processes import Code

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such signals")

# A lock of the system is waited for without looking at signals, as compiled loops run.
DEAF = """
import ctypes, sys
from granulearn.cli.stopping import Stop
from granulearn.utils.files import written_atomically

Stop().listen()
with written_atomically(sys.argv[1]) as draft:
    draft.write_text("half")
    print("busy", flush=True)
    lock, system = ctypes.create_string_buffer(256), ctypes.CDLL(None)
    for _ in range(2):
        system.pthread_mutex_lock(lock)
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_verb_that_is_deaf_ends_all_the_same_and_leaves_nothing(tmp_path, number):
    with Code(DEAF, tmp_path / "out.csv") as process:
        assert process.stdout.readline() == "busy\n"
        time.sleep(0.2)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert said == "granulearn: error: interrupted; no output was written.\n"
    assert list(tmp_path.iterdir()) == []


def test_what_is_heard_is_an_interrupt_with_the_code_of_its_signal():
    stop = Stop()
    with pytest.raises(KeyboardInterrupt):
        stop(signal.SIGHUP, None)
    assert stop.code == exit_codes.HUNG_UP


@pytest.mark.slow
def test_signals_that_are_ignored_stay_so(tmp_path):
    script = """
import signal
from granulearn.cli.stopping import Stop

for number in (signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
Stop().listen()
for number in (signal.SIGINT, signal.SIGHUP):
    signal.raise_signal(number)
print(signal.getsignal(signal.SIGTERM).__class__.__name__)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "Stop\n", "")


AT_THE_EDGES = """
import signal, sys
from granulearn.cli import main
from granulearn.cli.stopping import Stop

class Stopped(Stop):
    def listen(self):
        super().listen()
        if sys.argv[1] == "before":
            signal.raise_signal(signal.SIGTERM)

def run(arguments):
    signal.raise_signal(signal.SIGTERM)

main.Stop, main.run = Stopped, run
main.main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_signal_right_before_or_after_the_verb_shows_no_stack(when):
    done = subprocess.run(
        [sys.executable, "-c", AT_THE_EDGES, when], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (exit_codes.STOPPED, "")


# Python notes an interrupt that goes through code made of text, and would end by SIGINT.
THROUGH_TEXT = """
import signal, sys
from granulearn.cli import application, main

def verb(arguments):
    print("told")
    exec("signal.raise_signal(signal.SIGTERM)")

application.run_verb = verb
main.main()
"""


@pytest.mark.slow
def test_the_code_is_that_of_the_signal_whatever_was_interrupted():
    done = subprocess.run(
        [sys.executable, "-c", THROUGH_TEXT], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (exit_codes.STOPPED, "told\n")


# What a function raises that other languages call, or that is called while an object goes, is
# ignored: the compiler of loops calls such functions.
WHERE_ERRORS_GO_NOWHERE = """
import ctypes, signal, sys, time
from granulearn.cli import application, main

class Going:
    def __del__(self):
        signal.raise_signal(signal.SIGTERM)

def verb(arguments):
    if sys.argv[1] == "called":
        ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGTERM))()
    else:
        Going()
    time.sleep(60)

application.run_verb = verb
main.main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("where", ["called", "going"])
def test_a_signal_that_comes_where_errors_are_ignored_is_not_lost(where):
    with Code(WHERE_ERRORS_GO_NOWHERE, where) as process:
        _, said = process.communicate(timeout=50)
    assert process.returncode == exit_codes.STOPPED
    assert said == "granulearn: error: interrupted; no output was written.\n"


def test_what_is_ignored_otherwise_is_told_as_python_does(monkeypatch, capsys):
    monkeypatch.setattr(sys, "unraisablehook", Stop()._send_again)

    class Going:
        def __del__(self):
            raise ValueError("said all the same")

    Going()
    assert "said all the same" in capsys.readouterr().err
