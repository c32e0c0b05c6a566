"""Commands and scripts of every page are run, word for word, in a folder of their own."""

import doctest
import os
import re
import signal
import socket
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import onnxruntime
import pandas as pd
import pytest

from benchmarks.load_test import free_port
from granulearn.cli.exit_codes import INTERRUPTED
from granulearn.models import load_model, onnx_inputs
from granulearn.tables import open_table
from release.newcomer import ADDRESS, commands_in, use_page
from tests.bench.test_running import count_rows
from tests.docs.pages import ROOT, blocks, outputs
from tests.docs.stand_ins import NOT_RUN, PORT, SCHEDULER, STAND_INS, STOPPED, credit, large_tables
from tests.docs.warm_processes import started, words_of

pytestmark = pytest.mark.slow

PATIENCE = 300.0
# Workers of a cluster are copies of one process too.
WORKERS = {"DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD": "forkserver"}
COMMANDS: dict[str, list[str]] = defaultdict(list)
for page, text in blocks("sh", "bash", "console"):
    COMMANDS[page] += commands_in(text)
SCRIPTS: dict[str, str] = defaultdict(str)
for page, text in blocks("python", "py"):
    SCRIPTS[page] += "" if ">>> " in text else text


def not_run(command: str) -> list[str]:
    """Return the entries of the list that a command belongs to."""
    return [beginning for beginning in NOT_RUN if command.startswith(beginning)]


RUN = {
    page: left
    for page, commands in COMMANDS.items()
    if (left := [command for command in commands if not not_run(command)])
}


class Reader:
    """Somebody who does what a page says, in a folder that has what it takes for granted."""

    def __init__(self, stand_in: Callable[[Path], None], folder: Path):
        self._clusters = stand_in is large_tables
        self.said: dict[str, str] = {}
        self.folder, home = folder / "work", folder / "home"
        self.folder.mkdir()
        home.mkdir()
        self._logs = folder
        self._servers = ExitStack()
        self._addresses = {PORT: str(free_port())}
        programs = folder / "bin"
        programs.mkdir()
        # The command under its own name, however the package is installed.
        (programs / "granulearn").write_text(
            f'#!/bin/sh\nexec "{sys.executable}" -m granulearn "$@"\n'
        )
        (programs / "granulearn").chmod(0o755)
        path = f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        own = {"PATH": path, "HOME": str(home), "BROWSER": "true", **WORKERS}
        cache = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
        self._variables = os.environ | own | {"XDG_CACHE_HOME": cache}
        self._variables.pop("GRANULEARN_DATA", None)
        stand_in(self.folder)

    def __enter__(self):
        return self

    def __exit__(self, *reason):
        self._servers.close()

    def follow(self, page: str) -> None:
        """Run the commands of a page that were not run in this folder before."""
        # A cluster is there before what uses it, wherever the page tells how to start one.
        for command in sorted(RUN[page], key=lambda command: not command.startswith("dask ")):
            if command not in self.said:
                said = self.do(command)
                assert '"labels"' in said or not command.startswith("curl "), said
                self.said[command] = said

    def do(self, command: str) -> str:
        """Run a command, or start it and let it go on if others need it; return what it said."""
        for written, here in self._addresses.items():
            command = command.replace(written, here)
        if command.startswith("dask scheduler"):
            self._open_cluster(command)
            return ""
        if command.startswith(("dask worker", "python examples/serve")):
            process, log = self._servers.enter_context(self._running(command))
            if "serve" in command:
                self._wait(process, log, self._answers)
            return ""
        before = self._n_results()
        with self._running(command) as (process, log):
            if command.startswith("granulearn review"):
                address = self._wait(process, log, lambda: ADDRESS.search(log.read_bytes()))
                assert use_page(address[0].decode()) > 0
                os.killpg(process.pid, signal.SIGINT)
            stopped = any(beginning in command for beginning in STOPPED)
            if stopped:
                self._wait(process, log, lambda: self._n_results() > before)
                os.kill(process.pid, signal.SIGINT)
            process.join(PATIENCE)
            said = log.read_text(encoding="utf-8", errors="replace")
            assert process.exitcode == (INTERRUPTED if stopped else 0), f"{command}\n{said}"
        return said

    def _open_cluster(self, command: str) -> None:
        """Start a scheduler that listens on this machine alone, wherever there is a port."""
        own = "--host 127.0.0.1 --port 0 --no-dashboard"
        process, log = self._servers.enter_context(self._running(f"{command} {own}"))
        address = re.compile(r"Scheduler at:\s+(tcp://[\d.:]+)")
        found = self._wait(process, log, lambda: address.search(log.read_text()))
        self._addresses[SCHEDULER] = found[1]

    def _answers(self) -> bool:
        with socket.socket() as asked:
            return asked.connect_ex(("127.0.0.1", int(self._addresses[PORT]))) == 0

    def _n_results(self) -> int:
        return sum(count_rows(path) for path in self.folder.glob("*/*.db"))

    def _wait(self, process, log, is_there):
        end = time.monotonic() + PATIENCE
        while not (found := is_there()):
            assert process.is_alive(), log.read_text()
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.05)
        return found

    @contextmanager
    def _running(self, command: str):
        """Start a command, and end it with all that it has started."""
        log = self._logs / f"log-{len(list(self._logs.glob('log-*')))}"
        log.touch()
        process = started(command, self.folder, log, self._variables, self._clusters)
        try:
            yield process, log
        finally:
            if process.is_alive():
                os.killpg(process.pid, signal.SIGTERM)
                process.join(30)
            if process.is_alive():
                os.killpg(process.pid, signal.SIGKILL)
                process.join()


