"""Decisions applied to a table: only changed labels differ, and they can be changed back."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from granulearn.review import Decision, DecisionsError, Review
from granulearn.review.correction import Correction, correct_table
from granulearn.tables import TableError, open_table
from granulearn.tables.parse.cells import as_text, row_hashes

TARGET = "Klasse"
QUOTED = ';"'
CLASSES = ["früh", "spät; sehr", 'nie "da"', "7"]


def labels_of(path, target=TARGET):
    """Return all labels as they stand in a table."""
    with open_table(path) as file:
        cells = pa.Table.from_batches(list(file.batches()))
    return as_text(cells[target].combine_chunks(), trimmed=False).to_pylist()


def decided(path, said, target=TARGET):
    """Return decisions as a review would write them: row from 1 -> new label, or a decision."""
    with open_table(path) as file:
        cells = pa.Table.from_batches(list(file.batches()))
    hashes, labels = row_hashes(cells, target), labels_of(path, target)
    found = []
    for row, word in said.items():
        is_change = word not in ("keep", "exclude", "unsure")
        cell, given_label = labels[row - 1], labels[row - 1].strip()
        found.append(
            Decision(
                row,
                "change" if is_change else word,
                word if is_change else "",
                hashes[row - 1],
                given_label=given_label,
                cell="" if cell == given_label else cell,
                target=target,
                line=row + 1,
            )
        )
    return found


def corrected(path, said, **options):
    """Return where the corrected table is, and what was done."""
    temporary = path.with_name(f"{path.stem}+{path.suffix}")
    return temporary, correct_table(path, temporary, said, source="d.csv", **options)


def test_a_new_class_of_a_review_is_written_and_named_and_one_by_hand_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    pd.DataFrame({"x": range(6), "y": ["a", "b", "a", "b", "a", "b"]}).to_csv(path, index=False)
    with Review(path, "y") as review:
        review.decide(2, "change", "zebra", new_class=True)
        said = [*review._log.active.values()]
    clean, done = corrected(path, said)
    assert labels_of(clean, "y") == ["a", "zebra", "a", "b", "a", "b"]
    assert (done.changed, done.new_classes) == (1, ("zebra",))
    back = tmp_path / "back.csv"
    assert correct_table(clean, back, said, source="d.csv", undo=True).new_classes == ()
    assert back.read_bytes() == path.read_bytes()
    with pytest.raises(DecisionsError, match="'zebra' is no class of the table"):
        corrected(path, [replace(said[0], version="")])


def write_text(path, labels, *, always_quoted=True):
    """Write a table with semicolons, quotes and an old encoding."""
    cells = [quoted(x) if always_quoted or set(x) & set(QUOTED) else x for x in labels]
    rows = [f'"größe {i}";{i},5;{cell}\r\n' for i, cell in enumerate(cells)]
    path.write_bytes(f'Größe;"Wert";{TARGET}\r\n{"".join(rows)}'.encode("cp1252"))


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


def write_parquet(path, labels):
    count = range(len(labels))
    pq.write_table(
        pa.table({"a": [i / 2 for i in count], TARGET: labels, "b": [[i] for i in count]}), path
    )


def write_workbook(path, labels):
    frame = pd.DataFrame({"a": range(len(labels)), TARGET: labels, "b": "x"})
    frame.to_excel(path, index=False)


WRITERS = {"t.csv": write_text, "t.parquet": write_parquet, "t.xlsx": write_workbook}


@pytest.fixture(params=WRITERS)
def table(request, tmp_path):
    """Return the path of a table of twelve rows."""
    path = tmp_path / request.param
    WRITERS[request.param](path, [CLASSES[i % 4] for i in range(12)])
    return path


def test_only_the_changed_cells_differ(table):
    before = labels_of(table)
    said = {2: "früh", 7: "spät; sehr", 3: "keep", 4: "unsure", 5: "exclude"}
    clean, done = corrected(table, decided(table, said))
    assert done == Correction(decisions=5, changed=2, already=0, excluded=1, dropped=0)
    assert labels_of(clean) == [
        {2: "früh", 7: "spät; sehr"}.get(i + 1, before[i]) for i in range(12)
    ]
    with open_table(table) as old, open_table(clean) as new:
        others = [name for name in old.names if name != TARGET]
        assert new.names == old.names
        tables = [pa.Table.from_batches(list(file.batches(others))) for file in (old, new)]
    assert tables[0].equals(tables[1])


def test_only_the_bytes_of_the_changed_cells_differ_in_a_text_file(tmp_path):
    path = tmp_path / "t.csv"
    write_text(path, [CLASSES[i % 4] for i in range(12)])
    clean, _ = corrected(path, decided(path, {2: "früh", 8: 'nie "da"'}))
    old, new = (p.read_bytes().decode("cp1252").split("\r\n") for p in (path, clean))
    assert [i for i in range(len(old)) if old[i] != new[i]] == [2, 8]
    assert new[2] == '"größe 1";1,5;"früh"'
    assert new[8] == '"größe 7";7,5;"nie ""da"""'


