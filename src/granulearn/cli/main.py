"""Entry point: run a verb; a failure or a signal becomes one line and an exit code.

Python handles a signal when a call into compiled code returns, which may take long. A thread hears
it at once: if the verb has not handled it within two seconds, the thread removes unfinished files
and ends the process with the same message and code.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from contextlib import suppress
from typing import NoReturn

# Nothing heavy is imported here, so that Ctrl-C is handled from the first moment.
from granulearn.cli import exit_codes

SECONDS = 2.0
_INTERRUPTED = "granulearn: error: interrupted; no output was written.\n"


def main() -> NoReturn:
    """Run the command line and exit."""
    _prepare_streams()
    stop, code = Stop(), exit_codes.INTERRUPTED
    with suppress(KeyboardInterrupt):  # right before the verb began, or right after its end
        stop.listen()
        code = run(sys.argv[1:])
    if code == exit_codes.INTERRUPTED:
        _leave(stop.code)  # without waiting for threads
    sys.exit(code)


def _prepare_streams() -> None:
    """Let streams write any text, and closed ones to nowhere: a file would get their number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None and os.open(os.devnull, os.O_RDWR) == number:
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8"))
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def run(arguments: list[str]) -> int:
    """Run a verb and return its exit code; no exception leaves this function."""
    try:
        from granulearn.cli import application, output

        with warnings.catch_warnings():
            # Users see warnings about their data, not those for developers.
            warnings.simplefilter("ignore")
            warnings.simplefilter("once", UserWarning)
            warnings.showwarning = lambda message, *_: output.warn(str(message))
            return application.run_verb(arguments)
    except KeyboardInterrupt:
        sys.stderr.write(_INTERRUPTED)
        return exit_codes.INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has closed it: the rest goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exit_codes.NOBODY_READS
    except Exception as error:  # the last resort: a message, never a stack trace
        if os.environ.get("GRANULEARN_DEBUG"):
            raise
        problems, code = exit_codes.explain_failure(error)
        for problem in problems:
            output.error(problem)
        return code


class Stop:
    """Handler of SIGINT, SIGTERM and SIGHUP: raises KeyboardInterrupt, keeps the exit code."""

    def __init__(self) -> None:
        self.code = exit_codes.INTERRUPTED
        self._heard = threading.Event()

    def __call__(self, number: int, frame: object) -> NoReturn:
        """Hear a signal."""
        self.code = 128 + number
        self._heard.set()
        raise KeyboardInterrupt

    def listen(self) -> None:
        """Handle the signals from now on; those that are ignored, as by `nohup`, stay so."""
        if hasattr(os, "register_at_fork"):  # Windows cannot write to a pipe on a signal
            reading, writing = os.pipe()
            os.set_blocking(writing, False)
            signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
            os.register_at_fork(after_in_child=_hear_nothing)
            threading.Thread(target=self._end_if_deaf, args=(reading,), daemon=True).start()
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)  # Windows has no SIGHUP
            if number is not None and signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self)

    def _end_if_deaf(self, reading: int) -> NoReturn:
        while True:
            (number,) = os.read(reading, 1)
            # A server, for one, has a handler of its own.
            if signal.getsignal(number) is self and not self._heard.wait(SECONDS):
                files = sys.modules.get("granulearn.utils.files")
                if files is not None:
                    files.remove_temporary_files()
                with suppress(OSError, ValueError):
                    sys.stderr.write(_INTERRUPTED)
                _leave(128 + number)


def _leave(code: int) -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _hear_nothing() -> None:
    """Keep the signals of a child process from the parent's pipe."""
    with suppress(ValueError):  # the child is a copy of another thread than the first
        signal.set_wakeup_fd(-1)
