"""What must hold of a robust classifier that comes from a file: members, shares, noise."""

from __future__ import annotations

from granulearn._invariants import (
    FLOAT,
    SHARE,
    array_of,
    number_of,
    part_of,
    parts_of,
    require,
)
from granulearn.estimators.boosted_trees import BoostedTrees
from granulearn.estimators.boosting import N_FOLDS
from granulearn.estimators.committee import RVFLCommitteeClassifier
from granulearn.estimators.known_noise import noise_matrix

# What `best_power` can find, and what the floor of a table of many rows is.
POWERS, SMALLEST_FLOOR = (0.1, 10.0), 1e-15


def check_members(model) -> None:
    """Refuse a robust classifier whose members do not fit together.

    Parameters
    ----------
    model : RobustClassifier
        What was rebuilt; its classes and its number of columns are checked already.
    """
    _check_each_member(model)
    _check_shares(model)
    number_of(model, "_floor", SMALLEST_FLOOR, 1)
    number_of(model, "power_", *POWERS)
    n_classes = len(model.classes_)
    if model.noise_ is not None:
        array_of(model, "noise_", FLOAT, (n_classes, n_classes), within=SHARE)
        noise_matrix(model.noise_, n_classes)
    if "feature_importances_" in vars(model):
        shape = (model.n_features_in_,)
        array_of(model, "feature_importances_", FLOAT, shape, within=SHARE)
    if "reliability_" in vars(model):
        array_of(model, "reliability_", FLOAT, (None,), within=SHARE, gaps=True)
    if getattr(model, "_boosting_unseen", None) is not None:
        array_of(model, "_boosting_unseen", FLOAT, (None, n_classes), gaps=True)


def _check_each_member(model) -> None:
    model._check_agrees("committee_", part_of(model, "committee_", RVFLCommitteeClassifier))
    predicts = callable(getattr(model.forest_, "predict_proba", None))
    require(predicts, model, f"forest_ is {type(model.forest_).__name__}")
    model._check_agrees("forest_", model.forest_)
    boosters = parts_of(model, "boosters_", tuple, BoostedTrees)
    require(len(boosters) <= N_FOLDS, model, f"boosters_ are {len(boosters)}, more than folds")
    for booster in boosters:
        agree = booster.bundles.n_features == model.n_features_in_
        require(agree, model, "boosters_ take other columns")
        known = booster.classes.max() < len(model.classes_)
        require(known, model, "boosters_ know other classes")


def _check_shares(model) -> None:
    shares = part_of(model, "shares_", dict)
    members = {"forest", "committee", *(["boosting"] if model.boosters_ else [])}
    require({*shares} <= members, model, f"shares_ are of {sorted(map(str, shares))}")
    are_shares = all(type(share) is float and 0 <= share <= 1.001 for share in shares.values())
    is_whole = are_shares and abs(sum(shares.values()) - 1) < 1e-6
    require(is_whole, model, "shares_ do not sum to one")
