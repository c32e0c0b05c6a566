"""Which candidates share what."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from granulearn.estimators import GBRVFLClassifier, RVFLClassifier
from granulearn.memberships import SDAPMembership
from granulearn.selection.candidates import describe_candidates, last_step, last_step_prefix
from granulearn.selection.setting_columns import setting_columns


def scaled(classifier):
    return Pipeline([("scale", StandardScaler()), ("net", classifier)])


def describe(estimator, settings):
    return describe_candidates(estimator, settings, setting_columns(settings))


def networks(grid):
    """Return the parameters of the networks, by their places in the grid."""
    return {
        int(place): same_columns.network(same_penalty.C, size)
        for group in grid.sharing
        for same_rows in group.same_rows
        for same_columns in same_rows.same_columns
        for same_penalty in same_columns.penalties
        for place, size in zip(same_penalty.places, same_penalty.sizes, strict=True)
    }


def test_what_the_grid_leaves_open_is_the_estimator_s_not_another_candidate_s():
    model = RVFLClassifier(C=7.0, n_hidden=5, activation="sine")
    assert networks(describe(model, [{"C": 2.0}, {"n_hidden": 3}, {}])) == {
        0: {"activation": "sine", "C": 2.0, "n_hidden": 5},
        1: {"activation": "sine", "C": 7.0, "n_hidden": 3},
        2: {"activation": "sine", "C": 7.0, "n_hidden": 5},
    }


def test_rows_are_shared_exactly_where_nothing_but_the_network_differs():
    memberships = [SDAPMembership(), SDAPMembership(spread="rms")]
    settings = [
        {"purity": purity, "membership": membership, "C": C}
        for purity in (0.8, 0.9)
        for membership in memberships
        for C in (1.0, 2.0)
    ]
    (group,) = describe(GBRVFLClassifier(), settings).sharing
    places = [sorted(same_rows.places) for same_rows in group.same_rows]
    assert places == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_inputs_are_shared_exactly_where_earlier_steps_do_not_differ():
    settings = [
        {"scale__with_mean": with_mean, "net__purity": purity}
        for with_mean in (True, False)
        for purity in (0.8, 0.9)
    ]
    groups = describe(scaled(GBRVFLClassifier()), settings).sharing
    assert [sorted(group.places) for group in groups] == [[0, 1], [2, 3]]


def test_columns_and_penalties_are_shared_by_equal_values_and_sizes_ascend():
    settings = [
        {"activation": activation, "C": C, "n_hidden": n_hidden}
        for n_hidden in (9, 3, 5)
        for C in (2.0, 1.0)
        for activation in ("".join(["re", "lu"]), "sine")  # equal, not the same object
    ]
    (group,) = describe(RVFLClassifier(), settings).sharing
    (same_rows,) = group.same_rows
    assert [same.shared for same in same_rows.same_columns] == [
        {"activation": "relu"},
        {"activation": "sine"},
    ]
    for same_columns in same_rows.same_columns:
        assert [same.C for same in same_columns.penalties] == [2.0, 1.0]
        assert all(same.sizes.tolist() == [3, 5, 9] for same in same_columns.penalties)
    assert networks(describe(RVFLClassifier(), settings)) == dict(enumerate(settings))


def test_penalties_of_several_types_lose_no_candidate():
    settings = [{"C": C} for C in (1, 1.0, 2, 2.0)]
    assert sorted(networks(describe(RVFLClassifier(), settings))) == [0, 1, 2, 3]


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
    grid = describe(estimator, [settings])
    assert grid.alone == [0]
    assert grid.sharing == []


def test_a_last_step_from_the_grid_shares_too():
    settings = [{"net": RVFLClassifier(n_hidden=4), "net__C": 3.0}]
    grid = describe(scaled(LogisticRegression()), settings)
    assert networks(grid) == {0: {"activation": "relu", "C": 3.0, "n_hidden": 4}}


def test_the_last_step_of_pipelines_in_pipelines_is_found():
    model = Pipeline([("outer", scaled(RVFLClassifier(n_hidden=4)))])
    assert last_step(model).n_hidden == 4
    assert last_step_prefix(model) == "outer__net__"
    grid = describe(model, [{"outer__net__C": 3.0}])
    assert networks(grid) == {0: {"activation": "relu", "C": 3.0, "n_hidden": 4}}


def test_an_unknown_name_is_scikit_learn_s_error():
    with pytest.raises(ValueError, match="Invalid parameter 'depth'"):
        describe(RVFLClassifier(), [{"depth": 3}])
