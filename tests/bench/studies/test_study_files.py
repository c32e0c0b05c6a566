"""Studies by name and by file."""

import tomllib
from importlib.resources import files

import pytest

from granulearn.bench import (
    StudyError,
    expand,
    list_studies,
    load_study,
    paper_accuracy_table,
    paper_noise_table,
)
from granulearn.bench.studies.cells import conditions
from granulearn.bench.studies.study_files import scores_not_given
from granulearn.datasets.catalogue import catalogue, collections
from tests.bench.studies.small_studies import SMALL, write_study

SHIPPED = {
    "ablation": 32 * 7 * 2 * 5,
    "deep": 32 * 3 * 2 * 7,
    "makers": 32 * 3 * 21,
    "noise": 5 * 6 * 5 * 8,
    "quick": 10 * 2 * 8,
    "real-noise": 15 * 5 * 7,
    "rivals": 32 * 7 * 5 * 16,
    "rivals-large": 10 * 5 * 2 * 8,
    "rivals-large-quick": 4 * 2 * 8,
    "sensitivity-C-h": 2 * 10 * 2 * 121,
    "layers": 8 * 3 * 5 * 4 * 10,
    "sensitivity-activation": 2 * 10 * 2 * 9,
    "stress": 6 * 10 * 5 * 21,
    "table1": 35 * 8,
}


def test_the_shipped_studies_are_listed_with_their_question():
    assert list(list_studies()) == sorted(SHIPPED)
    assert all(question.endswith("?") for question in list_studies().values())


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_study_can_be_built_and_has_the_stated_size(name):
    study = load_study(name)
    assert len(expand(study)) == SHIPPED[name]
    assert set(study.datasets) <= set(catalogue())


def test_rivals_has_the_everyday_methods_clean_and_noisy():
    study = load_study("rivals")
    packages = {method.estimator.partition(".")[0] for method in study.method}
    assert {"sklearn", "lightgbm", "cleanlab", "SDAPGBRVFLClassifier"} <= packages
    assert any(condition.rate == 0 for condition in conditions(study))
    assert any(condition.rate > 0 for condition in conditions(study))


@pytest.mark.parametrize("name", ["ablation", "deep"])
def test_what_a_study_has_in_common_with_rivals_is_computed_once(name):
    common = {cell.key for cell in expand(load_study(name))}
    common &= {cell.key for cell in expand(load_study("rivals"))}
    n_shared_methods = {"ablation": 2, "deep": 1}[name]
    n_conditions = len(list(conditions(load_study(name))))
    assert len(common) == 32 * 2 * n_conditions * n_shared_methods


def test_the_studies_of_larger_tables_have_the_same_methods():
    large, quick = map(load_study, ["rivals-large", "rivals-large-quick"])
    assert large.method == quick.method
    assert set(quick.datasets) < set(large.datasets)
    kinds = {str(condition) for condition in conditions(large)}
    assert kinds == {"clean", "uniform 20 %", "uniform 40 %", "pair 30 %", "boundary 20 %"}


def test_real_noise_trains_on_given_labels_and_has_the_everyday_rivals():
    study = load_study("real-noise")
    assert [str(condition) for condition in conditions(study)] == ["given"]
    packages = {method.estimator.partition(".")[0] for method in study.method}
    assert packages == {"RobustClassifier", "lightgbm", "sklearn", "granulearn"}
    assert sum("CleanLearning" in method.name for method in study.method) == 2


def test_table1_has_the_papers_sets_and_methods():
    study, table = load_study("table1"), paper_accuracy_table()
    assert [method.name for method in study.method] == list(table.columns)
    without_copy = {"checkerboard_data", "crossplane150"}
    assert list(study.datasets) == [name for name in table.index if name not in without_copy]


def test_noise_has_the_papers_sets_and_rates():
    study, table = load_study("noise"), paper_noise_table()
    assert set(study.datasets) == set(table.index.get_level_values("dataset"))
    rates = {round(100 * condition.rate) for condition in conditions(study)}
    assert rates == {0, *table.index.get_level_values("noise_percent")}


def test_quick_has_every_set_of_the_collection_that_comes_with_a_package():
    from_packages = [
        name
        for name in collections()["paper37"].sets
        if any(source.startswith("keel:") for source in catalogue()[name].sources)
    ]
    assert list(load_study("quick").datasets) == from_packages


def test_the_default_is_quick():
    assert load_study() == load_study("quick")


