"""`granulearn datasets`, `models` and `inspect`."""

import os
import shutil
import stat
import subprocess

import numpy as np
import pandas as pd
import pytest

from granulearn.cli import exit_codes
from granulearn.cli.exit_codes import VerbError
from granulearn.cli.inspect import check_signature
from granulearn.datasets import list_datasets, load
from granulearn.models import ModelFileError, inspect_model
from granulearn.training.model_kinds import DEFAULT_MODEL, model_kinds
from tests.cli.commands import fails, succeeds

needs_ssh = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")


def test_every_set_and_every_model_is_listed():
    shown = succeeds("datasets").out
    assert all(name in shown for name in ("iris", "two_moons", "bank"))
    listed = succeeds("datasets", "--json").json
    assert list(listed) == list(list_datasets().index)
    assert (listed["iris"]["rows"], listed["iris"]["here"]) == (150, "sklearn:iris")
    lines = succeeds("models").out.splitlines()
    for name, kind in model_kinds().items():
        assert any(f" {name} " in line and kind.summary in line for line in lines)
    models = succeeds("models", "--json").json
    assert models["default"] == DEFAULT_MODEL
    assert list(models["models"]) == list(model_kinds())


@pytest.mark.parametrize("suffix", ["tsv", "parquet"])
def test_an_exported_set_is_the_set(tmp_path, suffix):
    path = tmp_path / f"wine.{suffix}"
    report = succeeds("datasets", "export", "wine", "-o", path, "-t", "kind", "--json").json
    assert (report["rows"], report["target"]) == (178, "kind")
    frame = pd.read_parquet(path) if suffix == "parquet" else pd.read_csv(path, sep="\t")
    wine = load("wine")
    assert frame.columns[-1] == "kind"
    np.testing.assert_array_equal(frame.drop(columns="kind").to_numpy(), wine.X.to_numpy())
    assert frame["kind"].tolist() == wine.y.tolist()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["irsi", "-o", "x.csv"], exit_codes.BAD_DATA, "did you mean 'iris'"),
        (["zzzzzz", "-o", "x.csv"], exit_codes.BAD_DATA, "see `granulearn datasets`."),
        (["bank", "-o", "x.csv"], exit_codes.BAD_DATA, "pass --data-dir or set the environment"),
        (["iris", "-o", "x.xlsx"], exit_codes.USAGE, "ends in '.xlsx'"),
        (["two_moons", "-o", "x.csv", "-t", "x1"], exit_codes.USAGE, "has a feature 'x1'"),
        (["iris", "-o", "no/x.csv"], exit_codes.NOT_WRITTEN, "does not exist"),
    ],
)
def test_what_cannot_be_exported_says_why(tmp_path, monkeypatch, arguments, code, said):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRANULEARN_DATA", raising=False)
    assert said in fails(code, "datasets", "export", *arguments)
    assert list(tmp_path.iterdir()) == []


def test_options_hold_before_and_after_the_verb(tmp_path):
    export, folder = ["export", "iris", "-o", tmp_path / "x.csv"], ["--data-dir", tmp_path]
    for verb in ([*folder, *export], [*export, *folder]):
        assert "has no manifest.csv" in fails(exit_codes.NOT_WRITTEN, "datasets", *verb)
    for verb in (["--json", *export], [*export, "--json"]):
        assert succeeds("datasets", *verb).json["rows"] == 150


def test_a_directory_of_the_environment_that_holds_nothing_is_noted(tmp_path, monkeypatch):
    for folder, said in (("none", "is not a directory"), (".", "has no manifest.csv")):
        monkeypatch.setenv("GRANULEARN_DATA", str(tmp_path / folder))
        (line,) = succeeds("datasets", "--json").err.splitlines()
        assert line.startswith("granulearn: note: GRANULEARN_DATA=")
        assert said in line


# --- inspect


def test_card_parts_versions_and_digest_are_shown_and_in_json(fitted):
    shown, found = succeeds("inspect", fitted[1]).out, inspect_model(fitted[1])
    parts = [part.name for part in found.parts]
    for text in (found.digest, found.file_sha256, found.card.target, "scikit-learn", *parts):
        assert text in shown
    assert all(column.name in shown for column in found.card.columns)
    facts = succeeds("inspect", fitted[1], "--json").json
    assert facts["card"]["target"] == found.card.target
    assert (facts["digest"], facts["signed_by"]) == (found.digest, None)
    assert [part["name"] for part in facts["parts"]] == parts


