"""From a method of a study to something with fit and predict."""

import sys

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import ParameterGrid, RandomizedSearchCV

from granulearn import RVFLClassifier
from granulearn.bench import Store, StudyError, expand, load_study, run_study
from granulearn.bench.methods import (
    as_grids,
    build_estimator,
    build_search,
    check_method,
    variants,
)
from granulearn.bench.study import Method, Tuning
from granulearn.model_selection import PathSearchCV, paper_grid

TUNING = Tuning(folds=3)


def rvfl(**changes) -> Method:
    return Method(**{"name": "m", "estimator": "RVFLClassifier", **changes})


def test_the_papers_grid_is_spelled_out_and_searched_as_a_path():
    search = build_search(rvfl(grid="paper_grid"), TUNING, seed=5)
    assert type(search) is PathSearchCV
    assert as_grids("paper_grid") == [paper_grid()]


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


def test_a_wrong_parameter_of_a_nested_estimator_is_named():
    method = Method(
        name="bag",
        estimator="sklearn.ensemble.BaggingClassifier",
        fixed={"estimator": {"estimator": "sklearn.svm.SVC", "fixed": {"c": 1.0}}},
    )
    with pytest.raises(StudyError, match=r"fixed\.estimator\.c: SVC has no such parameter"):
        check_method(method)


def test_a_grid_can_be_searched_by_leave_one_out():
    search = build_search(rvfl(grid={"C": [0.1, 1.0]}, selection="loo"), TUNING, seed=5)
    assert (type(search), search.selection) == (PathSearchCV, "loo")


def test_leave_one_out_needs_a_network():
    method = Method(name="m", estimator="sklearn.svm.SVC", grid={"C": [1.0]}, selection="loo")
    with pytest.raises(StudyError, match="for random vector networks, not for"):
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


def test_a_misspelt_class_of_a_package_that_loads_its_names_late_has_a_hint():
    with pytest.raises(StudyError, match="did you mean 'RVFLClassifier'"):
        check_method(rvfl(estimator="granulearn.RVFLClasifier"))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"fixed": {"membership": "sdapp"}}, "membership='sdapp' is not known: use one of"),
        ({"fixed": {"balls": 3}}, "balls=3 is not known: use one of"),
        ({"grid": {"membership": ["sdap", "fuzy"]}}, "membership='fuzy' is not known"),
        ({"vary": {"balls": ["two-mean"]}}, "balls='two-mean' is not known"),
    ],
)
def test_an_unknown_membership_or_ball_generator_is_refused(changes, said):
    with pytest.raises(StudyError, match=said):
        check_method(rvfl(estimator="GBRVFLClassifier", **changes))


class CountedBalls(RVFLClassifier):
    """A class derived from ours, with a parameter that ours has not."""

    def __init__(self, balls=5):
        super().__init__()
        self.balls = balls


def test_a_parameter_of_ones_own_may_have_the_name_of_a_scheme():
    check_method(rvfl(estimator=f"{__name__}.CountedBalls", fixed={"balls": 7}))


@pytest.mark.parametrize(
    ("estimator", "said"),
    [
        ("lightgbm.LGBMClassifier", 'run: pip install "granulearn[rivals]"'),
        ("nowhere.Model", "and there is no nowhere.py beside the study file; check the name."),
        ("sklearn.wood.Tree", "'sklearn.wood', which is not installed"),
    ],
)
def test_a_package_that_is_missing_is_told_how_it_comes_if_an_extra_has_it(
    estimator, said, monkeypatch
):
    monkeypatch.setitem(sys.modules, "lightgbm", None)  # as if it were not installed
    with pytest.raises(StudyError) as caught:
        check_method(Method(name="m", estimator=estimator))
    assert str(caught.value).startswith(f"estimator: {estimator!r} needs ")
    assert said in str(caught.value)
    assert ("rivals" in str(caught.value)) == (estimator == "lightgbm.LGBMClassifier")


