"""`granulearn models`."""

from granulearn.training.model_kinds import DEFAULT_MODEL, model_kinds
from tests.cli.commands import succeeds


def test_each_model_is_listed_with_one_line():
    lines = succeeds("models").out.splitlines()
    for name, kind in model_kinds().items():
        assert any(f" {name} " in line and kind.summary in line for line in lines)


def test_json():
    listed = succeeds("models", "--json").json
    assert listed["default"] == DEFAULT_MODEL
    assert list(listed["models"]) == list(model_kinds())
    assert not listed["models"][DEFAULT_MODEL]["tunable"]
    assert listed["models"]["rvfl"]["tunable"]
