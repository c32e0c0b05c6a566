"""Rows as a model takes them: joined, and as a frame."""

import numpy as np
import pyarrow as pa

from granulearn.tables.profile import Cell
from granulearn.tables.schema import SHOWN_MISFITS, Misfits, TypedRows, joined_rows


def test_a_frame_has_the_categories_of_its_rows_as_they_come():
    texts = pa.array(["never", "a", "b"])
    coded = pa.DictionaryArray.from_arrays(pa.array([2, None, 1, 2], pa.int32()), texts)
    for cells in (coded, coded.dictionary_decode()):
        frame = TypedRows({"c": cells, "x": np.arange(4.0)}, {}).to_frame()
        assert frame["c"].cat.categories.tolist() == ["b", "a"]
        assert frame["c"].cat.codes.tolist() == [0, -1, 1, 0]
        assert frame["x"].tolist() == [0.0, 1.0, 2.0, 3.0]


def test_joined_rows_have_the_cells_and_the_misfits_of_all():
    first = TypedRows({"x": np.ones(2)}, {"x": Misfits(1, (Cell(0, "?!"),))})
    second = TypedRows({"x": np.zeros(1)}, {"x": Misfits(9, (Cell(5, "!"),) * SHOWN_MISFITS)})
    joined = joined_rows([first, second])
    assert joined.cells["x"].tolist() == [1.0, 1.0, 0.0]
    assert joined.misfits["x"].count == 10
    assert joined.misfits["x"].first == (Cell(0, "?!"), *(Cell(5, "!"),) * (SHOWN_MISFITS - 1))
