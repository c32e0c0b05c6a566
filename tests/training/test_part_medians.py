"""Medians of columns in parts: those of all cells, found by a few further looks."""

from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granulearn.tables import ColumnOptions, open_table
from granulearn.training import part_medians, part_statistics
from granulearn.training.cluster_training import survey_on_cluster
from granulearn.training.part_medians import Middle, bracket_of
from granulearn.training.part_rows import Request

numbers = st.lists(
    st.one_of(st.none(), st.floats(-5, 5), st.sampled_from([0.0, -0.0, 1.0])), max_size=40
)


def cells_of(values):
    return np.array([np.nan if x is None else x for x in values], dtype=float)


@given(numbers, st.lists(st.integers(0, 40), max_size=3), st.floats(-5, 5), st.floats(-5, 5))
def test_the_middle_of_parts_is_that_of_the_whole(values, places, one, other):
    cells, bracket = cells_of(values), (min(one, other), max(one, other))
    edges = [0, *sorted(min(place, len(cells)) for place in places), len(cells)]
    parts = [Middle.of(cells[begin:end], bracket) for begin, end in pairwise(edges)]
    joined, whole = reduce(add, parts), Middle.of(cells, bracket)
    for name in ("below", "n", "complete"):
        assert getattr(joined, name) == getattr(whole, name)
    assert joined.values.tolist() == whole.values.tolist()
    assert joined.counts.tolist() == whole.counts.tolist()
    known = cells[~np.isnan(cells)]
    holds_all = len(known) and bracket[0] <= known.min() and known.max() <= bracket[1]
    median = joined.median(len(known))
    assert median == np.median(known) if holds_all else median in (None, *_median(known))


def _median(known):
    return [np.median(known)] if len(known) else []


@given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.integers(0, 60))
def test_of_too_many_numbers_the_same_ones_are_kept_however_cut_with_all_their_counts(
    values, place
):
    cells, everything = np.array(values, dtype=float), (-np.inf, np.inf)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(part_medians, "ROOM", 7)
        whole = Middle.of(cells, everything)
        joined = Middle.of(cells[:place], everything) + Middle.of(cells[place:], everything)
    assert joined.values.tolist() == whole.values.tolist()
    assert whole.counts.tolist() == [values.count(value) for value in whole.values]
    assert joined.counts.tolist() == whole.counts.tolist()
    assert joined.complete == whole.complete == (len(set(values)) <= 7)


def test_a_bracket_holds_what_has_a_share_below_it():
    values = np.sort(np.random.default_rng(0).normal(size=4000))
    low, high = bracket_of(values[::10], 0.5)
    assert low < np.median(values) < high
    assert 0.02 < np.mean((values >= low) & (values <= high)) < 0.35
    assert bracket_of(np.array([3.0]), 0.5) == (3.0, 3.0)
    assert bracket_of(np.array([1.0, 2.0, 9.0]), 0.5, np.array([1, 10**6, 1]))[0] == 1.0


def few_remembered(monkeypatch, room):
    monkeypatch.setattr(part_statistics, "REMEMBERED", 400)
    monkeypatch.setattr(part_medians, "ROOM", room)


@pytest.mark.parametrize("room", [65_536, 150])
def test_medians_of_a_folder_are_those_of_all_its_cells(room, tmp_path, monkeypatch):
    few_remembered(monkeypatch, room)
    rng = np.random.default_rng(0)
    n_rows = 4000
    frame = pd.DataFrame(
        {
            "smooth": rng.lognormal(size=n_rows),
            "tied": rng.integers(20, 30, n_rows).astype(float),
            "half": np.where(rng.random(n_rows) < 0.5, 0.0, rng.normal(size=n_rows)),
            "whole": rng.normal(size=n_rows),
        }
    )
    for name in ("smooth", "tied", "half"):
        frame.loc[rng.random(n_rows) < 0.2, name] = np.nan
    frame["label"] = np.where(frame["whole"] > 0, "a", "b")
    for number in range(5):
        frame[number * 800 : number * 800 + 800].to_parquet(tmp_path / f"{number}.parquet")
    heard = []
    with open_table(tmp_path) as file:
        surveyed = survey_on_cluster(
            file, "label", ColumnOptions(), Request("label", 0.0, 0), heard.append
        )
    known = surveyed.statistics
    assert {name: known[name].median for name in ("smooth", "tied", "half")} == {
        name: np.nanmedian(frame[name]) for name in ("smooth", "tied", "half")
    }
    assert known["whole"].exact_median is None
    # Where there is room for all numbers in between, one look is enough.
    assert (heard.count("looking for medians") == 1) == (room > 1000)
