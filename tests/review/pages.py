"""The page of a review in a real browser: what a person sees and does."""

from contextlib import contextmanager

from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

from granulearn import Review
from granulearn.review import read_decisions
from tests.review.served import served


class Page:
    """What a person sees and does."""

    def __init__(self, browser, review):
        self.browser, self.review = browser, review

    def open(self, address):
        self.browser.get("about:blank")
        self.browser.get_log("browser")
        self.browser.get(address)
        self.until(lambda: self.row)
        self.until(lambda: "decided" in self.text("decided"))

    def until(self, holds):
        return WebDriverWait(self.browser, 30, 0.02).until(lambda _: holds())

    def script(self, code, *values):
        return self.browser.execute_script(code, *values)

    def at(self, name):
        return self.browser.find_element(By.ID, name)

    def one(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def text(self, name):
        return self.script("return document.getElementById(arguments[0]).textContent", name)

    def press(self, *keys):
        for key in keys:
            self.browser.find_element(By.TAG_NAME, "body").send_keys(key)

    def type(self, *keys):
        self.browser.switch_to.active_element.send_keys(*keys)

    @property
    def row(self):
        """The row whose card is on screen; None while it is on its way."""
        return self.script("return panel.card && panel.card.row")

    @property
    def listed(self):
        return self.script(
            "return Array.from(document.querySelectorAll('#rows button'), (b) => +b.dataset.row)"
        )

    @property
    def message(self):
        return self.at("message-text").text

    @property
    def announced(self):
        return self.text("announcement")

    def saved(self):
        self.until(lambda: self.text("saved") == "saved")

    def tabs(self):
        """Open one part of the page after the other."""
        for tab in ("table", "numbers", "decided", "review"):
            self.one(f"[data-tab={tab}]").click()
            panel = "review" if tab == "decided" else tab
            self.until(lambda panel=panel: self.at(f"panel-{panel}").text)
            yield tab

    def is_as_wide_as_the_window(self):
        inner, wide = self.script("return [innerWidth, document.documentElement.scrollWidth]")
        return wide <= inner

    def emulate_phone(self, width=400):
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def decide_on_all(self, decision):
        """Ask for a preview of a decision about all rows of the filter."""
        self.at("bulk").click()
        Select(self.at("bulk-decision")).select_by_value(decision)
        self.until(lambda: self.at("bulk-do").is_enabled())

    def decided(self, *keys):
        """Press keys that decide; return the row, once the decision is on the disk."""
        row = self.until(lambda: self.row)
        self.press(*keys)
        self.until(lambda: self.row not in (row, None))
        self.saved()
        return row

    def shows(self, rows):
        self.until(lambda: self.listed == list(rows)[: len(self.listed)] and self.listed)

    def open_tab(self, name):
        self.one(f"[data-tab={name}]").click()

    def find(self, words):
        self.at("find").clear()
        self.at("find").send_keys(words)

    def active(self):
        return {d.row: d for d in read_decisions(self.review.journal.path)}


@contextmanager
def reviewing(browser, path, **settings):
    """Open the page of a table's review."""
    settings = {"keep": ["name"], "refit_every": 1000, "background": True, "who": "eve"} | settings
    browser.set_window_size(1300, 900)
    with (
        Review(path, settings.pop("target", "kind"), **settings) as review,
        served(review) as running,
    ):
        page = Page(browser, review)
        page.open(running.address)
        yield page
        browser.get("about:blank")
