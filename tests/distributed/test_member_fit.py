"""Forest, committee and robust classifier on blocks: the members of the plain ones."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from granulearn.distributed import DaskBallForestClassifier, DaskRobustClassifier
from granulearn.distributed.member_fit import gathered_samples
from granulearn.estimators import BallForestClassifier
from granulearn.models import load_model, save_model
from tests.distributed.chunked import block_of, chunked, framed, table
from tests.distributed.large_tables import (
    assert_equal_members,
    call_large,
    every_member_pair,
    mixed_table,
)


@pytest.fixture
def large(monkeypatch):
    call_large(monkeypatch)


@every_member_pair
def test_blocks_of_any_size_give_the_members_of_the_plain_classifier(on_dask, plain, large):
    X, y = mixed_table()
    alone = plain(random_state=3).fit(X, y)
    for rows in (100, -1):
        ours = on_dask(random_state=3).fit(chunked(X, rows), chunked(y, rows))
        assert type(ours.estimator_) is plain
        assert_equal_members(ours.estimator_, alone)
        assert_array_equal(ours.estimator_.predict_proba(X), alone.predict_proba(X))


@every_member_pair
def test_few_rows_are_gathered_and_fitted_as_in_memory(on_dask, plain):
    X, y = table(n_samples=300)
    alone = plain(random_state=0).fit(X, y)
    ours = on_dask(random_state=0).fit(*framed(X, y, [50, 50]))
    assert_equal_members(ours.estimator_, alone)
    assert_array_equal(ours.feature_names_in_, ["x0", "x1", "x2"])


@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0}])
def test_weights_of_samples_and_classes_are_those_of_the_plain_forest(class_weight, large):
    X, y = mixed_table()
    weights = np.random.default_rng(0).choice([0.0, 0.5, 1.0], len(X))
    settings = {"random_state": 0, "class_weight": class_weight}
    alone = BallForestClassifier(**settings).fit(X, y, weights)
    cut = [chunked(each, 700) for each in (X, y, weights)]
    assert_equal_members(DaskBallForestClassifier(**settings).fit(*cut).estimator_, alone)


def test_empty_partitions_and_blocks_that_lack_a_class_change_nothing(large):
    X, y = mixed_table()
    order = np.argsort(y == 2, kind="stable")
    X, names = X[order], np.array(["ox", "zebra", "rhinoceros"])[y[order]]
    alone = BallForestClassifier(random_state=0).fit(X, names)
    frame, labels = framed(X, names, [0, 400, 400, 2000, len(X)])
    ours = DaskBallForestClassifier(random_state=0).fit(frame, labels)
    assert_equal_members(ours.estimator_, alone)
    assert_array_equal(ours.classes_, ["ox", "rhinoceros", "zebra"])


def test_the_fitted_classifier_is_saved_and_knows_no_rows(large, tmp_path):
    X, y = mixed_table()
    ours = DaskRobustClassifier(random_state=0).fit(chunked(X, 900), chunked(y, 900))
    save_model(ours.estimator_, tmp_path / "model.granulearn")
    loaded = load_model(tmp_path / "model.granulearn").pipeline
    assert_array_equal(loaded.predict(X), ours.predict(chunked(X, 900)).compute())
    assert ours.reliability_.shape == (0,)
    assert ours.estimator_.out_of_sample_["mean"].shape == (0, 3)
    with pytest.raises(ValueError, match="was fitted to 0"):
        ours.estimator_.explain(X[:1], training=(X, y))
    assert ours.score(chunked(X, 900), chunked(y, 900)) == ours.estimator_.score(X, y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"forest": BallForestClassifier()}, "forest is fitted to all rows"),
        ({"n_layers": 2, "n_hidden": 9}, 'leave one of the two "auto"'),
    ],
)
def test_settings_that_need_all_rows_are_refused(settings, message):
    X, y = table()
    with pytest.raises(ValueError, match=message):
        DaskRobustClassifier(**settings).fit(chunked(X), chunked(y))


def test_boosting_that_is_not_possible_is_left_out_with_a_warning(large):
    X, y = mixed_table()
    y = (np.arange(len(y)) == 7).astype(int)
    model = DaskRobustClassifier(random_state=0, n_trees=5)
    with pytest.warns(UserWarning, match="boosted trees are left out"):
        model.fit(chunked(X, 900), chunked(y, 900))
    assert model.boosters_ == ()


def test_gathered_samples_are_those_of_all_blocks():
    X, y = table()
    weights = np.full(600, 0.5)
    blocks = [block_of(X[:200], y[:200]), block_of(X[200:], y[200:], 1, weights[200:])]
    samples = gathered_samples(blocks, np.arange(3))
    assert_array_equal(samples.X, X)
    assert_array_equal(samples.codes, y)
    assert samples.weights.tolist() == [1.0] * 200 + [0.5] * 400
