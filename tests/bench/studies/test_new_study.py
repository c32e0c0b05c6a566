"""A study to begin with."""

import pytest

from granulearn.bench import Store, StudyError, expand, load_study, run_study, select
from granulearn.bench.studies.new_study import write_new_study


def test_what_is_written_runs_as_it_is(tmp_path):
    study_file, method, table = write_new_study("my-study", tmp_path)
    assert study_file == tmp_path / "my-study" / "my-study.toml"
    assert (method.name, table.name) == ("my_method.py", "my_table.csv")
    study = load_study(study_file)
    cells = select(expand(study), ["dataset=my_table", "split=repeat 1", "noise=clean"])
    with Store(tmp_path / "a.db") as store:
        result = run_study(study, cells, store, jobs=1)
    assert (result.computed, result.failed) == (len(study.method), ())


@pytest.mark.parametrize("balls", ["MyBalls", "my_balls"])
def test_both_forms_of_a_ball_maker_that_are_written_can_be_used(balls, tmp_path):
    study_file, *_ = write_new_study("my-study", tmp_path)
    text = study_file.read_text("utf-8")
    named = "fixed = { n_hidden = 43 }"
    assert f'balls = "my_method.{balls}"' in text
    assert named in text
    study_file.write_text(
        text.replace(named, f'fixed = {{ n_hidden = 43, balls = "my_method.{balls}" }}'), "utf-8"
    )
    study = load_study(study_file)
    only = ["dataset=my_table", "split=repeat 1", "noise=clean", "method=GB-RVFL"]
    with Store(tmp_path / "a.db") as store:
        result = run_study(study, select(expand(study), only), store, jobs=1)
    assert (result.computed, result.failed) == (1, ())


def test_nothing_is_overwritten_and_a_bad_name_is_refused(tmp_path):
    write_new_study("mine.toml", tmp_path)
    assert (tmp_path / "mine" / "mine.toml").is_file()
    with pytest.raises(StudyError, match="is there already"):
        write_new_study("mine", tmp_path)
    with pytest.raises(StudyError, match="no name of a study"):
        write_new_study("../mine", tmp_path)


@pytest.mark.parametrize("name", ["paper", "table1", "quick.toml"])
def test_the_name_of_a_shipped_study_is_taken(name, tmp_path):
    with pytest.raises(StudyError, match="is the name of a shipped study"):
        write_new_study(name, tmp_path)
    assert list(tmp_path.iterdir()) == []
