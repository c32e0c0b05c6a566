"""Public names in docstrings lead to their pages; other words stay as they are."""

import sys

import pytest

from tests.docs.pages import DOCS

sys.path.insert(0, str(DOCS / "_extensions"))

import names_as_links
from reference_by_stage import public_names, stages


@pytest.mark.parametrize(
    ("written", "target"),
    [
        ("BallSet", "granulearn.BallSet"),
        ("RobustClassifier.explain", "granulearn.RobustClassifier.explain"),
        ("granulearn.audit.LabelAudit", "granulearn.LabelAudit"),
        ("granulearn.datasets.load", "granulearn.datasets.load"),
        ("save_model", "granulearn.models.save_model"),
    ],
)
def test_a_public_name_in_backticks_becomes_a_link(written, target):
    linked = names_as_links.with_links([f"Takes a `{written}`, or two."], "granulearn.other")
    assert linked == [f"Takes a :py:obj:`{written} <{target}>`, or two."]


@pytest.mark.parametrize(
    "line",
    [
        "`GridSearchCV` of others, `fit`, ``BallSet`` and :class:`BallSet`",
        "`load` and `compare` may be parameters",
        "BallSet without backticks, outside of a list of parameters",
        ":math:`a` and :math:`b`",
    ],
)
def test_other_words_stay_as_they_are(line):
    assert names_as_links.with_links([line], "granulearn.other") == [line]


def test_types_of_parameters_and_of_what_is_returned_become_links():
    lines = [
        ":Parameters:",
        "",
        "    **balls** : str, BallGenerator or callable",
        "        A BallGenerator as it is.",
        "",
        ":Returns:",
        "",
        "    BallSet",
        "Balls, BallSet",
        "    BallSet",
    ]
    changed = names_as_links.with_links(lines, "granulearn.other")
    maker = ":py:obj:`BallGenerator <granulearn.balls.BallGenerator>`"
    assert changed[2] == f"    **balls** : str, {maker} or callable"
    assert changed[7] == "    :py:obj:`BallSet <granulearn.BallSet>`"
    assert [changed[i] for i in (3, 8, 9)] == [lines[i] for i in (3, 8, 9)]


def test_a_page_does_not_lead_to_itself():
    lines = ["A `BallSet` is returned."]
    assert names_as_links.with_links(lines, "granulearn.BallSet.to_frame") == lines


def test_no_short_name_stands_for_two_things():
    names = [name.rpartition(".")[2] for stage in stages() for name in public_names(stage)]
    assert len(names) == len(set(names))
