"""Encodings from counts are those of scikit-learn from rows; folds are even and local."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler, TargetEncoder

from granulearn.datasets.target_encoding import (
    _TAKES_SPLITTER,
    N_FOLDS,
    SMOOTH,
    EvenFolds,
    cross_fitted,
    folds_of_rows,
    new_target_encoder,
    scaler_of_counts,
    target_encoder_of_counts,
)

needs_splitters = pytest.mark.skipif(
    not _TAKES_SPLITTER, reason="TargetEncoder takes a splitter from scikit-learn 1.9 on"
)


def folds_of(y):
    """Return the fold of each row by the splitter's own word."""
    folds = np.full(len(y), -1)
    for number, (train, test) in enumerate(EvenFolds().split(None, y)):
        assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(len(y)))
        assert (folds[test] == -1).all()
        folds[test] = number
    return folds


@st.composite
def columns(draw):
    """Draw categories of a few columns, and labels: at least two, text or numbers."""
    n_rows = draw(st.integers(3, 60))
    n_columns = draw(st.integers(1, 3))
    cells = draw(st.lists(st.sampled_from("abcdefgh"), min_size=n_rows * n_columns,
                          max_size=n_rows * n_columns))  # fmt: skip
    labels = draw(st.sampled_from([["no", "yes"], ["x", "y", "z"], [3, 7], [0, 1, 2, 5]]))
    y = draw(st.lists(st.sampled_from(labels), min_size=n_rows, max_size=n_rows))
    y[:2] = labels[:2]
    return np.array(cells, dtype=object).reshape(n_rows, n_columns), np.array(y)


def counts_of(X, y, folds):
    """Count rows by fold, category and class; and return the codes of the categories."""
    classes, labels = np.unique(y, return_inverse=True)
    counts, codes = [], []
    for column in X.T:
        names, places = np.unique(column.astype(str), return_inverse=True)
        table = np.zeros((N_FOLDS, len(names), len(classes)), dtype=np.int64)
        np.add.at(table, (folds, places, labels), 1)
        counts.append(table)
        codes.append(places)
    return counts, codes


@given(columns())
def test_an_encoder_of_counts_is_the_encoder_fitted_to_the_rows(data):
    X, y = data
    expected = new_target_encoder().fit(X, y)
    counts, _ = counts_of(X, y, np.zeros(len(y), dtype=int))
    tables = [table.sum(axis=0) for table in counts]
    found = target_encoder_of_counts(expected.categories_, np.unique(y), tables)
    assert_array_equal(found.classes_, expected.classes_)
    assert found.target_type_ == expected.target_type_
    assert_allclose(found.target_mean_, expected.target_mean_, rtol=1e-12)
    assert np.shape(found.target_mean_) == np.shape(expected.target_mean_)
    for one, other in zip(found.categories_, expected.categories_, strict=True):
        assert_array_equal(one, other)
    new = np.vstack([X, np.full((1, X.shape[1]), "unheard of", dtype=object)])
    assert_allclose(found.transform(new), expected.transform(new), rtol=1e-12)
    names = list("pqr")[: X.shape[1]]
    assert list(found.get_feature_names_out(names)) == list(expected.get_feature_names_out(names))


@needs_splitters
@given(columns())
def test_rows_encoded_and_scaled_by_counts_of_folds_are_those_of_fit_transform(data):
    X, y = data
    encoded = new_target_encoder().fit_transform(X, y)
    folds = folds_of(y)
    counts, codes = counts_of(X, y, folds)
    found = np.hstack(
        [cross_fitted(places, folds, table) for places, table in zip(codes, counts, strict=True)]
    )
    assert_allclose(found, encoded, rtol=1e-12)
    scaler, expected = scaler_of_counts(counts), StandardScaler().fit(encoded)
    assert_allclose(scaler.mean_, expected.mean_, rtol=1e-9)
    assert_allclose(scaler.var_, expected.var_, rtol=1e-6, atol=1e-15)
    assert scaler.n_samples_seen_ == len(y)
    varied = expected.var_ > 1e-12  # rounding decides below
    assert_allclose(scaler.scale_[varied], expected.scale_[varied], rtol=1e-6)
    assert scaler.transform(encoded).shape == encoded.shape


def test_a_category_is_as_much_its_own_as_it_has_rows():
    X = np.array([["often"]] * 30 + [["once"]], dtype=object)
    y = np.array([1] * 30 + [0])
    often, once = new_target_encoder().fit(X, y).transform([["often"], ["once"]]).ravel()
    assert often == pytest.approx((30 + SMOOTH * 30 / 31) / (30 + SMOOTH))
    assert once == pytest.approx((0 + SMOOTH * 30 / 31) / (1 + SMOOTH))


@given(st.lists(st.integers(0, 6), min_size=2, max_size=120))
def test_folds_share_out_rows_and_classes_evenly(labels):
    y = np.array(labels)
    folds = folds_of(y)
    sizes = np.bincount(folds, minlength=N_FOLDS)
    assert np.ptp(sizes) <= 1
    for label in np.unique(y):
        assert np.ptp(np.bincount(folds[y == label], minlength=N_FOLDS)) <= 2


@given(st.lists(st.integers(0, 3), min_size=4, max_size=100), st.data())
def test_parts_of_a_table_have_the_folds_of_the_whole(labels, data):
    codes = np.array(labels)
    totals = np.bincount(codes, minlength=4)
    starts = np.cumsum(totals) - totals
    whole = folds_of_rows(codes, starts)
    cut = data.draw(st.integers(0, len(codes)))
    first = np.bincount(codes[:cut], minlength=4)
    parts = [folds_of_rows(codes[:cut], starts), folds_of_rows(codes[cut:], starts + first)]
    assert_array_equal(np.concatenate(parts), whole)


def test_a_table_with_a_period_of_five_does_not_get_its_categories_as_folds():
    y = np.zeros(500, dtype=int)
    folds = folds_of(y)
    table = np.zeros((5, 5), dtype=int)
    np.add.at(table, (np.arange(500) % 5, folds), 1)
    assert table.min() > 5  # in turn, each row would be 100 and zeros


def test_numbers_as_targets_are_shared_out_by_size():
    y = np.random.default_rng(0).normal(size=100)
    folds = folds_of(y)
    assert [len(set(folds[five])) for five in np.argsort(y).reshape(-1, 5)] == [5] * 20


def test_one_row_cannot_be_encoded_by_the_others():
    with pytest.raises(ValueError, match="at least 2 rows"):
        next(EvenFolds().split(None, ["a"]))


@needs_splitters
@pytest.mark.parametrize("n_rows", [2, 3, 4])
def test_fewer_rows_than_folds_are_enough(n_rows):
    X = np.array([["a"], ["b"], ["a"], ["c"]], dtype=object)[:n_rows]
    y = ["u", "v", "u", "w"][:n_rows]
    assert np.isfinite(new_target_encoder().fit_transform(X, y)).all()


def test_encoders_are_scikit_learns_and_can_be_cloned():
    encoder = new_target_encoder("continuous")
    assert type(encoder) is TargetEncoder
    assert repr(clone(encoder)) == repr(encoder)
    assert clone(encoder).get_params() == encoder.get_params()
    assert EvenFolds().get_n_splits() == N_FOLDS
