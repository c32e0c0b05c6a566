"""A real browser for tests, or the reason why there is none."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def chromium(profile: Path, *flags: str) -> Iterator[webdriver.Chrome]:
    """Open Chromium with a fresh profile; skip the test where it is not installed."""
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (browser and driver):
        pytest.skip("chromium and chromedriver are not installed; `make test` says why")
    options = Options()
    options.binary_location = browser
    for flag in (*FLAGS, f"--user-data-dir={profile}", *flags):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    opened = webdriver.Chrome(options=options, service=Service(driver))
    try:
        yield opened
    finally:
        opened.quit()


def open_page(browser: webdriver.Chrome, path: Path) -> None:
    """Open a page and wait until all of it is there.

    From another place in the same page the driver may return while the page of
    before is still shown, or the new one is half read; so by way of an empty one.
    What the page of before wrote into the log is forgotten.
    """
    browser.get("about:blank")
    browser.get_log("browser")
    browser.get(path.as_uri())
    WebDriverWait(browser, 30).until(
        lambda opened: opened.execute_script("return document.readyState") == "complete"
    )
