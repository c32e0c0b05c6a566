"""The journal: acknowledged decisions are in the file, once each, after kills and full disks."""

import csv
import errno
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from granulearn.review import Decision, DecisionsError
from granulearn.review import journal as journals
from granulearn.review.decisions import active_decisions, journal_text
from granulearn.review.journal import DecisionLog, Journal, default_journal

LINES = [Decision(row, "keep", note=f"line {row}") for row in (1, 2, 3)]


def fields(decisions):
    return [(d.row, d.decision, d.note, d.batch) for d in decisions]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "table.decisions.csv"


def test_a_decision_is_in_the_file_when_append_returns(path):
    with Journal(path) as journal:
        for number, line in enumerate(LINES, start=1):
            journal.append([line])
            assert path.read_bytes() == journal_text(LINES[:number]).encode()


def test_a_journal_goes_on_where_it_ended(path):
    with Journal(path) as journal:
        journal.append(LINES[:1])
    with Journal(path) as journal:
        assert fields(journal.lines) == fields(LINES[:1])
        journal.append(LINES[1:])
    assert path.read_bytes() == journal_text(LINES).encode()


def test_a_journal_that_was_opened_in_vain_leaves_no_file(path):
    Journal(path).close()
    assert not path.exists()
    with Journal(path) as journal:
        journal.append(LINES)
    Journal(path).close()
    assert path.exists()


@given(st.data())
def test_a_journal_cut_at_any_byte_keeps_all_complete_writes(tmp_path_factory, data):
    """As after a kill in the middle of a write."""
    path = tmp_path_factory.mktemp("cut") / "j.csv"
    texts = st.text(st.characters(codec="utf-8", exclude_characters="\x000123456789"), max_size=8)
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    writes = []
    for number, size in enumerate(sizes):
        batch = f"{number}/{size}" if size > 1 else ""
        notes = [data.draw(texts) for _ in range(size)]
        writes.append([Decision(1 + k, "keep", note=n, batch=batch) for k, n in enumerate(notes)])
    contents = [
        journal_text(list(chain.from_iterable(writes[:k]))).encode() for k in range(len(writes) + 1)
    ]
    ends, content = list(map(len, contents)), contents[-1]
    cut = data.draw(st.integers(0, len(content)))
    path.write_bytes(content[:cut])
    n_whole = sum(end <= cut for end in ends[1:])
    with Journal(path) as journal:
        kept, written = (
            [(d.row, d.batch) for d in lines] for lines in (journal.lines, chain(*writes))
        )
        assert kept == written[: len(kept)]
        # Perhaps lines of a batch that was cut off, too.
        assert sum(map(len, writes[:n_whole])) <= len(kept) <= sum(map(len, writes[: n_whole + 1]))
        journal.append(LINES[:1])
    with Journal(path) as journal:
        assert len(journal.lines) == len(kept) + 1
    assert path.read_bytes().startswith(content[: ends[n_whole]])


def test_an_unfinished_end_is_cut_off_and_a_copy_with_it_stays(path):
    for number in (1, 2):
        with path.open("ab") as file:
            file.write(b"" if path.stat().st_size else journal_text(LINES).encode())
            file.write(b"4,abc")
        before = path.read_bytes()
        with Journal(path) as journal:
            assert journal.dropped == 5
            assert fields(journal.lines) == fields(LINES)
        assert path.read_bytes() == before[:-5]
        assert journal.copy == path.with_name(f"table.decisions.csv.copy{number}")
        assert journal.copy.read_bytes() == before


def test_what_cannot_be_copied_is_not_cut_off(path, monkeypatch):
    content = journal_text(LINES).encode() + b"4,abc"
    path.write_bytes(content)

    def full(*_):
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(journals, "written_atomically", full)
    with pytest.raises(OSError, match="no room"):
        Journal(path)
    assert path.read_bytes() == content


EDITED = [
    (b"line 2", b'"12 screen'),  # where lines follow,
    (b"line 3", b'"12 screen'),  # and in the last line
    (b"line 2", b'"12" screen'),
]


