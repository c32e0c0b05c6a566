"""The loop of a review: the next row, a decision, the corrected table."""

import re
import threading

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from granulearn import Review
from granulearn.review import DecisionsError, read_decisions
from granulearn.review.review import ConflictError
from granulearn.tables import TableError
from tests.review.tables import animals, animals_file


@pytest.fixture
def review():
    frame, _ = animals()
    with Review(frame, "kind", keep=["name"], refit_every=1000) as opened:
        yield opened


@pytest.fixture
def saved(tmp_path):
    path, truth = animals_file(tmp_path)
    return path, truth


def decide_by(review, truth, n, order="worst"):
    for _ in range(n):
        card = review.next(order)
        right = truth[card.row - 1]
        if card.given_label == right:
            review.decide(card, "keep")
        else:
            review.decide(card, "change", right)


def test_the_most_doubtful_label_comes_first(review):
    card = review.next()
    assert card.row == review.rows()[0]
    assert card.verdict == "wrong"
    assert card.second_class != card.given_label
    assert card.kept[0].column == "name"
    assert card.kept[0].own == f"animal {card.row - 1}"
    assert abs(sum(share.probability for share in card.probabilities) - 1) < 1e-6


def test_a_decided_row_never_comes_back(review):
    seen = set()
    for decision in ["keep", "change", "exclude", "unsure"] * 5:
        card = review.next()
        assert card.row not in seen
        seen.add(card.row)
        review.decide(card, decision)
        assert not seen & set(review.rows().tolist())
        assert not seen & set(review.rows("random").tolist())
    review.refit()
    assert not seen & set(review.rows().tolist())


@pytest.mark.parametrize(
    ("decision", "label", "message"),
    [
        ("maybe", None, "'maybe' is no decision; use keep, change"),
        ("change", "cow", "'cow' is no class of the table; the classes are cat, dog, emu"),
    ],
)
def test_invalid_decisions_are_refused_and_change_nothing(review, decision, label, message):
    card = review.next()
    with pytest.raises(DecisionsError, match=message):
        review.decide(card, decision, label)
    with pytest.raises(DecisionsError, match="row 999 does not exist"):
        review.decide(999, "keep")
    assert review.journal.lines == []
    review.decide(card, "change", card.given_label)
    assert review.decision(card.row).decision == "keep"


def test_corrected_is_the_table_with_the_changed_labels(review):
    frame = review.table.source
    review.decide(3, "change", _other(frame, 3))
    review.decide(5, "keep")
    review.decide(7, "exclude")
    corrected = review.corrected()
    assert corrected["kind"].iloc[2] == _other(frame, 3)
    assert corrected.drop(columns="kind").equals(frame.drop(columns="kind"))
    differs = corrected["kind"] != frame["kind"]
    assert differs.to_numpy().nonzero()[0].tolist() == [2]
    assert len(review.corrected(drop_excluded=True)) == len(frame) - 1
    assert 6 not in review.corrected(drop_excluded=True).index
    review.undo(), review.undo(), review.undo()
    assert review.corrected().equals(frame)


def _other(frame, row):
    return next(label for label in ("cat", "dog", "emu") if label != frame["kind"].iloc[row - 1])


@settings(max_examples=15)
@given(
    steps=st.lists(
        st.one_of(
            st.just("undo"),
            st.tuples(
                st.lists(st.integers(1, 40), min_size=1, max_size=3, unique=True),
                st.sampled_from(["keep", "change", "exclude", "unsure"]),
            ),
        ),
        max_size=12,
    )
)
def test_applied_and_undone_decisions_give_the_table_back(steps):
    frame, _ = animals(40)
    with Review(frame, "kind", refit_every=1000) as review:
        for step in steps:
            if step == "undo":
                review.undo()
            else:
                review.decide_many(*step)
        while review.undo():
            pass
        assert review.corrected().equals(frame)
        assert len(review.rows()) == 40
        assert review.summary().counts == {}


def test_decisions_are_beside_the_table_and_a_review_resumes_them(saved):
    path, truth = saved
    with Review(path, "kind") as review:
        decide_by(review, truth, 8)
        left = review.rows().tolist()
        assert review.journal.path == path.with_name("animals.decisions.csv")
    assert len(read_decisions(path.with_name("animals.decisions.csv"))) == 8
    with Review(path, "kind") as review:
        assert review.summary().n_decided == 8
        assert set(review.rows().tolist()) == set(left)
        assert review.undo() != []
        assert len(review.rows()) == len(left) + 1


