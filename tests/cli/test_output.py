"""What is printed: JSON that machines can read, tables that pipes do not cut."""

import io
import json
import sys
import time

import numpy as np
import pytest
from rich.console import Console

from granulearn.cli import output


def test_json_holds_numpy_numbers_and_unicode(capsys):
    output.print_json({"città": np.float64(0.5), "counts": np.array([1, 2])})
    assert json.loads(capsys.readouterr().out) == {"città": 0.5, "counts": [1, 2]}
    with pytest.raises(TypeError, match="set has no form in JSON"):
        output.print_json({1, 2})


def test_notes_go_to_stderr(capsys):
    output.note("three rows were odd")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "granulearn: note: three rows were odd\n")


def test_a_pipe_gets_wide_tables(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    grid = output.table("title", "name", "value")
    grid.add_row("n" * 50, "v" * 40)
    output.console().print(grid)
    shown = capsys.readouterr().out
    assert "n" * 50 in shown
    assert "v" * 40 in shown


def test_a_table_without_names_of_columns_has_no_line_for_them(capsys):
    grid = output.table("model", "", "")
    grid.add_row("kind", "rvfl")
    output.console().print(grid)
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert shown == [["model"], [], ["kind", "rvfl"], []]


def test_what_users_named_is_printed_literally(capsys):
    grid = output.table("[title] :smile:", "name", "[low]")
    grid.add_row("[/high]", ":smile:")
    output.console().print(grid)
    output.console().print("saved", output.bold("da[a]ta.csv"))
    shown = capsys.readouterr().out
    for name in ("[title] :smile:", "[low]", "[/high]", " :smile: ", "saved da[a]ta.csv"):
        assert name in shown


def test_progress_is_drawn_on_a_terminal_only_and_never_with_json(monkeypatch):
    def draw(*, terminal, hidden):
        screen = io.StringIO()
        monkeypatch.setattr(
            output,
            "message_console",
            lambda: Console(file=screen, force_terminal=terminal, width=80),
        )
        with output.row_progress(10, hidden=hidden) as progress:
            progress(4)
        return screen.getvalue()

    assert "4/10" in draw(terminal=True, hidden=False)
    assert draw(terminal=False, hidden=False) == ""
    assert draw(terminal=True, hidden=True) == ""


@pytest.mark.parametrize(
    ("terminal", "hidden", "patience", "shown"),
    [
        (True, False, 0.0, True),
        (True, False, 60.0, False),
        (False, False, 0.0, False),
        (True, True, 0.0, False),
    ],
)
def test_stages_of_long_work_are_shown_on_a_terminal(
    terminal, hidden, patience, shown, monkeypatch
):
    screen = io.StringIO()
    monkeypatch.setattr(output, "PATIENCE", patience)
    monkeypatch.setattr(
        output, "message_console", lambda: Console(file=screen, force_terminal=terminal, width=80)
    )
    with output.stage_progress(hidden=hidden) as tell:
        tell("reading [a].csv")
        time.sleep(0.3)
    assert ("reading [a].csv" in screen.getvalue()) == shown
    assert bool(screen.getvalue()) == shown


@pytest.mark.parametrize("remark", [output.note, output.warn])
def test_a_remark_has_a_line_of_its_own_while_stages_are_shown(remark, monkeypatch):
    # As stderr is: a text over bytes, which could be written past the text.
    written = io.BytesIO()
    screen = io.TextIOWrapper(written, encoding="utf-8", write_through=True)
    monkeypatch.setattr(output, "PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(
        output, "message_console", lambda: Console(file=screen, force_terminal=True, width=80)
    )
    with output.stage_progress(hidden=False) as tell:
        tell("fitting")
        time.sleep(0.3)
        remark("loops are compiled")
    erased = "\r\x1b[2K"
    shown = written.getvalue().decode()
    assert f"{erased}granulearn: {remark.__name__[:4]}" in shown
    assert "loops are compiled\n" in shown
