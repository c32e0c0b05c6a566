"""Take the pictures of an audit's page and of a review: a card in its queue, and the numbers.

Run ``python docs/make_review_pictures.py``; it writes docs/images/audit_page.png,
docs/images/review_card.png and docs/images/review_numbers.png. It plants wrong labels in a real
table and says how many, audits it, starts a real review, and decides with the keys of the page, as
somebody would who knows the truth.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait
from sklearn.datasets import load_breast_cancer

HERE = Path(__file__).resolve().parent
IMAGES = HERE / "images"
sys.path.insert(0, str(HERE.parent))

from granulearn import Review  # noqa: E402
from tests.bench.browser import chromium  # noqa: E402
from tests.review.served import served  # noqa: E402

WRONG = 45
STEPS = (("worst", 24), ("random", 30), ("worst", 6))
"""In which order how many rows are decided on before the pictures are taken."""


def write_table(path: Path) -> list[str]:
    """Write a table with wrong labels, and return the true ones."""
    data = load_breast_cancer(as_frame=True)
    truth = data.target_names[data.target].tolist()
    table = data.data.iloc[:, :12].round(3)
    table.insert(0, "patient", [f"P{1000 + 7 * k}" for k in range(len(table))])
    flipped = set(np.random.default_rng(1).choice(len(table), WRONG, replace=False).tolist())
    other = {"benign": "malignant", "malignant": "benign"}
    given = [other[label] if row in flipped else label for row, label in enumerate(truth)]
    pd.concat([table, pd.Series(given, name="diagnosis")], axis=1).to_csv(path, index=False)
    return truth


def decide(browser: Chrome, truth: list[str], count: int) -> None:
    """Decide on some rows: one key each."""
    body = browser.find_element(By.TAG_NAME, "body")
    for _ in range(count):
        card = until(browser, "return panel.card")
        body.send_keys("q" if truth[card["row"] - 1] == card["given_label"] else "w")
        until(browser, f"return panel.card && panel.card.row !== {card['row']}")


def until(browser: Chrome, code: str) -> dict:
    """Return what a script says, once it says something."""
    return WebDriverWait(browser, 60, 0.02).until(lambda page: page.execute_script(code))


def at_rest(browser: Chrome) -> None:
    """Wait until everything is saved and fitted."""
    until(browser, "return !outbox.waiting.length")
    time.sleep(1)
    until(browser, "return !state.fitting")
    time.sleep(1)


def picture_audit(path: Path) -> None:
    """Audit the table as on the command line, and take the picture of its page."""
    page = path.with_suffix(".html")
    options = ["--target", "diagnosis", "--keep", "patient", "--report", str(page)]
    command = Path(sys.executable).with_name("granulearn")
    subprocess.run([command, "audit", str(path), *options], check=True, cwd=path.parent)
    with chromium(
        path.parent / "audit-profile", "--window-size=1300,860", "--hide-scrollbars"
    ) as browser:
        size = {"width": 1300, "height": 860, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.get(page.as_uri())
        browser.save_screenshot(str(IMAGES / "audit_page.png"))


def main() -> None:
    """Audit and review, and take all pictures."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tumours.csv"
        truth = write_table(path)
        sys.stdout.write(
            f"{len(truth)} tumours, {WRONG} of them ({WRONG / len(truth):.1%}) wrong\n"
        )
        picture_audit(path)
        with (
            Review(path, "diagnosis", keep=["patient"], who="ann", background=True) as review,
            served(review) as running,
            chromium(Path(folder) / "profile", "--window-size=1300,860") as browser,
        ):
            size = {"width": 1300, "height": 760, "deviceScaleFactor": 1, "mobile": False}
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            browser.get(running.address)
            until(browser, "return panel.card")
            for order, count in STEPS:
                browser.find_element(By.CSS_SELECTOR, f".orders [data-order={order}]").click()
                at_rest(browser)
                decide(browser, truth, count)
            at_rest(browser)
            browser.save_screenshot(str(IMAGES / "review_card.png"))
            browser.find_element(By.CSS_SELECTOR, "[data-tab=numbers]").click()
            until(browser, "return document.querySelector('.chart')")
            browser.save_screenshot(str(IMAGES / "review_numbers.png"))


if __name__ == "__main__":
    main()