def test_a_line_of_the_journal_is_complete(tmp_path):
    frame, _ = animals()
    frame["kind"] = " " + frame["kind"].str.upper() + " "  # half of them in another spelling
    frame.loc[::2, "kind"] = frame["kind"].str.strip().str.lower()
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    with Review(path, "kind", who="ann") as review:
        card = next(found for row in review.rows() if (found := review.card(row)).row % 2 == 0)
        review.decide(card, "change", note=" two\nlines ")
        (line,) = read_decisions(review.journal.path)
    assert line.row == card.row
    assert line.given_label == card.given_label
    assert line.cell == frame["kind"].iloc[card.row - 1] == f" {card.given_label.upper()} "
    assert line.new_label == card.second_class
    assert (line.note, line.who, line.target, line.drawn) == ("two lines", "ann", "kind", "worst")
    assert line.verdict == card.verdict
    assert float(line.probability) == pytest.approx(card.error_probability, abs=1e-4)
    assert line.hash == review.table.data.hashes[card.row - 1]
    assert pd.Timestamp(line.when).tz is not None


def test_decisions_about_another_table_are_refused(saved, tmp_path):
    path, _ = saved
    with Review(path, "kind") as review:
        review.decide(review.next(), "keep")
    journal = review.journal.path
    other, _ = animals(seed=1)
    with pytest.raises(DecisionsError, match="made for other cells in 1 of 1 rows"):
        Review(other, "kind", decisions=journal)
    with pytest.raises(DecisionsError, match="is about the column 'kind', not 'name2'"):
        Review(other.rename(columns={"kind": "name2"}), "name2", decisions=journal)
    Review(path, "kind").close()  # the journal was let go


def test_a_changed_table_gets_no_more_decisions(saved):
    path, _ = saved
    with Review(path, "kind") as review:
        content = path.read_text()
        review.decide(review.next(), "keep")
        path.write_text(content.replace("animal 3,", "animal 3x,"))
        before = review.journal.path.read_bytes()
        with pytest.raises(TableError, match=r"animals\.csv has changed since it was read"):
            review.decide(review.next(), "keep")
        with pytest.raises(TableError, match="has changed since"):
            review.undo()
        path.unlink()
        with pytest.raises(TableError, match="is not there any more"):
            review.decide(review.next(), "keep")
        assert review.journal.path.read_bytes() == before


def test_the_audit_is_fitted_again_with_the_decisions(saved):
    path, truth = saved
    with Review(path, "kind", refit_every=10) as review:
        decide_by(review, truth, 9)
        assert review.generation == 0
        decide_by(review, truth, 1)
        assert review.generation == 1
        decided = [d.row for d in read_decisions(review.journal.path)]
        positions = [review.table.position_of[row] for row in decided]
        assert review._fit.audit.verified_[positions].all()


def test_one_fit_runs_in_the_background_while_decisions_are_taken(saved, monkeypatch):
    path, truth = saved
    with Review(path, "kind", refit_every=2, background=True) as review:
        may_end, real = threading.Event(), review._audited
        fits = []

        def slow(table, **settings):
            fits.append(threading.current_thread())
            may_end.wait(30)
            return real(table, **settings)

        monkeypatch.setattr(review, "_audited", slow)
        decide_by(review, truth, 6)
        assert review.background.is_busy
        assert len(fits) == 1
        assert not review.background.start(review.refit)
        may_end.set()
        fits[0].join()
        assert review.generation == 1
        assert review.summary().n_decided == 6


def test_a_failed_fit_is_reported_and_the_review_continues(saved, monkeypatch):
    path, truth = saved
    with Review(path, "kind", refit_every=2, background=True) as review:

        def broken(table, **settings):
            raise RuntimeError("no memory")

        monkeypatch.setattr(review, "_audited", broken)
        decide_by(review, truth, 2)
        review.background.wait()
        assert review.background.failure == "no memory"
        assert review.generation == 0
        decide_by(review, truth, 1)


def test_a_sample_is_worked_off_before_another_is_drawn():
    frame, truth = animals(60)
    with Review(frame, "kind", sample=10, refit_every=4) as review:
        first = set(review.rows("random").tolist())
        assert len(first) == 10
        decide_by(review, truth, 7, "random")
        assert set(review.rows("random").tolist()) < first
        decide_by(review, truth, 3, "random")
        assert not set(review.rows("random").tolist()) & first
        decide_by(review, truth, 50, "random")
        assert review.next("random") is None
        assert review.next() is None
        assert review.summary().advice.startswith("All 60 labels that can be rated are verified")


def test_columns_that_are_not_there_are_named(saved):
    path, _ = saved
    for target, keep in (("kind", ["nam"]), ("knd", [])):
        with pytest.raises(TableError, match=f"no column '{[*keep, target][0]}'"):
            Review(path, target, keep=keep)
    assert not path.with_name("animals.decisions.csv").exists()


