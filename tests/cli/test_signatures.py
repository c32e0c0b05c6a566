"""Signatures are checked by the tools that made them, without a shell."""

import os
import shutil
import stat
import subprocess
import tracemalloc

import pytest

from granulearn.cli import signatures
from granulearn.cli.exit_codes import MissingToolError, UsageError
from granulearn.cli.signatures import check_signature
from granulearn.models import ModelFileError

needs_ssh = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")


def signed_with_ssh(file, name):
    """Sign a file with a new key; return the signature and the file of allowed signers."""
    key = file.with_name("key")
    quietly = {"check": True, "capture_output": True}
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], **quietly)
    subprocess.run(["ssh-keygen", "-Y", "sign", "-q", "-n", "file", "-f", key, file], **quietly)
    signers = file.with_name("allowed_signers")
    signers.write_text(f"{name} {key.with_suffix('.pub').read_text()}")
    return file.with_name(f"{file.name}.sig"), signers


def fake_minisign(folder, monkeypatch, code):
    """Put a tool first on the path that notes its arguments."""
    tool = folder / "minisign"
    tool.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" > "{folder}/asked"\necho bad key >&2\nexit {code}\n'
    )
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    signature = folder / "m.minisig"
    signature.write_text("untrusted comment: signature from minisign secret key\nRUQ...\n")
    (folder / "m.pub").write_text("untrusted comment: minisign public key\nRWQ...\n")
    return signature, folder / "m.pub"


@needs_ssh
@pytest.mark.slow
def test_a_good_signature_of_ssh_names_its_signer_and_any_change_is_found(tmp_path):
    file = tmp_path / "model $(touch x).skops"
    file.write_bytes(b"model")
    signature, signers = signed_with_ssh(file, "ada@example.org")
    assert check_signature(file, signature, signers) == "ada@example.org (ssh)"
    assert check_signature(file, signature, signers, "ada@example.org") == "ada@example.org (ssh)"
    with pytest.raises(ModelFileError, match="does not hold"):
        check_signature(file, signature, signers, "eve@example.org")
    other = tmp_path / "other.skops"
    other.write_bytes(b"changed")
    with pytest.raises(ModelFileError, match="ssh-keygen says"):
        check_signature(other, signature, signers)
    signers.write_text("")
    with pytest.raises(ModelFileError, match="does not hold"):
        check_signature(file, signature, signers)


@needs_ssh
@pytest.mark.slow
def test_a_key_that_stands_under_several_names_is_tried_under_each(tmp_path):
    file = tmp_path / "model.skops"
    file.write_bytes(b"model")
    signature, signers = signed_with_ssh(file, "ada")
    _, key = signers.read_text().split(maxsplit=1)
    signers.write_text(f'# all\nbob namespaces="git" {key}ada,eve namespaces="file" {key}')
    assert check_signature(file, signature, signers) == "ada (ssh)"
    signers.write_text(f'bob namespaces="git" {key}')
    with pytest.raises(ModelFileError, match="ssh-keygen says"):
        check_signature(file, signature, signers)


def test_a_signature_is_a_short_file(tmp_path):
    key, pipe = tmp_path / "key", tmp_path / "pipe"
    key.write_text("ada ...")
    os.mkfifo(pipe)
    for pair in ((pipe, key), (key, pipe), (tmp_path, key), (tmp_path / "nowhere", key)):
        with pytest.raises(FileNotFoundError, match="is not a file"):
            check_signature(key, *pair)
    signature = tmp_path / "m.sig"
    signature.write_text("-----BEGIN SSH SIGNATURE-----\n")
    os.truncate(signature, 2**30)  # a hole: it takes no room on the disk
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match="is no signature that ssh-keygen or minisign"):
            check_signature(key, signature, key)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_minisign_is_asked_about_its_signatures(tmp_path, monkeypatch):
    signature, key = fake_minisign(tmp_path, monkeypatch, 0)
    file = tmp_path / "m;rm -rf x.skops"
    file.write_bytes(b"model")
    assert "m.pub (minisign)" in check_signature(file, signature, key)
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked == ["-V", "-q", "-m", str(file), "-x", str(signature), "-p", str(key)]
    with pytest.raises(UsageError, match="--signer is for signatures of ssh"):
        check_signature(file, signature, key, "ada")
    fake_minisign(tmp_path, monkeypatch, 1)
    with pytest.raises(ModelFileError, match="minisign says: bad key"):
        check_signature(file, signature, key)


def test_a_tool_that_is_missing_is_named(tmp_path, monkeypatch):
    signature, key = fake_minisign(tmp_path, monkeypatch, 0)
    monkeypatch.setattr(signatures.shutil, "which", lambda tool: None)
    with pytest.raises(MissingToolError, match="minisign is not installed"):
        check_signature(key, signature, key)


def test_a_tool_that_hangs_is_ended(tmp_path, monkeypatch):
    signature, key = fake_minisign(tmp_path, monkeypatch, 0)
    (tmp_path / "minisign").write_text("#!/bin/sh\nexec sleep 20\n")
    monkeypatch.setattr(signatures, "_SECONDS", 0.2)
    with pytest.raises(ModelFileError, match="did not end within"):
        check_signature(key, signature, key)
