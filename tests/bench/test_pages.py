"""The page, in a real browser: it opens, sorts, filters, links, and fits a phone."""

import copy
import os
import re
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pandas as pd
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

from granulearn.bench import render_page, write_markdown, write_page
from tests.bench.browser import open_page
from tests.bench.small_studies import full_summary, paper_summary, table1_summary


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    directory = tmp_path_factory.mktemp("pages")
    summaries = {"full": full_summary(), "table1": table1_summary()}
    return {name: write_page(s, directory / f"{name}.html") for name, s in summaries.items()}


@pytest.fixture
def page(browser, pages):
    browser.set_window_size(1200, 900)
    open_page(browser, pages["full"])
    return browser


def texts(page, selector: str) -> list[str]:
    return page.execute_script(
        "return Array.from(document.querySelectorAll(arguments[0]), e => e.textContent.trim())",
        selector,
    )


def test_it_is_the_same_for_the_same_summary(pages):
    assert render_page(table1_summary()) == pages["table1"].read_text(encoding="utf-8")


def digest(page: str) -> str:
    """Return what identifies a page but for the time at which its results were made."""
    timeless = re.sub(r"\d{4}-\d\d-\d\dT[0-9:+]+", "a time", page)
    return sha256(timeless.encode()).hexdigest()


