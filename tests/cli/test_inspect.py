"""`granulearn inspect` shows what a model file holds, and whether a signature holds."""

import json

import pytest

from granulearn.cli import exit_codes
from granulearn.models import ModelCard, inspect_model, load_model, save_model
from tests.cli.commands import fails, succeeds
from tests.cli.test_signatures import needs_ssh, signed_with_ssh


def test_the_card_parts_versions_and_digest_are_shown(fitted):
    _, model = fitted
    shown = succeeds("inspect", model).out
    found = inspect_model(model)
    for text in (found.digest, found.file_sha256, found.card.target, "scikit-learn", "format"):
        assert text in shown
    for column in found.card.columns:
        assert column.name in shown
    for part in found.parts:
        assert part.name in shown


def test_json_has_all_of_it(fitted):
    _, model = fitted
    found, contents = succeeds("inspect", model, "--json").json, inspect_model(model)
    assert found["card"]["target"] == contents.card.target
    assert found["digest"] == contents.digest
    assert found["signed_by"] is None
    assert [part["name"] for part in found["parts"]] == [part.name for part in contents.parts]


def test_json_has_null_for_what_json_has_no_word_for(fitted, tmp_path):
    pipeline, copy = load_model(fitted[1]).pipeline, tmp_path / "model.skops"
    odd = {"C": float("nan"), "all": [1, {"highest": float("inf")}]}
    save_model(pipeline, copy, ModelCard(parameters=odd))
    found = json.loads(succeeds("inspect", copy, "--json").out, parse_constant=pytest.fail)
    assert found["card"]["parameters"] == {"C": None, "all": [1, {"highest": None}]}


def test_of_many_or_long_names_some_are_shown_and_the_rest_is_counted(fitted, tmp_path):
    pipeline, copy = load_model(fitted[1]).pipeline, tmp_path / "model.skops"
    columns = load_model(fitted[1]).card.columns
    classes = {"x" * 100_000: 1} | {f"class {number}": 1 for number in range(40_000)}
    save_model(pipeline, copy, ModelCard(columns=columns, classes=classes, target="t" * 100_000))
    shown = "".join(succeeds("inspect", copy).out.split())
    assert "xxx…" in shown
    assert "ttt…" in shown
    assert len(shown) < 20_000
    assert len(succeeds("inspect", copy, "--json").json["card"]["classes"]) == 40_001


def test_refused_files_and_odd_options_are_one_line(fitted, tmp_path):
    _, model = fitted
    text = tmp_path / "t.skops"
    text.write_text("no model")
    assert "is not a granulearn model file" in fails(exit_codes.BAD_MODEL, "inspect", text)
    nowhere = tmp_path / "nowhere"
    fails(exit_codes.NOT_WRITTEN, "inspect", nowhere)
    assert "needs --keys" in fails(exit_codes.USAGE, "inspect", model, "--signature", text)
    assert "need --signature" in fails(exit_codes.USAGE, "inspect", model, "--keys", text)
    arguments = ["inspect", model, "--keys", text, "--signature"]
    assert "is no signature" in fails(exit_codes.BAD_MODEL, *arguments, text)
    fails(exit_codes.NOT_WRITTEN, *arguments, nowhere)


@needs_ssh
@pytest.mark.slow
def test_a_signature_is_checked_before_anything_is_shown(fitted, tmp_path):
    _, model = fitted
    copy = tmp_path / "model.skops"
    copy.write_bytes(model.read_bytes())
    signature, signers = signed_with_ssh(copy, "ada@example.org")
    checked = ["inspect", copy, "--signature", signature, "--keys", signers]
    assert "ada@example.org (ssh)" in succeeds(*checked).out
    with copy.open("ab") as file:
        file.write(b"\0")
    assert "signature does not hold" in fails(exit_codes.BAD_MODEL, *checked)
