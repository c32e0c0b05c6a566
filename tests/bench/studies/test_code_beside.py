"""Classes beside a study file: found, part of the key, importable in workers."""

import sys

import pytest

from granulearn.bench import Store, Study, StudyError, expand, load_study, run_study
from granulearn.bench.studies.code_beside import dotted_names, hash_of_module
from granulearn.bench.studies.spec import Method

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
    return [cell.key for cell in expand(load_study(folder / "own.toml"))]


def test_a_class_beside_the_file_is_found_without_tricks(folder):
    study = load_study(folder / "own.toml")
    assert list(study.found.code) == ["beside_method"]


def test_changed_code_is_another_cell_also_in_what_it_imports(folder):
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


def test_a_store_finds_the_cells_without_the_files_and_keeps_no_path(folder):
    study = load_study(folder / "own.toml")
    text = study.model_dump_json()
    assert str(folder) not in text
    kept = Study.model_validate_json(text)
    assert [cell.key for cell in expand(kept)] == [cell.key for cell in expand(study)]


def test_edited_code_is_used_in_the_same_process(folder, tmp_path):
    def accuracy() -> float:
        study = load_study(folder / "own.toml")
        with Store(tmp_path / "a.db") as store:
            run_study(study, expand(study), store, jobs=1)
            row = store.rows(cell.key for cell in expand(study))
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


def test_code_that_cannot_be_imported_is_named_by_the_method_that_needs_it(folder):
    (folder / "beside_broken.py").write_text("1 / 0\n")
    second = '[[method]]\nname = "other"\nestimator = "beside_broken.Other"\n'
    (folder / "own.toml").write_text(STUDY + second)
    with pytest.raises(StudyError) as caught:
        load_study(folder / "own.toml")
    assert "own.toml, method[1] ('other'): beside_broken.py cannot be imported" in str(caught.value)


@pytest.mark.parametrize(
    ("meant", "said"),
    [
        ("nope", "has no 'nope'; check the name."),
        ("Mein", "has no 'Mein'; did you mean 'Mine'?"),
        ("choosen", "has no 'choosen'; check the name."),
    ],
)
def test_of_the_names_of_a_file_only_classes_are_offered(folder, meant, said):
    (folder / "beside_method.py").write_text(CLASS + "def chosen():\n    return 1\n")
    (folder / "own.toml").write_text(STUDY.replace("Mine", meant))
    with pytest.raises(StudyError) as caught:
        load_study(folder / "own.toml")
    assert f"own.toml, method[0] ('mine'): estimator: 'beside_method' {said}" in str(caught.value)


def test_a_package_beside_the_file_counts_with_all_its_modules(tmp_path):
    package = tmp_path / "bundle"
    package.mkdir()
    (package / "__init__.py").write_text("from bundle.inner import A\n")
    (package / "inner.py").write_text("A = 1\n")
    first = hash_of_module("bundle", tmp_path)
    (package / "inner.py").write_text("A = 2\n")
    assert hash_of_module("bundle", tmp_path) != first


@pytest.mark.parametrize("place", ["loose/inner.py", "loose/inner/__init__.py"])
def test_a_folder_that_is_no_package_is_told_what_it_lacks(folder, place):
    (folder / place).parent.mkdir(parents=True)
    (folder / place).write_text(CLASS)
    (folder / "own.toml").write_text(STUDY.replace("beside_method.Mine", "loose.inner.Mine"))
    with pytest.raises(StudyError) as caught:
        load_study(folder / "own.toml")
    assert "own.toml, method[0] ('mine'): 'loose.inner.Mine' is in the folder loose/" in str(
        caught.value
    )
    assert "has no __init__.py; add an empty one." in str(caught.value)
    (folder / "loose" / "__init__.py").touch()
    assert list(load_study(folder / "own.toml").found.code) == ["loose"]


def test_a_class_that_is_named_without_its_file_is_found_there_by_its_text(folder):
    (folder / "never_imported.py").write_text("1 / 0\nclass RVFLMine:\n    odd = '\\d'\n")
    (folder / "no_python.py").write_text("class RVFLMine(:\n")
    (folder / "other.py").write_text("def f():\n    class RVFLMine:\n        pass\n")
    (folder / "own.toml").write_text(STUDY.replace("beside_method.Mine", "RVFLMine"))
    with pytest.raises(StudyError) as caught:
        load_study(folder / "own.toml")
    assert "own.toml, method[0] ('mine'): estimator: granulearn has no classifier" in str(
        caught.value
    )
    assert "did you mean 'never_imported.RVFLMine'?" in str(caught.value)
    assert "never_imported" not in sys.modules


def test_a_file_beside_that_has_a_class_of_a_shipped_name_is_not_asked(folder):
    (folder / "other.py").write_text("class RVFLClassifier:\n    pass\n")
    (folder / "own.toml").write_text(STUDY.replace("beside_method.Mine", "RVFLClassifier"))
    assert load_study(folder / "own.toml").found is None


def test_a_membership_and_a_ball_maker_go_the_same_way(folder):
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


def test_names_are_looked_for_in_all_values_of_a_method():
    method = Method(
        name="m",
        estimator="a.B",
        fixed={"clf": {"estimator": "c.D", "fixed": {"x": "e.f"}}, "text": "no. name"},
        grid=[{"balls": ["two-means", "g.h"]}],
        vary={"membership": ["i.J"]},
    )
    assert dotted_names(method) == ["a.B", "c.D", "e.f", "g.h", "i.J"]
