"""`granulearn models`: the kinds of model."""

from __future__ import annotations

from rich.text import Text

from granulearn.cli.output import JsonOption, console, print_json, table
from granulearn.training.model_kinds import DEFAULT_MODEL, model_kinds


def models(json: JsonOption = False) -> None:
    """List the kinds of model that `granulearn fit --model` knows.

    Example: granulearn models --json
    """
    if json:
        print_json(
            {
                "default": DEFAULT_MODEL,
                "models": {name: kind._asdict() for name, kind in model_kinds().items()},
            }
        )
        return
    listing = table("models", "name", "what it does")
    listing.columns[1].justify = "left"
    for name, kind in model_kinds().items():
        default = " (default)" if name == DEFAULT_MODEL else ""
        listing.add_row(Text.assemble(name, (default, "dim")), kind.summary)
    console().print(listing)
