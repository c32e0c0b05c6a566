"""Exit codes that a script can use, and which failure gets which."""

from __future__ import annotations

from collections.abc import Sequence

from granulearn._extras import missing_package
from granulearn._full_disk import is_disk_full

OK = 0
UNEXPECTED = 1
USAGE = 2
BAD_DATA = 3
BAD_MODEL = 4
NOT_WRITTEN = 5
MISSING_PACKAGE = 6
SOME_CELLS_FAILED = 7
NO_CLUSTER = 8
HUNG_UP = 129
INTERRUPTED = 130
NOBODY_READS = 141
STOPPED = 143

MEANINGS = {
    OK: "done",
    UNEXPECTED: "unexpected failure: please report it",
    USAGE: "the command itself is wrong (unknown option, missing argument)",
    BAD_DATA: "a data file or data set cannot be used; the message names the line or column",
    BAD_MODEL: "a model file is refused, or an exported model would not predict the same",
    NOT_WRITTEN: "a file is missing or cannot be read or written (path, rights, full disk)",
    MISSING_PACKAGE: "an optional package or a tool is missing; the message says what to install",
    SOME_CELLS_FAILED: "a study went to its end, but some cells failed; their reasons are kept",
    NO_CLUSTER: "the Dask cluster cannot be reached, or was lost",
    HUNG_UP: "the terminal was closed (SIGHUP); otherwise as 130",
    INTERRUPTED: "interrupted (Ctrl-C); no output was written, a study keeps its finished cells",
    NOBODY_READS: "the output was closed before its end, as `head` does",
    STOPPED: "stopped by SIGTERM; otherwise as 130",
}

_BY_NAME = {
    "TableError": BAD_DATA,
    "DecisionsError": BAD_DATA,
    "UnknownDatasetError": BAD_DATA,
    "DatasetUnavailableError": BAD_DATA,
    "ModelFileError": BAD_MODEL,
    "OnnxMismatchError": BAD_MODEL,
    "ClusterError": NO_CLUSTER,
}


class UsageError(Exception):
    """Options that do not go together; the message says which."""


class MissingToolError(Exception):
    """A program that is to be run is not installed; the message says which."""


class InterruptedRunError(Exception):
    """A run was stopped that keeps what it has; the message says what that is."""


def explain_failure(error: Exception) -> tuple[str | Sequence[str], int]:
    """Return the line to print for a failure, or one for each problem, and the exit code.

    Parameters
    ----------
    error : Exception
        What was raised.
    """
    # By name, so that no package has to be imported to say that it is missing.
    kinds = [kind.__name__ for kind in type(error).__mro__]
    for kind in kinds:
        if kind in _BY_NAME:
            return getattr(error, "problems", ()) or str(error), _BY_NAME[kind]
    if isinstance(error, UsageError):
        return str(error), USAGE
    if isinstance(error, MissingToolError):
        return str(error), MISSING_PACKAGE
    if isinstance(error, InterruptedRunError):
        return str(error), INTERRUPTED
    if isinstance(error, ModuleNotFoundError):
        return missing_package(error.name or ""), MISSING_PACKAGE
    if isinstance(error, OSError):
        return _about_file(error), NOT_WRITTEN
    if isinstance(error, MemoryError):
        return "there is not enough memory for this table; use fewer rows or columns.", BAD_DATA
    return (
        f"unexpected {type(error).__name__}: {error} (please report it; GRANULEARN_DEBUG=1 shows "
        "where it happened)",
        UNEXPECTED,
    )


def _about_file(error: OSError) -> str:
    if error.filename is None or error.strerror is None:
        return str(error)
    step = (
        "make room, or write elsewhere" if is_disk_full(error) else "check the path and the rights"
    )
    return f"{error.filename}: {error.strerror.lower()}; {step}."
