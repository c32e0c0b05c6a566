"""What a class can do is said on the class, and nowhere else."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

import granulearn
from granulearn import balls, ensemble, forest, rvfl
from granulearn.models.model_file import saved_classes
from granulearn.rvfl import RVFLClassifier, SDAPGBRVFLClassifier
from granulearn.rvfl.rvfl import RandomNetwork
from granulearn.utils.estimator import NO_ABILITIES, Estimator, positive_part

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
    is_there = {
        "its own _abilities": can is not NO_ABILITIES,
        "_abilities.search, as every random network has": can.search
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


def test_commands_are_distinct():
    commands = [kind._abilities.command for kind in PUBLIC if kind._abilities.command]
    assert len(commands) == len(set(commands))


def test_a_subclass_inherits_no_abilities():
    class Mine(SDAPGBRVFLClassifier):
        pass

    assert SDAPGBRVFLClassifier._abilities is not NO_ABILITIES
    assert Mine._abilities is NO_ABILITIES
    assert issubclass(Mine, Estimator)


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