def test_refused_files_and_odd_options_are_one_line(fitted, tmp_path):
    text, nowhere = tmp_path / "t.granulearn", tmp_path / "nowhere"
    text.write_text("no model")
    assert "or no model file" in fails(exit_codes.BAD_MODEL, "inspect", text)
    fails(exit_codes.NOT_WRITTEN, "inspect", nowhere)
    assert "needs --keys" in fails(exit_codes.USAGE, "inspect", fitted[1], "--signature", text)
    assert "need --signature" in fails(exit_codes.USAGE, "inspect", fitted[1], "--keys", text)
    arguments = ["inspect", fitted[1], "--keys", text, "--signature"]
    fails(exit_codes.NOT_WRITTEN, *arguments, nowhere)


@needs_ssh
@pytest.mark.slow
def test_a_good_signature_of_ssh_names_its_signer_and_any_change_is_found(fitted, tmp_path):
    file, key = tmp_path / "model $(touch x).granulearn", tmp_path / "key"
    file.write_bytes(fitted[1].read_bytes())
    for words in (["-q", "-t", "ed25519", "-N", ""], ["-Y", "sign", "-q", "-n", "file"]):
        signed = [file] if "-Y" in words else []
        command = ["ssh-keygen", *words, "-f", key, *signed]
        subprocess.run(command, check=True, capture_output=True)
    signers, signature = tmp_path / "allowed_signers", tmp_path / f"{file.name}.sig"
    signers.write_text(f"ada {key.with_suffix('.pub').read_text()}")
    command = ["inspect", file, "--signature", signature, "--keys", signers]
    assert "ada (ssh)" in succeeds(*command).out
    assert succeeds(*command, "--signer", "ada", "--json").json["signed_by"] == "ada (ssh)"
    assert "does not hold" in fails(exit_codes.BAD_MODEL, *command, "--signer", "eve")
    with file.open("ab") as content:
        content.write(b"\0")
    assert "signature does not hold" in fails(exit_codes.BAD_MODEL, *command)
    signers.write_text("")
    assert "does not hold" in fails(exit_codes.BAD_MODEL, *command)
    assert not (tmp_path / "x").exists()


def test_minisign_is_asked_about_its_signatures_without_a_shell(tmp_path, monkeypatch):
    tool, file = tmp_path / "minisign", tmp_path / "m;rm -rf x.granulearn"
    signature, key = tmp_path / "m.minisig", tmp_path / "m.pub"
    file.write_bytes(b"model")
    signature.write_text("untrusted comment: signature from minisign secret key\nRUQ...\n")
    key.write_text("untrusted comment: minisign public key\nRWQ...\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(VerbError, match="minisign checks this kind") as missing:
        check_signature(file, signature, key)
    assert missing.value.code == exit_codes.MISSING_PACKAGE

    def says(script):
        tool.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{tmp_path}/asked"\n{script}\n')
        tool.chmod(tool.stat().st_mode | stat.S_IXUSR)

    says("exit 0")
    assert "m.pub (minisign)" in check_signature(file, signature, key)
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked == ["-V", "-q", "-m", str(file), "-x", str(signature), "-p", str(key)]
    with pytest.raises(exit_codes.UsageError, match="--signer is for signatures of ssh"):
        check_signature(file, signature, key, "ada")
    says("echo bad key >&2; exit 1")
    with pytest.raises(ModelFileError, match="minisign says: bad key"):
        check_signature(file, signature, key)


def test_a_signature_is_a_file(tmp_path):
    key, pipe = tmp_path / "key", tmp_path / "pipe"
    key.write_text("ada ...")
    os.mkfifo(pipe)
    for pair in ((pipe, key), (key, pipe)):  # nobody waits for what never comes
        with pytest.raises(FileNotFoundError, match="is not a file"):
            check_signature(key, *pair)
    with pytest.raises(ModelFileError, match="is no signature that ssh-keygen or minisign"):
        check_signature(key, key, key)
