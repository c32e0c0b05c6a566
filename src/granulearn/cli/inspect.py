"""`granulearn inspect`: what a model file says of itself and consists of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from granulearn.cli.exit_codes import UsageError
from granulearn.cli.options import ModelArgument, check_is_file
from granulearn.cli.output import JsonOption, bold, console, print_json, table

if TYPE_CHECKING:
    from granulearn.models import ModelCard, ModelContents

MOST_COLUMNS_SHOWN = 100
MOST_CATEGORIES_SHOWN, MOST_CLASSES_SHOWN = 5, 100
MOST_CHARACTERS_SHOWN = 2_000


def inspect(
    model: ModelArgument,
    signature: Annotated[
        Path | None,
        typer.Option("--signature", help="Signature of the file, by ssh-keygen or minisign."),
    ] = None,
    keys: Annotated[
        Path | None,
        typer.Option("--keys", help="Allowed signers of ssh, or public key of minisign."),
    ] = None,
    signer: Annotated[
        str | None,
        typer.Option("--signer", help="Who must have signed, by the name among the signers."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show what a model file says of itself, and what it consists of; nothing of it is run.

    The digest tells damage. Only a signature tells who made the file: `ssh-keygen -Y
    sign -n file -f KEY model.skops` or `minisign -S -m model.skops` makes one, and the same tool
    is asked here whether it holds (exit code 4 if not).

    Example: granulearn inspect model.skops --signature model.skops.sig --keys allowed_signers
    """
    from granulearn.models import inspect_model

    check_is_file(model)
    signed_by = None
    if signature is not None:
        from granulearn.cli.signatures import check_signature

        if keys is None:
            raise UsageError("--signature needs --keys, the file of keys that you trust.")
        signed_by = check_signature(model, signature, keys, signer)
    elif keys is not None or signer is not None:
        raise UsageError("--keys and --signer need --signature, the file to check with them.")
    contents = inspect_model(model)
    if json:
        print_json(_facts(model, contents, signed_by))
        return
    _show(model, contents, signed_by)


def _facts(model: Path, contents: ModelContents, signed_by: str | None) -> dict[str, Any]:
    return {
        "file": str(model),
        "format": contents.format,
        "digest": contents.digest,
        "file_sha256": contents.file_sha256,
        "file_bytes": contents.file_bytes,
        "array_bytes": contents.array_bytes,
        "signed_by": signed_by,
        "parts": [vars(part) for part in contents.parts],
        "card": _with_nulls(contents.card.to_json()),
    }


def _with_nulls(content: Any) -> Any:
    """Return what a card holds with null for NaN and infinity, which JSON has no words for."""
    if isinstance(content, Mapping):
        return {name: _with_nulls(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [_with_nulls(value) for value in content]
    return None if isinstance(content, float) and not isfinite(content) else content


def _show(model: Path, contents: ModelContents, signed_by: str | None) -> None:
    out, card = console(), contents.card
    out.print(bold(model.name), f": {_size(contents.file_bytes)}", sep="")
    facts = table("model", "", "")
    facts.columns[1].justify = "left"
    versions = ", ".join(f"{name} {number}" for name, number in card.versions.items())
    shown = [f"{name}: {count}" for name, count in islice(card.classes.items(), MOST_CLASSES_SHOWN)]
    classes = _with_rest(shown, len(card.classes))
    for name, value in (
        ("kind", card.model),
        ("target", card.target),
        ("rows", card.rows),
        ("classes", classes),
        ("balls", card.balls),
        ("seed", card.seed),
        ("scores", _scores(card)),
        ("made with", versions),
        ("format", contents.format),
        ("digest", f"{contents.digest} (holds)"),
        ("sha256 of the file", contents.file_sha256),
        ("signed by", signed_by or "not asked (--signature)"),
    ):
        if value not in (None, ""):
            facts.add_row(name, _shortened(str(value)))
    out.print(facts)
    columns = table("columns", "name", "kind", "in training")
    for column in card.columns[:MOST_COLUMNS_SHOWN]:
        cells = (column.name, column.meaning or column.kind, _training(column))
        columns.add_row(*map(_shortened, cells))
    out.print(columns)
    if len(card.columns) > MOST_COLUMNS_SHOWN:
        out.print(f"and {len(card.columns) - MOST_COLUMNS_SHOWN} more columns: see --json")
    parts = table("parts", "type", "number", "arrays")
    for part in contents.parts:
        parts.add_row(part.name, str(part.count), _size(part.array_bytes))
    out.print(parts)


def _scores(card: ModelCard) -> str:
    said = []
    across, held_out = card.scores.get("cross_validated"), card.scores.get("held_out")
    if across:
        said.append(f"accuracy {across['accuracy']['mean']:.3f} ({across['folds']}-fold)")
    if held_out:
        said.append(f"{held_out['accuracy']:.3f} ({held_out['rows']} rows held out)")
    return ", ".join(said)


def _training(column: Any) -> str:
    missing = f", {column.missing} missing" if column.missing else ""
    if column.kind == "number":
        return f"{column.lowest:g} to {column.highest:g}{missing}" if _is_known(column) else missing
    shown = column.categories[:MOST_CATEGORIES_SHOWN]
    return _with_rest(shown, len(column.categories)) + missing


def _with_rest(shown: Sequence[str], n_all: int) -> str:
    """Return a few entries, each not too long, and how many more there are."""
    more = n_all - len(shown)
    return ", ".join(map(_shortened, shown)) + (f" and {more} more" if more > 0 else "")


def _shortened(text: str) -> str:
    """Return the beginning of a text that would take the terminal long to lay out."""
    return text if len(text) <= MOST_CHARACTERS_SHOWN else f"{text[:MOST_CHARACTERS_SHOWN]}…"


def _is_known(column: Any) -> bool:
    return column.lowest is not None and column.highest is not None


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 2**20:,.1f} MB" if n_bytes >= 2**20 else f"{n_bytes / 2**10:,.1f} kB"
