"""Exit codes for scripts, and the code and message of each kind of failure."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from granulearn._extras import missing_package
from granulearn.utils.files import FULL_DISK

OK, UNEXPECTED, USAGE, BAD_DATA, BAD_MODEL, NOT_WRITTEN, MISSING_PACKAGE = range(7)
SOME_RUNS_FAILED, NO_CLUSTER = 7, 8
HUNG_UP, INTERRUPTED, NOBODY_READS, STOPPED = 129, 130, 141, 143

MEANINGS = {
    OK: "done",
    UNEXPECTED: "unexpected failure: please report it",
    USAGE: "the command itself is wrong (unknown option, missing argument)",
    BAD_DATA: "a data file or data set cannot be used; the message names the line or column",
    BAD_MODEL: "a model file is refused, or an exported model would not predict the same",
    NOT_WRITTEN: "a file is missing or cannot be read or written (path, rights, full disk)",
    MISSING_PACKAGE: "an optional package or a tool is missing; the message says what to install",
    SOME_RUNS_FAILED: "a study went to its end, but some runs failed; their reasons are kept",
    NO_CLUSTER: "the Dask cluster cannot be reached, or was lost",
    HUNG_UP: "the terminal was closed (SIGHUP); otherwise as 130",
    INTERRUPTED: "interrupted (Ctrl-C); no output was written, a study keeps its finished runs",
    NOBODY_READS: "the output was closed before its end, as `head` does",
    STOPPED: "stopped by SIGTERM; otherwise as 130",
}

# Package, public exception class, code.
_CODES = (
    ("granulearn.tables", "TableError", BAD_DATA),
    ("granulearn.review", "DecisionsError", BAD_DATA),
    ("granulearn.datasets", "UnknownDatasetError", BAD_DATA),
    ("granulearn.datasets", "DatasetUnavailableError", BAD_DATA),
    ("granulearn.models", "ModelFileError", BAD_MODEL),
    ("granulearn.models", "OnnxMismatchError", BAD_MODEL),
    ("granulearn.bench.study", "StudyError", USAGE),
    ("granulearn.dask", "ClusterError", NO_CLUSTER),
)


class VerbError(Exception):
    """A verb cannot go on; the message is printed, and `code` is the exit code."""

    def __init__(self, message: str, code: int = USAGE):
        super().__init__(message)
        self.code = code


class UsageError(VerbError):
    """Options that do not go together."""


def explain_failure(error: Exception) -> tuple[Sequence[str], int]:
    """Return the lines to print for a failure, one for each problem, and the exit code."""
    if isinstance(error, VerbError):
        return [str(error)], error.code
    for package, name, code in _CODES:
        # An error of a package that was not imported cannot have been raised.
        if isinstance(error, getattr(sys.modules.get(package), name, ())):
            return getattr(error, "problems", ()) or [str(error)], code
    if isinstance(error, ModuleNotFoundError):
        return [missing_package(error.name or "")], MISSING_PACKAGE
    if isinstance(error, OSError):
        if error.filename is None or error.strerror is None:
            return [str(error)], NOT_WRITTEN
        full = error.errno in FULL_DISK
        step = "make room, or write elsewhere" if full else "check the path and the rights"
        return [f"{error.filename}: {error.strerror.lower()}; {step}."], NOT_WRITTEN
    if isinstance(error, MemoryError):
        return ["there is not enough memory for this table; use fewer rows or columns."], BAD_DATA
    report = "please report it; GRANULEARN_DEBUG=1 shows where it happened"
    return [f"unexpected {type(error).__name__}: {error} ({report})"], UNEXPECTED
