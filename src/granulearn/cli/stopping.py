"""The end of a verb by a signal, also while a compiled loop runs that looks at none.

Python hears a signal when the loop that it has called returns, which may be a minute later.
A thread hears it at once: where the verb itself has not within some seconds, the process
ends with the message and the code that it would have had. Where Python hears it in a place
whose errors go nowhere, as a function that a compiler calls, the signal is sent once more.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from typing import NoReturn

from granulearn.cli import exit_codes

INTERRUPTED = "granulearn: error: interrupted; no output was written.\n"
SECONDS, SECONDS_BETWEEN = 2.0, 0.05


class Stop:
    """On SIGINT, SIGTERM or SIGHUP, leave as for Ctrl-C, so that unfinished files are removed."""

    code = 0
    """As shells say it: 128 and the number of the signal; 0 until one has come."""

    def __init__(self) -> None:
        self._heard = threading.Event()

    def __call__(self, signal_number: int, frame: object) -> NoReturn:
        """Hear a signal, between two steps of the verb."""
        self.code = 128 + signal_number
        self._heard.set()
        raise KeyboardInterrupt

    def listen(self) -> None:
        """Be what comes of these signals from now on; those that are ignored stay so."""
        numbers = [signal.SIGINT, signal.SIGTERM]
        # `nohup` has the end of a terminal ignored, and so it stays.
        if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:
            numbers.append(signal.SIGHUP)
        if hasattr(os, "register_at_fork"):  # elsewhere nothing can be written to by a signal
            self._watch()
        sys.unraisablehook = self._send_again
        for number in numbers:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self)

    def _send_again(self, ignored: sys.UnraisableHookArgs) -> None:
        """Send a signal again if the interrupt that came of it is about to be ignored."""
        if not self.code or not issubclass(ignored.exc_type, KeyboardInterrupt):
            sys.__unraisablehook__(ignored)
            return
        self._heard.clear()
        # Not here: what is raised in this function is ignored as well.
        later = threading.Timer(SECONDS_BETWEEN, os.kill, (os.getpid(), self.code - 128))
        later.daemon = True
        later.start()

    def leave(self) -> NoReturn:
        """End the process, once the verb has tidied up after a signal.

        Python itself would wait for threads that still compute, and where Ctrl-C went
        through code that was made of text, as dataclasses are, it would end by SIGINT
        whatever the signal was.
        """
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(self.code or exit_codes.INTERRUPTED)

    def _watch(self) -> None:
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        # What a child hears is its own.
        os.register_at_fork(after_in_child=_hear_nothing)
        threading.Thread(target=self._end_if_deaf, args=(reading,), daemon=True).start()

    def _end_if_deaf(self, reading: int) -> NoReturn:
        while True:
            (number,) = os.read(reading, 1)
            # Where a server hears the signal itself, it knows what to do.
            if signal.getsignal(number) is not self or self._heard.wait(SECONDS):
                continue
            _remove_drafts()
            with suppress(OSError, ValueError):
                sys.stderr.write(INTERRUPTED)
                sys.stderr.flush()
            os._exit(128 + number)


def _hear_nothing() -> None:
    with suppress(ValueError):  # a thread other than the first one was copied
        signal.set_wakeup_fd(-1)


def _remove_drafts() -> None:
    """Remove unfinished files, if any part of the process has ever made one."""
    drafts = sys.modules.get("granulearn.utils.files")
    if drafts is not None:
        drafts.remove_temporary_files()
