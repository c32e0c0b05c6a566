"""The audit's page, in a real browser: it opens, explains, and fits a phone."""

import json

import numpy as np
import pandas as pd
import pytest
from selenium.webdriver.common.by import By

from granulearn.audit import LabelAudit
from granulearn.audit.page import render_audit_page, summarize_audit, write_audit_page
from tests.audit.tables import three_clouds
from tests.report.browser import open_page

NAMES = ["length", "width", "noise", "<b>bold</b>"]


def summary_of(rate=0.1):
    X, y, _ = three_clouds(rate=rate)
    audit = LabelAudit(random_state=0).fit(X, y)
    frame = pd.DataFrame(X, columns=NAMES)
    rows = range(1, len(X) + 1)
    return summarize_audit(audit, X, frame, title="animals.csv", row_numbers=rows, names=NAMES)


@pytest.fixture(scope="module")
def summary():
    return summary_of()


@pytest.fixture
def page(browser, summary, tmp_path):
    browser.set_window_size(1200, 900)
    open_page(browser, write_audit_page(summary, tmp_path / "audit.html"))
    return browser


def test_the_summary_is_plain_and_its_counts_add_up(summary):
    assert json.loads(json.dumps(summary)) == summary
    assert sum(bar["count"] for bar in summary["histogram"]) == summary["n_samples"] == 150
    assert sum(bar["flagged"] for bar in summary["histogram"]) == summary["n_flagged"] == 15
    assert np.sum(summary["confusion"]) == 150
    assert np.trace(summary["confusion"]) == 135
    rates = [suspect["reliability"] for suspect in summary["suspects"]]
    assert rates == sorted(rates)


def test_it_opens_without_console_errors_and_loads_nothing_else(page):
    assert page.get_log("browser") == []
    assert page.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert page.find_element(By.ID, "n-flagged").text == "15"


def test_a_suspect_opens_and_shows_why(page, summary):
    suspects = page.find_elements(By.CSS_SELECTOR, "details.suspect")
    assert len(suspects) == 15
    first = summary["suspects"][0]
    assert f"row {first['row']}" in suspects[0].text
    assert not suspects[0].find_element(By.CSS_SELECTOR, "table").is_displayed()
    suspects[0].find_element(By.TAG_NAME, "summary").click()
    assert suspects[0].find_element(By.CSS_SELECTOR, "table").is_displayed()
    assert len(suspects[0].find_elements(By.CSS_SELECTOR, "tbody tr")) == 7
    assert suspects[0].find_element(By.CSS_SELECTOR, ".words").text == first["words"]


def test_a_marker_shows_that_a_suspect_opens_and_whether_it_is_open(page):
    script = "return getComputedStyle(arguments[0], '::before').content"
    summary = page.find_element(By.CSS_SELECTOR, "details.suspect summary")
    assert page.execute_script(script, summary) == '"▸"'
    summary.click()
    assert page.execute_script(script, summary) == '"▾"'


def test_labels_that_occur_once_have_a_place_of_their_own():
    X, y, _ = three_clouds()
    y = y.astype(object)
    y[[4, 7]] = ["<Cat>", "dgo"]
    with pytest.warns(UserWarning, match="2 of 150 labels"):
        audit = LabelAudit(random_state=0).fit(X, y)
    frame, rows = pd.DataFrame(X, columns=NAMES), range(1, len(X) + 1)
    summary = summarize_audit(audit, X, frame, title="t", row_numbers=rows, names=NAMES)
    assert summary["once"] == [{"row": 5, "label": "<Cat>"}, {"row": 8, "label": "dgo"}]
    assert "row 5: <strong>&lt;Cat&gt;</strong>" in render_audit_page(summary)
    assert 'id="once"' not in render_audit_page(summary_of())


def test_the_histogram_draws_every_label(page, summary):
    heights = [
        float(bar.get_attribute("height"))
        for bar in page.find_elements(By.CSS_SELECTOR, "#histogram rect.all")
    ]
    counts = [bar["count"] for bar in summary["histogram"]]
    assert heights == pytest.approx([170 * count / max(counts) for count in counts], abs=0.01)


def test_the_confusion_shows_given_against_suggested(page, summary):
    rows = page.find_elements(By.CSS_SELECTOR, "#confusion tbody tr")
    shown = [[int(cell.text) for cell in row.find_elements(By.TAG_NAME, "td")] for row in rows]
    assert shown == summary["confusion"]


@pytest.mark.parametrize("width", [380, 1200])
def test_nothing_is_wider_than_the_window(page, width):
    page.set_window_size(width, 800)
    for details in page.find_elements(By.CSS_SELECTOR, "details.suspect")[:2]:
        details.find_element(By.TAG_NAME, "summary").click()
    inner, wide = page.execute_script(
        "return [window.innerWidth, document.documentElement.scrollWidth]"
    )
    assert wide <= inner


def test_names_from_the_table_are_text_not_markup(page):
    assert page.find_elements(By.CSS_SELECTOR, "th b") == []
    page.find_element(By.CSS_SELECTOR, "details.suspect summary").click()
    heads = page.find_elements(By.CSS_SELECTOR, "details[open] thead th")
    assert "<b>bold</b>" in [head.text for head in heads]


def test_clean_labels_make_a_page_that_says_so():
    page = render_audit_page(summary_of(rate=0.0))
    assert "No label is doubted." in page
    assert page == render_audit_page(summary_of(rate=0.0))
