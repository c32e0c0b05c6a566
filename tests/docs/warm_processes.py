"""Commands of pages, each in a process of its own that has imported the library already."""

import os
import re
import runpy
import shlex
import sys
from collections.abc import Mapping
from multiprocessing.process import BaseProcess
from pathlib import Path

from tests.warm_processes import copied, take_over

_SHELL = re.compile(r"[|<>;&]|\$\(|~")
_VARIABLE = re.compile(r"(\w+)=(.*)")


def started(
    command: str, folder: Path, log: Path, variables: Mapping[str, str], clusters: bool = False
) -> BaseProcess:
    """Start a command as a shell would; what it says goes to a file.

    Parameters
    ----------
    command : str
        As it stands on a page.
    folder : Path
        Where it is run.
    log : Path
        What it says.
    variables : mapping
        The environment.
    clusters : bool, default=False
        Whether it may start a cluster of this machine. That has one worker then, in the process
        itself: processes of its own would take longer to import the library than to work.
    """
    return copied(_run, command, folder, log, dict(variables), clusters)


def words_of(command: str) -> tuple[dict[str, str], list[str]] | None:
    """Return the variables and the words of a command; None if it takes a shell to read it."""
    if _SHELL.search(command):
        return None
    words = shlex.split(command)
    variables = {}
    while words and (found := _VARIABLE.fullmatch(words[0])):
        variables[found[1]] = found[2]
        words.pop(0)
    return variables, words


def _run(command: str, folder: Path, log: Path, variables: dict[str, str], clusters: bool) -> None:
    """Be the command, in the process that was copied."""
    os.setsid()  # what it starts can be ended with it
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    take_over(folder, variables, os.open(os.devnull, os.O_RDONLY), output, output)
    read = words_of(command)
    if read is not None:
        os.environ.update(read[0])
        if clusters:
            _keep_clusters_small()
        program, *arguments = read[1]
        if program == "granulearn":
            from granulearn.cli.main import main

            sys.argv = [program, *arguments]
            main()
        if program == "python":
            # Processes that a script starts look for it by this path.
            script = Path(arguments[0]).resolve()
            sys.argv = arguments
            sys.path.insert(0, str(script.parent))
            runpy.run_path(str(script), run_name="__main__")
            return
    os.execvpe("sh", ["sh", "-e", "-c", command], os.environ)


def _keep_clusters_small() -> None:
    import distributed

    whole = distributed.LocalCluster
    small = {"n_workers": 1, "processes": False}
    distributed.LocalCluster = lambda **options: whole(**options | small)
