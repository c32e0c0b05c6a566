"""What a class can do is said on the class, and nowhere else."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import granulearn
from granulearn import balls, ensemble, forest, rvfl
from granulearn.forest import BallForestClassifier
from granulearn.models.model_file import saved_classes
from granulearn.rvfl import RVFLClassifier, SDAPGBRVFLClassifier
from granulearn.rvfl.base import RandomNetwork
from granulearn.utils.estimator import NO_ABILITIES, Estimator, fit_part, positive_part
from granulearn.utils.validation import check_samples
from tests.rvfl.families import overlapping_classes

ROOMS = (balls, rvfl, forest, ensemble)
PUBLIC = [
    kind
    for room in ROOMS
    for kind in map(vars(room).get, room.__all__)
    if isinstance(kind, type) and issubclass(kind, Estimator)
]


@pytest.mark.parametrize("kind", PUBLIC)
def test_nothing_about_a_public_class_was_forgotten(kind):
    can = vars(kind).get("_abilities", NO_ABILITIES)
    shared = can.shared_work
    is_there = {
        "its own _abilities": can is not NO_ABILITIES,
        "the parameters that _abilities.shared_work names": shared is None
        or {shared.size, "C"} <= set(kind().get_params()),
        "_abilities.shared_work, as every random network has": shared is not None
        or not issubclass(kind, RandomNetwork),
        "a summary of its command": bool(can.summary) == bool(can.command),
        "a place among the classes of model files": saved_classes().get(kind.__name__) is kind,
    }
    forgotten = [what for what, there in is_there.items() if not there]
    assert not forgotten, f"{kind.__name__} lacks {forgotten}"


def test_no_estimator_was_forgotten_at_the_top_or_in_the_guide():
    rooms = {f"granulearn.{room.__name__.rpartition('.')[2]}" for room in ROOMS}
    written = {
        name
        for module in list(sys.modules)
        if module.rpartition(".")[0] in rooms
        for name, thing in vars(sys.modules[module]).items()
        if isinstance(thing, type)
        and issubclass(thing, Estimator)
        and thing._abilities is not NO_ABILITIES
    }
    assert written == {kind.__name__ for kind in PUBLIC}
    assert written <= set(granulearn.__all__)
    page = (Path(__file__).parents[2] / "docs/guide/models.md").read_text(encoding="utf-8")
    assert sorted(name for name in written if f"`{name}`" not in page) == []


def test_memberships_that_a_part_cannot_use_are_an_error():
    X, y = overlapping_classes()
    samples = check_samples(X, y, "test", None, np.linspace(0, 1, len(X)))
    with pytest.raises(TypeError, match="BallForestClassifier takes no sample_membership"):
        fit_part(BallForestClassifier(), samples)
    with pytest.raises(TypeError, match="LogisticRegression takes no sample_membership"):
        fit_part(LogisticRegression(), samples)


def test_commands_are_distinct():
    commands = [kind._abilities.command for kind in PUBLIC if kind._abilities.command]
    assert len(commands) == len(set(commands))


def test_a_subclass_inherits_no_abilities():
    class Mine(SDAPGBRVFLClassifier):
        pass

    assert SDAPGBRVFLClassifier._abilities is not NO_ABILITIES
    assert Mine._abilities is NO_ABILITIES
    assert issubclass(Mine, Estimator)


@pytest.mark.parametrize("kind", [SDAPGBRVFLClassifier, BallForestClassifier])
def test_a_part_fitted_to_checked_samples_equals_its_fit(kind):
    X, y = overlapping_classes(3)
    names = np.array(["a", "b", "c"])[y]
    weight = np.random.default_rng(0).uniform(0, 2, len(X))
    part = fit_part(kind(random_state=0), check_samples(X, names, "test", weight))
    whole = kind(random_state=0).fit(X, names, weight)
    assert_array_equal(part.predict_proba(X), whole.predict_proba(X))
    assert_array_equal(part.classes_, whole.classes_)
    assert part.n_features_in_ == X.shape[1]


def test_a_part_of_another_family_gets_labels_and_weights():
    X, y = overlapping_classes()
    names, weight = np.array(["no", "yes"])[y], np.linspace(0, 1, len(X))
    part = fit_part(LogisticRegression(), check_samples(X, names, "test", weight))
    whole = LogisticRegression().fit(X, names, weight)
    assert_allclose(part.coef_, whole.coef_)


def test_a_part_that_overrides_fit_is_fitted_by_it():
    class Stubborn(RVFLClassifier):
        def fit(self, X, y):
            self.seen_ = len(X)
            return super().fit(X, y)

    X, y = overlapping_classes()
    assert fit_part(Stubborn(), check_samples(X, y)).seen_ == len(X)


def test_a_wrong_parameter_of_a_part_is_named():
    X, y = overlapping_classes()
    with pytest.raises(ValueError, match="'n_hidden' parameter of RVFLClassifier"):
        fit_part(RVFLClassifier(n_hidden=0), check_samples(X, y))


def test_negative_scores_become_zero_and_the_rest_sums_to_one():
    scores = np.array([[1.5, -0.5, 0.0], [0.25, 0.75, 0.0]])
    assert_allclose(positive_part(scores), [[1, 0, 0], [0.25, 0.75, 0]])


def test_scores_that_are_all_negative_are_those_of_the_highest_one():
    found = positive_part(np.array([[-2.0, -1.0], [3.0, 1.0], [0.0, 0.0]]))
    assert found.tolist() == [[0, 1], [0.75, 0.25], [1, 0]]


def test_inputs_that_need_no_check_are_returned_as_they_are():
    X, y = np.random.default_rng(0).normal(size=(9, 2)), np.arange(9) % 2
    model = RVFLClassifier(random_state=0).fit(X, y)
    assert model._checked(X) is X
    for odd in (X.astype(int), X.tolist(), np.asfortranarray(X), X[:, ::-1]):
        checked = model._checked(odd)
        assert checked is not odd
        assert checked.flags.c_contiguous
    for wrong in (X[:, :1], X[:0], np.full_like(X, np.inf), np.full_like(X, np.nan), X[0]):
        with pytest.raises(ValueError, match=r"feature|sample|infinity|NaN|dimension|1D"):
            model.predict(wrong)
    with pytest.raises(NotFittedError):
        RVFLClassifier().predict(X)
    named = RVFLClassifier(random_state=0).fit(pd.DataFrame(X, columns=["a", "b"]), y)
    with pytest.warns(UserWarning, match="feature names"):
        named.predict(X)
