"""The verbs and their help; a verb's file is imported when the verb is called."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from granulearn.cli import exit_codes, output

# Each verb is a function, or an application of verbs, in the file of the same name.
VERBS = {
    "check": "Report column types, missing cells and problems of a table.",
    "audit": "Find labels that are probably wrong, and say why.",
    "review": "Decide on doubtful labels, one by one, in the browser.",
    "correct": "Write a table with its labels corrected.",
    "decisions": "Merge the decisions of several reviewers.",
    "fit": "Fit a model that predicts a column of a table.",
    "predict": "Predict the rows of a file of any size.",
    "inspect": "Show what a model file contains, without running it.",
    "balls": "List the granular balls of a table with their memberships.",
    "export": "Export a fitted model as ONNX, and verify it.",
    "models": "List the kinds of model.",
    "datasets": "List data sets, or write one as a file.",
    "bench": "Run a comparison study.",
    "report": "Turn the results of a study into a page.",
}
EXIT_CODES = "  ".join(f"{code}: {meaning}." for code, meaning in exit_codes.MEANINGS.items())
EPILOG = f"""
[bold]Examples[/bold]

granulearn datasets export breast_cancer_wisconsin -o tumours.csv

granulearn audit tumours.csv --target target -o suspects.csv

granulearn fit tumours.csv --target target -o tumours.granulearn

granulearn predict tumours.granulearn tumours.csv --proba -o predicted.csv

[bold]Exit codes[/bold]  {EXIT_CODES}
"""
_ClickException: type[Any] = typer.BadParameter.__mro__[2]


class LazyVerbs(TyperGroup):
    """Lists and completes the verbs without importing them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the verbs in the order of use."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return name and summary of a verb."""
        return TyperCommand(cmd_name, help=VERBS[cmd_name]) if cmd_name in VERBS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the verb that is called, imported."""
        name, listed, rest = super().resolve_command(ctx, args)
        return name, listed and load_verb(str(listed.name)), rest


def load_verb(name: str) -> Any:
    """Return typer's command for a verb."""
    verb = getattr(import_module(f"granulearn.cli.{name}"), name)
    if not isinstance(verb, typer.Typer):
        group = typer.Typer(add_completion=False, rich_markup_mode="markdown")
        group.command(name)(verb)
        verb = group
    command = typer.main.get_command(verb)
    command.name = name
    return command


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
    """Run a command line and return the exit code; wrong options are explained in one line."""
    command = typer.main.get_command(app)
    try:
        result = command.main(arguments, prog_name="granulearn", standalone_mode=False)
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):  # typer would leave with 1
            raise BrokenPipeError from error
        raise
    except typer.Abort as error:  # how older versions of typer pass on Ctrl-C
        raise KeyboardInterrupt from error
    except _ClickException as error:
        context = getattr(error, "ctx", None)
        message = error.format_message()
        if message.endswith("is not readable."):  # typer looks at the rights of a path itself
            output.error(f"{message} Check its rights.")
            return exit_codes.NOT_WRITTEN
        if message:
            where = f" Try: {context.command_path} --help" if context else ""
            output.error(f"{message}{where}")
        return exit_codes.USAGE
    if result == exit_codes.INTERRUPTED:  # how recent versions of typer pass on Ctrl-C
        raise KeyboardInterrupt
    return result if isinstance(result, int) else exit_codes.OK
