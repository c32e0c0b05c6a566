"""Decided rows on the page of a review, and two tabs of one review, in a real browser."""

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from granulearn.review.cards import RowFilter
from tests.review.pages import Page, reviewing
from tests.review.tables import animals_file


@pytest.fixture
def page(browser, tmp_path):
    with reviewing(browser, animals_file(tmp_path)[0]) as opened:
        yield opened


def kinds(page):
    return {row: said.decision for row, said in page.active().items()}


# --- decided rows


def test_decided_rows_are_listed_filtered_changed_and_undone_one_by_one(page):
    rows = [page.decided(key) for key in "qwxu"]
    page.open_tab("decided")
    page.until(lambda: page.listed == rows[::-1])
    page.until(lambda: page.row == rows[3])
    assert "unsure by eve on" in page.one("#card .said").text
    lines = [
        line.text for line in page.browser.find_elements(By.CSS_SELECTOR, "#rows .probability")
    ]
    assert lines == ["unsure", "excluded", "changed", "kept"]
    page.one("[data-decided=keep]").click()
    page.until(lambda: page.listed == [rows[0]])
    page.one("[data-decided=exclude]").click()
    page.until(lambda: page.listed == [rows[2], rows[0]])
    page.one(f'#rows [data-row="{rows[0]}"]').click()
    page.until(lambda: page.row == rows[0])
    page.press("x")  # it was kept
    page.until(lambda: kinds(page)[rows[0]] == "exclude")
    page.until(lambda: page.listed == [rows[0], rows[2]])
    page.one(f'#rows [data-row="{rows[2]}"]').click()
    page.until(lambda: page.row == rows[2] and "excluded" in page.one("#card .said").text)
    page.press("z")
    page.until(lambda: page.listed == [rows[0]])
    assert kinds(page) == {rows[1]: "change", rows[3]: "unsure", rows[0]: "exclude"}
    page.open_tab("review")
    page.until(lambda: rows[2] in page.listed)
    assert rows[0] not in page.listed


def test_the_filter_of_the_review_waits_while_decided_rows_are_listed(page):
    page.one("[data-verdict=fine]").click()
    page.until(lambda: page.text("total") != "120 rows")
    listed = page.listed
    page.open_tab("decided")
    page.until(lambda: "No decision yet." in page.at("card").text)
    assert not page.at("bulk").is_displayed()
    page.open_tab("review")
    page.until(lambda: page.listed == listed)
    assert page.one("[data-verdict=fine]").get_attribute("aria-pressed") == "true"


def test_a_decided_row_is_found_by_its_number_and_changed(page):
    row = page.decided("q")
    page.decided("q")
    page.find(f"#{row}")
    page.until(lambda: page.row == row)
    assert "kept by eve" in page.one("#card .said").text
    page.at("find").send_keys(Keys.ENTER)
    page.press("u")
    page.until(lambda: kinds(page)[row] == "unsure")
    page.until(lambda: page.row == row and "unsure" in page.one("#card .said").text)


def test_k_goes_back_to_decided_rows_and_a_decision_goes_on_where_one_was(page):
    rows = [page.decided("q") for _ in range(4)]
    here = page.row
    for row in rows[::-1][:3]:
        page.press("k")
        page.until(lambda row=row: page.row == row)
    assert "kept by eve" in page.one("#card .said").text
    assert page.text("decided") == "4 decided"
    page.press("x")
    page.until(lambda: page.row == here)
    page.saved()
    assert kinds(page) == {rows[0]: "keep", rows[1]: "exclude", rows[2]: "keep", rows[3]: "keep"}
    page.press("k", "k")
    page.until(lambda: page.row == rows[2])
    page.press("z")  # the decision on screen, not the last one
    page.until(lambda: rows[2] not in kinds(page))
    assert len(kinds(page)) == 3
    page.until(
        lambda: page.row == rows[2] and not page.browser.find_elements(By.CSS_SELECTOR, ".said")
    )


def test_a_row_that_was_decided_at_once_with_others_is_undone_with_or_without_them(page):
    page.find("animal 1")
    rows = page.review.rows("worst", RowFilter(find="animal 1")).tolist()
    page.shows(rows)
    page.decide_on_all("keep")
    page.at("bulk-do").click()
    page.until(lambda: len(page.active()) == len(rows))
    page.open_tab("decided")
    page.until(lambda: page.browser.find_elements(By.CSS_SELECTOR, "#card [data-undo]"))
    alone = page.row
    page.press("z")
    page.until(lambda: sorted(page.active()) == sorted(set(rows) - {alone}))
    page.until(lambda: page.row not in (alone, None))
    assert f"at once with {len(rows) - 1} other rows" in page.one("#card .said").text
    page.one("#card [data-undo]").click()
    page.until(lambda: page.active() == {})
    page.until(lambda: "No decision yet." in page.at("card").text)