@pytest.mark.parametrize(("before", "after"), EDITED)
def test_a_quotation_mark_without_a_partner_is_refused_and_the_file_stays(path, before, after):
    content = journal_text(LINES).encode().replace(before, after)
    path.write_bytes(content)
    with pytest.raises(DecisionsError, match=f"line {int(before[-1:]) + 1}: a quotation mark"):
        Journal(path)
    assert [file.read_bytes() for file in path.parent.iterdir()] == [content]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_quotation_mark_within_a_note_is_a_part_of_it(path, number):
    edited = journal_text(LINES).replace(f"line {number}", '12" screen')
    path.write_text(edited)
    with Journal(path) as journal:
        assert [d.note for d in journal.lines][number - 1] == '12" screen'
        journal.append(LINES[:1])
    with Journal(path) as journal:
        assert len(journal.lines) == 4
    assert path.read_text().startswith(edited)


@pytest.mark.slow
def test_another_process_is_refused_and_a_killed_one_lets_go(path):
    code = f"""
import sys
from pathlib import Path
from granulearn.review.journal import Journal
kept = Journal(Path({str(path)!r}))
print("open", flush=True)
sys.stdin.read()
"""
    other = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert other.stdout.readline() == b"open\n"
        with pytest.raises(DecisionsError, match="is open in another review"):
            Journal(path)
    finally:
        other.kill()
        other.communicate()
    Journal(path).close()


@pytest.mark.parametrize("content", [b"row,decision\n1,keep\n", b"what,ever\n"])
def test_lines_are_added_to_nothing_but_a_journal(path, content):
    path.write_bytes(content)
    with pytest.raises(DecisionsError, match="is no journal of a review"):
        Journal(path)
    assert path.read_bytes() == content


def test_a_full_disk_leaves_the_file_as_it_was(path):
    resource = pytest.importorskip("resource")
    with Journal(path) as journal:
        journal.append(LINES[:1])
        before = path.read_bytes()
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, limits[1]))
        try:
            with pytest.raises(OSError, match="File too large") as caught:
                journal.append(LINES[1:])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert caught.value.filename == str(path)
        assert path.read_bytes() == before
        assert journal.lines == LINES[:1]
        journal.append(LINES[1:])
    assert path.read_bytes() == journal_text(LINES).encode()


@pytest.mark.parametrize("kind", ["link", "dangling link", "pipe", "device", "folder"])
def test_decisions_are_added_to_a_file_alone(path, tmp_path, kind):
    other = tmp_path / "other.csv"
    if "link" in kind:
        path.symlink_to(other)
        if kind == "link":
            other.write_bytes(journal_text(LINES).encode())
    elif kind == "folder":
        path.mkdir()
    else:
        pytest.importorskip("fcntl")
        path = Path("/dev/null") if kind == "device" else path
        os.mkfifo(path) if kind == "pipe" else None
    with pytest.raises(DecisionsError, match="name a file"):
        Journal(path)
    assert other.exists() == (kind == "link")


@pytest.mark.parametrize("name", ["note", "new_label", "target", "who"])
def test_a_cell_that_could_not_be_read_again_is_not_written(path, name):
    longest = csv.field_size_limit()
    with Journal(path) as journal:
        journal.append(LINES)
        before = path.read_bytes()
        with pytest.raises(DecisionsError, match=f"row 4: {name!r} has .* shorten it"):
            journal.append([Decision(4, "change", **{"new_label": "b", name: "x" * (longest + 1)})])
        assert path.read_bytes() == before
        journal.append([Decision(4, "change", **{"new_label": "b", name: '"' * longest})])
    with Journal(path) as journal:
        assert len(journal.lines) == 4


