"""Pages of the guide have what each of them promises."""

import re

import pytest

from docs.make_check_examples import with_examples
from tests.docs.pages import DOCS, ROOT
from tests.shared_data import shared_data_dir

LOOKED_UP = ["command-line", "models", "serving", "datasets"]
IDEAS = [
    "audit", "balls", "dask", "deep", "imbalance", "memberships", "model-files", "networks",
    "paper", "probabilities", "regression", "review", "robust", "studies", "tables", "tuning",
]  # fmt: skip

GALLERY = ROOT / "examples" / "gallery"
EXAMPLES = sorted(
    path.relative_to(GALLERY).with_suffix("").as_posix() for path in GALLERY.rglob("plot_*.py")
)


@pytest.mark.parametrize("name", IDEAS)
def test_an_idea_has_its_formula_a_figure_and_when_not_to_use_it(name):
    text = (DOCS / "guide" / f"{name}.md").read_text(encoding="utf-8")
    without_code = re.sub(r"^```.*?^```|`[^`]*`", "", text, flags=re.MULTILINE | re.DOTALL)
    assert re.search(r"\$\$.+?\$\$|\$[^$\n]+\$", without_code, re.DOTALL)
    assert re.search(r"!\[[^\]]+\]\(\.\./images/", text)
    assert re.search(r"^## When not to use it", text, re.MULTILINE)


@pytest.mark.parametrize("name", IDEAS)
def test_an_idea_ends_with_links_to_its_names_and_to_examples(name):
    text = (DOCS / "guide" / f"{name}.md").read_text(encoding="utf-8")
    (see_also,) = re.findall(r"^```\{seealso\}\n([^`]*(?:`[^`\n]+`[^`]*)*)\n```\n\Z", text, re.M)
    assert re.search(r"\{py:\w+\}`~granulearn\.\w", see_also)
    examples = re.findall(r"\{doc\}`\.\./gallery/([\w/]+)`", see_also)
    assert 1 <= len(examples) <= 3
    assert set(examples) <= set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_leads_to_the_guide_before_its_code(name):
    words = (GALLERY / f"{name}.py").read_text(encoding="utf-8").split('"""')[1]
    pages = re.findall(r":doc:`/guide/([\w-]+)`", words)
    assert pages
    assert set(pages) <= {*IDEAS, *LOOKED_UP}


def test_every_example_is_named_by_a_page_of_the_guide():
    pages = "".join(page.read_text(encoding="utf-8") for page in (DOCS / "guide").glob("*.md"))
    assert set(EXAMPLES) <= set(re.findall(r"\.\./gallery/([\w/]+)[`>]", pages))


def test_every_page_is_an_idea_or_said_to_be_none():
    index = (DOCS / "guide" / "index.md").read_text(encoding="utf-8")
    pages = {page.stem for page in (DOCS / "guide").glob("*.md")} - {"index"}
    assert pages == {*IDEAS, *LOOKED_UP}
    assert re.findall(r"\]\(([\w-]+)\.md\)", index) == LOOKED_UP


def test_every_figure_of_the_guide_is_drawn_by_a_script_and_stands_on_a_page():
    script = (DOCS / "make_guide_figures.py").read_text(encoding="utf-8")
    pages = "".join(page.read_text(encoding="utf-8") for page in (DOCS / "guide").glob("*.md"))
    figures = {path.stem for path in (DOCS / "images" / "guide").glob("*.png")}
    assert figures == set(re.findall(r'save\(figure, "(\w+)"\)', script))
    assert [name for name in figures if f"images/guide/{name}.png" not in pages] == []


@pytest.mark.slow
def test_what_check_is_shown_to_say_is_what_it_says(monkeypatch):
    text = (DOCS / "guide" / "tables.md").read_text(encoding="utf-8")
    monkeypatch.setattr("docs.make_check_examples.FOLDER", shared_data_dir())
    assert with_examples(text) == text
