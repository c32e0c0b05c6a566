"""Options that several verbs share."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from granulearn.cli.exit_codes import UsageError
from granulearn.cli.table_options import column_names
from granulearn.training.model_kinds import model_names

# The endings of files that are written as CSV, and as nothing else.
CSV_ENDINGS = ("", ".csv", ".txt")


def _check_model(name: str) -> str:
    if name not in model_names():
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(model_names())}.")
    return name


TableArgument = Annotated[
    Path,
    typer.Argument(
        help="CSV or its kin, Parquet, Feather, workbook or JSON lines; - is standard input.",
        show_default=False,
    ),
]
ModelArgument = Annotated[
    Path, typer.Argument(help="Model file that `granulearn fit` wrote.", show_default=False)
]
TargetOption = Annotated[
    str,
    typer.Option(
        "--target",
        "-t",
        help="Column of labels.",
        autocompletion=column_names,
        show_default=False,
    ),
]
ModelOption = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        help="Kind of model; see `granulearn models`.",
        autocompletion=model_names,
        callback=_check_model,
    ),
]
GroupOption = Annotated[
    str | None,
    typer.Option(
        "--group",
        help="Column of groups, such as patients: rows of one group do not rate each other.",
        autocompletion=column_names,
    ),
]
OrderOption = Annotated[
    str | None,
    typer.Option(
        "--order",
        help="Column that says what came when: rows are rated by other stretches of time.",
        autocompletion=column_names,
    ),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything random.")]
DaskOption = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS|local",
        help="Dask scheduler to work on, such as tcp://10.0.0.1:8786; `local` starts one here.",
        show_default=False,
    ),
]


@contextmanager
def cluster(address: str | None, n_workers: int | None = None) -> Iterator[Any]:
    """Connect to the cluster that ``--dask`` names; give None if it was left out.

    Parameters
    ----------
    address : str or None
        As given.
    n_workers : int, default=None
        Processes of a local cluster.
    """
    if address is None:
        yield None
        return
    from granulearn.distributed import open_client

    # A failure of the cluster is raised as an error of one line, so its log is not shown.
    # Dask gives some loggers, such as the client's, a level of their own: each one is set.
    for name in ("distributed", *logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)
    with open_client(address, n_workers) as client:
        yield client


def check_is_file(path: Path) -> None:
    """Raise an `OSError` that names the path if there is no file, or none that may be read.

    Parameters
    ----------
    path : Path
        A model.
    """
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not a file; check the path.")
    path.open("rb").close()


def _real(path: Path) -> Path:
    """Return where links lead to; unlike `Path.resolve`, also of one that leads to itself."""
    return Path(os.path.realpath(path))


def check_not_an_input(output: Path | None, *inputs: Path) -> None:
    """Refuse to write over what is read.

    Parameters
    ----------
    output : Path or None
        The file to write, if one is.
    *inputs : Path
        The files that are read.
    """
    if output is not None and _real(output) in map(_real, inputs):
        raise UsageError(f"--output {output} is also an input; write to another file.")


def check_can_be_written(path: Path | None, *suffixes: str) -> None:
    """Refuse, before any work is done, a file that could not be written after it.

    Parameters
    ----------
    path : Path or None
        The file to write, if one is.
    *suffixes : str
        The endings that are allowed, with their point; "" allows a name without one.
        If none is given, any ending is allowed.
    """
    if path is None:
        return
    if suffixes and path.suffix.lower() not in suffixes:
        raise UsageError(
            f"{path} ends in {path.suffix!r}; use {' or '.join(filter(None, suffixes))}."
        )
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it.")
    if path.exists() and not path.is_file():
        place, needed = path, os.W_OK  # a device or a pipe is written to, not replaced
    else:
        place, needed = (_real(path) if path.is_symlink() else path).parent, os.W_OK | os.X_OK
        if not place.is_dir():
            raise FileNotFoundError(f"the folder {place} does not exist; make it first.")
    if not os.access(place, needed):
        raise PermissionError(
            f"{place} cannot be written to; choose another place, or change its rights."
        )


def check_new_folder(path: Path) -> None:
    """Refuse, before any work is done, a folder that could not be made after it.

    Parameters
    ----------
    path : Path
        The folder to write.
    """
    if path.exists():
        raise UsageError(f"{path} is there already; remove it, or name another folder.")
    check_can_be_written(path)


def check_outputs_differ(*outputs: Path | None) -> None:
    """Refuse to write two things to one file.

    Parameters
    ----------
    *outputs : Path or None
        The files to write; None is none.
    """
    places = [_real(path) for path in outputs if path is not None]
    for path in places:
        if places.count(path) > 1:
            raise UsageError(f"{path.name} is named for two outputs; write them to two files.")


def output_option(what: str) -> Any:
    """Return the option ``-o`` for one kind of file.

    Parameters
    ----------
    what : str
        What is written.
    """
    return typer.Option("--output", "-o", help=what, show_default=False)
