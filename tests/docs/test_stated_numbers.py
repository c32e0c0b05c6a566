"""Numbers of README, overview and comparison stand on the results pages that they link to."""

import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, ROOT

RESULTS = DOCS / "results"
NUMBER = re.compile(r"(?<![\w.,-])(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d*\.\d+|\d+)(?!\w|\.\d)( ?%)?")
LINK = re.compile(r"\]\((?:[\w./]*results/)?([a-z_0-9]+\.(?:md|csv))\)")
# What is no statement about a page: code, links, and sentences that name a command of their own.
FOREIGN = re.compile(
    r"^```.*?^```|\]\([^)]*\)|[^.]*`[^`]*(?:benchmarks/|granulearn )[^`]*`\)?", re.M | re.S
)
DIFFERENCE = re.compile(r"\b(points?|by|brings?|lead|behind)\b")
LARGEST = 1000  # sizes of tables are no results


def numbers(text: str) -> list[tuple[float, int, bool]]:
    """Return value, decimals and whether it is a share, of each number of a text."""
    found = []
    for number, percent in NUMBER.findall(text):
        decimals = len(number.split(".")[1]) if "." in number else 0
        found.append((float(number.replace(",", "")), decimals, bool(percent) or number[0] == "."))
    return found


def differences(text: str) -> Iterator[float]:
    """Yield the differences of all numbers in one row, or in one column, of a table."""
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        rows = [line.strip("|").split("|") for line in table.splitlines()]
        columns = zip(*rows, strict=False)
        for cells in (*rows, *columns):
            values = [value for cell in cells for value, _, _ in numbers(cell)[:1]]
            yield from (abs(one - other) for one, other in combinations(values, 2))


def unfounded(item: str, pages: list[str]) -> list[str]:
    """Return the numbers of a bullet or a row that none of the pages has."""
    there = [value for page in pages for value, _, _ in numbers(page)]
    apart = [value for page in pages for value in differences(page)]
    missing = []
    for sentence in re.split(r"(?<=[.;:])\s", FOREIGN.sub("", item)):
        known = there + (apart if DIFFERENCE.search(sentence) else [])
        for value, decimals, is_share in numbers(sentence):
            scales = (1, 100, 0.01) if is_share else (1,)
            error = 0.5 * 10**-decimals + 1e-9
            if value < LARGEST and not any(
                abs(scale * found - value) <= error for scale in scales for found in known
            ):
                missing.append(f"{value:.{decimals}f}")
    return missing


def items(page: Path, heading: str | None = None) -> Iterator[tuple[str, list[Path]]]:
    """Yield bullets and rows of tables, each with the results that it, or its section, links to."""
    for section in re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        if heading is not None and not section.startswith(heading):
            continue
        bullets = re.findall(r"^- .*?(?=^- |^$|\Z)", section, re.MULTILINE | re.DOTALL)
        for item in [*bullets, *re.findall(r"^\|.*\|$", section, re.MULTILINE)]:
            links = LINK.findall(item) if item.startswith("|") else LINK.findall(section)
            yield item, [RESULTS / name for name in dict.fromkeys(links) if name != "README.md"]


STATED = [
    *items(DOCS / "results" / "README.md"),
    *items(ROOT / "README.md", "Does it work?"),
    *items(DOCS / "compare.md"),
]
STATED = [(item, pages) for item, pages in STATED if pages and NUMBER.search(FOREIGN.sub("", item))]


@pytest.mark.parametrize(("item", "pages"), STATED, ids=[item[:50] for item, _ in STATED])
def test_every_number_stands_on_the_page_that_is_linked_to(item, pages):
    missing = unfounded(item, [page.read_text(encoding="utf-8") for page in pages])
    names = ", ".join(page.name for page in pages)
    assert not missing, (
        f"{', '.join(missing)}: no such number, rounded, is in {names}. State what the page has, "
        "link to the page that has it, or name the command in the same sentence. A sentence with "
        "'points' or 'by' may state the difference of two numbers in a row or column of a table."
    )


def test_numbers_are_found_in_the_texts_that_state_them():
    assert len(STATED) > 40


@pytest.mark.parametrize(
    ("item", "missing"),
    [
        ("- 83.1 and 1.5 points more, of 5,000 rows, 31 %", []),
        ("- 83.2", ["83.2"]),
        ("- 1.5 more", ["1.5"]),
        ("- 1.6 points more", ["1.6"]),
        ("- 99 by another way (`python benchmarks/other.py`). And .31", []),
    ],
)
def test_a_number_that_the_page_has_not_is_found(item, missing):
    page = "| method | accuracy |\n|---|---|\n| a | 83.08 |\n| b | 81.58 |\n\np 0.314\n"
    assert unfounded(item, [page]) == missing
