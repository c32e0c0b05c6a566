"""A message is a text in the form of Python whose settings can be said in other words."""

import ast
import copy
import inspect
import pickle
import re
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import granulearn
from granulearn.tables import ColumnOptions, ReadOptions, read_training_table
from granulearn.tables.messages import Message, Setting, any_of
from granulearn.training.cluster_training import train_on_cluster
from granulearn.training.prediction import Predictor
from granulearn.training.training import train

SOURCE = Path(granulearn.__file__).parent
STAGES = ("tables", "training")
OPTION = re.compile(r"(?<![\w-])--[a-z]")
IGNORED = Setting("ignore", ("my zip",))

settings = st.builds(Setting, st.sampled_from(["ignore", "decimal"]), st.text(max_size=3))
parts = st.lists(st.text(max_size=5) | settings, max_size=6)


def trees(stage):
    """Return the files of a stage, parsed."""
    files = sorted((SOURCE / stage).rglob("*.py"))
    assert files
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}


def docstrings(tree):
    """Return the texts that stand alone, which nobody is shown."""
    alone = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))
    return {id(node) for node in alone if isinstance(node, ast.Constant)}


def settings_said(stage):
    """Return the names of all settings that a stage can speak of."""
    calls = [
        node
        for tree in trees(stage).values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Setting"
    ]
    return {ast.literal_eval(call.args[0]) for call in calls}


@pytest.mark.parametrize("stage", STAGES)
def test_no_text_of_the_stage_names_an_option_of_the_command_line(stage):
    named = [
        f"{path.name}:{node.lineno}: {node.value}"
        for path, tree in trees(stage).items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if OPTION.search(node.value) and id(node) not in docstrings(tree)
    ]
    assert named == []


def test_every_setting_is_a_parameter():
    known = {field.name for kind in (ColumnOptions, ReadOptions) for field in fields(kind)}
    known |= inspect.signature(read_training_table).parameters.keys()
    assert settings_said("tables") <= known
    for function in (train, train_on_cluster, Predictor):
        known |= inspect.signature(function).parameters.keys()
    assert settings_said("training") <= known


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        (Setting("ignore", ("zip",)), "ignore=['zip']"),
        (Setting("ignore", ("a", "b c")), "ignore=['a', 'b c']"),
        (Setting("encoding", "cp1252"), "encoding='cp1252'"),
        (Setting("exact_labels", True), "exact_labels=True"),
        (Setting("day_first", False), "day_first=False"),
        (Setting("test", 0), "test=0"),
        (Setting("sheet"), "sheet=..."),
    ],
)
def test_the_text_of_a_setting_is_what_python_takes(setting, text):
    assert str(setting) == text
    given = eval(f"dict({text})")[setting.name]
    wanted = ... if setting.value is None else setting.value
    assert (tuple(given) if isinstance(given, list) else given) == wanted


@given(parts)
def test_a_message_is_the_text_of_its_parts(parts):
    assert Message(*parts) == "".join(map(str, parts)) == Message(*parts).spoken(str)


@given(parts, parts)
def test_messages_within_a_message_keep_their_settings(first, second):
    nested = Message("before ", Message(*first), Message(*second))
    assert nested.parts == Message("before ", *first, *second).parts
    assert nested.spoken(repr) == "before " + Message(*first, *second).spoken(repr)


@given(parts)
def test_a_message_is_the_same_after_a_journey(parts):
    message = Message(*parts)
    for travelled in (pickle.loads(pickle.dumps(message)), copy.deepcopy(message)):
        assert (travelled, travelled.parts) == (message, message.parts)


def test_a_setting_is_said_in_the_words_of_whoever_shows_it():
    message = Message("Pass ", IGNORED, ".")
    assert message == "Pass ignore=['my zip']."
    assert message.spoken(lambda setting: f"/{setting.name}") == "Pass /ignore."


def test_settings_of_which_each_would_do_are_joined_by_or():
    assert any_of((IGNORED,)) == "ignore=['my zip']"
    either = any_of((Setting("day_first", True), Setting("day_first", False)))
    assert either == "day_first=True or day_first=False"
    assert len(either.parts) == 3
