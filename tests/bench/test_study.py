"""A study file is checked key by key."""

import pytest

from granulearn.bench import (
    Store,
    StudyError,
    expand,
    list_studies,
    load_study,
    paper_accuracy_table,
    paper_noise_table,
    run_study,
    select,
)
from granulearn.bench.runs import conditions
from granulearn.bench.study import (
    Compare,
    Method,
    Noise,
    OwnTable,
    Split,
    Study,
    Tuning,
    study_keys,
)
from granulearn.bench.study_files import scores_not_given, write_new_study
from granulearn.datasets.catalogue import catalogue, collections
from tests.bench.small_studies import SMALL, small_study, write_study


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("seed = 3", "sead = 3", "sead"),
        ('kind = "holdout"', 'kind = "random"', "split.kind"),
        ("repeats = 2", "repeats = 0", "split.repeats"),
        ("rates = [0.0, 0.2]", "rates = [0.0, 20.0]", "noise[0]: rates: "),
        ("rates = [0.0, 0.2]", "rates = []", "noise[0]: rates: "),
        ("rates = [0.0, 0.2]", "rates = [0.2, 0.2]", "noise[0]: rates: "),
        ('kind = "uniform"', 'kind = "given"', "leave rates out"),
        ("seed = 3", "rows = 1", "rows"),
        ('name = "tree"', 'name = "RVFL"', "methods: 'RVFL' is named twice"),
        ('draw = ["two_moons"]', 'draw = ["elsewhere"]', "elsewhere"),
        (
            'datasets = ["two_moons", ',
            'datasets = ["two_mons", ',
            "'two_moons' is in draw or duplicates, but not in datasets; did you mean 'two_mons'?",
        ),
        ('datasets = ["two_moons", ', 'datasets = ["circles", ', "'circles' is named twice"),
        ("tuning = { folds = 3 }", "tuning = { folds = 1 }", "tuning.folds"),
        ("tuning = { folds = 3 }", 'compare = { score = "macro_f1" }', "compare.score"),
        (
            "repeats = 2",
            "repeats = 2, folds = 3",
            "folds belongs to kind='kfold', not to 'holdout'",
        ),
        ('kind = "holdout"', 'kind = "kfold"', "kind='kfold' needs folds, as in folds = 5"),
        ('draw = ["two_moons"]', 'draw = "two_moons"', "draw: Expected 'array', got 'str', found"),
        ('["accuracy", ', '["acuracy", ', "scores[0]: no score is named 'acuracy'"),
        ('["accuracy", ', "[", "compare.score: 'accuracy' is not one of scores; add it there"),
        ('name = "tree"', "name = 3", "method[2].name"),
        ('name = "tree"', 'name = "tree"\ncandidates = 3', "candidates draws from a grid"),
        ('name = "tree"', 'name = "tree"\nselection = "loo"', "searches a whole grid"),
        ('name = "tree"', 'name = "tree"\nvary = { max_depth = [] }', "vary.max_depth is empty"),
        ('"holdout", repeats = 2', '"kfold", repeats = 999, folds = 999', "at most 1,000,000 are"),
        # A key that is not known: the nearest one of any table.
        ("seed = 3", "repeat = 3", "'repeat' is no key here; did you mean 'split.repeats'?"),
        ("seed = 3", "folds = 3", "did you mean 'split.folds'?"),
        ("seed = 3", "estimator = 3", "did you mean 'method[].estimator'?"),
        ("repeats = 2", "seed = 2", "did you mean 'seed' at the top of the file?"),
        ("repeats = 2", "repeat = 2", "did you mean 'repeats'?"),
        ("folds = 3", "scores = 3", "did you mean 'scores' at the top of the file?"),
        ("folds = 3", "scor = 3", "did you mean 'score'?"),
        ("seed = 3", "zzz = 3", "'zzz' is no key here; there are question, notes, seed"),
        # A method, parameter or score that is not known, before anything runs.
        ('"RVFLClassifier"', '"RVFLClasifier"', "did you mean 'RVFLClassifier'?"),
        ('"RVFLClassifier"', '"nowhere.Model"', "needs 'nowhere', which is not"),
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
def test_what_is_wrong_is_named_with_the_file_before_anything_runs(tmp_path, old, new, said):
    with pytest.raises(StudyError) as caught:
        small_study(tmp_path, (old, new))
    assert said in str(caught.value)
    assert str(tmp_path / "small.toml") in str(caught.value)


def test_what_is_left_out_has_the_stated_default(tmp_path):
    study = small_study(tmp_path, ("tuning = { folds = 3 }\n", ""), ("seed = 3\n", ""))
    assert (study.seed, study.tuning.folds, study.tuning.score) == (0, 5, "accuracy")
    assert (study.compare.score, study.compare.alpha) == ("accuracy", 0.05)


def test_a_study_is_the_same_after_a_round_trip_through_json(tmp_path):
    study = small_study(tmp_path)
    assert Study.from_json(study.to_json()) == study