# --- two tabs


@pytest.fixture
def tabs(page):
    """Return two tabs of one review; each comes to the front when it is asked for something."""
    first = page.browser.current_window_handle
    address = page.script("return location.href")
    page.browser.switch_to.new_window("tab")
    second = Tab(page.browser, page.review, page.browser.current_window_handle)
    second.open(address)
    yield Tab(page.browser, page.review, first), second
    page.browser.switch_to.window(second.handle)
    page.browser.close()
    page.browser.switch_to.window(first)


class Tab(Page):
    """One of several tabs."""

    def __init__(self, browser, review, handle):
        super().__init__(browser, review)
        self.handle = handle

    def front(self):
        self.browser.switch_to.window(self.handle)
        # A tab in front looks for news; these are two people who look at their pages all the time.
        return self

    def conflict(self):
        self.until(lambda: self.at("conflict").is_displayed())
        return self.at("conflict-there").text, self.at("conflict-here").text


@pytest.mark.parametrize("answer", ["there", "here"])
def test_a_stale_tab_asks_before_it_replaces_a_decision(tabs, answer):
    a, b = tabs
    row = a.front().row
    a.press("n")
    a.type("seen twice", Keys.ENTER)
    a.decided("x")
    # The card on screen is that of before, as if the tab had not been looked at.
    assert b.front().script("return panel.row") == row
    b.script("panel.card = { ...panel.card, revision: 0, decision: null }")
    b.press("q")
    there, here = b.conflict()
    assert "excluded by eve on" in there
    assert "“seen twice”" in there
    assert here.endswith("kept")
    assert kinds(b) == {row: "exclude"}
    b.press("q", "w")  # keys rest while it is asked
    b.one(f"#conflict button[value={answer}]").click()
    b.saved()
    b.until(lambda: kinds(b) == {row: "exclude" if answer == "there" else "keep"})
    assert row not in b.listed
    assert len(b.review.journal.lines) == (1 if answer == "there" else 2)


def test_a_decision_that_was_undone_elsewhere_is_asked_about_and_the_row_comes_back(tabs):
    a, b = tabs
    row = a.front().decided("x")
    revision = a.review.revision(row)
    a.press("z")
    a.until(lambda: kinds(a) == {})
    b.front().script("panel.card = { ...panel.card, revision: arguments[0] }", revision)
    b.press("q")
    assert b.conflict()[0] == "open: a decision was undone"
    b.type(Keys.ESCAPE)
    b.until(lambda: row in b.listed)
    assert kinds(b) == {}


def test_undo_takes_back_a_decision_of_its_own_tab(tabs):
    a, b = tabs
    mine = a.front().decided("q")
    b.front().script("show(arguments[0])", b.listed[5])
    theirs = b.decided("x")
    a.front().press("z")
    a.until(lambda: kinds(a) == {theirs: "exclude"})
    a.until(lambda: a.row == mine)
    a.press("z", "z")
    a.until(lambda: "Nothing of this page to undo" in a.announced)
    assert kinds(a) == {theirs: "exclude"}


def test_an_undo_of_what_another_tab_undid_or_replaced_does_nothing(tabs):
    a, b = tabs
    row = a.front().decided("q")
    b.front().script("show(arguments[0])", row)
    b.script("panel.cards.drop(); panel.row = null; show(arguments[0])", row)
    b.until(lambda: b.row == row)
    b.press("u")
    b.until(lambda: kinds(b) == {row: "unsure"})
    a.front().press("z")
    a.until(lambda: "decided again since" in a.announced)
    assert kinds(a) == {row: "unsure"}


def test_a_tab_that_comes_to_the_front_knows_what_was_decided(tabs):
    a, b = tabs
    row = a.front().decided("x")
    b.front().script("dispatchEvent(new Event('focus'))")
    b.until(lambda: b.browser.find_elements(By.CSS_SELECTOR, "#card .said"))
    assert b.row == row
    assert "excluded by eve" in b.one("#card .said").text
    b.press("q")  # replaces what is shown: no conflict
    b.until(lambda: kinds(b) == {row: "keep"})
    assert not b.at("conflict").is_displayed()
