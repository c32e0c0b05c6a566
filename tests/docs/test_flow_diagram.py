"""The drawing of the flow says what the import contract says."""

import re

from docs._extensions.flow_diagram import flow_svg, imported_stages, layers
from tests.docs.pages import ROOT


def test_the_order_is_that_of_the_contract_from_the_first_stage_to_the_last():
    order = layers()
    assert order[:3] == ["statistics", "tables", "datasets"]
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
        "import granulearn.tables\nfrom granulearn.balls.records import Samples\n"
        "from granulearn import network\nfrom granulearn.audit import two\nimport numpy\n"
    )
    found = imported_stages("audit", tmp_path / "granulearn")
    assert found == {"tables", "balls", "network"}


def test_every_stage_has_a_box_and_those_with_public_names_lead_to_them():
    svg = flow_svg()
    assert re.findall(r'class="name"[^>]*>(\w+)<', svg) == layers()
    assert 'href="../api/balls.html"' in svg
    assert 'href="../api/cli.html"' not in svg
