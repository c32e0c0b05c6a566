"""Record the quick start in a terminal: run its commands and draw what they print.

Run ``python docs/make_terminal_picture.py``; it writes docs/images/terminal.svg.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

HERE = Path(__file__).resolve().parent
GUIDE = HERE / "guide" / "command-line.md"
PICTURE = HERE / "images" / "terminal.svg"
WIDTH = 104


def quick_start_commands() -> list[str]:
    """Return the commands of the guide's quick start."""
    section = GUIDE.read_text(encoding="utf-8").split("\n## Quick start\n", 1)[1]
    block = re.search(r"```sh\n(.*?)```", section, re.DOTALL)
    if block is None:
        raise SystemExit(f"{GUIDE} has no block of commands under its quick start")
    return block[1].strip().splitlines()


def run(command: str, folder: Path) -> Text:
    """Run a command as a terminal would, in a folder, and return what it prints."""
    _, *arguments = shlex.split(command)
    done = subprocess.run(
        [sys.executable, "-m", "granulearn", *arguments],
        cwd=folder,
        env={**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(WIDTH), "TERM": "xterm-256color"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return Text.from_ansi(done.stdout.rstrip())


def main() -> None:
    """Run the quick start and write the picture."""
    screen = Console(record=True, width=WIDTH, file=open(os.devnull, "w"))  # noqa: SIM115
    with tempfile.TemporaryDirectory() as folder:
        for command in quick_start_commands():
            screen.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
            screen.print(run(command, Path(folder)))
            screen.print()
    PICTURE.parent.mkdir(exist_ok=True)
    # Without fonts from elsewhere: a picture in a page may not load them.
    plain = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    screen.save_svg(
        str(PICTURE), title="granulearn", code_format=plain, unique_id="granulearn-terminal"
    )


if __name__ == "__main__":
    main()