def test_any_text_of_a_cell_comes_back(path):
    for odd in ("a\rb", "a\nb", "a\r\nb", 'say "x"', "a,b", ";", "\t", " a "):
        text = f"x{odd}x"
        line = Decision(1, "change", text, cell=odd, target=odd, who=text, given_label="g")
        with Journal(path) as journal:
            journal.append([line])
        with Journal(path) as journal:
            assert replace(journal.lines[-1], line=0) == line


def test_nothing_is_decided_in_a_journal_that_was_closed(path):
    journal = Journal(path)
    journal.append(LINES[:1])
    journal.close()
    with pytest.raises(DecisionsError, match="is closed; open it again to decide"):
        journal.append(LINES[1:])
    assert path.read_bytes() == journal_text(LINES[:1]).encode()


def test_a_file_of_another_program_is_not_removed(path, tmp_path):
    journal = Journal(path)
    other = tmp_path / "other.csv"
    other.write_bytes(journal_text(LINES).encode())
    other.replace(path)
    journal.close()
    assert path.read_bytes() == journal_text(LINES).encode()


@pytest.mark.parametrize(
    ("table", "journal"),
    [
        ("credit.csv", "credit.decisions.csv"),
        ("data.v2.csv", "data.v2.decisions.csv"),
        ("a.csv.gz", "a.decisions.csv"),
        ("book.xlsx", "book.decisions.csv"),
    ],
)
def test_the_journal_is_named_after_the_table(tmp_path, table, journal):
    assert default_journal(tmp_path / table) == tmp_path / journal


def test_a_file_that_another_program_changed_or_moved_gets_no_more_lines(path, tmp_path):
    with Journal(path) as journal:
        journal.append(LINES[:1])
        with path.open("ab") as file:
            file.write(b"by hand\n")
        before = path.read_bytes()
        for _ in range(2):
            with pytest.raises(DecisionsError, match="was changed or moved by another program"):
                journal.append(LINES[1:])
            path.rename(tmp_path / "elsewhere.csv") if path.exists() else None
        assert (tmp_path / "elsewhere.csv").read_bytes() == before


def test_an_edit_that_keeps_the_size_is_seen(path):
    with Journal(path) as journal:
        journal.append(LINES)
        edited = path.read_bytes().replace(b"1,,,keep", b"9,,,keep")
        time.sleep(0.05)  # the clock of a file system ticks
        with path.open("r+b") as file:
            file.write(edited)
        with pytest.raises(DecisionsError, match="was changed or moved by another program"):
            journal.append(LINES)
    assert path.read_bytes() == edited


def test_a_journal_that_was_replaced_by_a_copy_gets_no_more_lines(path, tmp_path):
    with Journal(path) as journal:
        journal.append(LINES[:1])
        before = path.read_bytes()
        path.rename(tmp_path / "moved.csv")
        shutil.copy2(tmp_path / "moved.csv", path)
        with pytest.raises(DecisionsError, match="was changed or moved by another program"):
            journal.append(LINES[1:])
    assert path.read_bytes() == (tmp_path / "moved.csv").read_bytes() == before


WORDS = st.sampled_from(["", "x", "/", "a/2", "a/b", "a/-1", "line-2", f"a/{'9' * 5000}"])


@given(st.lists(st.tuples(st.integers(1, 3), st.sampled_from(["keep", "exclude", "undo"]), WORDS)))
@example([(1, "keep", "x"), (1, "exclude", "x"), (1, "undo", "x"), (1, "undo", "x")])
def test_whatever_batches_are_called_the_same_decisions_count_and_can_be_undone(lines):
    """As after edits by hand: a name stands in many places, or twice about a row."""
    journal = Journal()
    journal.append([Decision(r, d, batch=b, line=n) for n, (r, d, b) in enumerate(lines, start=2)])
    log = DecisionLog(journal, lambda _: False)
    assert [log.active[row] for row in sorted(log.active)] == active_decisions(journal.lines)
    while log.last_action:
        before = len(journal.lines)
        again = log.undoable(log.last_action)
        if not again:
            break
        log.undo([replace(decision, decision="undo") for decision in again])
        assert len(journal.lines) > before
