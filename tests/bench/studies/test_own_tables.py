"""Tables of one's own in a study."""

import pytest

from granulearn.bench import Store, Study, StudyError, expand, load_study, run_study, summarize
from granulearn.bench.studies.preparation import load_dataset

STUDY = """
question = "Is a table of one's own read?"
datasets = ["two_moons", { path = "data/own.csv", target = "label" }]
scores = ["accuracy", "balanced_accuracy"]
split = { kind = "holdout" }

[[method]]
name = "tree"
estimator = "sklearn.tree.DecisionTreeClassifier"
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "data").mkdir()
    sizes = [(37 * x) % 50 / 10 + x % 7 for x in range(60)]
    lines = [f"{x:.1f},{'red' if x > 4 else 'blue'},{'ill' if x > 5 else 'well'}" for x in sizes]
    (tmp_path / "data" / "own.csv").write_text("\n".join(["size,colour,label", *lines]) + "\n")
    (tmp_path / "own.toml").write_text(STUDY)
    return tmp_path / "own.toml"


def test_a_table_is_read_by_its_path_from_the_study_file_on(file, tmp_path):
    study = load_study(file)
    assert study.dataset_names == ("two_moons", "own")
    with Store(tmp_path / "a.db") as store:
        result = run_study(study, expand(study), store, jobs=1)
        summary = summarize(store)
    assert (result.computed, result.failed) == (2, ())
    assert summary["datasets"] == ["two_moons", "own"]
    (own,) = [group for group in summary["cells"] if group["dataset"] == "own"]
    assert own["splits"][0]["source"] == "file:own.csv"
    assert own["splits"][0]["scores"]["accuracy"] > 0.9


def test_columns_become_numbers_and_categories(file):
    unit = expand(load_study(file))[1].unit
    dataset, _ = load_dataset(unit.dataset, None, unit.place)
    assert [str(kind) for kind in dataset.X.dtypes] == ["float64", "category"]
    assert sorted(set(dataset.y)) == ["ill", "well"]


def test_a_changed_table_is_another_cell_and_a_store_knows_it_without_the_file(file):
    first = expand(load_study(file))
    table = file.parent / "data" / "own.csv"
    table.write_text(table.read_text() + "61,red,ill\n")
    changed = load_study(file)
    second = expand(changed)
    assert [a.key == b.key for a, b in zip(first, second, strict=True)] == [True, False]
    text = changed.model_dump_json()
    assert str(file.parent) not in text
    assert [cell.key for cell in expand(Study.model_validate_json(text))] == [
        cell.key for cell in second
    ]


def test_a_table_that_changes_during_a_run_fails_its_cells(file, tmp_path):
    study = load_study(file)
    (file.parent / "data" / "own.csv").write_text("size,colour,label\n1,red,ill\n")
    with Store(tmp_path / "a.db") as store:
        ((cell, reason),) = run_study(study, expand(study), store, jobs=1).failed
    assert cell.unit.dataset == "own"
    assert "was changed while the study ran" in reason


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("own.csv", "none.csv", "datasets[1].path"),
        ("own.csv", "none.csv", "none.csv does not exist"),
        ("data/own.csv", ".", "is a folder; name a file."),
        ('"label"', '"lable"', "datasets[1].target: data/own.csv has no column 'lable'; did you"),
        ("target =", "taget =", "datasets[1]: 'taget' is no key here; did you mean 'target'?"),
        ('"label" }', '"label", ignore = ["x"] }', "datasets[1].ignore: data/own.csv has no"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_key(file, old, new, said):
    file.write_text(STUDY.replace(old, new))
    with pytest.raises(StudyError) as caught:
        load_study(file)
    assert said in str(caught.value)
    assert str(file) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("data/own.csv", "own.csv has the columns 'size', 'colour', 'label'; write"),
        ("data/own.csv", '{ path = "data/own.csv", target = "COLUMN" }'),
        ("none.csv.gz", "is a path, not the name of a data set, and no such file is there; write"),
        ("own.toml", '{ path = "own.toml", target = "COLUMN" }'),
    ],
)
def test_a_path_as_plain_text_is_told_how_a_table_is_written(file, name, said):
    file.write_text(STUDY.replace('"two_moons"', f'"{name}"'))
    with pytest.raises(StudyError) as caught:
        load_study(file)
    assert f"{file}, datasets[0]: '{name}' is a path" in str(caught.value)
    assert said in str(caught.value)


def test_a_file_with_the_name_of_a_data_set_is_not_in_its_way(file):
    (file.parent / "two_moons").write_text("size,label\n")
    assert load_study(file).dataset_names[0] == "two_moons"


def test_a_name_that_is_no_path_is_left_to_the_directories_that_may_have_it(file):
    file.write_text(STUDY.replace("two_moons", "set_of_a_manifest_1.2"))
    assert load_study(file).dataset_names[0] == "set_of_a_manifest_1.2"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("data/own.csv", "is not named; own.csv has the columns 'size', 'colour', 'label'; add"),
        ("none.csv", 'the column of labels is not named; add target = "COLUMN"'),
    ],
)
def test_a_table_without_target_is_told_which_columns_there_are(file, path, said):
    file.write_text(STUDY.replace('"data/own.csv", target = "label"', f'"{path}"'))
    with pytest.raises(StudyError) as caught:
        load_study(file)
    assert f"{file}: datasets[1].target: " in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("cells", "ignored", "key"),
    [
        (["x"] * 30, [], "datasets[1].target: "),
        ([f"{number / 7:.5f}" for number in range(30)], [], "datasets[1].target: "),
        (["x", "y"] * 15, ["size"], "datasets[1]: "),
    ],
)
def test_what_cannot_be_learned_from_is_named_by_its_key(file, cells, ignored, key):
    lines = [f"{number},{cell}" for number, cell in enumerate(cells)]
    table = file.parent / "data" / "own.csv"
    table.write_text("\n".join(["size,label", *lines]) + "\n")
    file.write_text(STUDY.replace('"label" }', f'"label", ignore = {ignored} }}'))
    unit = expand(load_study(file))[1].unit
    with pytest.raises(StudyError) as caught:
        load_dataset(unit.dataset, None, unit.place)
    assert str(caught.value).startswith(f"{file}, {key}{table}")


def test_a_table_of_a_study_that_was_not_read_from_a_file_is_refused(file):
    study = load_study(file).model_copy(update={"found": None})
    with pytest.raises(StudyError, match="load_study"):
        expand(study)