def test_applied_and_undone_gives_the_same_bytes(table):
    said = decided(table, {2: "früh", 7: "spät; sehr", 8: 'nie "da"', 1: "7", 5: "exclude"})
    clean, _ = corrected(table, said)
    assert clean.read_bytes() != table.read_bytes()
    back, done = corrected(clean, said, undo=True)
    assert (done.changed, done.already) == (4, 0)
    if table.suffix == ".csv":
        assert back.read_bytes() == table.read_bytes()
    assert labels_of(back) == labels_of(table)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_applied_and_undone_gives_the_same_bytes_whatever_was_decided(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("any") / "t.csv"
    # A file in which every cell is quoted has no label here that needs quotes: a cell that
    # becomes one cannot tell afterwards how it was written before.
    always_quoted = data.draw(st.booleans())
    spellings = ["früh", "spät", "7", " früh", "7 "] if always_quoted else [*CLASSES, " früh"]
    labels = data.draw(st.lists(st.sampled_from(spellings), min_size=2, max_size=12))
    write_text(path, labels, always_quoted=always_quoted)
    present = sorted({label.strip() for label in labels})
    said = {
        row + 1: data.draw(st.sampled_from([c for c in present if c != label.strip()]))
        for row, label in enumerate(labels)
        if len(present) > 1 and data.draw(st.booleans())
    }
    decisions = decided(path, said)
    clean, done = corrected(path, decisions)
    assert (done.changed, done.already) == (len(said), 0)
    assert [label.strip() for label in labels_of(clean)] == [
        said.get(row + 1, label.strip()) for row, label in enumerate(labels)
    ]
    twice, again = corrected(clean, decisions)
    assert twice.read_bytes() == clean.read_bytes()
    assert (again.changed, again.already) == (0, len(said))
    back, _ = corrected(clean, decisions, undo=True)
    assert back.read_bytes() == path.read_bytes()
    # What was never applied needs no undoing.
    assert corrected(path, decisions, undo=True)[1].changed == 0


def test_without_decisions_the_table_is_copied(table):
    copy, done = corrected(table, [])
    assert copy.read_bytes() == table.read_bytes()
    assert done == Correction(0, 0, 0, 0, 0)


def test_excluded_rows_are_left_out_if_asked_for_and_cannot_be_brought_back(table):
    said = decided(table, {1: "exclude", 2: "früh", 12: "exclude"})
    clean, done = corrected(table, said, drop_excluded=True)
    assert (done.changed, done.excluded, done.dropped) == (1, 2, 2)
    assert labels_of(clean) == ["früh", *labels_of(table)[2:11]]
    with pytest.raises(DecisionsError, match="row 12, and the table has 10 rows"):
        corrected(clean, said, undo=True)


# --- what is refused


@pytest.fixture
def text(tmp_path):
    """Return the path of a text file with cats and dogs."""
    path = tmp_path / "t.csv"
    path.write_text("a,Klasse\n1,cat\n2, Dog\n3,dog\n4,dog\n5,emu\n6,?\n")
    return path


def test_a_row_with_other_cells_is_refused_by_name(text):
    said = decided(text, {1: "dog", 3: "cat"})
    text.write_text(text.read_text().replace("3,dog", "33,dog"))
    with pytest.raises(DecisionsError, match=r"other cells in 1 of 2 rows \(row 3\)"):
        corrected(text, said)


@pytest.mark.parametrize("undo", [False, True])
def test_a_label_that_is_neither_old_nor_new_is_refused(text, undo):
    said = decided(text, {1: "dog", 4: "cat"})
    text.write_text(text.read_text().replace("4,dog", "4,emu"))
    with pytest.raises(DecisionsError, match="row 4 is 'emu' and was 'dog', to become 'cat'"):
        corrected(text, said, undo=undo)


def test_a_class_that_the_table_does_not_have_is_refused(text):
    with pytest.raises(
        DecisionsError, match=r"d.csv, line 2: 'dgo' is no class of the table; the classes are cat"
    ):
        corrected(text, decided(text, {1: "dgo"}))
    with pytest.raises(DecisionsError, match=r"'\?' is no class"):
        corrected(text, decided(text, {1: "?"}))


def test_a_label_is_written_in_the_spelling_of_the_table(text):
    clean, _ = corrected(text, decided(text, {1: "DOG", 5: "Cat"}))
    assert labels_of(clean) == ["dog", " Dog", "dog", "dog", "cat", "?"]


def test_spellings_that_are_kept_apart_stay_apart(text):
    text.write_text("a,Klasse\n1,a\n2,A\n3,A\n")
    said = decided(text, {2: "a"})
    clean, done = corrected(text, said)
    assert done.changed == 1
    assert labels_of(clean) == ["a", "a", "A"]
    assert corrected(clean, said, undo=True)[0].read_bytes() == text.read_bytes()


def test_a_list_knows_a_label_in_another_spelling(text):
    said = [Decision(2, "change", "cat", given_label="dog", line=2)]
    clean, done = corrected(text, said, target=TARGET)
    assert labels_of(clean)[1] == "cat"
    assert done.changed == 1


def test_a_label_that_was_guarded_against_spreadsheets_is_known_again(text):
    text.write_text("a,Klasse\n1,=A\n2,b\n3,b\n4,=A\n")
    said = [
        Decision(1, "change", "b", given_label="'=A", target=TARGET),
        Decision(2, "change", "'=A", given_label="b", target=TARGET),
    ]
    assert labels_of(corrected(text, said)[0]) == ["b", "=A", "b", "=A"]


def test_without_the_given_label_nothing_is_compared_or_undone(text):
    said = [Decision(6, "change", "cat", target=TARGET, line=2)]
    clean, _ = corrected(text, said)
    assert labels_of(clean)[5] == "cat"
    with pytest.raises(DecisionsError, match="line 2: the file does not say what row 6 was before"):
        corrected(clean, said, undo=True)
    assert corrected(text, said, undo=True)[0].read_bytes() == text.read_bytes()


def test_the_column_of_labels_must_be_known(text):
    nameless = [Decision(1, "change", "dog")]
    with pytest.raises(DecisionsError, match="does not say which column holds the labels"):
        corrected(text, nameless)
    with pytest.raises(TableError, match="has no column 'y'"):
        corrected(text, nameless, target="y")


def test_a_table_that_nothing_can_be_learned_from_can_be_corrected(text):
    text.write_text("Klasse\n1.25\n2.5\n2.5\n3.75\n")
    clean, _ = corrected(text, decided(text, {2: "3.75"}))
    assert clean.read_text() == "Klasse\n1.25\n3.75\n2.5\n3.75\n"


# --- what a review decides


@pytest.mark.parametrize("labels", [["no", "yes"], [0, 1], [False, True]], ids=str)
def test_the_corrected_file_equals_the_corrected_frame_of_the_review(tmp_path, labels):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 60)
    frame = pd.DataFrame({"a": truth + rng.normal(0, 0.1, 60), "b": rng.normal(size=60)}).assign(
        y=np.array(labels)[np.where(np.arange(60) == 7, 1 - truth, truth)]
    )
    path = tmp_path / "t.parquet"
    frame.to_parquet(path)
    with Review(path, "y") as review:
        card = review.next()
        assert card.row == 8
        review.decide(card, "change")
        review.decide(review.next(), "exclude")
        expected = review.corrected(drop_excluded=True)
        said = list(review.journal.lines)
    clean, done = corrected(path, said, drop_excluded=True)
    assert (done.changed, done.dropped) == (1, 1)
    pd.testing.assert_frame_equal(pd.read_parquet(clean), expected.reset_index(drop=True))