STUDY = """
question = "Is a class beside the file found?"
datasets = ["two_moons"]
split = { kind = "holdout" }

[[method]]
name = "mine"
estimator = "beside_method.Mine"
"""
CLASS = """
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from beside_helper import CHOSEN

class Mine(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[CHOSEN])
"""
SCHEMES = """
import numpy as np
from granulearn.balls import balls_from_labels
from granulearn.balls import Membership

class Half(Membership):
    def _rate(self, balls, X, y):
        return np.full(len(balls), 0.5)

def by_class(samples):
    return balls_from_labels(samples, samples.codes)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "own.toml").write_text(STUDY)
    (tmp_path / "beside_method.py").write_text(CLASS)
    (tmp_path / "beside_helper.py").write_text("CHOSEN = 0\n")
    return tmp_path


def keys(folder) -> list[str]:
    return [run.key for run in expand(load_study(folder / "own.toml"))]


def test_changed_code_is_another_run_also_in_what_it_imports(folder):
    first = keys(folder)
    assert keys(folder) == first
    (folder / "beside_helper.py").write_text("CHOSEN = 1\n")
    second = keys(folder)
    (folder / "beside_method.py").write_text(CLASS + "# a remark\n")
    assert len({*first, *second, *keys(folder)}) == 3


def test_other_files_of_the_folder_change_no_key(folder):
    first = keys(folder)
    (folder / "unrelated.py").write_text("import this_is_nowhere\n")
    assert keys(folder) == first


def test_the_key_does_not_depend_on_where_the_folder_is(folder, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    for file in folder.iterdir():
        (elsewhere / file.name).write_bytes(file.read_bytes())
    assert keys(elsewhere) == keys(folder)


def test_edited_code_is_used_in_the_same_process(folder, tmp_path):
    def accuracy() -> float:
        study = load_study(folder / "own.toml")
        with Store(tmp_path / "a.db") as store:
            run_study(study, expand(study), store, jobs=1)
            row = store.rows(run.key for run in expand(study))
        return next(iter(row.values())).outcome.scores["accuracy"]

    first = accuracy()
    (folder / "beside_helper.py").write_text("CHOSEN = 1\n")
    assert first + accuracy() == pytest.approx(1)


@pytest.mark.slow
def test_workers_find_the_class_too(folder, tmp_path):
    study = load_study(folder / "own.toml")
    with Store(tmp_path / "a.db") as store:
        result = run_study(study, expand(study), store, jobs=2)
    assert (result.computed, result.failed) == (1, ())


def test_code_that_changed_after_the_file_was_read_is_not_run(folder, tmp_path):
    study = load_study(folder / "own.toml")
    load_other = folder / "other"
    load_other.mkdir()
    (folder / "beside_helper.py").write_text("CHOSEN = 1\n")
    load_study(folder / "own.toml")  # this process now has the new code
    with Store(tmp_path / "a.db") as store:
        ((_, reason),) = run_study(study, expand(study), store, jobs=1).failed
    assert "was changed while the study ran" in reason


def test_a_file_with_the_name_of_another_module_is_to_be_renamed(folder):
    (folder / "random.py").write_text(CLASS)
    (folder / "own.toml").write_text(STUDY.replace("beside_method", "random"))
    with pytest.raises(StudyError, match=r"own\.toml, method\[0\] \('mine'\): .*rename the file"):
        load_study(folder / "own.toml")
    assert "site-packages" not in sys.modules["random"].__file__


@pytest.mark.parametrize(
    ("code", "said"),
    [("def broken(:\n", "line 1: SyntaxError"), ("1 / 0\n", "ZeroDivisionError")],
)
def test_code_that_cannot_be_imported_is_named(folder, code, said):
    (folder / "beside_method.py").write_text(code)
    with pytest.raises(StudyError) as caught:
        load_study(folder / "own.toml")
    assert "own.toml, method[0] ('mine'): beside_method.py cannot be imported" in str(caught.value)
    assert said in str(caught.value)


def test_a_membership_and_a_ball_generator_go_the_same_way(folder):
    (folder / "beside_schemes.py").write_text(SCHEMES)
    text = STUDY.replace('"beside_method.Mine"', '"GBRVFLClassifier"')
    text += 'fixed = { n_hidden = 5, membership = "beside_schemes.Half" }\n'
    text += 'grid = { balls = ["two-means", "beside_schemes.by_class"] }\ncandidates = 2\n'
    (folder / "own.toml").write_text(text)
    study = load_study(folder / "own.toml")
    with Store(folder / "a.db") as store:
        assert run_study(study, expand(study), store, jobs=1).failed == ()


@pytest.mark.parametrize(
    ("fixed", "said"),
    [
        ('membership = "beside_method.Mine"', "fixed.membership: 'beside_method.Mine' is no"),
        ('balls = "beside_method.None_"', "fixed.balls: 'beside_method' has no 'None_'"),
    ],
)
def test_what_is_no_scheme_is_refused_by_its_key(folder, fixed, said):
    text = STUDY.replace('"beside_method.Mine"', '"GBRVFLClassifier"')
    (folder / "own.toml").write_text(f"{text}fixed = {{ {fixed} }}\n")
    with pytest.raises(StudyError) as caught:
        load_study(folder / "own.toml")
    assert said in str(caught.value)
    assert "own.toml, method[0] ('mine')" in str(caught.value)
