"""How many files a reader has to open who follows a call."""

import pytest

from benchmarks.files_crossed import files_crossed, fit_of_a_ball_model, search, tuned_cell


# A search goes through the compiled loops of random features, too, and through what asks whether
# they may wait; a cell also through what spells out control characters, and what looks whether a
# name is the path of a table.
@pytest.mark.parametrize(
    ("call", "most"), [(fit_of_a_ball_model, 10), (search, 22), (tuned_cell, 46)]
)
def test_a_call_goes_through_few_files(call, most):
    crossed = files_crossed(call)
    assert "estimators/base.py" in crossed
    assert len(crossed) <= most, crossed
