"""Laws of rows as points."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.audit import embedding as module
from granulearn.audit.embedding import embed_rows


def cloud(n=300, d=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d))


def test_units_and_correlation_of_columns_hardly_matter():
    X = cloud()
    plain, scaled = embed_rows(X), embed_rows(X * 10.0 ** np.arange(-4, 6, 2) + 3)
    assert_allclose(scaled.distances, plain.distances, rtol=1e-6)
    turned = embed_rows(np.column_stack([X[:, 0] + X[:, 1], X[:, 0] - X[:, 1], X[:, 2:]]))
    ratio = turned.distances.mean() / plain.distances.mean()
    assert 0.8 < ratio < 1.25


def test_many_rows_are_compared_in_parts_whose_size_does_not_matter(monkeypatch):
    X = cloud(700)
    whole = embed_rows(X)
    monkeypatch.setattr(module, "ROWS_PER_TASK", 64)
    parts = embed_rows(X, n_threads=2)
    assert_array_equal(parts.distances, whole.distances)
    assert_array_equal(parts.gaps, whole.gaps)


def test_constant_columns_huge_numbers_and_rare_values_are_no_trouble():
    X = cloud(200, 3)
    with_more = np.column_stack([X, np.full(200, 7.0), np.zeros(200), 1e100 * np.sign(X[:, 0])])
    with_more[5, 4] = 1.0
    found = embed_rows(with_more)
    assert np.isfinite(found.points).all()
    assert np.isinf(found.embedding.scales[3])
    assert np.isfinite(found.distances).all()


def test_the_nearest_references_are_those_of_a_full_comparison():
    rng = np.random.default_rng(0)
    for X in (cloud(600, 4), rng.integers(3, size=(600, 4)).astype(float)):
        rows = embed_rows(X)
        references = rows.sample[: rows.gaps.shape[1]]
        away = np.linalg.norm(rows.points[:, None] - rows.points[references], axis=2)
        away[references, np.arange(len(references))] = np.inf
        assert_allclose(np.sort(rows.distances), np.sort(away)[:, :5], atol=1e-12)
        assert_allclose(rows.distances, np.take_along_axis(away, rows.nearest, axis=1), atol=1e-12)
        for gaps, column in zip(rows.gaps.T, away.T, strict=True):
            assert_allclose(gaps, np.unique(column[column > 1e-6].round(9))[:2], rtol=1e-6)