@pytest.fixture(scope="module")
def readers(tmp_path_factory):
    """Return a function that gives the reader of a page; pages with equal stand-ins share one."""
    with ExitStack() as stack:
        there = {}

        def reader_of(page: str) -> Reader:
            stand_in = STAND_INS[page]
            if stand_in not in there:
                folder = tmp_path_factory.mktemp(stand_in.__name__)
                there[stand_in] = stack.enter_context(Reader(stand_in, folder))
            return there[stand_in]

        yield reader_of


@pytest.mark.parametrize("page", RUN)
def test_the_commands_of_a_page_run_word_for_word(page, readers):
    assert page in STAND_INS, f"say in stand_ins.py what {page} takes for granted"
    readers(page).follow(page)


@pytest.mark.parametrize(("page", "command", "shown"), [*outputs()])
def test_what_a_page_shows_a_command_to_say_is_what_it_says(page, command, shown, readers):
    reader = readers(page)
    reader.follow(page)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    said = reader.said[command]
    assert doctest.OutputChecker().check_output(shown, said, options), said


@pytest.mark.parametrize("page", [page for page, text in SCRIPTS.items() if text])
def test_the_script_of_a_page_runs(page, tmp_path):
    with Reader(STAND_INS[page], tmp_path) as reader:
        (reader.folder / "script.py").write_text(SCRIPTS[page], encoding="utf-8")
        reader.do("python script.py")


@pytest.fixture(scope="module")
def quick_start(readers):
    """Return the folder in which the commands of the quick start were run."""
    reader = readers("docs/guide/command-line.md")
    reader.follow("docs/guide/command-line.md")
    return reader.folder


def test_the_quick_start_leaves_the_files_that_pages_name(quick_start):
    commands = [command for page in RUN if STAND_INS[page] is credit for command in RUN[page]]
    named = {word for command in commands for word in command.split()}
    left = {path.name for path in quick_start.iterdir()}
    assert left <= named
    assert left >= {
        "credit.csv", "suspects.csv", "credit.granulearn", "predicted.csv", "balls.csv",
        "balls.png",
        "credit.onnx",
    }  # fmt: skip


def test_the_model_of_the_quick_start_has_learnt_the_data(quick_start):
    data = pd.read_csv(quick_start / "credit.csv")
    predicted = pd.read_csv(quick_start / "predicted.csv")
    assert len(predicted) == len(data)
    assert (predicted["prediction"] == data["target"]).mean() > 0.8
    card = load_model(quick_start / "credit.granulearn").card
    assert card.scores["held_out"]["accuracy"] > 0.8
    assert len(card.columns) == open_table(quick_start / "credit.csv").names.index("target")


def test_the_onnx_file_of_the_quick_start_gives_the_probabilities_of_the_csv(quick_start):
    session = onnxruntime.InferenceSession(
        quick_start / "credit.onnx", providers=["CPUExecutionProvider"]
    )
    probabilities = session.run(None, onnx_inputs(quick_start / "credit.csv", session))[1]
    written = pd.read_csv(quick_start / "predicted.csv").iloc[:, 1:].to_numpy()
    np.testing.assert_allclose(probabilities, written, atol=1e-5)


@pytest.mark.parametrize("beginning", NOT_RUN)
def test_what_is_not_run_stands_on_a_page_and_has_a_reason(beginning):
    there = [command for commands in COMMANDS.values() for command in commands]
    meant = [command for command in there if beginning in not_run(command)]
    assert meant, f"no page has a command that begins with {beginning!r}: remove it from the list"
    for command in meant:
        files = re.findall(r"(?:tests|benchmarks)/[\w/.]+", command)
        assert [file for file in files if not (ROOT / file).exists()] == []
    pytest.skip(f"not run, {len(meant)} command(s) of pages: {NOT_RUN[beginning]}")


def test_what_stands_in_is_for_pages_that_are_run():
    assert set(STAND_INS) == set(RUN)
    commands = [command for commands in RUN.values() for command in commands]
    for part in (*STOPPED, SCHEDULER, PORT):
        assert any(part in command for command in commands), part


def test_words_are_read_as_by_a_shell():
    assert words_of("A=b granulearn check 'a b.csv'") == (
        {"A": "b"}, ["granulearn", "check", "a b.csv"],
    )  # fmt: skip
    assert words_of("zcat a.gz | granulearn predict m -") is None
    assert words_of("granulearn inspect ~/m.granulearn") is None
