"""The verbs and their help; a verb's file is imported when it is called."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperGroup

from granulearn.cli import exit_codes
from granulearn.cli.terminal_text import visible


class Verb(NamedTuple):
    """Where a verb is and what it does."""

    place: str
    """``module:name`` of a function with typer's annotations, or of a typer application."""
    summary: str


VERBS = {
    "check": Verb("granulearn.cli.check:check", "See what a table holds, and what is odd."),
    "audit": Verb("granulearn.cli.audit:audit", "Find labels that are probably wrong, and why."),
    "review": Verb("granulearn.cli.review:review", "Go through doubtful labels, and decide."),
    "correct": Verb("granulearn.cli.correct:correct", "Write a table with the labels changed."),
    "decisions": Verb("granulearn.cli.decisions:decisions", "Join what several people decided."),
    "fit": Verb("granulearn.cli.fit:fit", "Learn to predict a column of a table."),
    "predict": Verb("granulearn.cli.predict:predict", "Predict every row of a file, of any size."),
    "inspect": Verb("granulearn.cli.inspect:inspect", "See what a model file holds, unrun."),
    "balls": Verb("granulearn.cli.balls:balls", "See the balls of a table, and how trusted."),
    "export": Verb("granulearn.cli.export:export", "Write a fitted model as ONNX, checked."),
    "models": Verb("granulearn.cli.models:models", "List the kinds of model."),
    "datasets": Verb("granulearn.cli.datasets:datasets", "List data sets; write one as a file."),
    "bench": Verb("granulearn.cli.bench:bench", "Run a comparison study."),
    "report": Verb("granulearn.cli.report:report", "Turn the results of a study into a page."),
}

EXIT_CODES = "  ".join(f"{code}: {meaning}." for code, meaning in exit_codes.MEANINGS.items())
EPILOG = f"""
[bold]Examples[/bold]

granulearn datasets export crx -o credit.csv

granulearn check credit.csv --target target

granulearn fit credit.csv --target target -o credit.skops

granulearn predict credit.skops new.csv --proba -o predicted.csv

[bold]Exit codes[/bold]  {EXIT_CODES}
"""


class LazyVerbs(TyperGroup):
    """Lists the verbs without importing them."""

    _only_listing = False

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the verbs whose file exists, in the order of use."""
        return [name for name, verb in VERBS.items() if find_spec(verb.place.partition(":")[0])]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a verb; while verbs are listed, only its name and summary."""
        if cmd_name not in self.list_commands(ctx):
            return None
        if self._only_listing:
            return _command(lambda: None, cmd_name, VERBS[cmd_name].summary)
        module, _, name = VERBS[cmd_name].place.partition(":")
        return _command(getattr(import_module(module), name), cmd_name, None)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the list of verbs."""
        with self._listing():
            super().format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Return the verbs that begin with what was typed."""
        with self._listing():
            return super().shell_complete(ctx, incomplete)

    @contextmanager
    def _listing(self) -> Iterator[None]:
        self._only_listing = True
        try:
            yield
        finally:
            self._only_listing = False


def _command(content: Any, name: str, summary: str | None) -> Any:
    """Return typer's command for a function or an application of verbs."""
    if not isinstance(content, typer.Typer):
        application = typer.Typer(add_completion=False, rich_markup_mode="rich")
        application.command(name, help=summary)(content)
        content = application
    command = typer.main.get_command(content)
    command.name = name
    for each in (command, *getattr(command, "commands", {}).values()):
        each.help = _flowing(each.help or "")
    return command


def _flowing(text: str) -> str:
    """Return paragraphs of one line each: rich keeps breaks, and the terminal breaks again."""
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"granulearn {version('granulearn')}")
        raise typer.Exit


app = typer.Typer(
    name="granulearn",
    cls=LazyVerbs,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def granulearn(
    show_version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Learn from tables whose labels cannot be fully trusted."""


def run_verb(arguments: list[str]) -> int:
    """Run what the arguments ask for and return the exit code.

    Parameters
    ----------
    arguments : list of str
        What stands after ``granulearn`` on the command line.
    """
    command = typer.main.get_command(app)
    try:
        result = command.main(arguments, prog_name="granulearn", standalone_mode=False)
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):  # typer would leave with 1
            raise BrokenPipeError from error
        raise
    except Exception as error:
        return _usage_error(error)
    if result == exit_codes.INTERRUPTED:  # how recent versions of typer pass on Ctrl-C
        raise KeyboardInterrupt
    return result if isinstance(result, int) else exit_codes.OK


def _usage_error(error: Exception) -> int:
    """Print what typer says about wrong options in one line; let the rest pass."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if "Abort" in kinds:  # how older versions of typer pass on Ctrl-C
        raise KeyboardInterrupt from error
    if "ClickException" not in kinds:
        raise error
    context = getattr(error, "ctx", None)
    where = f" Try: {context.command_path} --help" if context else ""
    message = visible(" ".join(error.format_message().split()))  # type: ignore[attr-defined]
    if message.endswith("is not readable."):  # typer looks at the rights of a path itself
        typer.echo(f"granulearn: error: {message} Check its rights.", err=True)
        return exit_codes.NOT_WRITTEN
    if message:
        typer.echo(f"granulearn: error: {message}{where}", err=True)
    return exit_codes.USAGE
