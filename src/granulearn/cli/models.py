"""`granulearn models`: the kinds of model."""

from rich.text import Text

from granulearn.cli.options import JsonOption
from granulearn.cli.output import print_json, print_table
from granulearn.training.model_kinds import DEFAULT_MODEL, model_kinds


def models(json: JsonOption = False) -> None:
    """List the kinds of model that `granulearn fit --model` knows.

    Example: granulearn models --json
    """
    kinds = model_kinds()
    if json:
        facts = {name: kind._asdict() for name, kind in kinds.items()}
        print_json({"default": DEFAULT_MODEL, "models": facts})
        return
    default = Text.assemble(DEFAULT_MODEL, (" (default)", "dim"))
    rows = [(default if n == DEFAULT_MODEL else n, kind.summary) for n, kind in kinds.items()]
    print_table("models", ("name", "what it does"), rows, justify="left")
