"""The reference has every public name, once."""

import doctest
import inspect
import re
from collections import Counter
from importlib import import_module

import pytest

import granulearn
from docs._extensions.reference_by_stage import (
    FOREIGN_LINK,
    index,
    kinds,
    page,
    public_names,
    stages,
    thing,
    without_foreign_links,
    words_of,
)
from granulearn.balls import BallGenerator, Membership
from tests.docs.pages import DOCS


def test_every_public_name_is_on_a_page_and_on_one_only():
    listed = Counter(name for stage in stages() for _, names in kinds(stage) for name in names)
    assert set(listed.values()) == {1}
    for stage in stages():
        for name in import_module(f"granulearn.{stage}").__all__:
            assert {f"granulearn.{name}", f"granulearn.{stage}.{name}"} & set(listed)
    assert {f"granulearn.{name}" for name in granulearn.__all__} <= set(listed)


NAMES = [name for stage in stages() for name in public_names(stage)]


def examples_of(name: str) -> list[doctest.DocTest]:
    """Return the examples of a public name and of its methods, as a reader has them: no globals."""
    found = thing(name)
    if inspect.isclass(found) or inspect.isroutine(found):
        return [one for one in doctest.DocTestFinder().find(found, name, globs={}) if one.examples]
    return [doctest.DocTestParser().get_doctest(words_of(name), {}, name, None, 0)]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_an_example_that_can_be_copied_and_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for family in (BallGenerator, Membership):  # what an example defines is forgotten after it
        monkeypatch.setattr(family, "_known", dict(family._known))
    said: list[str] = []
    runner = doctest.DocTestRunner(
        optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS, verbose=False
    )
    examples = examples_of(name)
    assert name in {one.name for one in examples}
    assert sum(runner.run(one, out=said.append).failed for one in examples) == 0, "".join(said)


def test_a_page_names_what_it_lists_by_the_shortest_way():
    assert "   ~granulearn.GranularBalls\n" in page("balls")
    assert "granulearn.balls.TwoMeansBalls" in public_names("balls")
    assert "Errors and warnings" in page("tables")


@pytest.mark.parametrize("stage", list(stages()))
def test_a_page_leads_to_the_guide(stage):
    said = re.search(r"^In the guide: (.+)\.$", page(stage), re.MULTILINE)
    assert said is not None
    for name in re.findall(r":doc:`/guide/([\w-]+)`", said[1]):
        assert (DOCS / "guide" / f"{name}.md").is_file()


def test_the_first_page_leads_to_every_stage_and_says_what_it_is():
    text = index()
    assert re.findall(r"^:doc:`(\w+)`$", text, re.MULTILINE) == list(stages())
    assert "   Audits: which labels or numbers of a table are probably wrong, and why." in text


def test_links_to_other_sites_become_text():
    lines = ["Seen in :term:`fit` (:ref:`User Guide <metadata_routing>`).", "shape (n_in_,)"]
    without_foreign_links(None, "class", "x", None, None, lines)
    assert lines == ["Seen in ``fit`` (``User Guide``).", "shape (n_in\\_,)"]
    assert FOREIGN_LINK.search(":class:`BallSet`") is None
