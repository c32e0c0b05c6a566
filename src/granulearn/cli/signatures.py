"""Signatures of files, checked by the tools that make them: `ssh-keygen` and `minisign`."""

import shutil
import subprocess
from pathlib import Path

from granulearn.cli.exit_codes import MissingToolError, UsageError
from granulearn.cli.options import check_is_file
from granulearn.models import ModelFileError

# What signatures of ssh are made for (``ssh-keygen -Y sign -n file``).
NAMESPACE = "file"
_SECONDS = 60
# Signatures of both tools have less than a thousand bytes, with a long key some thousand.
_MOST_BYTES = 2**16


def check_signature(file: Path, signature: Path, keys: Path, signer: str | None = None) -> str:
    """Return who signed a file, in words; raise `ModelFileError` unless the signature is good."""
    # A pipe would be waited for, and both tools read a signature whole.
    for each in (signature, keys):
        check_is_file(each)
    beginning = signature.read_bytes() if signature.stat().st_size <= _MOST_BYTES else b""
    if beginning.startswith(b"untrusted comment:"):
        if signer is not None:
            raise UsageError("--signer is for signatures of ssh; a key of minisign has no names.")
        _run("minisign", ["-V", "-q", "-m", str(file), "-x", str(signature), "-p", str(keys)], file)
        return f"the key in {keys.name} (minisign)"
    if not beginning.startswith(b"-----BEGIN SSH SIGNATURE-----"):
        raise ModelFileError(
            f"{signature} is no signature that ssh-keygen or minisign makes; sign with `ssh-keygen "
            f"-Y sign -n {NAMESPACE} -f KEY {file.name}` or `minisign -S -m {file.name}`."
        )
    of = ["-s", str(signature), "-f", str(keys)]
    names = [signer] if signer else _run("ssh-keygen", ["-Y", "find-principals", *of], file).split()
    error = _bad(file, "no key of it is among the allowed signers")
    for name in names:
        try:
            _run("ssh-keygen", ["-Y", "verify", *of, "-I", name, "-n", NAMESPACE], file)
        except ModelFileError as refused:
            error = refused
        else:
            return f"{name} (ssh)"
    raise error


def _run(tool: str, arguments: list[str], file: Path) -> str:
    """Run a tool with a file as its standard input and return what it prints."""
    found = shutil.which(tool)
    if found is None:
        raise MissingToolError(f"{tool} checks this kind of signature; install it.")
    with file.open("rb") as content:
        try:
            done = subprocess.run(
                [found, *arguments], stdin=content, capture_output=True, text=True,
                errors="replace", timeout=_SECONDS, check=True,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise _bad(file, f"{tool} did not end within {_SECONDS} seconds") from error
        except subprocess.CalledProcessError as error:
            output = (
                error.stderr.strip() or error.stdout.strip() or "no reason given"
            ).splitlines()
            raise _bad(file, f"{tool} says: {output[-1]}") from error
    return done.stdout


def _bad(file: Path, reason: str) -> ModelFileError:
    step = "do not use the file, or check the keys"
    return ModelFileError(f"the signature does not hold for {file} ({reason}); {step}.")
