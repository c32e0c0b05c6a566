"""The path of a newcomer: a page's commands, word for word, with nothing but the built wheel.

Run ``python release/newcomer.py WHEEL PAGE ...``. For each page there is an empty folder outside
the checkout. Commands of ``sh`` blocks are run as they are written, and so is every ``pip install``
in the text; a command finds what the page has told to install before it, and nothing else. The
page's examples in Python come last, as doctests. What needs a checkout is left out, and said.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

_BLOCK = re.compile(r"^```+(?:\{code-block\} *)?(?:sh|bash|console)\n(.*?)^```+$", re.M | re.DOTALL)
_INSTALL_IN_TEXT = re.compile(r"`(pip install [^`]+)`")
# Commands for developers: they need the sources, or make an environment as this script does.
_NOT_FOR_NEWCOMERS = re.compile(
    r"make |git |cd |source |\. |deactivate|python\d?(\.\d+)? (-m venv|docs/|benchmarks/|examples/)"
    r"|pip install (-e |--editable |[\"']?\.)"
)
_PLAIN = "pip install granulearn"
_SERVERS = ("granulearn review ",)
ADDRESS = re.compile(rb"http://127\.0\.0\.1:\d+/[\w-]+/")
_COMPILER = re.compile(r"(.*-)?(cc|gcc|c\+\+|g\+\+|clang|clang\+\+|c89|c99)(-[\d.]+)?")
_DECISIONS = 3
_PATIENCE = 300.0


def commands_in(block: str) -> list[str]:
    """Return the commands of a block, word for word, without remarks.

    Parameters
    ----------
    block : str
        What stands between the fences.
    """
    whole_lines = re.sub(r"\\\n\s*", "", block)
    lines = (line.strip().removeprefix("$ ") for line in whole_lines.splitlines())
    commands = (re.sub(r"\s+#\s.*$", "", line) for line in lines)
    return [command for command in commands if command and not command.startswith("#")]


def commands_of(page: str) -> tuple[list[str], list[str]]:
    """Return the commands of a page in their order, and those that newcomers cannot run.

    Parameters
    ----------
    page : str
        A page in Markdown.
    """
    found: list[tuple[int, str]] = [
        (block.start(), command)
        for block in _BLOCK.finditer(page)
        for command in commands_in(block[1])
    ]
    text = _BLOCK.sub(lambda block: " " * len(block[0]), page)
    found += [(inline.start(), inline[1]) for inline in _INSTALL_IN_TEXT.finditer(text)]
    # Stable: the commands of a block keep their order.
    commands = [command for _, command in sorted(found, key=lambda pair: pair[0])]
    left_out = [command for command in commands if _NOT_FOR_NEWCOMERS.match(command)]
    return [command for command in commands if command not in left_out], left_out


def is_install(command: str) -> bool:
    """Return whether a command installs packages."""
    return command.startswith("pip install ")


def steps(commands: list[str]) -> Iterator[tuple[tuple[str, ...], str | None]]:
    """Yield each command with what was installed before it, and at last what a page installs.

    Parameters
    ----------
    commands : list of str
        The commands of a page, in the order in which they are read.
    """
    installed: tuple[str, ...] = ()
    for command in commands:
        if is_install(command):
            installed += (command,)
        else:
            yield installed or (_PLAIN,), command
    yield installed or (_PLAIN,), None


class Newcomer:
    """Somebody with Python, an index of packages, and the wheel as what pip finds there."""

    def __init__(self, home: Path, wheel: Path):
        self.home = home
        self._environments: dict[tuple[str, ...], dict[str, str]] = {}
        self._commands = home / "commands"
        link_commands(os.environ["PATH"], self._commands)
        self._shelf = home / "shelf"
        self._shelf.mkdir()
        shutil.copy(wheel, self._shelf)
        with zipfile.ZipFile(wheel) as archive:
            (record,) = [name for name in archive.namelist() if name.endswith("/RECORD")]
            self._files = set(archive.read(record).decode().splitlines())

    def follow(self, page: Path) -> None:
        """Run all that a page tells to run."""
        text = page.read_text(encoding="utf-8")
        commands, left_out = commands_of(text)
        examples = re.search(r"^\s*>>> ", text, re.M)
        say(f"== {page}" if commands or examples else f"== {page}: nothing to run")
        for command in left_out:
            say(f"   left out, it is for a checkout: {command}")
        if not commands and not examples:
            return
        folder = Path(tempfile.mkdtemp(prefix="work-", dir=self.home))
        for installs, command in steps(commands):
            variables = self._environment(installs)
            if command is None:
                continue
            if command.startswith(_SERVERS):
                use_server(command, folder, variables)
            else:
                run(command, folder, variables)
        if examples:
            copied = folder / page.name
            copied.write_text(text, encoding="utf-8")
            options = "-o ELLIPSIS -o NORMALIZE_WHITESPACE"
            run(f"python -m doctest {options} {copied.name}", folder, variables)

    def _environment(self, installs: tuple[str, ...]) -> dict[str, str]:
        """Return the variables of an environment with these installed, in order, and no others."""
        if installs not in self._environments:
            place = self.home / f"environment-{len(self._environments)}"
            subprocess.run([sys.executable, "-m", "venv", place], check=True)
            pip_cache = subprocess.run(
                [place / "bin" / "pip", "cache", "dir"], capture_output=True, text=True, check=True
            )
            foreign = ("PYTHON", "GRANULEARN", "VIRTUAL_ENV")
            variables = {
                name: value for name, value in os.environ.items() if not name.startswith(foreign)
            }
            variables |= {
                "PATH": f"{place / 'bin'}{os.pathsep}{self._commands}",
                "PIP_FIND_LINKS": f"{os.environ.get('PIP_FIND_LINKS', '')} {self._shelf}".strip(),
                "PIP_CACHE_DIR": pip_cache.stdout.strip(),
                "PIP_DISABLE_PIP_VERSION_CHECK": "1",
                "PIP_QUIET": "1",
                "XDG_CACHE_HOME": str(self.home / "cache"),
                "BROWSER": "true",  # the command that does nothing
            }
            for install in installs:
                run(install, self.home, variables)
            self._check_is_this_wheel(place)
            self._environments[installs] = variables
        return self._environments[installs]

    def _check_is_this_wheel(self, environment: Path) -> None:
        """Refuse a granulearn that came from elsewhere: a file of it would differ."""
        (record,) = environment.glob("lib/*/site-packages/granulearn-*.dist-info/RECORD")
        missing = self._files - set(record.read_text(encoding="utf-8").splitlines())
        # The list cannot state its own digest.
        missing = {line for line in missing if "RECORD,," not in line}
        if missing:
            raise SystemExit(f"another granulearn was installed; it lacks {sorted(missing)[0]}")


def link_commands(path: str, folder: Path) -> None:
    """Link the commands of a search path into a folder, but for C compilers: a wheel needs none.

    Parameters
    ----------
    path : str
        As in the variable PATH.
    folder : Path
        Is made.
    """
    folder.mkdir()
    for directory in filter(Path.is_dir, map(Path, path.split(os.pathsep))):
        for command in directory.iterdir():
            link = folder / command.name
            if not (_COMPILER.fullmatch(command.name) or link.is_symlink()):
                link.symlink_to(command)


def run(command: str, folder: Path, variables: dict[str, str]) -> str:
    """Run a command of a page by the shell and return its output; exit with it on failure."""
    begin = time.monotonic()
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    say(f"   {time.monotonic() - begin:6.1f} s  $ {command}")
    output = done.stdout.decode(errors="replace")
    if done.returncode:
        raise SystemExit(f"{command}\nfailed with exit code {done.returncode}:\n{output}")
    return output


def use_server(command: str, folder: Path, variables: dict[str, str]) -> None:
    """Start a review, change some labels on its page as the browser does, and press Ctrl-C."""
    begin = time.monotonic()
    log = folder.parent / f"{folder.name}.log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            ["sh", "-c", f"exec {command}"], cwd=folder, env=variables, stdout=output, stderr=output
        )
    try:
        while not (found := ADDRESS.search(log.read_bytes())):
            if server.poll() is not None or time.monotonic() - begin > _PATIENCE:
                raise SystemExit(f"{command}\ndid not serve a page:\n{log.read_text()}")
            time.sleep(0.2)
        n_decisions = use_page(found[0].decode())
        server.send_signal(signal.SIGINT)
        code = server.wait(60)
    finally:
        server.kill()
        server.wait()
    say(f"   {time.monotonic() - begin:6.1f} s  $ {command} ({n_decisions} decisions, then Ctrl-C)")
    if code:
        raise SystemExit(f"{command}\nfailed with exit code {code}:\n{log.read_text()}")


def use_page(address: str) -> int:
    """Change some labels on the page of a review, as the browser does; return how many."""
    if b"<html" not in urlopen(address).read():
        raise SystemExit(f"{address} served something that is no page")
    rows = json.load(urlopen(f"{address}queue?n={_DECISIONS}"))["rows"]
    for row in rows:
        seen = {"row": row["row"], "revision": row["revision"], "label": row["second_class"]}
        said = json.dumps(seen | {"decision": "change", "action": f"change-{row['row']:08d}"})
        headers = {
            "Content-Type": "application/json",
            "Origin": re.match(r"http://[^/]+", address)[0],
        }
        urlopen(Request(f"{address}decide", said.encode(), headers)).read()
    return len(rows)


def say(line: str) -> None:
    """Print at once, so that a log shows where a long run is."""
    print(line, flush=True)


def main() -> None:
    """Follow every page that is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path, help="the wheel that was built")
    parser.add_argument("pages", type=Path, nargs="+", help="pages in Markdown")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="granulearn-newcomer-") as home:
        newcomer = Newcomer(Path(home), asked.wheel)
        for page in asked.pages:
            newcomer.follow(page)
    say("== every page works with the wheel alone")


if __name__ == "__main__":
    main()