def test_rows_without_a_label_are_not_reviewed(tmp_path):
    frame, _ = animals()
    frame.loc[::2, "kind"] = None
    with Review(frame, "kind") as review:
        assert (review.rows() % 2 == 0).all()
        assert len(review.rows()) == 60
        with pytest.raises(DecisionsError, match="row 1 does not exist, or has no label"):
            review.card(1)
    assert any("60" in str(warning) for warning in review.table.data.report.warnings)


def test_a_change_takes_the_class_that_the_card_suggested(saved):
    path, _ = saved
    with Review(path, "kind", refit_every=1000) as review:
        cards = [review.card(row) for row in review.rows()[:12].tolist()]
        for row in review.rows()[40:70].tolist():
            review.decide(row, "change", "emu")
        review.refit()
        for card in cards:
            review.decide(card, "change")
            said = review.decision(card.row)
            assert (said.new_label or said.given_label) == card.second_class


def test_the_random_sample_gives_an_interval_that_holds_the_truth():
    frame, truth = animals(400)
    given = frame["kind"].to_numpy()
    with Review(frame, "kind", refit_every=1000, sample=60) as review:
        rows = review.rows("random").tolist()
        wrong = [row for row in rows if given[row - 1] != truth[row - 1]]
        for row in wrong:
            review.decide(review.card(row, "random"), "change", truth[row - 1])
        review.decide_many(review.rows("random").tolist(), "keep", order="random")
        numbers = review.summary()
        # A row that was not drawn stands for itself, whatever it is called.
        other = int(review.rows()[0])
        review.decide_many([other], "keep", order="random")
        assert review.decision(other).drawn == "worst"
    assert (numbers.audit.n_at_random, numbers.audit.basis) == (60, "verified labels")
    assert numbers.audit.low <= np.mean(given != truth) <= numbers.audit.high


def test_a_row_of_the_random_sample_stays_in_it_however_it_is_decided_later(saved):
    path, _ = saved
    with Review(path, "kind") as review:
        row, *_ = review.rows("random").tolist()
        review.decide(review.card(row, "random"), "keep")
        for order in ("worst", "decided"):
            review.decide_many([row], "exclude" if order == "worst" else "keep", order=order)
            assert review.decision(row).drawn == "random"
        review.undo(), review.undo(), review.undo()
    with Review(path, "kind") as review:
        review.decide(row, "keep")
        assert review.decision(row).drawn == "random"
        assert review.summary().audit.n_at_random == 1


def test_a_row_that_is_decided_again_keeps_the_verdict_that_it_was_doubted_by(review):
    card = review.next()
    review.decide(card, "keep")
    assert review.rated(card.row).verdict == "fine"  # by now
    review.decide(card.row, "change")
    again = review.decision(card.row)
    assert (again.verdict, float(again.probability)) == (
        "wrong",
        pytest.approx(card.error_probability, abs=1e-4),
    )
    review.undo()
    assert review.journal.lines[-1].verdict == "wrong"


def test_an_old_revision_is_a_conflict_unless_both_say_the_same(review):
    review.decide(5, "exclude")
    with pytest.raises(ConflictError, match="row 5 was decided on elsewhere") as caught:
        review.decide_many([4, 5], "keep", revisions={4: 0, 5: 0})
    assert caught.value.row == 5
    assert review.decision(4) is None  # nothing was written
    assert review.decide_many([5], "exclude", revisions={5: 0}) == 0
    assert review.decide_many([4, 5], "keep", revisions={4: 0, 5: 1}) == 2


@pytest.mark.parametrize("dtype", ["object", "category"])
def test_a_row_can_be_changed_to_a_class_that_no_row_has(saved, dtype):
    path, _ = saved
    with Review(path, "kind") as review:
        before = review.summary()
        review.decide(7, "change", " sea  cow", new_class=True)
        assert review.summary().audit == before.audit  # nothing is learnt
        assert review.new_classes == ["sea cow"]
        review.decide(8, "change", "Sea Cow")  # known by now
        assert review.corrected()["kind"].iloc[[6, 7]].tolist() == ["sea cow"] * 2
    with Review(path, "kind", refit_every=1) as review:
        assert (review.new_classes, review.stale) == (["sea cow"], [])
        review.decide(9, "keep")
        review.undo("line-3")
        review.undo(review.journal.lines[1].batch.partition("/")[0])
        review.undo(review.journal.lines[0].batch.partition("/")[0])
        with pytest.raises(DecisionsError, match="'sea cow' is no class"):
            review.decide(7, "change", "sea cow")
        for bad in (" ", "x" * 201, "a\x1bb"):
            with pytest.raises(DecisionsError, match="cannot be a class"):
                review.decide(7, "change", bad, new_class=True)
    frame = pd.read_csv(path).astype({"kind": dtype})
    with Review(frame, "kind") as review:
        review.decide(7, "change", "sea cow", new_class=True)
        assert review.corrected()["kind"].iloc[6] == "sea cow"


