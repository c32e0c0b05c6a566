"""From a method of a study to something with fit and predict."""

import sys

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import GridSearchCV, ParameterGrid, RandomizedSearchCV

from granulearn import RVFLClassifier
from granulearn.balls import BallMaker, balls_of_groups
from granulearn.bench import StudyError
from granulearn.bench.studies.methods import (
    as_grids,
    build_estimator,
    build_search,
    check_method,
    variants,
)
from granulearn.bench.studies.spec import Method, Tuning
from granulearn.memberships import Membership
from granulearn.model_selection import PathSearchCV, paper_grid

TUNING = Tuning(folds=3)


def rvfl(**changes) -> Method:
    return Method(**{"name": "m", "estimator": "RVFLClassifier", **changes})


def test_without_a_grid_the_estimator_itself_is_fitted():
    model = build_search(rvfl(fixed={"n_hidden": 7}), TUNING, seed=5)
    assert (type(model).__name__, model.n_hidden, model.random_state) == ("RVFLClassifier", 7, 5)


def test_the_papers_grid_is_spelled_out_and_searched_as_a_path():
    search = build_search(rvfl(grid="paper_grid"), TUNING, seed=5)
    assert type(search) is PathSearchCV
    assert as_grids("paper_grid") == [paper_grid()]


def test_other_estimators_are_searched_by_scikit_learn():
    method = Method(name="svm", estimator="sklearn.svm.SVC", grid={"C": [1.0, 10.0]})
    assert type(build_search(method, TUNING, seed=5)) is GridSearchCV


def test_some_candidates_are_drawn_from_the_grid_and_no_more():
    grid = {"C": [0.1, 1.0, 10.0], "n_hidden": [3, 5]}
    search = build_search(rvfl(grid=grid, candidates=4), TUNING, seed=5)
    assert type(search) is RandomizedSearchCV
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    search.fit(X, (X[:, 0] > 0).astype(int))
    tried = search.cv_results_["params"]
    assert len(tried) == 4
    assert all(point in list(ParameterGrid(grid)) for point in tried)


def test_asking_for_as_many_candidates_as_there_are_is_the_whole_grid():
    search = build_search(rvfl(grid={"C": [0.1, 1.0]}, candidates=2), TUNING, seed=5)
    assert type(search) is PathSearchCV


def test_varied_values_become_methods_of_their_own():
    found = list(variants(rvfl(vary={"C": [0.1, 1.0], "activation": ["relu", "sine"]})))
    assert [method.name for method in found] == [
        "m [C=0.1, activation=relu]",
        "m [C=0.1, activation=sine]",
        "m [C=1, activation=relu]",
        "m [C=1, activation=sine]",
    ]
    assert found[1].fixed == {"C": 0.1, "activation": "sine"}


def test_an_estimator_inside_another_is_built_and_seeded():
    method = Method(
        name="bag",
        estimator="sklearn.ensemble.BaggingClassifier",
        fixed={
            "estimator": {
                "estimator": "sklearn.tree.DecisionTreeClassifier",
                "fixed": {"max_depth": 2},
            },
            "n_estimators": 3,
        },
    )
    model = build_estimator(method, seed=11)
    assert isinstance(model, BaggingClassifier)
    assert model.get_params()["estimator__max_depth"] == 2
    assert model.random_state == model.get_params()["estimator__random_state"] == 11


def test_a_seed_that_the_study_fixes_stays():
    assert build_estimator(rvfl(fixed={"random_state": 1}), seed=5).random_state == 1


def test_a_wrong_parameter_of_a_nested_estimator_is_named():
    method = Method(
        name="bag",
        estimator="sklearn.ensemble.BaggingClassifier",
        fixed={"estimator": {"estimator": "sklearn.svm.SVC", "fixed": {"c": 1.0}}},
    )
    with pytest.raises(StudyError, match=r"fixed\.estimator\.c: SVC has no such parameter"):
        check_method(method)


def test_folds_of_tuning_are_those_of_the_study():
    search = build_search(rvfl(grid={"C": [0.1, 1.0]}), TUNING, seed=5)
    assert search.cv.get_n_splits() == 3


def test_a_grid_can_be_searched_by_leave_one_out():
    search = build_search(rvfl(grid={"C": [0.1, 1.0]}, selection="loo"), TUNING, seed=5)
    assert (type(search), search.selection) == (PathSearchCV, "loo")


def test_leave_one_out_needs_a_network():
    method = Method(name="m", estimator="sklearn.svm.SVC", grid={"C": [1.0]}, selection="loo")
    with pytest.raises(StudyError, match="for random vector networks, not for"):
        check_method(method)


def test_a_wrong_parameter_of_a_class_without_scikit_learns_base_is_named():
    method = Method(name="m", estimator="catboost.CatBoostClassifier", fixed={"iteration": 3})
    with pytest.raises(StudyError, match=r"fixed\.iteration: .*did you mean 'iterations'"):
        check_method(method)


@pytest.mark.parametrize(
    ("estimator", "said"),
    [
        ("sklearn.linear_model.Ridge", "no classifier but a regressor"),
        ("sklearn.cluster.KMeans", "no classifier but a clusterer"),
        ("catboost.CatBoostRegressor", "no classifier but a regressor"),
        ("RVFLRegressor", "granulearn has no classifier 'RVFLRegressor'"),
    ],
)
def test_what_is_known_to_be_no_classifier_is_refused(estimator, said):
    with pytest.raises(StudyError, match=rf"^estimator: .*{said}"):
        check_method(Method(name="m", estimator=estimator))


