"""Memberships over blocks: the plain formula, with statistics of all samples."""

import numpy as np
import pytest
from dask import delayed
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.balls import (
    BallSet,
    CallableMembership,
    EvidenceMembership,
    FuzzyMembership,
    PrecomputedMembership,
    SDAPMembership,
    TwoMeansBalls,
    UniformMembership,
)
from granulearn.distributed import ball_rating
from granulearn.distributed.ball_rating import (
    dissimilarity_of_stretch,
    distances_of_block,
    fuzzy_of_block,
    rate_balls,
    rated_in_block,
)
from granulearn.distributed.block_balls import (
    BallSettings,
    assignment_of,
    balls_of_block,
    join_assignments,
    join_balls,
)
from tests.distributed.chunked import block_of, table

SETTINGS = BallSettings(TwoMeansBalls(0.95), 1, seed=7, n_jobs=None)


@pytest.fixture(scope="module")
def gathered():
    """Blocks, their balls, and the same balls as one set of all samples."""
    X, y = table()
    edges = [(0, 200), (200, 200), (200, 320), (320, 600)]
    blocks = [block_of(X[a:b], y[a:b], number) for number, (a, b) in enumerate(edges)]
    parts = [balls_of_block(block, SETTINGS, None) for block in blocks]
    joined = join_balls(parts)
    assignment = join_assignments([assignment_of(part) for part in parts])
    values = {name: getattr(joined.balls, name) for name in BallSet.__dataclass_fields__}
    return X, y, blocks, parts, joined, BallSet(**{**values, "assignment": assignment})


@pytest.mark.parametrize(
    "scheme",
    [
        UniformMembership(),
        FuzzyMembership(),
        FuzzyMembership(level="ball"),
        SDAPMembership(),
        SDAPMembership(n_neighbors=1, spread="rms", closeness="zhang-xu"),
        pytest.param(CallableMembership(lambda balls: balls.purities), id="a function"),
    ],
    ids=repr,
)
def test_balls_are_rated_as_if_all_samples_were_in_one_place(gathered, scheme, monkeypatch):
    X, y, blocks, parts, joined, balls = gathered
    monkeypatch.setattr(ball_rating, "_QUERIES_PER_TASK", 10)  # several tasks for few balls
    delta = rate_balls(
        scheme, joined, delayed(joined), list(map(delayed, parts)), list(map(delayed, blocks)), 0
    )
    assert_allclose(delta, scheme(balls, X, y), rtol=1e-12)


def test_distances_reach_the_means_and_radii_of_all_blocks(gathered):
    X, y, blocks, parts, _, balls = gathered
    means = np.array([X[y == code].mean(axis=0) for code in range(3)])
    measured = [
        distances_of_block(block, part, np.arange(3), means)
        for block, part in zip(blocks, parts, strict=True)
    ]
    radii = np.max([part.radii for part in measured], axis=0)
    expected = [np.linalg.norm(X[y == code] - means[code], axis=1).max() for code in range(3)]
    assert_allclose(radii, expected)
    delta = np.concatenate([fuzzy_of_block(part, radii) for part in measured])
    assert_allclose(delta, FuzzyMembership()(balls, X, y))


def test_with_too_many_balls_neighbours_are_sought_among_some(gathered, monkeypatch):
    *_, joined, balls = gathered
    everything = dissimilarity_of_stretch(joined, 0, len(balls), 3, seed=1)
    monkeypatch.setattr(ball_rating, "MAX_NEIGHBOR_CANDIDATES", len(balls) - 1)
    nearly = dissimilarity_of_stretch(joined, 0, len(balls), 3, seed=1)
    assert 0 < np.mean(nearly != everything) < 0.2
    again = [dissimilarity_of_stretch(joined, at, at + 1, 3, seed=1) for at in range(len(balls))]
    assert_array_equal(np.concatenate(again), nearly)


def test_schemes_are_told_apart_by_what_they_look_at():
    for scheme in (UniformMembership(), FuzzyMembership(), SDAPMembership()):
        assert rated_in_block(scheme) is None
    for scheme in (EvidenceMembership(), PrecomputedMembership()):
        assert rated_in_block(scheme) is scheme
    with pytest.raises(TypeError, match="pass them to fit as a Dask array or Series"):
        rated_in_block(PrecomputedMembership(np.ones(3)))
