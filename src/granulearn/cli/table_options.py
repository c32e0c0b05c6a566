"""What a user can say about a table, in every verb that learns from one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

if TYPE_CHECKING:
    from granulearn.tables import ColumnOptions, ReadOptions, TableFile

_PANEL = "How the table is read"


def column_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the columns of a table that begin so; none if it cannot be read.

    Parameters
    ----------
    ctx : typer.Context
        Of the unfinished command.
    incomplete : str
        How the name begins.
    """
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


def _columns(flag: str, what: str) -> Any:
    return Annotated[
        list[str] | None,
        typer.Option(
            flag,
            help=f"{what}; may be repeated.",
            autocompletion=column_names,
            rich_help_panel=_PANEL,
        ),
    ]


def _text(flag: str, what: str) -> Any:
    return Annotated[
        str | None, typer.Option(flag, help=what, rich_help_panel=_PANEL, show_default=False)
    ]


def _check_decimal(sign: str | None) -> str | None:
    if sign not in (None, ".", ","):
        raise typer.BadParameter(f"{sign!r} is neither . nor , .")
    return sign


_FILE_OPTIONS: dict[str, Any] = {
    "encoding": _text("--encoding", "Encoding of a text file, such as cp1252."),
    "sheet": _text("--sheet", "Sheet of a workbook: its name, or its number from 1."),
    "separator": _text("--separator", "What stands between the cells of a text file."),
}
_OPTIONS: dict[str, Any] = {
    "categorical": _columns("--categorical", "Column of categories that look like numbers"),
    "ignore": _columns("--ignore", "Column to leave out"),
    "include": _columns("--include", "Column to use that would be left out"),
    "decimal": Annotated[
        str | None,
        typer.Option(
            "--decimal",
            help="Sign before decimals, . or , where the cells do not tell.",
            callback=_check_decimal,
            rich_help_panel=_PANEL,
            show_default=False,
        ),
    ],
    "day_first": Annotated[
        bool | None,
        typer.Option(
            "--day-first/--month-first",
            help="Order of day and month, where the dates do not tell.",
            rich_help_panel=_PANEL,
            show_default=False,
        ),
    ],
    "exact_labels": Annotated[
        bool,
        typer.Option(
            "--exact-labels",
            help="Keep labels apart that differ in case, blanks or Unicode form only.",
            rich_help_panel=_PANEL,
        ),
    ],
} | _FILE_OPTIONS


@dataclass(frozen=True)
class AskedTable:
    """What the user said about a table."""

    given: dict[str, Any]

    @property
    def reading(self) -> ReadOptions:
        """How the file is read."""
        from granulearn.tables import ReadOptions

        separator = self.given["separator"]
        return ReadOptions(
            encoding=self.given["encoding"],
            sheet=self.given["sheet"],
            separator="\t" if separator in ("\\t", "tab") else separator,
        )

    @property
    def options(self) -> ColumnOptions:
        """What the columns are and become."""
        from granulearn.tables import ColumnOptions

        given = self.given
        return ColumnOptions(
            categorical=tuple(given["categorical"] or ()),
            ignore=tuple(given["ignore"] or ()),
            include=tuple(given["include"] or ()),
            decimal=given["decimal"],
            day_first=given["day_first"],
            exact_labels=given["exact_labels"],
        )

    def open(self, path: Path) -> TableFile:
        """Open the table.

        Parameters
        ----------
        path : Path
            As given.
        """
        from granulearn.tables import open_table

        return open_table(path, self.reading)


def takes_table_options(verb: Callable) -> Callable:
    """Give a verb the options about tables; its parameter `asked` gets what they say.

    Parameters
    ----------
    verb : callable
        With typer's annotations, and a last parameter `asked`.
    """
    return _with_options(verb, _OPTIONS)


def takes_file_options(verb: Callable) -> Callable:
    """Give a verb the options about files alone, for a table whose columns are known.

    Parameters
    ----------
    verb : callable
        With typer's annotations, and a last parameter `asked`.
    """
    return _with_options(verb, _FILE_OPTIONS)


def _with_options(verb: Callable, options: dict[str, Any]) -> Callable:
    # Typer reads the signature: written out in every verb, the options would stand there
    # five times.
    hints = get_type_hints(verb, include_extras=True)
    own = [
        parameter.replace(annotation=hints[name])
        for name, parameter in inspect.signature(verb).parameters.items()
        if name != "asked"
    ]
    added = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if name == "exact_labels" else None,
            annotation=annotation,
        )
        for name, annotation in options.items()
    ]

    @wraps(verb)
    def with_options(*arguments: Any, **given: Any) -> Any:
        said = {name: given.pop(name) for name in options}
        return verb(*arguments, **given, asked=AskedTable(said))

    with_options.__signature__ = inspect.Signature([*own, *added])  # type: ignore[attr-defined]
    with_options.__annotations__ = {p.name: p.annotation for p in [*own, *added]}
    del with_options.__wrapped__  # or its annotations would be read instead
    return with_options
