"""The table of a review: cells as they were read, and known again."""

import pytest

from granulearn.audit.verified import NO_VERIFIED
from granulearn.review.reviewed_table import ReviewedTable
from granulearn.tables import ColumnOptions, TableError
from tests.review.tables import animals, animals_file


@pytest.fixture
def frame():
    return animals(60)[0]


def test_rows_are_known_by_their_cells_without_the_label(frame):
    hashes = ReviewedTable(frame, "kind").data.hashes
    other = frame.assign(kind="cat")
    other.loc[0, "kind"] = "dog"
    assert ReviewedTable(other, "kind").data.hashes == hashes
    assert ReviewedTable(frame.assign(width=1.0), "kind").data.hashes != hashes


def test_labels_are_kept_as_they_are_spelt(frame):
    frame.loc[3, "kind"] = f"{frame.loc[3, 'kind']}  "
    table = ReviewedTable(frame, "kind")
    assert table.data.label_cells == frame["kind"].tolist()
    assert table.data.coded_labels[0].tolist() == ["cat", "dog", "emu"]


def test_rows_with_a_label_have_a_position(frame):
    frame.loc[[0, 2], "kind"] = None
    table = ReviewedTable(frame, "kind")
    assert table.position_of[2] == 0
    assert table.position_of[4] == 1
    assert {1, 3}.isdisjoint(table.position_of)


def test_options_are_applied_by_reading_again(frame):
    table = ReviewedTable(frame, "kind", ["name"])
    other = table.with_options(ColumnOptions(ignore=("width",)))
    assert [c.name for c in other.data.schema.dropped] == ["name", "width"]
    assert other.keep == ("name",)
    assert [c.name for c in table.data.schema.dropped] == ["name"]


def test_a_file_that_changed_is_no_longer_the_table(tmp_path):
    path, _ = animals_file(tmp_path)
    table = ReviewedTable(path, "kind")
    table.check_unchanged()
    content = path.read_bytes()
    path.write_bytes(content)
    table.check_unchanged()
    path.write_bytes(content + b"one more,1,2,cat\n")
    with pytest.raises(TableError, match="has changed since it was read"):
        table.check_unchanged()
    with pytest.raises(TableError, match="has changed since it was read"):
        table.with_options(ColumnOptions())
    path.unlink()
    with pytest.raises(TableError, match="is not there any more"):
        table.check_unchanged()


def test_a_frame_cannot_change_behind_the_back(frame):
    table = ReviewedTable(frame, "kind")
    assert table.path is None
    table.check_unchanged()


def test_an_audit_comes_with_all_that_cards_need(frame):
    table = ReviewedTable(frame, "kind", ["name"])
    fit = table.audited(NO_VERIFIED, random_state=0)
    assert fit.queue.rows.tolist() == list(range(1, 61))
    assert fit.shown.keep == ("name",)
    assert list(fit.shown.table.columns) == ["name", "length", "width"]
    (why,) = fit.explainer.explain([5])
    assert why.position == 5
