"""Run the command line in a real terminal of a certain width."""

import fcntl
import os
import pty
import re
import struct
import termios

from tests.cli.commands import COMMAND

_STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def in_terminal(width: int, *arguments) -> list[str]:
    """Return the lines that a terminal shows, without styles and blanks at their end."""
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    process, terminal = pty.fork()
    if process == 0:  # pragma: no cover
        command = [*COMMAND, *map(str, arguments)]
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
        os.execvpe(command[0], command, environment | {"TERM": "xterm"})
    shown = b""
    try:
        while piece := os.read(terminal, 2**16):
            shown += piece
    except OSError:  # how Linux says that nobody writes any more
        pass
    finally:
        os.close(terminal)
        os.waitpid(process, 0)
    text = _STYLE.sub("", shown.decode("utf-8"))
    return [line.rstrip() for line in text.replace("\r\n", "\n").split("\n")]
