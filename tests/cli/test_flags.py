"""Every setting that a message can name is an option of the command line."""

import shlex

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st

from granulearn.cli.application import app
from granulearn.cli.flags import flag, in_flags, option_of, quoted
from granulearn.tables.messages import Message, Setting
from tests.tables.test_messages import STAGES, settings_said


def options(*verbs):
    """Return the options of verbs."""
    application = typer.main.get_command(app)
    commands = [application.get_command(None, verb) for verb in verbs]
    return {
        option
        for command in commands
        for parameter in command.params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }


@pytest.mark.parametrize("stage", STAGES)
def test_every_setting_of_a_message_has_its_option(stage):
    said = {option_of(Setting(name)) for name in settings_said(stage)}
    assert said
    # An option that one verb alone has is named by what this verb alone does.
    assert said <= options("fit", "predict", "audit")


def test_every_setting_about_a_table_is_an_option_of_every_verb_that_learns_from_one():
    said = {option_of(Setting(name)) for name in settings_said("tables")}
    for verb in ("check", "fit", "audit", "balls"):
        assert said <= options(verb)


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        (Setting("ignore", ("zip",)), "--ignore zip"),
        (Setting("ignore", ("a", "b c")), "--ignore a --ignore 'b c'"),
        (Setting("encoding", "cp1252"), "--encoding cp1252"),
        (Setting("exact_labels", True), "--exact-labels"),
        (Setting("day_first", True), "--day-first"),
        (Setting("day_first", False), "--month-first"),
        (Setting("separator", ","), "--separator ','"),
        (Setting("decimal", ","), "--decimal ,"),
        (Setting("test", 0), "--test 0"),
        (Setting("sheet"), "--sheet"),
    ],
)
def test_a_setting_is_said_as_it_is_typed(setting, text):
    assert flag(setting) == text
    assert set(shlex.split(text)) >= {option_of(setting)}


def test_a_message_is_said_with_options_and_any_other_text_as_it_is():
    message = Message("Pass ", Setting("ignore", ("my zip",)), ".")
    assert in_flags(message) == "Pass --ignore 'my zip'."
    assert in_flags("Pass ignore=['a'].") == "Pass ignore=['a']."


@given(st.text(min_size=1, max_size=12), st.booleans())
@settings(max_examples=300)
def test_a_quoted_name_is_one_word_of_a_shell(name, always):
    assert shlex.split(quoted(name, always=always)) == [name]
