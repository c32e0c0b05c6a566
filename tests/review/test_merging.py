"""Decisions of several people, joined."""

from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from granulearn.review import Decision, DecisionsError, read_decisions
from granulearn.review.decisions import journal_text
from granulearn.review.journal import Journal
from granulearn.review.merging import merge_decisions
from tests.utils.test_agreement import slow_alpha

CLASSES = ["cat", "dog", "emu"]
WORDS = ["keep", "exclude", "unsure", *(f"change {label}" for label in CLASSES)]


def decision(row, word, who="ann", when="2026-01-01T10:00:00+00:00", **others):
    """Return a decision as a review writes it."""
    said, _, label = word.partition(" ")
    about = {"hash": f"h{row}", "given_label": "cat" if row % 2 else "dog", "target": "y"} | others
    return Decision(row, said, label, who=who, when=when, **about)


@st.composite
def files(draw, words=WORDS, full=False):
    """Return the decisions of one file; some know less of their rows than others."""
    who = draw(st.sampled_from(["ann", "ben", "cem"]))
    target = draw(st.sampled_from(["", "y"]))
    said = []
    for row in range(1, 7):
        word = draw(st.sampled_from(words))
        if word.endswith("cat" if row % 2 else "dog") or not (full or draw(st.booleans())):
            continue
        hour = draw(st.sampled_from(["", "T10:00:00Z", "T11:00:00+00:00", "T12:00:00+02:00"]))
        less = {"hash": ""} if draw(st.booleans()) else {}
        less |= {"given_label": ""} if draw(st.booleans()) else {}
        when = hour and f"2026-01-01{hour}"
        said.append(decision(row, word, who, when, target=target, batch="x/9", line=row, **less))
    return said


def merged(*said, **options):
    return merge_decisions([(f"{n}.csv", one) for n, one in enumerate(said)], **options)


def text(*said, **options):
    return journal_text(merged(*said, **options).decisions)


def decided(found):
    return [(d.row, d.decision, d.new_label) for d in found.decisions]


def conflicts(found):
    """Return row and what is said of it, whoever says it."""
    return {
        (c.row, frozenset((d.decision, d.new_label) for d in c.decisions.values())) for c in found
    }


@given(st.lists(files(), min_size=2, max_size=3), st.booleans())
def test_the_order_of_files_changes_nothing(several, prefer_latest):
    expected = merged(*several, prefer_latest=prefer_latest)
    for order in permutations(several):
        found = merged(*order, prefer_latest=prefer_latest)
        assert decided(found) == decided(expected)
        assert conflicts(found.conflicts) == conflicts(expected.conflicts)


@given(files(), files())
def test_merging_again_changes_nothing(a, b):
    once = list(merged(a, b).decisions)
    assert text(once, once) == text(once) == journal_text(once)


@given(files())
def test_a_journal_merged_with_itself_is_unchanged(said):
    found = merged(said, said)
    assert not found.conflicts
    (agreement,) = found.agreements
    assert agreement.same == agreement.rows == sum(d.decision != "unsure" for d in said)
    plain = [replace(d, batch="", line=0, target="") for d in said]
    assert [replace(d, target="") for d in found.decisions] == plain


@given(st.data())
def test_every_row_is_decided_on_or_in_conflict_and_never_both(data):
    several = [data.draw(files()), data.draw(files())]
    found = merged(*several)
    rows = [d.row for d in found.decisions]
    open_rows = [c.row for c in found.conflicts]
    assert rows == sorted(rows)
    assert sorted(rows + open_rows) == sorted({d.row for said in several for d in said})


def test_unsure_gives_way_and_the_earliest_of_equal_decisions_stays():
    late, early = "2026-01-02T10:00:00+00:00", "2026-01-02T11:00:00+02:00"
    found = merged(
        [decision(1, "unsure"), decision(2, "keep", "ann", late), decision(3, "unsure")],
        [decision(1, "change dog", "ben"), decision(2, "keep", "ben", early)],
    )
    assert [(d.row, d.decision, d.who) for d in found.decisions] == [
        (1, "change", "ben"),
        (2, "keep", "ben"),
        (3, "unsure", "ann"),
    ]
    assert not found.conflicts


def test_different_decisions_are_a_conflict_with_all_of_them():
    (conflict,) = merged([decision(1, "keep")], [decision(1, "change emu", "ben")]).conflicts
    assert (conflict.row, conflict.given_label) == (1, "cat")
    assert {(name, d.who, d.decision, d.new_label) for name, d in conflict.decisions.items()} == {
        ("0.csv", "ann", "keep", ""),
        ("1.csv", "ben", "change", "emu"),
    }


