"""Numbers that pages state in their prose, and the places that they come from.

A number of a page is printed beside it (code, or a paragraph or table that names its command),
says what was done and not what came of it (`SETTING`), or has a line in `stated_numbers.txt`
with the place that it comes from.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.docs.pages import DOCS, ROOT

RESULTS = DOCS / "results"
LEDGER = Path(__file__).with_name("stated_numbers.txt")

_SIZE = r"(?:\d{1,3}(?:,\d{3})+|\d+)"
NUMBER = re.compile(rf"(?<![\w.,/:+-])[+-]?(?:{_SIZE}(?:\.\d+)?|\.\d+)(?:e-?\d+)?(?![\w/-]|[.,]\d)")
_BLOCK = re.compile(r"^ *(`{3,}|:{3,}).*?^ *\1", re.MULTILINE | re.DOTALL)
_NO_PROSE = re.compile(r"\$\$.*?\$\$|\$[^$]+\$|`[^`]*`|\]\([^)]*\)|127\.0\.0\.1|K - 1|\[0, 1\]")
_COMMAND = re.compile(
    r"`[^`]*\b(?:benchmarks|docs|tests)/\w[^`]*\.py\b[^`]*`|`granulearn bench [^`]*`"
)
_RESULT = re.compile(r"\]\((?:\.\./|docs/)?(results/)?(?!README|index)(\w+\.md)(?:#[\w-]*)?\)")
_COUNTED = (
    "rows|samples|columns|features|classes|categories|sets|tables|splits|draws|folds|methods"
    "|conditions|trees|nodes|layers|tries|votes|settings|releases|decisions|targets|blocks|bits"
    "|bytes|rounds|thresholds|candidates|reviews"
)
# What was done: so many rows, 20 and 40 % wrong labels; versions, codes, years, numbers of rows.
SETTING = re.compile(
    rf"(?<![\d.,]){_SIZE}(?:(?:,\s|\sx\s|\s(?:and|or|to|of)\s){_SIZE})*"
    rf"(?:\s(?:more|or|small|simulated|nearest|training))*\s(?:{_COUNTED})\b"
    rf"|\b{_SIZE} x {_SIZE}\b"
    r"|(?<![\d.,])(?:0|5|10|20|30|40)(?:(?:,|\sand|\sto|\sor)(?:\sat)?\s[1-4]0)*\s%(?! of)"
    r"|(?:Python|pandas|scikit-learn|doubtlab|below|code|[Tt]able)\s[\d.]+\b(?!\s%)"
    r"|\b(?:19|20)\d\d\b|^\|\s\d+\s\|"
)


@dataclass(frozen=True)
class Stated:
    """A number of a page, with the paragraph, bullet or row that it stands in."""

    number: str
    text: str
    linked: frozenset[str]  # the results that its section links to


@dataclass(frozen=True)
class Cell:
    """One cell of a table: its names are those of its table, row and column."""

    tables: frozenset[str]
    rows: frozenset[str]
    column: str
    text: str


def says(number: str, exact: float) -> bool:
    """Tell whether a number is another one, rounded; shares may be percent, losses have no sign."""
    digits, _, power = number.partition("e")
    step = 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))
    stated = abs(float(number.replace(",", "")))
    off = (abs(stated - scale * abs(exact)) for scale in (1, 100))
    return min(off) <= (0.5 + 1e-6) * step


def values(text: str) -> list[float]:
    """Return the numbers of a text; as in Python, 10_000 is one."""
    plain = re.sub(r"\*|(?<=\d)_(?=\d)", "", text)
    return [float(number.replace(",", "")) for number in NUMBER.findall(plain)]


def pages_with_prose() -> list[str]:
    """Return the pages of the site that people write; results are written by commands."""
    names = [page.name for page in DOCS.glob("*.md")]
    for folder in ("start", "guide", "research", "inside"):
        names += [f"{folder}/{page.name}" for page in (DOCS / folder).glob("*.md")]
    names += ["results/README.md", "results/index.md"]
    root = ["README.md", "ARCHITECTURE.md", "SECURITY.md"]
    return [*root, *(f"docs/{name}" for name in sorted(names))]


def _results(page: str, text: str) -> frozenset[str]:
    """Return the pages of results that a text of a page links to."""
    inside = page.startswith("docs/results/")
    return frozenset(name for folder, name in _RESULT.findall(text) if folder or inside)


def _items(section: str) -> Iterator[tuple[str, str]]:
    """Yield paragraphs, bullets and rows; a row with the paragraph that leads to its table."""
    before = ""
    for block in re.split(r"\n[ \t]*\n", section):
        is_table = block.lstrip().startswith("|")
        for item in re.split(r"\n(?=\|)" if is_table else r"\n(?=[-*] )", block):
            yield item.strip(), before if is_table else ""
        before = block


def stated(page: str, text: str) -> list[Stated]:
    """Return the numbers of a page that need a place that they come from, in their order."""
    found = []
    for section in re.split(r"^(?=#+ )", _BLOCK.sub("", text), flags=re.MULTILINE):
        linked = _results(page, section)
        for item, before in _items(section):
            if _COMMAND.search(before + item) and not _results(page, item):
                continue
            line = " ".join(item.split())
            prose = SETTING.sub(" ", _NO_PROSE.sub(" ", line))
            found += [Stated(number, line, linked) for number in NUMBER.findall(prose)]
    return found


@cache
def _source(name: str) -> str:
    path = ROOT / name if "/" in name else RESULTS / name
    return path.read_text(encoding="utf-8")


@cache
def cells(name: str) -> list[Cell]:
    """Return the cells of the tables of a page.

    A table has the names of its heading and of its first cell; a line in bold letters below a
    heading is a part of its name. A row has the name of its first cell, or of its first ones.
    """
    found, heading, part, head = [], "", "", None
    for line in _source(name).splitlines():
        if line.startswith("#"):
            heading, part = line.lstrip("# "), ""
        elif line.startswith("**") and line.endswith("**"):
            part = f", {line.strip('*')}"
        if not line.startswith("|"):
            head = None
            continue
        row = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if head is None:
            head = row
        if head == row or set(line) <= set("|-: "):
            continue
        tables = frozenset({heading + part, head[0]})
        rows = frozenset(", ".join(row[:count]) for count in range(4))
        found += [Cell(tables, rows, column, text) for column, text in zip(head, row, strict=False)]
    return found


def _numbers_at(name: str, table: str, row: str, column: str) -> list[float]:
    """Return the numbers of a cell, or none if there is no such cell, or more than one."""
    there = [
        cell.text
        for cell in cells(name)
        if table in cell.tables and row in cell.rows and column == cell.column
    ]
    return values(there[0]) if len(there) == 1 else []


def numbers_of(place: str) -> list[float]:
    """Return the numbers at a place: of a cell, of the difference of two, or of a quotation.

    A cell is `page | table | row | column`; `row minus row` or `column minus column` is a
    difference; `page | words` are words that stand on the page, or in a file, with the number.
    """
    name, *where = (part.strip() for part in place.split(" | "))
    if len(where) == 1:
        text = " ".join(_source(name).split())
        return values(where[0]) if " ".join(where[0].split()) in text else []
    table, *of_cell = where
    sides = [[part.split(" minus ")[end] for part in of_cell] for end in (0, -1)]
    one, other = (_numbers_at(name, table, *side) for side in sides)
    return one if sides[0] == sides[1] else [a - b for a in one[:1] for b in other[:1]]


def ledger() -> dict[str, dict[str, list[tuple[str, str]]]]:
    """Return, by page and by the first words of a text, numbers with the places they come from."""
    pages: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for line in LEDGER.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            texts = pages.setdefault(line.strip("[]"), {})
        elif line.startswith("> "):
            places = texts.setdefault(line.removeprefix("> "), [])
        elif " = " in line and not line.startswith("#"):
            number, place = line.split(" = ", 1)
            places.append((number, place))
    return pages
