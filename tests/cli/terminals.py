"""Run the command line in a real terminal of a certain width."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

from tests.cli.commands import COMMAND

_STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def in_terminal(width: int, *arguments) -> list[str]:
    """Return the lines that a terminal shows, without styles and blanks at their end."""
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    with subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment | {"TERM": "xterm"},
    ):
        os.close(theirs)
        shown = _read_all(ours)
    os.close(ours)
    text = _STYLE.sub("", shown.decode("utf-8"))
    lines = text.replace("\r\n", "\n").split("\n")
    return [line.rpartition("\r")[2].rstrip() for line in lines]  # progress was drawn over


def _read_all(terminal: int) -> bytes:
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 2**16)
        except OSError:  # how Linux says that nobody writes any more
            return shown
        if not piece:
            return shown
        shown += piece
