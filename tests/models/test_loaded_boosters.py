"""Boosted trees of a file are such as training makes, or the file is refused."""

import dataclasses

import numpy as np
import pytest

from granulearn._invariants import InvariantError
from granulearn.ensemble import RobustClassifier
from granulearn.models.loaded_checks import check_loaded
from tests.models.hand_made_trees import X, Y, chain


@pytest.fixture(name="boosted", scope="module")
def boosted_model():
    model = RobustClassifier(
        boosting=True, n_trees=40, n_layers=1, n_hidden=3, random_state=0, shares="chosen"
    ).fit(X, Y)
    assert len(model.boosters_[0].lefts) > 3
    check_loaded(model)
    return model


def test_a_chain_of_boosted_splits_is_refused(boosted):
    booster, n_splits = boosted.boosters_[0], 31
    children = chain(n_splits)["children"]
    is_split = children > 0
    hostile = dataclasses.replace(
        booster,
        roots=booster.roots[:1],
        outputs=booster.outputs[:1],
        lefts=np.where(is_split, children, 0).astype(np.int32),
        rights=np.where(is_split, children + 1, 0).astype(np.int32),
        features=np.where(is_split, 0, -1).astype(np.int32),
        thresholds=np.zeros(len(children)),
        values=np.zeros(len(children), np.float32),
    )
    with pytest.raises(InvariantError, match="a tree is 31 deep, and 30 is the most"):
        hostile._check_loaded()


def test_more_boosted_trees_than_training_makes_are_refused(boosted):
    booster = boosted.boosters_[0]
    n_outputs = len(booster.baseline)

    def of_leaves(n_trees):
        return dataclasses.replace(
            booster,
            roots=np.arange(n_trees, dtype=np.int32),
            outputs=np.zeros(n_trees, np.int32),
            lefts=np.zeros(n_trees, np.int32),
            rights=np.zeros(n_trees, np.int32),
            features=np.full(n_trees, -1, np.int32),
            thresholds=np.zeros(n_trees),
            values=np.zeros(n_trees, np.float32),
        )

    of_leaves(50 * n_outputs)._check_loaded()
    with pytest.raises(InvariantError, match="roots are more than those of 50 rounds"):
        of_leaves(50 * n_outputs + 1)._check_loaded()


def test_more_boosters_than_training_makes_are_refused(boosted):
    model = RobustClassifier()
    copies = [dataclasses.replace(booster) for booster in boosted.boosters_]
    vars(model).update(vars(boosted), boosters_=(*boosted.boosters_, *copies))
    assert len(copies) == 3
    with pytest.raises(InvariantError, match="boosters_ are 6, more than folds"):
        check_loaded(model)
    vars(model).update(boosters_=boosted.boosters_[:1] * 2)
    with pytest.raises(InvariantError, match="a BoostedTrees is part of it twice"):
        check_loaded(model)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("lefts", lambda a, splits: np.where(splits, 0, a).astype(a.dtype)),
        ("lefts", lambda a, splits: np.where(splits, np.arange(len(a)), a).astype(a.dtype)),
        ("rights", lambda a, splits: np.where(splits, len(a), a).astype(a.dtype)),
        ("rights", lambda a, splits: a[:-1]),
        ("roots", lambda a, splits: a + 10**6),
        ("roots", lambda a, splits: a - 1),
        ("roots", lambda a, splits: a * 0),
        ("roots", lambda a, splits: a[::-1].copy()),
        ("roots", lambda a, splits: a[[0, *range(len(a) - 1)]]),
        ("roots", lambda a, splits: (a + (np.arange(len(a)) > 0)).astype(a.dtype)),
        ("outputs", lambda a, splits: a + 3),
        ("features", lambda a, splits: np.where(splits, 10**6, a).astype(a.dtype)),
        ("features", lambda a, splits: a.astype(np.int64)),
        ("thresholds", lambda a, splits: a * np.nan),
        ("values", lambda a, splits: a * np.float32(np.inf)),
        ("classes", lambda a, splits: a * 0),
        ("classes", lambda a, splits: a + 1),
        ("baseline", lambda a, splits: a[:1]),
    ],
)
def test_a_hostile_booster_is_refused(boosted, name, change):
    booster = boosted.boosters_[0]
    with np.errstate(all="ignore"):
        array = change(getattr(booster, name), booster.features >= 0)
    hostile = dataclasses.replace(booster, **{name: array})
    model = RobustClassifier()
    vars(model).update(vars(boosted), boosters_=(hostile, *boosted.boosters_[1:]))
    with pytest.raises(InvariantError, match=r"BoostedTrees|RobustClassifier"):
        check_loaded(model)


@pytest.mark.parametrize(
    ("roots", "lefts", "rights", "said"),
    [
        ([0, 3], [1, 0, 0, 4, 0, 0], [1, 0, 0, 5, 0, 0], "below more than one"),
        ([0, 3], [1, 0, 0, 4, 0, 0], [4, 0, 0, 5, 0, 0], "below more than one"),
        ([0, 3], [1, 0, 0, 0, 0, 0], [2, 0, 0, 0, 0, 0], "below none"),
        ([0, 3], [1, 0, 0, 2, 0, 0], [4, 0, 0, 5, 0, 0], "before their parent"),
        ([0, 2], [1, 0, 3, 0, 0, 0], [5, 0, 4, 0, 0, 0], "of another tree"),
        ([3, 0], [1, 0, 0, 4, 0, 0], [2, 0, 0, 5, 0, 0], "do not rise"),
        ([0, 0], [1, 0, 3, 0, 0, 0], [2, 0, 4, 0, 0, 0], "do not rise"),
    ],
)
def test_boosted_trees_are_trees_one_after_another(boosted, roots, lefts, rights, said):
    def trees(roots, lefts, rights):
        places = (np.array(each, np.int32) for each in (roots, lefts, rights))
        names = dict(zip(("roots", "lefts", "rights"), places, strict=True))
        return dataclasses.replace(
            boosted.boosters_[0], **names,
            outputs=np.arange(2, dtype=np.int32), thresholds=np.zeros(6),
            features=(names["lefts"] > 0).astype(np.int32) - 1, values=np.zeros(6, np.float32),
        )  # fmt: skip

    trees([0, 3], [1, 0, 0, 4, 0, 0], [2, 0, 0, 5, 0, 0])._check_loaded()
    with pytest.raises(InvariantError, match=said):
        trees(roots, lefts, rights)._check_loaded()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bundled", np.array([0, 99, 5])),
        ("offsets", np.array([0, 99])),
        ("offsets", np.array([3, 0])),
        ("middles", np.array([np.nan] * 3)),
        ("codes", np.zeros(1)),
        ("others", np.array([0, 1, 3])),
    ],
)
def test_hostile_bundles_are_refused(boosted, name, value):
    booster = boosted.boosters_[0]
    assert booster.bundles.n_bundles == 1
    bundles = dataclasses.replace(booster.bundles, **{name: value})
    with pytest.raises(InvariantError, match="Bundles"):
        bundles._check_loaded()
