"""Signatures of files, checked by the tools that make them: `ssh-keygen` and `minisign`."""

from __future__ import annotations

import base64
import shutil
import subprocess
from pathlib import Path

from granulearn.cli.exit_codes import MissingToolError, UsageError
from granulearn.cli.options import check_is_file
from granulearn.models.errors import ModelFileError

NAMESPACE = "file"
"""What signatures of ssh are made for (``ssh-keygen -Y sign -n file``)."""
_SECONDS = 60
_SSH = b"-----BEGIN SSH SIGNATURE-----"
_MINISIGN = b"untrusted comment:"
# Signatures of both tools have less than a thousand bytes, with a long key some thousand.
_MOST_BYTES = 2**16


def check_signature(file: Path, signature: Path, keys: Path, signer: str | None = None) -> str:
    """Return who signed a file, in words; raise `ModelFileError` unless the signature is good.

    Parameters
    ----------
    file : Path
        What was signed.
    signature : Path
        Of ``ssh-keygen -Y sign`` or ``minisign -S``.
    keys : Path
        The allowed signers of ssh, or the public key of minisign.
    signer : str, optional
        Who must have signed, by the name in the file of allowed signers; any of them if left out.
    """
    # A pipe would be waited for, and both tools read a signature whole.
    for each in (signature, keys):
        check_is_file(each)
    with signature.open("rb") as opened:
        content = opened.read(_MOST_BYTES + 1)
    beginning = content if len(content) <= _MOST_BYTES else b""
    if beginning.startswith(_SSH):
        return _check_with_ssh(file, signature, keys, signer)
    if beginning.startswith(_MINISIGN):
        if signer is not None:
            raise UsageError("--signer is for signatures of ssh; a key of minisign has no names.")
        _run("minisign", ["-V", "-q", "-m", str(file), "-x", str(signature), "-p", str(keys)], file)
        return f"the key in {keys.name} (minisign)"
    raise ModelFileError(
        f"{signature} is no signature that ssh-keygen or minisign makes; sign with `ssh-keygen -Y "
        f"sign -n {NAMESPACE} -f KEY {file.name}` or `minisign -S -m {file.name}`."
    )


def _check_with_ssh(file: Path, signature: Path, keys: Path, signer: str | None) -> str:
    of = ["-s", str(signature), "-f", str(keys)]
    if signer is None:
        found = _run("ssh-keygen", ["-Y", "find-principals", *of], file).splitlines()
        # ssh-keygen stops at the first line of the key, which may be for other uses.
        names = [*dict.fromkeys(found + _names_of_key(signature, keys))]
    else:
        names = [signer]
    error = _bad(file, "no key of it is among the allowed signers")
    for name in names:
        try:
            _run("ssh-keygen", ["-Y", "verify", *of, "-I", name, "-n", NAMESPACE], file)
        except ModelFileError as refused:
            error = refused
        else:
            return f"{name} (ssh)"
    raise error


def _names_of_key(signature: Path, keys: Path) -> list[str]:
    """Return the names under which the key of a signature stands among the allowed signers."""
    armoured = signature.read_bytes().removeprefix(_SSH).partition(b"-----END")[0]
    content = base64.b64decode(armoured)
    # SSHSIG, the version in four bytes, the length of the key in four bytes, the key.
    n_bytes = int.from_bytes(content[10:14], "big")
    key = base64.b64encode(content[14 : 14 + n_bytes]).decode()
    lines = [line.split() for line in keys.read_text(errors="replace").splitlines()]
    own = [words[0] for words in lines if key in words and not words[0].startswith("#")]
    return [name for names in own for name in names.strip('"').split(",")]


def _run(tool: str, arguments: list[str], file: Path) -> str:
    """Run a tool on a file and return what it prints; it must end well."""
    found = shutil.which(tool)
    if found is None:
        raise MissingToolError(
            f"{tool} is not installed, and checks this kind of signature; install it."
        )
    try:
        # The file comes by standard input, as ssh-keygen has it; no shell is involved.
        with file.open("rb") as content:
            done = subprocess.run(
                [found, *arguments],
                stdin=content,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_SECONDS,
                check=False,
            )
    except subprocess.TimeoutExpired as error:
        raise _bad(file, f"{tool} did not end within {_SECONDS} seconds") from error
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or "no reason given").splitlines()[-1]
        raise _bad(file, f"{tool} says: {said}")
    return done.stdout


def _bad(file: Path, reason: str) -> ModelFileError:
    return ModelFileError(
        f"the signature does not hold for {file} ({reason}); do not use the file, or check the "
        "keys."
    )