@pytest.mark.slow
def test_it_is_the_same_in_every_process(pages):
    other = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    done = subprocess.run(
        [sys.executable, "-c", DIGEST],
        cwd=Path(__file__).resolve().parents[2],
        env=os.environ | {"PYTHONHASHSEED": other},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == digest(pages["full"].read_text(encoding="utf-8"))


DIGEST = """
from tests.bench.test_pages import digest, full_summary, render_page

print(digest(render_page(full_summary())), end="")
"""


def test_names_from_a_store_cannot_become_markup(pages):
    text = pages["full"].read_text(encoding="utf-8")
    assert "<b>a reason</b>" not in text
    assert "&lt;b&gt;a reason&lt;/b&gt; &amp; more" in text


def test_it_names_no_other_address_than_those_of_svg(pages):
    for page in pages.values():
        addresses = set(re.findall(r"https?://[^\s\"'<>)]+", page.read_text(encoding="utf-8")))
        assert all(address.startswith("http://www.w3.org/") for address in addresses)


@pytest.mark.parametrize("name", ["full", "table1"])
def test_it_opens_without_console_errors_and_loads_nothing_else(browser, pages, name):
    open_page(browser, pages[name])
    assert browser.get_log("browser") == []
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0


@pytest.mark.parametrize("name", ["full", "table1"])
@pytest.mark.parametrize("width", [1200, 390])
def test_every_figure_has_size_and_the_page_is_no_wider_than_the_screen(
    browser, pages, name, width
):
    browser.set_window_size(width, 900)
    open_page(browser, pages[name])
    sizes = browser.execute_script(
        "return Array.from(document.querySelectorAll('figure svg'), e => {"
        "const b = e.getBoundingClientRect(); return [b.width, b.height]})"
    )
    assert len(sizes) == {"full": 15, "table1": 2}[name]
    assert all(w >= 300 and h >= 100 for w, h in sizes)
    widths = browser.execute_script(
        "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert widths[0] <= widths[1]


def test_a_click_on_a_heading_sorts_and_a_second_one_turns_it_round(page):
    heading = page.find_element(By.CSS_SELECTOR, "#ranking-table th:nth-child(3)")
    for turned in (False, True):
        heading.find_element(By.TAG_NAME, "button").click()
        shown = [float(t) for t in texts(page, "#ranking-table td:nth-child(3)")]
        assert shown == sorted(shown, reverse=turned)
        assert heading.get_attribute("aria-sort") == ("descending" if turned else "ascending")
    page.find_element(By.CSS_SELECTOR, "#ranking-table th:first-child button").click()
    names = texts(page, "#ranking-table tbody th")
    assert names == sorted(names, key=str.lower)


def test_what_has_no_number_sorts_last_both_ways(page):
    column = "#ranking-table td:nth-child(5)"
    assert "–" in texts(page, column)
    for _ in range(2):
        page.find_element(By.CSS_SELECTOR, "#ranking-table th:nth-child(5) button").click()
        shown = texts(page, column)
        assert "–" not in shown[: len(shown) - shown.count("–")]


def test_the_filter_keeps_the_rows_that_fit(page):
    field = page.find_element(By.CSS_SELECTOR, "[data-filters=set-table]")
    field.send_keys("moon")
    rows = texts(page, "#set-table tbody tr:not([hidden]) th")
    assert rows == ["two_moons", "two_moons"]
    Select(page.find_element(By.CSS_SELECTOR, "[data-chooses=set-table]")).select_by_visible_text(
        "clean"
    )
    assert len(texts(page, "#set-table tbody tr:not([hidden])")) == 1
    assert texts(page, "[data-counts=set-table]") == ["1 of 6"]
    field.clear()
    field.send_keys(" ")
    assert len(texts(page, "#set-table tbody tr:not([hidden])")) == 3


def test_a_number_leads_to_the_open_details_of_its_run(page):
    link = page.find_element(By.CSS_SELECTOR, "#set-table tbody td a")
    target = link.get_attribute("href").partition("#")[2]
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", link)
    link.click()
    details = page.find_element(By.ID, target)
    WebDriverWait(page, 10).until(lambda _: details.get_attribute("open"))
    assert "two_moons · clean · RVFL" in details.text
    assert "C = 0.1" in details.text


def test_every_link_within_the_page_has_a_target(page):
    missing = page.execute_script(
        "return Array.from(document.querySelectorAll('a[href^=\"#\"]'))"
        ".map(a => a.getAttribute('href').slice(1)).filter(id => !document.getElementById(id))"
    )
    assert missing == []


def test_ids_are_unique(page):
    ids = page.execute_script("return Array.from(document.querySelectorAll('[id]'), e => e.id)")
    assert len(ids) == len(set(ids))


def test_the_switch_turns_light_into_dark_and_figures_follow(page):
    colors = (
        "return [getComputedStyle(document.body).backgroundColor,"
        "getComputedStyle(document.querySelector('figure svg')).filter]"
    )
    before = page.execute_script(colors)
    page.find_element(By.ID, "theme").click()
    after = page.execute_script(colors)
    assert before[0] != after[0]
    assert before[1] != after[1]
    page.find_element(By.ID, "theme").click()
    assert page.execute_script(colors) == before


def test_failures_are_shown_with_their_reason(page):
    reasons = texts(page, "#failures td.reason")
    assert len(reasons) == 4
    assert set(reasons) == {"ValueError: <b>a reason</b> & more"}


def test_what_is_missing_is_said_by_set_and_method_and_runs_stand_beside_means(page):
    assert texts(page, "#missing tbody tr > *") == [
        "crossplane", "tree", "4", "ValueError: <b>a reason</b> & more",
    ]  # fmt: skip
    assert texts(page, "#ranking-table th:last-child") == ["runs"]
    assert set(texts(page, "#ranking-table td:last-child")) == {"8", "12"}


def test_machines_and_methods_are_told(page):
    how = texts(page, "#how")[0]
    for word in ("a processor", "2 cores", "numpy 2", "SDAPGBRVFLClassifier", "never seen"):
        assert word in how


@pytest.fixture(scope="module")
def paper():
    return render_page(paper_summary())


def test_every_entry_of_the_contents_leads_to_a_section(paper):
    contents = re.search(r"<nav.*?</nav>", paper, re.DOTALL)[0]
    targets = re.findall(r'href="#([\w-]+)"', contents)
    assert len(targets) >= 9
    for target in targets:
        assert paper.count(f'<section id="{target}"') == 1


def test_every_claim_has_its_verdict_beside_both_figures(paper):
    rows = re.findall(
        r'<tr><th scope="row">(?:(?!</tr>).)*class="verdict(?:(?!</tr>).)*</tr>', paper
    )
    assert len(rows) == len(paper_summary()["claims"])


def test_a_run_that_was_interrupted_says_what_is_missing(paper):
    assert "484 not run yet" in paper
    assert '<tr><th scope="row">sensitivity-C-h</th><td>0</td><td>0</td><td>484</td>' in paper
    assert re.search(r'id="surfaces">.*?Not run yet', paper, re.DOTALL)


def test_the_reasons_of_failures_are_told(paper, tmp_path):
    summary = copy.deepcopy(paper_summary())
    line = summary["progress"]["studies"][0]
    line["failed"], line["reasons"] = 2, pd.Series(["no <such> set"] * 2)
    summary["progress"]["failed"] = 2
    assert "no &lt;such&gt; set (2)" in render_page(summary)
    assert "- table1: no <such> set (2)\n" in markdown_of(summary, tmp_path)
    assert "Why runs failed" not in markdown_of(paper_summary(), tmp_path)


def markdown_of(summary, folder: Path) -> str:
    return write_markdown(summary, folder / "paper.md").read_text("utf-8")


def test_the_sets_that_are_not_there_are_counted(paper):
    assert "2 of the paper's 37 sets have no public copy." in paper


def test_it_needs_no_other_file(paper):
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', paper)


@pytest.mark.slow
@pytest.mark.parametrize("width", [1200, 400])
def test_it_fits_a_screen_and_a_phone(browser, tmp_path, width):
    browser.set_window_size(width, 900)
    open_page(browser, write_page(paper_summary(), tmp_path / "paper.html"))
    wide = browser.execute_script("return document.documentElement.scrollWidth")
    assert wide <= browser.execute_script("return document.documentElement.clientWidth")


@pytest.mark.slow
def test_what_is_found_and_why_are_one_screen(browser, tmp_path):
    """Every claim is listed, most as not found, with reasons as long as those of the whole run."""
    summary = copy.deepcopy(paper_summary())
    summary["progress"]["missing"] = 0
    summary["reasons"] = ["reason " * 40] * 3
    sentences = [sentence for each in summary["short"].values() for sentence in each]
    parts = (sentences[:2], sentences[2:-4], sentences[-4:])
    summary["short"] = dict(zip(summary["short"], parts, strict=True))
    browser.set_window_size(1200, 1000)
    open_page(browser, write_page(summary, tmp_path / "paper.html"))
    bottom = "return document.querySelector('.columns').getBoundingClientRect().bottom"
    assert browser.execute_script(bottom) <= 1000


def test_the_papers_own_statistics_stand_beside_those_of_its_table(paper, tmp_path):
    said = "chi² of 66.26 and an F_F of 12.38"
    assert said in paper
    assert said in markdown_of(paper_summary(), tmp_path)
    assert "its table gives 66.21 and 12.36." in paper
