"""The site builds without a warning, has no dead link and loads nothing from elsewhere."""

import os
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import granulearn
from docs.reference import STAGES, public_names
from tests.bench.browser import open_page

DOCS = Path(__file__).resolve().parents[2] / "docs"
# `make docs` names the site that it has built, with all of the gallery.
BUILT = os.environ.get("GRANULEARN_SITE")


@pytest.fixture(scope="module")
def site():
    """Return the folder of the site; without `make docs`, built without running the gallery."""
    if BUILT:
        return Path(BUILT).resolve()
    folder = DOCS / "_build" / "fast"  # continues the build of `make docs-fast`
    command = [
        sys.executable, "-m", "sphinx", "--builder", "html", "--fail-on-warning", "--keep-going",
        "--quiet", "-D", "plot_gallery=0", str(DOCS), str(folder),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        shutil.rmtree(folder, ignore_errors=True)  # a build that continues it would not warn again
    assert done.returncode == 0, done.stderr
    return folder


class Page(HTMLParser):
    """The links of a page, and the anchors that links lead to."""

    def __init__(self, path: Path):
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src") and value is not None:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


@pytest.mark.slow
def test_every_internal_link_resolves(site):
    paths = [path for path in site.rglob("*.html") if "_static" not in path.parts]
    pages = {path.resolve(): Page(path) for path in paths}
    dead = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchors = pages[target].anchors if target in pages else ()
            fragment = unquote(parts.fragment)
            if not target.is_file() or (fragment and anchors and fragment not in anchors):
                dead.append(f"{path.relative_to(site)}: {link}")
    assert len(pages) > 100
    assert dead == []


@pytest.mark.slow
def test_nothing_is_loaded_from_elsewhere(site):
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert 'src="http' not in text, path
        assert 'rel="stylesheet" href="http' not in text, path


def test_formulas_are_drawn_without_a_network(browser, site):
    open_page(browser, site / "guide" / "balls.html")
    browser.execute_async_script(
        "const done = arguments[0]; MathJax.startup.promise.then(() => done(true));"
    )
    count = "return document.querySelectorAll('{}').length"
    assert browser.execute_script(count.format("mjx-container svg")) > 5
    assert browser.execute_script(count.format("mjx-merror")) == 0


def test_the_reference_has_every_public_name_once():
    listed = [name for stage in STAGES for name in public_names(stage)]
    assert len(set(listed)) == len(listed)
    assert {f"granulearn.{name}" for name in granulearn.__all__} <= set(listed)
    public = [s for s in granulearn._STAGES if hasattr(import_module(f"granulearn.{s}"), "__all__")]
    assert set(STAGES) >= {s for s in public if import_module(f"granulearn.{s}").__all__}