@pytest.mark.parametrize("estimator", ["catboost.CatBoostClassifier", f"{__name__}.FaceOnly"])
def test_a_classifier_need_not_be_derived_from_scikit_learns_base(estimator):
    check_method(Method(name="m", estimator=estimator))


class FaceOnly:
    """A class of one's own that states nothing of itself."""

    def __init__(self, balls="blue"):
        self.balls = balls

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def get_params(self, deep=True):
        return {"balls": self.balls}

    def set_params(self, **parameters):
        return self


def test_a_misspelt_class_of_a_package_that_loads_its_names_late_has_a_hint():
    with pytest.raises(StudyError, match="did you mean 'RVFLClassifier'"):
        check_method(rvfl(estimator="granulearn.RVFLClasifier"))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"fixed": {"membership": "sdapp"}}, r"fixed\.membership: .*did you mean 'sdap'"),
        ({"fixed": {"balls": "MyBalls"}}, r"fixed\.balls: none is named 'MyBalls'; there are "),
        ({"grid": {"membership": ["sdap", "fuzy"]}}, r"grid\.membership: .*mean 'fuzzy'"),
        ({"vary": {"balls": ["two-mean"]}}, r"^vary\.balls: .*did you mean 'two-means'"),
    ],
)
def test_an_unknown_membership_or_ball_maker_is_refused(changes, said):
    with pytest.raises(StudyError, match=said):
        check_method(rvfl(estimator="GBRVFLClassifier", **changes))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"fixed": {"membership": 3}}, r"^fixed\.membership: 3 is no Membership; name one of "),
        ({"fixed": {"balls": ["gbg++"]}}, r"^fixed\.balls: \['gbg\+\+'\] is no BallMaker; "),
        ({"grid": {"balls": ["gbg++", 0.5]}}, r"^grid\.balls: 0\.5 is no BallMaker; "),
        ({"vary": {"membership": [True]}}, r"^vary\.membership: True is no Membership; "),
    ],
)
def test_a_value_that_is_no_scheme_at_all_is_refused(changes, said):
    with pytest.raises(StudyError, match=said):
        check_method(rvfl(estimator="GBRVFLClassifier", **changes))


class ForgetfulBalls(BallMaker):
    def _make(self, samples):
        return balls_of_groups(samples, samples.codes)


class ForgetfulMembership(Membership):
    def _rate(self, balls):
        return balls.purities


class LooseBalls(BallMaker):
    def _make(self, *given, **others):
        return balls_of_groups(given[0], given[0].codes)


def two_arguments(samples, seed):
    return balls_of_groups(samples, samples.codes)


def one_argument(samples, purity=1.0):
    return balls_of_groups(samples, samples.codes)


@pytest.mark.parametrize(
    ("parameter", "scheme", "said"),
    [
        ("balls", "ForgetfulBalls", "def _make(self, samples, seed, n_threads)."),
        ("membership", "ForgetfulMembership", "def _rate(self, balls, X, y)."),
        ("balls", "two_arguments", "def two_arguments(samples)."),
        ("membership", "two_arguments", "def two_arguments(balls)."),
    ],
)
def test_a_scheme_that_cannot_be_called_is_refused_with_what_to_write(parameter, scheme, said):
    path = f"{__name__}.{scheme}"
    for changes in ({"fixed": {parameter: path}}, {"grid": {parameter: [path]}}):
        with pytest.raises(StudyError) as caught:
            check_method(rvfl(estimator="GBRVFLClassifier", **changes))
        assert str(caught.value).startswith(f"{next(iter(changes))}.{parameter}: {scheme}")
        assert str(caught.value).endswith(f"write {said}")


@pytest.mark.parametrize("scheme", ["LooseBalls", "one_argument"])
def test_a_scheme_may_take_more_than_it_is_given(scheme):
    check_method(rvfl(estimator="GBRVFLClassifier", fixed={"balls": f"{__name__}.{scheme}"}))


class CountedBalls(RVFLClassifier):
    """A class derived from ours, with a parameter that ours has not."""

    def __init__(self, balls=5):
        super().__init__()
        self.balls = balls


def test_a_parameter_of_ones_own_may_have_the_name_of_a_scheme():
    check_method(rvfl(estimator=f"{__name__}.CountedBalls", fixed={"balls": 7}))


def test_schemes_inside_another_estimator_are_looked_at_too():
    nested = {"estimator": "GBRVFLClassifier", "fixed": {"membership": "sdapp"}}
    bagged = "sklearn.ensemble.BaggingClassifier"
    with pytest.raises(StudyError, match=r"fixed\.estimator__membership"):
        check_method(Method(name="m", estimator=bagged, fixed={"estimator": nested}))


@pytest.mark.parametrize(
    ("estimator", "said"),
    [
        ("xgboost.XGBClassifier", 'run: pip install "granulearn[rivals]"'),
        ("nowhere.Model", "and there is no nowhere.py beside the study file; check the name."),
        ("sklearn.wood.Tree", "the module 'sklearn.wood', which 'sklearn' does not have; check"),
    ],
)
def test_a_package_that_is_missing_is_told_how_it_comes_if_an_extra_has_it(
    estimator, said, monkeypatch
):
    monkeypatch.setitem(sys.modules, "xgboost", None)  # as if it were not installed
    with pytest.raises(StudyError) as caught:
        check_method(Method(name="m", estimator=estimator))
    assert str(caught.value).startswith(f"estimator: {estimator!r} needs the ")
    assert said in str(caught.value)
    assert ("rivals" in str(caught.value)) == (estimator == "xgboost.XGBClassifier")


def test_what_has_not_the_face_of_an_estimator_is_refused():
    with pytest.raises(StudyError, match="is no scikit-learn estimator"):
        check_method(Method(name="m", estimator="collections.OrderedDict"))