def test_every_key_is_there_with_a_meaning():
    keys = {key.path: key for key in study_keys()}
    wanted = {name for name in Study.__struct_fields__ if name not in ("name", "found")}
    for before, model in [
        ("datasets[].", OwnTable),
        ("split.", Split),
        ("noise[].", Noise),
        ("tuning.", Tuning),
        ("compare.", Compare),
        ("method[].", Method),
    ]:
        wanted |= {f"{before}{name}" for name in model.__struct_fields__}
    assert set(keys) == wanted
    assert all(len(key.meaning) > 9 for key in keys.values())


SHIPPED = {
    "ablation": 32 * 7 * 2 * 5,
    "deep": 32 * 3 * 2 * 7,
    "generators": 32 * 3 * 17,
    "noise": 5 * 6 * 5 * 8,
    "quick": 10 * 2 * 9,
    "rare": 11 * 2 * 5 * 6,
    "real-noise": 15 * 5 * 7,
    "rivals": 12 * 8 * 2 * 5,
    "rivals-large": 9 * 8 * 1 * 5,
    "rivals-neural": 6 * 3 * 5,
    "sensitivity-C-h": 2 * 10 * 2 * 121,
    "layers": 8 * 3 * 5 * 4 * 10,
    "sensitivity-activation": 2 * 10 * 2 * 9,
    "stress": 6 * 10 * 5 * 21,
    "table1": 35 * 8,
}


def test_the_shipped_studies_are_listed_with_their_question():
    assert list(list_studies()) == sorted(SHIPPED)
    assert all(question.endswith("?") for question in list_studies().values())


@pytest.mark.parametrize("name", sorted({*SHIPPED} - {"rivals-neural"}))
def test_a_shipped_study_can_be_built_and_has_the_stated_size(name):
    study = load_study(name)
    assert len(expand(study)) == SHIPPED[name]
    assert set(study.datasets) <= set(catalogue())


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
        for name in collections()["paper37"]
        if any(source.startswith("keel:") for source in catalogue()[name].sources)
    ]
    assert list(load_study("quick").datasets) == from_packages


def test_a_misspelt_study_gets_a_suggestion():
    with pytest.raises(StudyError, match="did you mean 'table1'"):
        load_study("tabel1")


def test_a_missing_file_and_a_file_that_is_no_toml_are_named(tmp_path):
    with pytest.raises(StudyError, match=r"none.toml cannot be read"):
        load_study(tmp_path / "none.toml")
    with pytest.raises(StudyError, match="is no TOML"):
        load_study(write_study(tmp_path, "question = "))


def test_a_study_that_names_itself_is_told_where_its_name_comes_from(tmp_path):
    with pytest.raises(StudyError, match="leave it out"):
        load_study(write_study(tmp_path, 'name = "other"\n' + SMALL))


def test_a_key_that_must_be_there_is_asked_for_by_its_name(tmp_path):
    with pytest.raises(StudyError, match="'question' must be there; add it"):
        load_study(write_study(tmp_path, SMALL.replace("question", "# question")))


SVM = SMALL.replace('"sklearn.tree.DecisionTreeClassifier"', '"sklearn.svm.SVC"').replace(
    "max_depth = 4", "C = 1.0"
)


def test_a_score_that_only_is_shown_may_lack_probabilities(tmp_path):
    study = load_study(write_study(tmp_path, SVM))
    assert scores_not_given(study) == [("tree", "scores", "log_loss", "predict_proba")]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("tuning = {", 'compare = { score = "log_loss" }\ntuning = {', "compare.score: 'log_loss'"),
        (
            '"log_loss", "fit_seconds"]',
            '"rare_average_precision"]\ncompare = { score = "rare_average_precision" }',
            "compare.score: 'rare_average_precision' needs predict_proba",
        ),
        (
            "fixed = { C = 1.0 }",
            'grid = { C = [1.0] }\n[tuning]\nscore = "neg_log_loss"',
            "tuning.score: 'neg_log_loss' needs predict_proba",
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


def test_what_is_written_runs_as_it_is(tmp_path):
    study_file, method, table = write_new_study("my-study", tmp_path)
    assert study_file == tmp_path / "my-study" / "my-study.toml"
    assert (method.name, table.name) == ("my_method.py", "my_table.csv")
    study = load_study(study_file)
    runs = select(expand(study), ["dataset=my_table", "split=repeat 1", "noise=clean"])
    with Store(tmp_path / "a.db") as store:
        result = run_study(study, runs, store, jobs=1)
    assert (result.computed, result.failed) == (len(study.method), ())


def test_nothing_is_overwritten_and_a_bad_name_is_refused(tmp_path):
    write_new_study("mine.toml", tmp_path)
    assert (tmp_path / "mine" / "mine.toml").is_file()
    with pytest.raises(StudyError, match="is there already"):
        write_new_study("mine", tmp_path)
    with pytest.raises(StudyError, match="no name of a study"):
        write_new_study("../mine", tmp_path)
