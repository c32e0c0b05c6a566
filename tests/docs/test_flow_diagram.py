"""The drawing of the flow says what the import contract says."""

import re
from functools import cache
from itertools import combinations

import pytest

from docs._extensions.flow_diagram import WORDS, chain, flow_svg, imported_stages, layers
from tests.docs.pages import ROOT

# Every file of the library is read for them.
flow_svg, imported_stages = cache(flow_svg), cache(imported_stages)


def test_the_order_is_that_of_the_contract_from_the_first_stage_to_the_last():
    order = layers()
    assert order[:3] == ["utils", "preprocess", "tables"]
    assert order[-1] == "cli"
    assert set(order) == {
        path.parent.name for path in (ROOT / "src/granulearn").glob("*/__init__.py")
    }


def test_a_stage_uses_earlier_ones_only():
    order = layers()
    for place, stage in enumerate(order):
        later = set(order[place + 1 :])
        assert not imported_stages(stage) & later


def test_imports_of_every_form_are_seen(tmp_path):
    package = tmp_path / "granulearn" / "audit"
    package.mkdir(parents=True)
    (package / "one.py").write_text(
        "import granulearn.tables\nfrom granulearn.balls.ball_set import BallSet\n"
        "from granulearn import network\nfrom granulearn.audit import two\nimport numpy\n"
    )
    found = imported_stages("audit", tmp_path / "granulearn")
    assert found == {"tables", "balls", "network"}


def test_the_flow_is_that_of_the_architecture_and_never_runs_against_the_contract():
    order, steps = layers(), chain()
    assert steps[0] == "tables"
    assert steps[-1] == "bench"
    assert steps == [stage for stage in order if stage in steps]


def test_a_page_without_a_flow_is_refused(tmp_path):
    (tmp_path / "page.md").write_text("no flow")
    with pytest.raises(ValueError, match="states no flow"):
        chain(tmp_path / "page.md")


def test_every_stage_has_a_box_and_those_with_public_names_lead_to_them():
    svg = flow_svg()
    names = re.findall(r'class="name"[^>]*>(\w+)<', svg)
    assert names[: len(chain())] == chain()
    assert sorted(names) == sorted(layers())
    assert svg.count("<path ") == len(chain()) - 1
    assert 'href="../api/balls.html"' in svg
    assert 'href="../api/cli.html"' not in svg


def boxes(svg):
    """Return left, top, right and bottom of every box."""
    shape = r'<rect x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"'
    found = [[int(number) for number in numbers] for numbers in re.findall(shape, svg)]
    return [(x, y, x + width, y + height) for x, y, width, height in found]


def test_boxes_lie_within_the_drawing_and_not_on_each_other():
    svg = flow_svg()
    width, height = map(int, re.search(r'viewBox="0 0 (\d+) (\d+)"', svg).groups())
    for one, other in combinations(boxes(svg), 2):
        beside = one[2] < other[0] or other[2] < one[0]
        above = one[3] < other[1] or other[3] < one[1]
        assert beside or above
    assert all(box[2] <= width and box[3] <= height for box in boxes(svg))


def test_every_word_of_a_stage_is_in_its_box():
    svg = flow_svg()
    for stage, words in WORDS.items():
        part = re.search(rf'class="name"[^>]*>{stage}</text>(.*?)</(?:a|g)>', svg)[1]
        said = " ".join(re.findall(r'class="words"[^>]*>([^<]*)<', part))
        uses = " ".join(re.findall(r'class="uses"[^>]*>([^<]*)<', part))
        assert said == words
        named = set(re.findall(r"\w+", uses)) & set(layers())
        assert named == imported_stages(stage) & set(layers())


def test_no_box_uses_one_that_stands_lower():
    found = re.findall(r'<rect x="\d+" y="(\d+)"[^>]*/><text class="name"[^>]*>(\w+)<', flow_svg())
    tops = {stage: int(top) for top, stage in found}
    for stage in layers():
        for used in imported_stages(stage) & set(layers()):
            assert tops[used] <= tops[stage]
