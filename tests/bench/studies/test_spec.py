"""A study file is checked key by key."""

import pytest

from granulearn.bench import StudyError
from granulearn.bench.studies.spec import Method, Noise, Split, Study
from tests.bench.studies.small_studies import SMALL, small_study


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("seed = 3", "sead = 3", "sead"),
        ('kind = "holdout"', 'kind = "random"', "split.kind"),
        ("repeats = 2", "repeats = 0", "split.repeats"),
        ("rates = [0.0, 0.2]", "rates = [0.0, 20.0]", "noise[0].rates"),
        ("rates = [0.0, 0.2]", "rates = []", "noise[0].rates"),
        ("rates = [0.0, 0.2]", "rates = [0.2, 0.2]", "noise[0].rates"),
        ('kind = "uniform"', 'kind = "given"', "leave rates out"),
        ("seed = 3", "rows = 1", "rows"),
        ('name = "tree"', 'name = "RVFL"', "two methods are named 'RVFL'"),
        ('draw = ["two_moons"]', 'draw = ["elsewhere"]', "elsewhere"),
        (
            'datasets = ["two_moons", ',
            'datasets = ["two_mons", ',
            "'two_moons' is in draw or duplicates, but not in datasets, which has 'two_mons'; is",
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
        ('draw = ["two_moons"]', 'draw = "two_moons"', "draw: Input should be a list, found"),
        ('["accuracy", ', '["acuracy", ', "scores[0]: no score is named 'acuracy'"),
        ('["accuracy", ', "[", "compare.score: 'accuracy' is not one of scores; add it there"),
        ('name = "tree"', "name = 3", "method[2].name"),
        ('name = "tree"', 'name = "tree"\ncandidates = 3', "candidates draws from a grid"),
        ('name = "tree"', 'name = "tree"\nselection = "loo"', "searches a whole grid"),
        ('name = "tree"', 'name = "tree"\nvary = { max_depth = [] }', "vary.max_depth is empty"),
    ],
)
def test_a_wrong_key_is_named_with_its_file(tmp_path, old, new, said):
    with pytest.raises(StudyError) as caught:
        small_study(tmp_path, (old, new))
    assert said in str(caught.value)
    assert "small.toml" in str(caught.value)


def test_a_list_of_nothing_but_wrong_entries_is_not_called_too_short(tmp_path):
    with pytest.raises(StudyError, match="'grids' is no key here; did you mean 'grid'") as caught:
        small_study(tmp_path, ("[[method]]", "[[method]]\ngrids = 3"))
    assert "at least" not in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("seed = 3", "repeat = 3", "'repeat' is no key here; did you mean 'split.repeats'?"),
        ("seed = 3", "folds = 3", "did you mean 'split.folds' or 'tuning.folds'?"),
        ("seed = 3", "estimator = 3", "did you mean 'method[].estimator'?"),
        ("repeats = 2", "seed = 2", "did you mean 'seed' at the top of the file?"),
        ("repeats = 2", "repeat = 2", "did you mean 'repeats'?"),
        ("folds = 3", "scores = 3", "did you mean 'scores' at the top of the file?"),
        ("folds = 3", "scor = 3", "did you mean 'score'?"),
        ("seed = 3", "zzz = 3", "'zzz' is no key here; there are question, notes, seed"),
    ],
)
def test_an_unknown_key_is_answered_with_the_nearest_one_of_any_table(tmp_path, old, new, said):
    with pytest.raises(StudyError) as caught:
        small_study(tmp_path, (old, new))
    assert said in str(caught.value)


def test_what_is_left_out_has_the_stated_default(tmp_path):
    study = small_study(tmp_path, ("tuning = { folds = 3 }\n", ""), ("seed = 3\n", ""))
    assert (study.seed, study.tuning.folds, study.tuning.score) == (0, 5, "accuracy")
    assert (study.compare.unit, study.compare.alpha) == ("dataset", 0.05)


def test_the_papers_split_is_one_split():
    with pytest.raises(ValueError, match="one fixed split"):
        Split(kind="paper", repeats=2)


def test_a_study_is_the_same_after_a_round_trip_through_json(tmp_path):
    study = small_study(tmp_path)
    assert Study.model_validate_json(study.model_dump_json()) == study


def test_kfold_needs_folds():
    with pytest.raises(ValueError, match="needs folds"):
        Split(kind="kfold")


def test_a_share_of_one_is_refused():
    with pytest.raises(ValueError, match="no share"):
        Noise(kind="rare", rates=(1.0,))


def test_a_method_is_frozen():
    method = Method(name="a", estimator="RVFLClassifier")
    with pytest.raises(ValueError, match="frozen"):
        method.name = "b"


def test_the_small_study_is_as_the_tests_count_it(tmp_path):
    assert SMALL.count("[[method]]") == len(small_study(tmp_path).method) == 3
