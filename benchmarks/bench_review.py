"""How long a person waits for the next card of a review, in a real browser.

    python benchmarks/bench_review.py [--rows 100000] [--presses 30]

Makes a table, serves its review, and presses keys on the page: a decision each, a little apart,
as a quick person would. A wait is from the key press to the next card being painted, by the
page's own clock. Beside it: how long the review takes to make a card, to say how it goes and
to search, and how much memory the page has.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from granulearn import Review  # noqa: E402
from tests.bench.browser import chromium  # noqa: E402
from tests.review.served import Served, served  # noqa: E402

COLUMNS, CLASSES = 50, 20
APART = 0.4
"""Seconds between two decisions."""

PRESS_A_KEY = """
const [key, done] = arguments;
const card = document.getElementById("card");
const before = performance.now();
new MutationObserver((_, watching) => {
  watching.disconnect();
  const inDocument = performance.now() - before;
  // The second frame begins when the first one is on screen.
  const end = () => done([inDocument, performance.now() - before]);
  requestAnimationFrame(() => requestAnimationFrame(end));
}).observe(card, { childList: true, characterData: true, subtree: true });
document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
"""


def write_table(path: Path, n_rows: int) -> None:
    """Write a table of 50 columns and 20 classes, of which one label in ten is wrong."""
    rng = np.random.default_rng(0)
    labels = rng.integers(CLASSES, size=n_rows)
    X = rng.normal(size=(n_rows, COLUMNS)) + 1.5 * rng.normal(size=(CLASSES, COLUMNS))[labels]
    wrong = rng.random(n_rows) < 0.1
    labels[wrong] = rng.integers(CLASSES, size=wrong.sum())
    columns = {f"column {k}": pa.array(X[:, k].round(3)) for k in range(COLUMNS)}
    columns["label"] = pa.array([f"class {label:02d}" for label in labels])
    arrow_csv.write_csv(pa.table(columns), path)


def told(values: list[float]) -> str:
    """Return median and most of some times."""
    return f"median {1000 * statistics.median(values):.0f} ms, most {1000 * max(values):.0f} ms"


def asked(running: Served, path: str, rounds: int = 5) -> list[float]:
    """Return how long some requests take, one after the other."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        with urlopen(running.address + path) as answer:
            answer.read()
        times.append(time.perf_counter() - begin)
    return times


def renderer_memory(driver: int) -> float:
    """Return the megabytes that the largest process of a page has for itself, under Linux."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(status.parent.name)] = int(status.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended meanwhile
            continue
    own, found = {driver}, []
    while more := {child for child, parent in parents.items() if parent in own} - own:
        own |= more
    for process in own:
        if "--type=renderer" in Path(f"/proc/{process}/cmdline").read_text():
            parts = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
            found.append(sum(int(line.split()[1]) for line in parts if "Private_" in line) / 1024)
    return max(found)


def press_keys(running: Served, presses: int) -> None:
    """Decide on some rows in the browser, and print how long each took."""
    with (
        tempfile.TemporaryDirectory() as profile,
        chromium(Path(profile), "--enable-precise-memory-info") as browser,
    ):
        browser.set_script_timeout(60)
        browser.set_window_size(1300, 900)
        browser.get(running.address)
        while not browser.execute_script("return Boolean(panel.card)"):
            time.sleep(0.1)
        time.sleep(3)  # somebody looks at the first card
        taken = []
        for number in range(presses):
            taken.append(browser.execute_async_script(PRESS_A_KEY, "qw"[number % 2]))
            time.sleep(APART)
        in_document, waits = ([time / 1000 for time in times] for times in zip(*taken, strict=True))
        heap = browser.execute_script("return performance.memory.usedJSHeapSize") / 2**20
        nodes = browser.execute_script("return document.querySelectorAll('*').length")
        print(f"key press to next card, {presses} decisions: {told(waits)}")
        print(f"of these, until the card is in the document: {told(in_document)}")
        print("each, in ms:", " ".join(f"{1000 * wait:.0f}" for wait in waits))
        process = renderer_memory(browser.service.process.pid)
        print(f"memory: {heap:.0f} MB of scripts, {process:.0f} MB of the process of the page")
        print(f"elements of the page: {nodes}")


def main() -> None:
    """Make the table, serve it, and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--presses", type=int, default=30)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.csv"
        write_table(path, given.rows)
        begin = time.perf_counter()
        with Review(path, "label", background=True) as review, served(review) as running:
            print(f"{given.rows} rows, first fit: {time.perf_counter() - begin:.0f} s")
            rows = review.rows()[1000:1005]
            cards = [asked(running, f"card/{row}", 1)[0] for row in rows]
            print(f"a card: {told(cards)}")
            print(f"how it goes: {told(asked(running, 'state'))}")
            print(f"queue: {told(asked(running, 'queue'))}")
            print(f"search: {told(asked(running, 'queue?find=1.234'))}")
            press_keys(running, given.presses)


if __name__ == "__main__":
    main()