def test_the_latest_wins_if_times_are_known():
    late = "2026-01-01T10:30:00+00:00"
    a, b = [decision(1, "keep")], [decision(1, "change emu", "ben", late)]
    (chosen,) = merged(a, b, prefer_latest=True).decisions
    assert chosen.who == "ben"
    for unknown in (decision(1, "exclude", "cem", ""), decision(1, "exclude", "cem", late)):
        assert len(merged(a, b, [unknown], prefer_latest=True).conflicts) == 1


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"target": "z"}, "one is about the column 'y', the other about 'z'"),
        ({"hash": "other"}, "row 1 has other cells in one than in the other"),
        ({"given_label": "emu"}, "the label of row 1 was 'cat' in one and 'emu' in the other"),
    ],
)
def test_files_about_different_tables_are_refused(other, said):
    with pytest.raises(DecisionsError, match=f"0.csv and 1.csv were made for different.*{said}"):
        merged([decision(1, "keep")], [decision(1, "keep", **other)])


def test_all_decisions_get_the_column_that_one_file_names():
    found = merged([decision(1, "keep", target="")], [decision(2, "keep")])
    assert [d.target for d in found.decisions] == ["y", "y"]


def test_a_batch_that_keeps_some_lines_does_not_count_as_cut_off(tmp_path):
    bulk = [decision(row, "keep", batch="ab/3") for row in (1, 2, 3)]
    path = tmp_path / "m.csv"
    path.write_text(text(bulk, [decision(3, "exclude", "ben")]))
    assert [d.row for d in read_decisions(path)] == [1, 2]
    with Journal(path) as journal:
        assert journal.dropped == 0
        assert len(journal.lines) == 2


# --- agreement


def test_kappa_counts_exclude_as_one_more_label():
    first = [decision(row, WORDS[row % 3 and 5]) for row in range(1, 13)]
    second = [decision(row, ["keep", "exclude", "change emu"][row % 3]) for row in range(1, 13)]
    labels = [
        [{"keep": d.given_label, "exclude": "-"}.get(d.decision, d.new_label) for d in said]
        for said in (first, second)
    ]
    (agreement,) = merged(first, second).agreements
    assert (agreement.name, agreement.value) == ("kappa", pytest.approx(cohen_kappa_score(*labels)))
    assert (
        f"of 12 rows that both decide on, Cohen's kappa {agreement.value:.2f} ("
        in agreement.message
    )
    assert agreement.same == sum(a == b for a, b in zip(*labels, strict=True))


def test_an_undefined_kappa_has_a_message():
    few = merged([decision(1, "keep")], [decision(1, "exclude")]).agreements[0]
    assert few.message == (
        "agree on 0 of 1 rows that both decide on; Cohen's kappa needs 10 rows and two labels"
    )
    alike = [decision(row, "exclude") for row in range(1, 20)]
    assert merged(alike, alike).agreements[0].value is None


def test_more_than_two_files_have_alpha_and_every_pair_its_kappa():
    said = [
        [decision(row, WORDS[(row * of) % 3 and 5]) for row in range(1, 25) if (row + of) % 4]
        for of in range(1, 5)
    ]
    said[0][0] = decision(2, "unsure")
    whole, *pairs = merged(*said).agreements
    codes = np.full((25, 4), -1)
    for column, own in enumerate(said):
        for d in own:
            label = {"keep": d.given_label, "unsure": ""}.get(d.decision, d.new_label)
            codes[d.row, column] = ["", "cat", "dog", "emu"].index(label) or -1
    assert (whole.name, whole.rows) == ("alpha", np.sum((codes >= 0).sum(axis=1) > 1))
    assert whole.value == pytest.approx(slow_alpha(codes))
    assert whole.low < whole.value < whole.high
    assert whole.same == sum(len({*row} - {-1}) == 1 and (row >= 0).sum() > 1 for row in codes)
    assert "rows that two or more decide on, Krippendorff's alpha" in whole.message
    assert [pair.files for pair in pairs] == [*combinations([f"{n}.csv" for n in range(4)], 2)]
    assert merged(said[0]).agreements == ()


def test_files_without_a_decision_agree_on_nothing():
    (found,) = merged([], [decision(1, "unsure")]).agreements
    assert (found.rows, found.same, found.value) == (0, 0, None)
