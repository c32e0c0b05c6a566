"""Entry point: run a verb, and turn whatever goes wrong into one line and an exit code."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Sequence
from typing import NoReturn

# Nothing heavy is imported here, so that Ctrl-C is handled from the first moment.
from granulearn.cli import exit_codes
from granulearn.cli.flags import in_flags
from granulearn.cli.stopping import Stop
from granulearn.cli.terminal_text import visible


def main() -> NoReturn:
    """Run the command line and exit."""
    loops = logging.getLogger("granulearn.loops")
    loops.addHandler(_Told())
    loops.setLevel(logging.INFO)
    stop = Stop()
    try:
        stop.listen()
        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # right before the verb began, or right after it had ended
        stop.leave()
    if code == exit_codes.INTERRUPTED:
        stop.leave()
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run a verb and return its exit code; nothing but the code leaves this function.

    Parameters
    ----------
    arguments : list of str
        What stands after ``granulearn`` on the command line.
    """
    try:
        with warnings.catch_warnings():
            # Users are told what concerns their data, not what concerns developers.
            warnings.simplefilter("ignore")
            warnings.simplefilter("once", UserWarning)
            warnings.showwarning = _show_warning
            from granulearn.cli.application import run_verb

            return run_verb(arguments)
    except KeyboardInterrupt:
        return _fail("interrupted; no output was written.", exit_codes.INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output has closed it; what is left goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exit_codes.NOBODY_READS
    except Exception as error:  # the last resort: a message, never a stack trace
        if os.environ.get("GRANULEARN_DEBUG"):
            raise
        return _fail(*exit_codes.explain_failure(error))


def _fail(messages: str | Sequence[str], code: int) -> int:
    for message in [messages] if isinstance(messages, str) else messages:
        one_line = visible(" ".join(in_flags(message).split()))
        sys.stderr.write(f"granulearn: error: {one_line}\n")
    return code


class _Told(logging.Handler):
    """Says on a terminal that loops are being compiled, for the process that the user started."""

    process = os.getpid()

    def emit(self, record: logging.LogRecord) -> None:
        if os.getpid() == self.process and sys.stderr.isatty():
            from granulearn.cli.output import note

            note(record.getMessage())


def _show_warning(message, category, filename, lineno, file=None, line=None) -> None:
    one_line = visible(" ".join(str(message).split()))
    sys.stderr.write(f"granulearn: warning: {one_line}\n")