def test_a_file_of_ones_own_is_named_by_the_file(tmp_path):
    assert load_study(write_study(tmp_path, name="mine")).name == "mine"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"RVFLClassifier"', '"RVFLClasifier"', "did you mean 'RVFLClassifier'?"),
        ('"RVFLClassifier"', '"nowhere.Model"', "needs the package 'nowhere'"),
        ('"RVFLClassifier"', '"sklearn.tree.Bush"', "'sklearn.tree' has no 'Bush'"),
        ('"RVFLClassifier"', '"os.path.join"', "no scikit-learn estimator"),
        ("n_hidden = 12", "n_hiden = 12", "did you mean 'n_hidden'?"),
        ("grid = { C = ", "grid = { D = ", "grid.D"),
        ('"log_loss"', '"logloss"', "did you mean 'log_loss'?"),
        ("folds = 3", 'folds = 3, score = "acuracy"', "tuning.score"),
        ("folds = 3", 'folds = 3, score = "fit_seconds"', "tuning.score: 'fit_seconds' cannot"),
        ("folds = 3", 'folds = 3, score = "single_balls"', "tuning.score: 'single_balls' cannot"),
        (
            "folds = 3",
            'folds = 3, score = "rare_average_precision"',
            "tuning.score: 'rare_average_precision' cannot guide tuning",
        ),
    ],
)
def test_an_unknown_method_parameter_or_score_is_refused_before_anything_runs(
    tmp_path, old, new, said
):
    path = write_study(tmp_path, SMALL.replace(old, new))
    with pytest.raises(StudyError) as caught:
        load_study(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_misspelt_study_gets_a_suggestion():
    with pytest.raises(StudyError, match="did you mean 'table1'"):
        load_study("tabel1")


def test_a_name_cannot_leave_the_directory_of_shipped_studies():
    with pytest.raises(StudyError, match="no shipped study"):
        load_study("../shipped/quick")


def test_a_missing_file_and_a_file_that_is_no_toml_are_named(tmp_path):
    with pytest.raises(StudyError, match=r"none.toml does not exist"):
        load_study(tmp_path / "none.toml")
    with pytest.raises(StudyError, match="is no TOML"):
        load_study(write_study(tmp_path, "question = "))


def test_a_study_that_names_itself_is_told_where_its_name_comes_from(tmp_path):
    with pytest.raises(StudyError, match="leave it out"):
        load_study(write_study(tmp_path, 'name = "other"\n' + SMALL))


def test_a_key_that_must_be_there_is_asked_for_by_its_name(tmp_path):
    with pytest.raises(StudyError, match="question: it must be there; add it"):
        load_study(write_study(tmp_path, SMALL.replace("question", "# question")))


def test_shipped_files_are_plain_toml():
    for item in (files("granulearn.bench.studies") / "shipped").iterdir():
        assert tomllib.loads(item.read_text("utf-8"))["question"]


SVM = SMALL.replace('"sklearn.tree.DecisionTreeClassifier"', '"sklearn.svm.SVC"').replace(
    "max_depth = 4", "C = 1.0"
)


def test_a_score_that_only_is_shown_may_lack_probabilities(tmp_path):
    study = load_study(write_study(tmp_path, SVM))
    assert scores_not_given(study) == [
        ("tree", "scores", "log_loss", "probabilities (predict_proba)")
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("tuning = {", 'compare = { score = "log_loss" }\ntuning = {', "compare.score: 'log_loss'"),
        (
            '"log_loss", "fit_seconds"]',
            '"rare_average_precision"]\ncompare = { score = "rare_average_precision" }',
            "compare.score: 'rare_average_precision' needs probabilities",
        ),
        (
            "fixed = { C = 1.0 }",
            'grid = { C = [1.0] }\n[tuning]\nscore = "neg_log_loss"',
            "tuning.score: 'neg_log_loss' needs probabilities",
        ),
    ],
)
def test_a_score_that_decides_needs_probabilities_of_every_method(tmp_path, old, new, said):
    text = SVM.replace(old, new).replace("tuning = { folds = 3 }\n", "" if "[tuning]" in new else
                                         "tuning = { folds = 3 }\n")  # fmt: skip
    path = write_study(tmp_path, text)
    with pytest.raises(StudyError) as caught:
        load_study(path)
    assert f"{path}, {said}" in str(caught.value)
    assert "'tree' does not give" in str(caught.value)
