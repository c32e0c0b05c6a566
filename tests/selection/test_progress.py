"""The progress bar: on a terminal, for long searches, else nothing."""

import io
import sys

import pytest
from rich.console import Console

from granulearn.selection.progress import NoProgress, ProgressBar, show_progress


def terminal():
    return Console(file=io.StringIO(), force_terminal=True, width=80)


@pytest.mark.parametrize("verbose", [0, 3])
def test_nothing_is_shown_where_there_is_no_terminal(verbose, capsys):
    with show_progress(3, verbose) as progress:
        assert isinstance(progress, NoProgress)
        assert list(progress.track([1, 2, 3])) == [1, 2, 3]
    assert capsys.readouterr() == ("", "")


def test_a_terminal_gets_a_bar_that_ends_with_the_search(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with show_progress(2, verbose=1) as progress:
        assert isinstance(progress, ProgressBar)
        results = progress.track(iter("ab"))
        assert next(results) == "a"
        assert progress.bar.live.is_started
    assert not progress.bar.live.is_started


def test_a_long_search_shows_how_many_tasks_are_done():
    console = terminal()
    progress = ProgressBar(2, patience=0.0, console=console)
    results = progress.track(iter("ab"))
    next(results)
    progress.bar.refresh()
    progress.bar.stop()
    assert "1/2" in console.file.getvalue()


def test_a_short_search_shows_nothing():
    console = terminal()
    progress = ProgressBar(2, patience=1e9, console=console)
    assert list(progress.track(iter("ab"))) == ["a", "b"]
    progress.bar.stop()
    assert console.file.getvalue().strip() == ""
