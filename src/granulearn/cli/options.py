"""Arguments and options that verbs share, and checks of the paths that they name."""

from __future__ import annotations

import errno
import inspect
import logging
import math
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer
from typer import Argument, Option

from granulearn.cli.exit_codes import UsageError
from granulearn.cli.output import is_standard_output, note
from granulearn.training.model_kinds import model_kinds

if TYPE_CHECKING:
    import pandas as pd

    from granulearn.audit.table_audit import TableAudit
    from granulearn.review import Decision
    from granulearn.tables import ColumnOptions, ReadOptions, TableFile, TrainingTable

# Endings of outputs: CSV and nothing else, text tables, Parquet.
CSV_ENDINGS = ("", ".csv", ".txt")
TEXT_ENDINGS = (".csv", ".tsv", ".txt", ".data")
PARQUET_ENDINGS = (".parquet", ".pq")


def column_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the columns of a table that begin so; none if it cannot be read."""
    from granulearn.tables import TableError, open_table

    # Typer does not parse an unfinished command; its arguments stand in `ctx.args`, and of
    # `predict` the first is a model.
    for path in (ctx.params.get("table"), *ctx.args):
        if path is None or str(path) == "-":
            continue
        try:
            with open_table(Path(str(path))) as file:
                return [name for name in file.names if name.startswith(incomplete)]
        except (OSError, TableError):
            continue
    return []


def one_of(names: Callable[[], Iterable[str]]) -> dict[str, Any]:
    """Return the settings of an option that takes one of some names, which are completed."""

    def check(name: str) -> str:
        if name not in names():
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(names())}.")
        return name

    def completed(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return {"callback": check, "autocompletion": completed}


def output_option(what: str) -> Any:
    """Return the option ``-o``."""
    return Option("--output", "-o", help=what)


def column_option(*flags: str, what: str, **settings: Any) -> Any:
    """Return an option that takes a column of the table, which is completed."""
    return Option(*flags, help=what, autocompletion=column_names, **settings)


_TABLE = "CSV or other text, Parquet, Feather, Excel or JSON lines; - is standard input."
_GROUP = "Column of groups, such as patients: rows are rated by trees that saw no row of it."
_TIMES = "Column of times: rows are rated by trees that saw no row of their period."
_DASK = "Dask scheduler to work on, such as tcp://10.0.0.1:8786; `local` starts one here."
TableArgument = Annotated[Path, Argument(help=_TABLE)]
ModelArgument = Annotated[Path, Argument(help="Model file that `granulearn fit` wrote.")]
TargetOption = Annotated[str, column_option("--target", "-t", what="Column of labels.")]
TargetIfAnyOption = Annotated[
    str | None, column_option("--target", "-t", what="Column of labels, if it is not known.")
]
ModelOption = Annotated[
    str,
    Option("--model", "-m", help="Name; `granulearn models` lists all.", **one_of(model_kinds)),
]
KeepOption = Annotated[
    list[str] | None, column_option(what="Column to copy or to show first; may be repeated.")
]
DecisionsOption = Annotated[
    Path | None, Option(help="CSV file of decisions about labels: row, decision, new_label.")
]
JournalOption = Annotated[
    Path | None, Option(help="CSV file of decisions; default: NAME.decisions.csv.")
]
DataDirOption = Annotated[
    Path | None, Option(help="Folder with a manifest.csv; or set GRANULEARN_DATA.")
]
GroupOption = Annotated[str | None, column_option(what=_GROUP)]
TimesOption = Annotated[str | None, column_option(what=_TIMES)]
SeedOption = Annotated[int, Option(min=0, help="Random seed.")]
DaskOption = Annotated[str | None, Option(metavar="ADDRESS|local", help=_DASK)]
JsonOption = Annotated[bool, Option("--json", help="Print one JSON object instead of tables.")]


_PANEL: dict[str, Any] = {"rich_help_panel": "How the table is read"}
_ENCODING = Option(help="Encoding of a text file, such as cp1252.", **_PANEL)
_SHEET = Option(help="Sheet of a workbook: its name, or its number from 1.", **_PANEL)
_SEPARATOR = Option(help="Character between the cells of a text file.", **_PANEL)
_EXPANSION = "How many times its size a file may take when it is decompressed, above 256 MB."
_CATEGORICAL = "Column of categories that look like numbers; may be repeated."
_IGNORE = "Column to drop; may be repeated."
_INCLUDE = "Column to use although it would be dropped; may be repeated."
_DECIMAL = "Decimal separator, . or , where the cells leave it open."
_DAY_FIRST = "Order of day and month, where the dates leave it open."
_ANNOTATORS = "Column of one annotator's labels, or a pattern such as 'reader_*'; may be repeated."
_ANNOTATIONS = "File of labels, one row per label, in the place of --annotators."
CROWD: dict[str, Any] = {"rich_help_panel": "Several annotators in the place of --target"}
_EXACT = "Keep labels apart that differ only in case, blanks or Unicode form."


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """What a user says about the file of a table; each field is an option."""

    encoding: Annotated[str | None, _ENCODING] = None
    sheet: Annotated[str | None, _SHEET] = None
    separator: Annotated[str | None, _SEPARATOR] = None
    max_expansion: Annotated[int, Option(min=1, help=_EXPANSION, **_PANEL)] = 100

    @property
    def read_options(self) -> ReadOptions:
        """How the file is read."""
        from granulearn.tables import ReadOptions

        separator = "\t" if self.separator in ("\\t", "tab") else self.separator
        return ReadOptions(self.encoding, self.sheet, separator, self.max_expansion)

    def open(self, path: Path) -> TableFile:
        """Open the table."""
        from granulearn.tables import open_table

        if path.is_fifo():  # which nobody may ever write to
            note(f"waiting for a table from the pipe {path}.")
        return open_table(path, self.read_options)


@dataclass(frozen=True, kw_only=True)
class TableOptions(FileOptions):
    """What a user says about a table to learn from."""

    categorical: Annotated[list[str] | None, column_option(what=_CATEGORICAL, **_PANEL)] = None
    ignore: Annotated[list[str] | None, column_option(what=_IGNORE, **_PANEL)] = None
    include: Annotated[list[str] | None, column_option(what=_INCLUDE, **_PANEL)] = None
    decimal: Annotated[Literal[".", ","] | None, Option(help=_DECIMAL, **_PANEL)] = None
    day_first: Annotated[
        bool | None, Option("--day-first/--month-first", help=_DAY_FIRST, **_PANEL)
    ] = None
    exact_labels: Annotated[bool, Option("--exact-labels", help=_EXACT, **_PANEL)] = False

    @property
    def columns(self) -> ColumnOptions:
        """What the columns are and become."""
        from granulearn.tables import ColumnOptions

        return ColumnOptions(
            tuple(self.categorical or ()), tuple(self.ignore or ()), tuple(self.include or ()),
            self.decimal, self.day_first, self.exact_labels,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class LabelOptions(TableOptions):
    """What a user says about labels by several annotators, too."""

    annotators: Annotated[list[str] | None, column_option(what=_ANNOTATORS, **CROWD)] = None
    annotations: Annotated[Path | None, Option(help=_ANNOTATIONS, **CROWD)] = None
    row: Annotated[str, Option(help="Its column of rows: numbers, or cells of TABLE.", **CROWD)] = (
        "row"
    )
    annotator: Annotated[str, Option(help="Its column of annotators.", **CROWD)] = "annotator"
    label: Annotated[str, Option(help="Its column of labels.", **CROWD)] = "label"

    def is_crowd(self, target: str | None, **refused: Any) -> bool:
        """Return whether annotators take the place of a target; refuse both, and neither."""
        named = [
            f"--{option.replace('_', '-')}"
            for option, value in {"target": target, **refused}.items()
            if value
        ]
        if self.annotators is None and self.annotations is None:
            if target is None:
                raise UsageError(
                    "name the column of labels by --target, or those of several annotators by "
                    "--annotators."
                )
            return False
        if self.annotators and self.annotations:
            named.append("--annotations")
        if named:
            raise UsageError(f"{named[0]} does not go with annotators; leave it out.")
        return True

    def annotations_in(
        self, file: TableFile, options: ColumnOptions
    ) -> tuple[pd.DataFrame, list[str], ColumnOptions]:
        """Return the labels, the columns of annotators, and options that drop names of rows."""
        from granulearn.audit.annotated_table import annotations_of_columns, annotations_of_file

        exact = self.exact_labels
        if self.annotations is None:
            return *annotations_of_columns(file, self.annotators or (), exact=exact), options
        columns = (self.row, self.annotator, self.label)
        if self.row in file.names:
            options = replace(options, ignore=(*options.ignore, self.row))
        return annotations_of_file(file, self.annotations, columns, exact=exact), [], options

    def audit_crowd(
        self, file: TableFile, options: ColumnOptions, decisions: Sequence[Decision] = (),
        source: str = "", **settings: Any,
    ) -> TableAudit:  # fmt: skip
        """Return the audit of the consensus of the annotators, with what decisions verify."""
        from granulearn.audit.annotated_table import audit_annotations, voted_table
        from granulearn.review import verified_by

        labels, columns, options = self.annotations_in(file, options)
        voted = voted_table(file, labels, options, columns)
        verified = verified_by(decisions, voted, source)
        return audit_annotations(voted, labels, verified=verified, n_jobs=-1, **settings)

    def read(
        self, file: TableFile, target: str | None, seed: int, decisions: Sequence[Decision] = (),
        source: str = "", **kept: bool,
    ) -> TrainingTable:  # fmt: skip
        """Return a table to learn from; its labels are the consensus if there is no target."""
        from granulearn.tables import read_training_table

        if target is None:
            return self.audit_crowd(file, self.columns, decisions, source, random_state=seed).table
        return read_training_table(file, target, self.columns, **kept)


def takes_table(verb: Callable) -> Callable:
    """Give a verb the options of its parameter `options`: `FileOptions` or `TableOptions`."""
    hints = get_type_hints(verb, include_extras=True)
    kind = hints.pop("options")
    fields = get_type_hints(kind, include_extras=True)
    own = inspect.signature(verb).parameters.values()
    added = inspect.signature(kind).parameters.values()
    hints |= fields
    parameters = [
        p.replace(annotation=hints[p.name]) for p in (*own, *added) if p.name != "options"
    ]

    @wraps(verb)
    def with_options(**given: Any) -> Any:
        taken = {name: given.pop(name) for name in fields}
        return verb(**given, options=kind(**taken))

    with_options.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {p.name: p.annotation for p in parameters}
    del with_options.__wrapped__  # or typer would read its annotations instead
    return with_options


def given_to(ctx: typer.Context, verb: Callable, folder: Path | None = None) -> list[str]:
    """Return the options on this command line that another verb takes too, except for its files.

    The path of a file of labels becomes relative to `folder` if there is one.
    """
    taken = inspect.signature(verb).parameters.keys() - {"table", "output", "decisions", "json"}
    given = []
    for option in ctx.command.params:
        name = str(option.name)
        source = ctx.get_parameter_source(name)
        if name not in taken or source is None or source.name != "COMMANDLINE":
            continue
        value = ctx.params[name]
        if isinstance(value, bool):
            given.append((option.opts if value else option.secondary_opts)[0])
            continue
        for one in value if isinstance(value, list | tuple) else [value]:
            is_path = folder is not None and name == "annotations"
            given += [option.opts[0], os.path.relpath(one, folder) if is_path else str(one)]
    return given


# A file above this share of the machine's memory is read in parts.
LARGE_SHARE = 0.25
# The memory is not asked for a smaller file: that takes longer than reading it.
SMALL_BYTES = 32 * 2**20


def is_large(path: Path) -> bool:
    """Return whether a table is read in parts: a directory, or a very large file."""
    if path.is_dir():
        return True
    size = path.stat().st_size if path.is_file() else 0
    return size > SMALL_BYTES and size > LARGE_SHARE * _memory()


def _memory() -> float:
    """Return the bytes that this process may use; infinity if the system does not tell."""
    try:
        # Knows the limits of containers and batch systems, too, on every platform.
        from distributed.system import MEMORY_LIMIT
    except ImportError:
        if not hasattr(os, "sysconf"):  # Windows
            return math.inf
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return float(MEMORY_LIMIT)


def refuse_in_parts(**given: Any) -> None:
    """Refuse options that need the whole table in memory, if they were given."""
    named = ", ".join(f"--{name}" for name, value in given.items() if value)
    if named:
        raise UsageError(
            f"{named} needs the whole table in memory, and this one is read in parts; leave it "
            "out, or use a sample of the rows."
        )


@contextmanager
def cluster(
    address: str | None, progress: Callable[[str], None], n_workers: int | None = None
) -> Any:
    """Connect to the cluster that ``--dask`` names, or start one; give its client."""
    from granulearn.dask import open_client

    address = address or "local"
    progress("starting the cluster" if address == "local" else "connecting to the cluster")

    # A failure of the cluster is raised as an error of one line, so its log is not shown.
    # Dask gives some loggers, such as the client's, a level of their own: each one is set.
    for name in ("distributed", *logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)
    with open_client(address, n_workers) as client:
        yield client


def check_is_file(path: Path) -> None:
    """Raise an `OSError` that names the path if there is no file, or none that may be read."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not a file; check the path.")
    if not os.access(path, os.R_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def check_is_one_file(table: Path) -> None:
    """Refuse standard input and folders, whose rows no file of decisions can be about."""
    if str(table) == "-" or (table.exists() and not table.is_file()):
        raise UsageError(
            f"{table} is no file, and decisions are about the rows of one file; name it. "
            "`granulearn audit` lists the worst rows of a folder in a file."
        )
    check_is_file(table)


def journal(table: Path, decisions: Path | None) -> Path:
    """Return the journal of a table, which must be one file."""
    from granulearn.review.journal import default_journal

    check_is_one_file(table)
    return decisions or default_journal(table)


def check_output(
    path: Path | None, *endings: str, others: Iterable[Path | None] = (), json: bool | None = None
) -> None:
    """Refuse, before any work is done, an output that could not be written after it.

    Its ending must be one of `endings`, if there are any; `others` are inputs and further outputs.
    `json` says whether JSON goes to standard output: only if this is said, ``-`` is that.
    """
    if path is None:
        return
    if json is not None and is_standard_output(path):
        if json:
            both = f"--json and --output {path} both write to standard output"
            raise UsageError(f"{both}; leave out --json, or name a file.")
        return
    is_stream = path.exists() and not path.is_file()  # written to, not replaced
    if endings and path.suffix.lower() not in endings and (path.suffix or not is_stream):
        known = " or ".join(filter(None, endings))
        raise UsageError(f"{path} ends in {path.suffix!r}; use {known}.")
    # Unlike Path.resolve, realpath takes a link that leads to itself.
    if os.path.realpath(path) in {os.path.realpath(other) for other in others if other}:
        raise UsageError(f"{path} is also an input or another output; write to another file.")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it.")
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    folder = path if is_stream else target.parent
    if not folder.exists():
        raise FileNotFoundError(f"the folder {folder} does not exist; make it first.")
    if not os.access(folder, os.W_OK if is_stream else os.W_OK | os.X_OK):
        step = "choose another folder, or change its rights"
        raise PermissionError(f"{folder} cannot be written to; {step}.")
