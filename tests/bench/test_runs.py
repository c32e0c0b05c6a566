"""Runs of a study: their number, keys and seeds."""

import itertools

import pytest

from granulearn.bench import StudyError, expand, select
from granulearn.bench.runs import Condition, Part, Unit, conditions
from granulearn.bench.study import Split
from tests.bench.small_studies import N_RUNS, small_study


def test_runs_are_the_product_and_no_two_share_a_key(tmp_path):
    runs = expand(small_study(tmp_path))
    assert len(runs) == len({run.key for run in runs}) == N_RUNS


def test_seeds_depend_on_set_noise_and_split_but_not_on_the_method(tmp_path):
    runs = expand(small_study(tmp_path))
    by_unit = {}
    for run in runs:
        place = (run.unit.dataset, run.unit.condition, run.unit.part.repeat)
        by_unit.setdefault(place, set()).add(run.unit.seed)
    assert all(len(seeds) == 1 for seeds in by_unit.values())
    assert len(set().union(*by_unit.values())) == len(by_unit) == 3 * 2 * 2


def test_all_rates_of_a_set_are_measured_on_the_same_splits(tmp_path):
    units = {run.unit for run in expand(small_study(tmp_path))}
    seeds = {}
    for unit in units:
        seeds.setdefault((unit.dataset, unit.part.repeat), set()).add(unit.split_seed)
    assert all(len(found) == 1 for found in seeds.values())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("seed = 3", "seed = 4"),
        ("C = [0.01, 1.0]", "C = [0.01, 2.0]"),
        ("C = [0.01, 1.0] }", 'C = [0.01, 1.0] }\nselection = "loo"'),
        ("n_hidden = 12", "n_hidden = 13"),
        ("folds = 3", "folds = 4"),
        ('"accuracy", "log_loss"', '"accuracy", "macro_f1"'),
        ("repeats = 2", "repeats = 2, test_size = 0.5"),
        ("seed = 3", "seed = 3\nrows = 90"),
    ],
)
def test_a_change_of_what_decides_the_result_is_another_run(tmp_path, old, new):
    before = expand(small_study(tmp_path))[0]
    after = expand(small_study(tmp_path, (old, new)))[0]
    assert before.key != after.key


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Does a test", "Does one test"),
        ('draw = ["two_moons"]', 'draw = ["circles"]'),
        ("repeats = 2", "repeats = 3"),
        ("rates = [0.0, 0.2]", "rates = [0.0, 0.1, 0.2]"),
        ('scores = ["accuracy", "log_loss"', 'scores = ["log_loss", "accuracy"'),
    ],
)
def test_a_change_that_does_not_decide_the_result_keeps_the_runs(tmp_path, old, new):
    before = {run.key for run in expand(small_study(tmp_path))}
    after = {run.key for run in expand(small_study(tmp_path, (old, new)))}
    assert before <= after


def test_tuning_is_no_part_of_a_method_that_is_not_tuned(tmp_path):
    before = [c.key for c in expand(small_study(tmp_path)) if c.method.name == "tree"]
    changed = expand(small_study(tmp_path, ("folds = 3", "folds = 4")))
    assert before == [c.key for c in changed if c.method.name == "tree"]


def test_keys_and_seeds_are_the_same_on_every_machine(tmp_path):
    # Written down once: a store made elsewhere must be found again.
    first = expand(small_study(tmp_path))[0]
    assert (first.unit.seed, len(first.key)) == (1783480961, 20)


def test_rate_zero_is_one_condition_for_all_kinds(tmp_path):
    study = small_study(
        tmp_path,
        (
            'noise = [{ kind = "uniform", rates = [0.0, 0.2] }]',
            'noise = [{ kind = "uniform", rates = [0.0, 0.2] },'
            ' { kind = "outliers", rates = [0.0, 0.1] }]',
        ),
    )
    assert [str(c) for c in conditions(study)] == ["clean", "uniform 20 %", "outliers 10 %"]


def test_without_noise_there_is_the_clean_condition(tmp_path):
    study = small_study(tmp_path, ('noise = [{ kind = "uniform", rates = [0.0, 0.2] }]\n', ""))
    assert conditions(study) == [Condition()]


def test_folds_of_a_repeat_share_the_split_but_not_the_seed():
    split = Split(kind="kfold", folds=3, repeats=2)
    units = [
        Unit("a", Condition(), Part(split, repeat, fold), 0)
        for repeat, fold in itertools.product(range(2), range(3))
    ]
    assert len({unit.split_seed for unit in units}) == 2
    assert len({unit.seed for unit in units}) == 6


@pytest.mark.parametrize(
    ("only", "left"),
    [
        (["dataset=circles"], 12),
        (["dataset=c*"], 24),
        (["dataset=circles,two_moons", "method=tree"], 8),
        (["noise=clean", "split=repeat 1"], 9),
        (["method=*RVFL"], 24),
    ],
)
def test_filters_keep_the_runs_that_all_let_through(tmp_path, only, left):
    assert len(select(expand(small_study(tmp_path)), only)) == left


@pytest.mark.parametrize("wrong", ["circles", "set=circles", "dataset=squares", "method="])
def test_a_filter_that_fits_nothing_is_refused(tmp_path, wrong):
    with pytest.raises(StudyError, match="--only"):
        select(expand(small_study(tmp_path)), [wrong])


def test_brackets_of_varied_methods_can_be_written_in_a_filter(tmp_path):
    study = small_study(tmp_path, ("fixed = { max_depth = 4 }", "vary = { max_depth = [2, 4] }"))
    kept = select(expand(study), ["method=tree [max_depth=2]"])
    assert {run.method.name for run in kept} == {"tree [max_depth=2]"}


def test_given_labels_are_a_condition_without_a_rate(tmp_path):
    change = ('kind = "uniform", rates = [0.0, 0.2] }', 'kind = "given" }')
    assert conditions(small_study(tmp_path, change)) == [Condition("given")]
    assert str(Condition("given")) == "given"
