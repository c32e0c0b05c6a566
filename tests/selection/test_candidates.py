"""Which candidates share what."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from granulearn.estimators import GBRVFLClassifier, RVFLClassifier
from granulearn.memberships import SDAPMembership
from granulearn.selection.candidates import (
    Network,
    describe_candidates,
    group_by,
    last_step,
    last_step_prefix,
)


def scaled(classifier):
    return Pipeline([("scale", StandardScaler()), ("net", classifier)])


def test_what_the_grid_leaves_open_is_the_estimator_s_not_another_candidate_s():
    model = RVFLClassifier(C=7.0, n_hidden=5, activation="sine")
    grid = describe_candidates(model, [{"C": 2.0}, {"n_hidden": 3}, {}])
    assert [candidate.network for candidate in grid.sharing] == [
        Network("sine", 2.0, 5),
        Network("sine", 7.0, 3),
        Network("sine", 7.0, 5),
    ]


def test_rows_are_shared_exactly_where_nothing_but_the_network_differs():
    memberships = [SDAPMembership(), SDAPMembership(spread="rms")]
    settings = [
        {"purity": purity, "membership": membership, "C": C}
        for purity in (0.8, 0.9)
        for membership in memberships
        for C in (1.0, 2.0)
    ]
    grid = describe_candidates(GBRVFLClassifier(), settings)
    groups = group_by(grid.sharing, lambda candidate: (candidate.inputs, candidate.rows))
    assert [[c.place for c in same] for same in groups.values()] == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_inputs_are_shared_exactly_where_earlier_steps_do_not_differ():
    settings = [
        {"scale__with_mean": with_mean, "net__purity": purity}
        for with_mean in (True, False)
        for purity in (0.8, 0.9)
    ]
    grid = describe_candidates(scaled(GBRVFLClassifier()), settings)
    groups = group_by(grid.sharing, lambda candidate: candidate.inputs)
    assert [[c.place for c in same] for same in groups.values()] == [[0, 1], [2, 3]]


@pytest.mark.parametrize(
    ("estimator", "settings"),
    [
        (LogisticRegression(), {"C": 1.0}),
        (type("MyRVFL", (RVFLClassifier,), {})(), {"C": 1.0}),
        (scaled(RVFLClassifier()), {"net": LogisticRegression(), "net__C": 1.0}),
        (scaled(RVFLClassifier()), {"net": scaled(RVFLClassifier()), "net__net__C": 1.0}),
        (RVFLClassifier(), {"C": -1.0}),
        (RVFLClassifier(), {"activation": "no such"}),
        (RVFLClassifier(), {"n_hidden": [3]}),
    ],
    ids=["other", "subclass", "replaced", "nested", "C", "activation", "n_hidden"],
)
def test_what_cannot_share_is_left_alone(estimator, settings):
    grid = describe_candidates(estimator, [settings])
    assert grid.alone == {0: settings}
    assert grid.sharing == []
    assert len(grid) == 1


def test_a_last_step_from_the_grid_shares_too():
    settings = [{"net": RVFLClassifier(n_hidden=4), "net__C": 3.0}]
    grid = describe_candidates(scaled(LogisticRegression()), settings)
    assert grid.sharing[0].network == Network("relu", 3.0, 4)


def test_the_last_step_of_pipelines_in_pipelines_is_found():
    model = Pipeline([("outer", scaled(RVFLClassifier(n_hidden=4)))])
    assert last_step(model).n_hidden == 4
    assert last_step_prefix(model) == "outer__net__"
    grid = describe_candidates(model, [{"outer__net__C": 3.0}])
    assert grid.sharing[0].network == Network("relu", 3.0, 4)


def test_an_unknown_name_is_scikit_learn_s_error():
    with pytest.raises(ValueError, match="Invalid parameter 'depth'"):
        describe_candidates(RVFLClassifier(), [{"depth": 3}])