def test_a_label_that_no_row_has_any_more_is_kept_and_said(saved):
    path, _ = saved
    with Review(path, "kind") as review:
        row = next(r for r in review.rows().tolist() if review.rated(r).given_label == "cat")
        review.decide(row, "change", "emu")
    path.write_text(path.read_text().replace(",emu\n", ",ostrich\n"))
    with Review(path, "kind") as review:
        assert review.new_classes == ["emu"]
        assert review.decision(row).new_label == "emu"
        assert review.corrected()["kind"].iloc[row - 1] == "emu"


def test_decisions_about_rows_that_were_deleted_are_refused_and_kept(saved):
    path, _ = saved
    with Review(path, "kind") as review:
        review.decide_many([3, 120], "keep")
        journal = review.journal.path
    content, lines = journal.read_bytes(), path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]))
    with pytest.raises(DecisionsError, match="decision about row 120, and the table has 119 rows"):
        Review(path, "kind")
    path.write_text("".join([lines[0], *lines[2:], lines[1]]))
    with pytest.raises(DecisionsError, match=r"other cells in 2 of 2 rows \(row 3, 120\)"):
        Review(path, "kind")
    assert journal.read_bytes() == content


def test_a_journal_whose_decisions_have_no_names_goes_on(saved):
    path, _ = saved
    with Review(path, "kind") as review:
        for row in (3, 4):
            review.decide(row, "keep")
        journal = review.journal.path
    journal.write_text(re.sub(r",\w+/1,", ",,", journal.read_text()))
    with Review(path, "kind") as review:
        assert review.undo() == [4]
        assert review.undo("line-2") == [3]
        assert review.undo("line-2") == []


def test_a_row_that_is_named_twice_counts_once(review):
    assert review.decide_many([5, 5], "keep") == 1
    assert review.undo() == [5]
    assert not review.last_action


def test_labels_that_are_numbers_can_be_named_as_such():
    frame, _ = animals()
    frame["kind"] = frame["kind"].map({"cat": 0, "dog": 1, "emu": 2})
    with Review(frame, "kind") as review:
        new = (frame["kind"].iloc[4] + 1) % 3
        review.decide(5, "change", int(new))
        assert review.corrected()["kind"].iloc[4] == new


def test_the_column_of_groups_never_becomes_an_input():
    frame, _ = animals()
    frame["owner"] = [f"owner {k % 30}" for k in range(len(frame))]
    with Review(frame, "kind", group="owner") as review:
        review.use_columns(ignore=["name"])
        left_out = [column.name for column in review.table.data.schema.dropped]
        assert left_out == ["name", "owner"]


def test_a_row_whose_label_was_edited_since_is_open_again(saved):
    path, _ = saved
    with Review(path, "kind") as review:
        review.decide(5, "keep")
        review.decide(6, "keep")
        label = review.decision(5).given_label
    lines = path.read_text().splitlines()
    lines[5] = lines[5].replace(label, next(c for c in ("cat", "dog") if c != label))
    path.write_text("\n".join(lines) + "\n")
    with Review(path, "kind") as review:
        assert review.stale == [5]
        assert 5 in review.rows()
        assert 6 not in review.rows()
        review.decide(5, "keep")
        assert review.stale == []
    with Review(path, "kind") as review:
        assert review.summary().n_decided == 2


def test_undo_makes_the_audit_forget_the_decision(saved):
    path, truth = saved
    with Review(path, "kind", refit_every=10) as review:
        decide_by(review, truth, 10)
        (row,) = review.undo()
        assert review.generation == 2
        assert not review._fit.audit.verified_[review.table.position_of[row]]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"keep": "name"}, "keep='name' must be a list of columns"),
        ({"sample": 0}, "sample=0 must be 1 or more"),
        ({"refit_every": 0}, "refit_every=0 must be 1 or more"),
    ],
)
def test_invalid_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Review(animals()[0], "kind", **settings)


def test_orders_are_two(review):
    for call in (
        review.next,
        review.rows,
        lambda order: review.decide_many([5], "keep", order=order),
    ):
        with pytest.raises(ValueError, match="order='luck' must be one of worst, random"):
            call("luck")
