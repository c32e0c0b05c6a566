"""`granulearn inspect`: the card and the contents of a model file."""

import shutil
import subprocess
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from granulearn.cli import options as opt
from granulearn.cli import output as out
from granulearn.cli.exit_codes import MISSING_PACKAGE, UsageError, VerbError
from granulearn.utils.text import listed

SHOWN_COLUMNS = SHOWN_CLASSES = 100
SHOWN_CATEGORIES = 5


def inspect(
    model: opt.ModelArgument,
    signature: Annotated[
        Path | None, Option(help="Signature of the file, by ssh-keygen or minisign.")
    ] = None,
    keys: Annotated[
        Path | None, Option(help="Allowed signers of ssh, or public key of minisign.")
    ] = None,
    signer: Annotated[
        str | None, Option(help="Name of the required signer in the file of --keys.")
    ] = None,
    json: opt.JsonOption = False,
) -> None:
    """Show the card and the contents of a model file.

    The digest reveals damage. Only a signature says who made the file: `ssh-keygen -Y sign -n file
    -f KEY FILE` or `minisign -S -m FILE` makes one, and the same tool checks it here (exit code
    4 if it does not hold).

    Example: granulearn inspect m.granulearn --signature m.granulearn.sig --keys allowed_signers
    """
    from granulearn.models import inspect_model

    opt.check_is_file(model)
    signed_by = None
    if signature is not None:
        if keys is None:
            raise UsageError("--signature needs --keys, the file of keys that you trust.")
        signed_by = check_signature(model, signature, keys, signer)
    elif keys is not None or signer is not None:
        raise UsageError("--keys and --signer need --signature, the file to check with them.")
    contents = inspect_model(model)
    if json:
        names = ("format", "digest", "file_sha256", "file_bytes", "array_bytes")
        facts = {name: getattr(contents, name) for name in names}
        facts |= {"signed_by": signed_by, "parts": [vars(part) for part in contents.parts]}
        out.print_json({"file": str(model), **facts, "card": contents.card.to_json()})
        return
    _show(model, contents, signed_by)


def _show(model: Path, contents: Any, signed_by: str | None) -> None:
    card = contents.card
    out.headline(model.name, _size(contents.file_bytes))
    scores = []
    across, held_out = card.scores.get("cross_validated"), card.scores.get("held_out")
    if across:
        scores.append(f"accuracy {across['accuracy']['mean']:.3f} ({across['folds']}-fold)")
    if held_out:
        scores.append(f"{held_out['accuracy']:.3f} ({held_out['rows']} rows held out)")
    classes = [f"{name}: {n}" for name, n in card.classes.items()]
    facts = {
        "model": card.model,
        "target": card.target,
        "rows": card.rows,
        "classes": listed(classes, most=SHOWN_CLASSES),
        "balls": card.balls,
        "seed": card.seed,
        "scores": ", ".join(scores),
        "made with": ", ".join(f"{name} {number}" for name, number in card.versions.items()),
        "format": contents.format,
        "digest": f"{contents.digest} (holds)",
        "sha256 of the file": contents.file_sha256,
        "signed by": signed_by or "not asked (--signature)",
    }
    known = [(name, value) for name, value in facts.items() if value not in (None, "")]
    out.print_table("model", ("", ""), known, justify="left")
    shown = card.columns[:SHOWN_COLUMNS]
    columns = [(c.name, c.meaning or c.type, _training(c)) for c in shown]
    out.print_table("columns", ("name", "type", "in training"), columns)
    if len(card.columns) > SHOWN_COLUMNS:
        out.say(f"and {len(card.columns) - SHOWN_COLUMNS} more columns: see --json")
    parts = [(part.name, part.count, _size(part.array_bytes)) for part in contents.parts]
    out.print_table("parts", ("type", "number", "arrays"), parts)


def _training(column: Any) -> str:
    known = [] if column.lowest is None else [f"{column.lowest:g} to {column.highest:g}"]
    if column.categories:
        known = [listed(column.categories, most=SHOWN_CATEGORIES)]
    return ", ".join(known + [f"{column.missing} missing"] * bool(column.missing))


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 2**20:,.1f} MB" if n_bytes >= 2**20 else f"{n_bytes / 2**10:,.1f} kB"


def check_signature(file: Path, signature: Path, keys: Path, signer: str | None = None) -> str:
    """Return who signed a file; raise `ModelFileError` unless the signature is good.

    The tools that make signatures check them: `ssh-keygen` and `minisign`.
    """
    from granulearn.models import ModelFileError

    for each in (signature, keys):  # a pipe would be waited for
        opt.check_is_file(each)
    with signature.open("rb") as content:
        beginning = content.read(40)
    if beginning.startswith(b"untrusted comment:"):
        if signer is not None:
            raise UsageError("--signer is for signatures of ssh; a key of minisign has no names.")
        _run("minisign", ["-V", "-q", "-m", str(file), "-x", str(signature), "-p", str(keys)], file)
        return f"the key in {keys.name} (minisign)"
    if not beginning.startswith(b"-----BEGIN SSH SIGNATURE-----"):
        raise ModelFileError(
            f"{signature} is no signature that ssh-keygen or minisign makes; sign with `ssh-keygen "
            f"-Y sign -n file -f KEY {file.name}` or `minisign -S -m {file.name}`."
        )
    of = ["-s", str(signature), "-f", str(keys)]
    name = signer or _run("ssh-keygen", ["-Y", "find-principals", *of], file).split()[0]
    _run("ssh-keygen", ["-Y", "verify", *of, "-I", name, "-n", "file"], file)
    return f"{name} (ssh)"


def _run(tool: str, arguments: list[str], file: Path) -> str:
    """Run a tool with a file as its standard input and return what it prints."""
    from granulearn.models import ModelFileError

    found = shutil.which(tool)
    if found is None:
        step = "checks this kind of signature; install it."
        raise VerbError(f"{tool} {step}", MISSING_PACKAGE)
    with file.open("rb") as content:
        done = subprocess.run(
            [found, *arguments], stdin=content, capture_output=True, text=True, errors="replace"
        )
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or "no reason given").splitlines()
        raise ModelFileError(
            f"the signature does not hold for {file} ({tool} says: {said[-1]}); do not use the "
            "file, or check the keys."
        )
    return done.stdout
