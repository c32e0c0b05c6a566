"""The site as it is built: no dead link, no page wider than a telephone, formulas that show."""

import json
import os
import shutil
import subprocess
import sys
import time
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

import pytest
from selenium.webdriver.support.ui import WebDriverWait

from tests.bench.browser import open_page
from tests.docs.pages import DOCS

pytestmark = pytest.mark.slow

# `make docs` names the site that it has built, with all of the gallery.
BUILT = os.environ.get("GRANULEARN_SITE")
SITE = Path(BUILT).resolve() if BUILT else DOCS / "_build" / "fast"
VERSIONS = json.loads((DOCS / "versions.json").read_text(encoding="utf-8"))
# Sites of other versions are not built here.
ELSEWHERE = {SITE.parent / version["folder"] for version in VERSIONS if "current" not in version}
MOST_BYTES = 60_000_000
# What is beyond the edge of the page, and in nothing that can be scrolled by itself.
TOO_WIDE = """
const page = document.documentElement;
if (page.scrollWidth > page.clientWidth) return ["the page"];
const sliding = (element) => ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
const slides = (element) =>
  element && element.tagName !== "ARTICLE" && (sliding(element) || slides(element.parentElement));
const beyond = (element) => element.getBoundingClientRect().right > page.clientWidth + 1;
return [...document.querySelectorAll("article :is(p, dt, dd, li, td, h1, h2, h3, pre, img, svg)")]
  .filter((element) => beyond(element) && !slides(element))
  .map((element) => element.textContent.slice(0, 60) || element.tagName);
"""
NARROW = 400


@pytest.fixture(scope="module")
def site():
    """Return the folder of the site, built without running the gallery.

    What `make docs-fast` has built is gone on from, so that in `make test` nothing is built twice.
    """
    if BUILT:
        return SITE
    command = [
        sys.executable, "-m", "sphinx", "--builder", "html", "--fail-on-warning", "--keep-going",
        "--quiet", "-D", "plot_gallery=0", str(DOCS), str(SITE),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        # What was read is forgotten: it would not warn again.
        shutil.rmtree(SITE, ignore_errors=True)
    assert done.returncode == 0, done.stderr
    return SITE


class Page(HTMLParser):
    """The links of a page, and the places in it that links lead to."""

    def __init__(self, path: Path):
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        """Note what an element links to, and what it is called."""
        for name, value in attrs:
            if name in ("href", "src") and value is not None:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.places.add(value)


@pytest.fixture(scope="module")
def parsed(site):
    """Return all pages by their path."""
    paths = (path for path in site.rglob("*.html") if "_static" not in path.parts)
    return {path.resolve(): Page(path) for path in paths}


def dead_links(path: Path, page: Page, pages: dict[Path, Page]) -> list[str]:
    """Return the links of a page that lead nowhere."""
    dead = []
    for link in page.links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if target.parent in ELSEWHERE:
            continue
        if not target.is_file():
            dead.append(link)
        elif parts.fragment and target in pages:
            place = unquote(parts.fragment)
            if place not in pages[target].places and place != "":
                dead.append(link)
    return dead


def test_every_internal_link_leads_to_a_page_and_a_place_in_it(parsed):
    dead = {
        str(path): found for path in parsed if (found := dead_links(path, parsed[path], parsed))
    }
    assert dead == {}


def test_links_that_lead_nowhere_are_found(tmp_path):
    path = tmp_path / "index.html"
    path.write_text(
        '<a href="other.html"></a><a href="#here"></a><a href="#gone"></a><p id="here"></p>'
        '<img src="https://example.org/picture.png"><img src="none.png">'
    )
    page = Page(path)
    assert dead_links(path, page, {path: page}) == ["other.html", "#gone", "none.png"]


def test_nothing_is_loaded_from_elsewhere(site):
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert "cdn.jsdelivr" not in text, path
        assert 'src="http' not in text, path
        assert 'rel="stylesheet" href="http' not in text, path


def test_the_site_is_small(site):
    assert sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) < MOST_BYTES


def test_every_page_can_be_searched_for(site):
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert '"guide/audit"' in index
    assert '"api/generated/granulearn.RobustClassifier"' in index


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("audit", "guide/audit.html"),
        ("review", "guide/review.html"),
        ("balls", "guide/balls.html"),
        ("RobustClassifier", "api/generated/granulearn.RobustClassifier.html"),
    ],
)
def test_the_first_page_that_is_found_is_the_one_about_it(browser, site, words, page):
    browser.get(f"{(site / 'search.html').as_uri()}?q={words}")
    first = WebDriverWait(browser, 30).until(
        lambda opened: opened.execute_script(
            "return document.querySelector('#search-results li a')?.getAttribute('href')"
        )
    )
    assert urlsplit(first).path == page


@pytest.fixture
def published(site, tmp_path):
    """Serve the site as one of several versions, and yield its address and the list of all."""
    (tmp_path / VERSIONS[0]["folder"]).symlink_to(site)
    answers = partial(QuietHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), answers) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        folder = f"http://127.0.0.1:{server.server_port}/{VERSIONS[0]['folder']}"
        yield folder, tmp_path / "versions.json"
        server.shutdown()


class QuietHandler(SimpleHTTPRequestHandler):
    """Answers without a line for each request."""

    def log_message(self, *words):
        """Say nothing."""


VERSIONS_SHOWN = "return [...document.querySelectorAll('.version-list')[0].querySelectorAll('a')]"


def test_a_published_page_knows_versions_that_came_after_it(browser, published):
    folder, newest = published
    newest.write_text(json.dumps([{"name": "9.9", "folder": "9.9", "current": True}, *VERSIONS]))
    browser.get(f"{folder}/guide/balls.html")
    asked = f"{VERSIONS_SHOWN}.map((link) => [link.textContent, link.href, link.ariaCurrent])"
    found = WebDriverWait(browser, 30).until(
        lambda page: found if len(found := page.execute_script(asked)) > len(VERSIONS) else None
    )
    assert found[0] == ["9.9", f"{folder.rpartition('/')[0]}/9.9/index.html", None]
    assert found[1] == [VERSIONS[0]["name"], f"{folder}/index.html", "true"]


def test_without_a_list_of_versions_the_one_of_the_page_stays(browser, published, site):
    folder, _ = published
    for address in (f"{folder}/index.html", (site / "index.html").as_uri()):
        browser.get(address)
        time.sleep(0.5)  # the page has asked, and got no list
        shown = browser.execute_script(f"{VERSIONS_SHOWN}.map((link) => link.textContent)")
        assert shown == [version["name"] for version in VERSIONS]


def test_no_page_is_wider_than_a_telephone(browser, parsed):
    # The pages of single names are all made in one way: some of them stand for all.
    single = sorted(path for path in parsed if path.parent.name == "generated")
    browser.set_window_size(NARROW, 800)
    wide = {}
    for path in [*(parsed.keys() - set(single)), *single[::25]]:
        open_page(browser, path)
        if beyond := browser.execute_script(TOO_WIDE):
            wide[path.name] = beyond[:3]
    browser.set_window_size(1200, 900)
    assert wide == {}


def test_formulas_are_drawn_without_a_network(browser, site):
    open_page(browser, site / "guide" / "balls.html")
    browser.execute_async_script(
        "const done = arguments[0]; MathJax.startup.promise.then(() => done(true));"
    )
    drawn = browser.execute_script("return document.querySelectorAll('mjx-container svg').length")
    wrong = browser.execute_script("return document.querySelectorAll('mjx-merror').length")
    assert drawn > 5
    assert wrong == 0
