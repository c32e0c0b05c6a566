"""The queue: open rows in their order, by verdict, pair and words."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.audit.ratings import Ratings
from granulearn.review.queue import RowFilter, RowQueue

CLASSES = np.array(["Cat", "dog"])
GIVEN = np.array([0, 0, 1, 1, 0])
VERDICTS = np.array(["wrong", "fine", "ambiguous", "wrong", "unknown"])
CELLS = {
    "name": ["Anna", "ben", "Ännchen", None, "x\ty"],
    "size": [1.5, 2.0, 30.0, 4.0, 5.0],
    "parts": [[1], [2], [3], [4], [5]],
}


@pytest.fixture
def queue():
    label_quality = np.array([0.1, 0.9, 0.4, 0.2, np.nan])
    proba = np.column_stack([np.where(GIVEN == 0, label_quality, 1 - label_quality)] * 2)
    proba[:, 1] = 1 - proba[:, 0]
    ratings = Ratings(
        classes=CLASSES,
        given=GIVEN,
        proba=proba,
        label_quality=label_quality,
        error_proba=1 - label_quality,
        predicted=np.where(VERDICTS == "wrong", 1 - GIVEN, GIVEN),
        verdicts=VERDICTS,
        verified=np.zeros(5, dtype=bool),
    )
    return RowQueue(ratings, np.array([2, 3, 5, 7, 11]), pa.table(CELLS))


def found(queue, is_open=None, **asked):
    is_open = np.ones(5, dtype=bool) if is_open is None else is_open
    asked.setdefault("verdicts", frozenset())
    order = queue.ratings.worst_first
    return queue.positions(order, is_open, RowFilter(**asked)).tolist()


def test_all_open_rows_come_worst_first(queue):
    assert found(queue) == [0, 3, 2, 1, 4]
    assert found(queue, np.array([False, True, True, False, True])) == [2, 1, 4]


def test_rows_of_some_verdicts(queue):
    assert found(queue, verdicts=frozenset({"wrong"})) == [0, 3]
    assert found(queue, verdicts=frozenset({"fine", "unknown"})) == [1, 4]


def test_rows_of_a_pair_of_classes(queue):
    assert found(queue, pair="0-1") == [0, 1]
    assert found(queue, pair="1-0") == [3, 2]
    assert found(queue, pair="7-9") == []
    assert found(queue, pair="nonsense") == []


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        ("anna", [0]),
        ("ANNA", [0]),
        ("änn", [2]),
        ("cat 1.5", [0]),
        ("dog 4", [3]),
        ("#7", [3]),
        ("#7 anna", []),
        ("nobody", []),
        ("a1", []),  # a word does not go from one cell into the next
        (".*", []),  # no pattern
    ],
)
def test_rows_in_which_all_words_occur(queue, words, rows):
    assert found(queue, find=words) == rows


@given(st.text())
def test_any_text_can_be_searched_for(text):
    ratings = Ratings(
        CLASSES, np.array([0]), np.array([[0.9, 0.1]]), np.array([0.9]), np.array([0.1]),
        np.array([0]), np.array(["fine"]), np.array([False]),
    )  # fmt: skip
    queue = RowQueue(ratings, np.array([1]), pa.table({"name": ["Anna"]}))
    hits = queue.positions(np.array([0]), np.array([True]), RowFilter(find=text))
    # The class that competes can be found, too.
    cells = ["anna", "cat", "dog"]
    words = text.lower().split()
    assert len(hits) == all(any(word in cell for cell in cells) or word == "#1" for word in words)
