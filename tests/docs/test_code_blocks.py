"""No block of code on a page is left out by the tests that run them."""

import re

import pytest

from granulearn.bench import Store, expand, load_study, run_study, select
from granulearn.bench.study_files import write_new_study
from tests.docs.pages import blocks, outputs, pages
from tests.docs.stand_ins import measurements

FENCE = re.compile(r"^ *```+(.*)$", re.MULTILINE)
STUDIES = [text for _, text in blocks("toml")]


# Doctests are run by pytest itself (docs/conftest.py), scripts and commands by test_commands.py,
# parts of study files below. What a command says (text) stands after it, and is compared there.
@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_blocks_are_in_languages_that_are_run(page):
    opening = FENCE.findall(page.read_text(encoding="utf-8"))[::2]
    known = ("python", "sh", "text", "toml", "")
    assert [word for word in opening if word not in known and not word.startswith("{")] == []


def test_what_a_command_says_stands_after_the_command():
    shown = [text for _, _, text in outputs()]
    assert sorted(shown) == sorted(text for _, text in blocks("text"))


@pytest.mark.parametrize("text", STUDIES)
def test_a_part_of_a_study_file_is_run_in_the_study_that_bench_new_writes(text, tmp_path):
    path, *_ = write_new_study("my-study", tmp_path)
    (path.parent / "data").mkdir()
    patients = measurements(60).rename(columns={"label": "ill", "a": "id"})
    patients.to_csv(path.parent / "data" / "patients.csv", index=False)
    head, methods = path.read_text(encoding="utf-8").split("[[method]]", 1)
    methods = "[[method]]" + methods
    if text.startswith("datasets"):
        head = re.sub(r"^datasets = \[.*?^\]\n|^draw = .*?\n", "", head, flags=re.M | re.DOTALL)
        head, wanted = head + text, ["dataset=patients", "method=logistic*"]
    else:
        methods, wanted = text, ["dataset=my_table"]
    path.write_text(head + methods, encoding="utf-8")
    study = load_study(path)
    cells = select(expand(study), [*wanted, "split=repeat 1", "noise=clean"])
    with Store(tmp_path / "a.db") as store:
        result = run_study(study, cells, store, jobs=1)
    assert (result.computed, result.failed) == (len(cells), ())
    assert len(cells) == (text.count("[[method]]") or 1)
