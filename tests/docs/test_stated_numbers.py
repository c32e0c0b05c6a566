"""Numbers that pages state stand beside their command, or in the results that they link to."""

import pytest

from tests.docs.pages import ROOT
from tests.docs.stated_numbers import Stated, ledger, numbers_of, pages_with_prose, says, stated

PAGES = {name: (ROOT / name).read_text(encoding="utf-8") for name in pages_with_prose()}
LEDGER = ledger()
PLACES = [
    (page, opening, number, place)
    for page, texts in LEDGER.items()
    for opening, places in texts.items()
    for number, place in places
    if not place.startswith("setting: ")
]


def by_text(page: str, text: str) -> dict[str, list[Stated]]:
    """Return the numbers that need a place, by the paragraph, bullet or row they stand in."""
    found: dict[str, list[Stated]] = {}
    for one in stated(page, text):
        found.setdefault(one.text, []).append(one)
    return found


def faults(page: str, text: str, known: dict[str, list[tuple[str, str]]]) -> list[str]:
    """Say which texts of a page state other numbers than the ledger, and which are gone."""
    said, gone = [], set(known)
    for line, found in by_text(page, text).items():
        openings = [opening for opening in known if line.startswith(opening)]
        gone -= set(openings)
        numbers = [one.number for one in found]
        listed = [number for opening in openings for number, _ in known[opening]]
        if listed not in (["*"], numbers):
            said.append(f"{line[:80]}: states {numbers}, the ledger has {listed}")
    return [*said, *(f"{opening}: no text with such numbers begins so" for opening in gone)]


@pytest.mark.parametrize("page", PAGES)
def test_every_number_of_a_page_has_a_place_that_it_comes_from(page):
    said = faults(page, PAGES[page], LEDGER.get(page, {}))
    assert not said, "\n".join(
        [*said, f"Name its command beside a number, or its place in stated_numbers.txt, [{page}]."]
    )


@pytest.mark.parametrize(("page", "opening", "number", "place"), PLACES)
def test_the_place_has_the_number(page, opening, number, place):
    there = numbers_of(place)
    assert there, f"{page}, {opening}: {place} is no place with a number, or more than one"
    assert any(says(number, exact) for exact in there), f"{page}, {opening}: there is {there}"


@pytest.mark.parametrize("page", LEDGER)
def test_a_section_links_to_the_results_that_its_numbers_come_from(page):
    sections = {line: found[0].linked for line, found in by_text(page, PAGES[page]).items()}
    for opening, places in LEDGER[page].items():
        linked = next(names for line, names in sections.items() if line.startswith(opening))
        sources = {place.split(" | ")[0] for _, place in places if " | " in place}
        results = {source for source in sources if "/" not in source}
        assert results <= linked, f"{page}, {opening}: no link to {results - linked}"


def with_last_digit(number: str, by: int) -> str:
    """Return a number with another last digit."""
    digits, e, power = number.partition("e")
    return f"{digits[:-1]}{(int(digits[-1]) + by) % 10}{e}{power}"


def test_a_slightly_other_number_is_noticed_even_if_the_ledger_has_it_too():
    """Of all changes of last digits by up to three, next to none is another number of the place."""
    changes = [
        (with_last_digit(number, by), place)
        for _, _, number, place in PLACES
        for by in (-3, -2, -1, 1, 2, 3)
    ]
    passed = [
        change for change in changes if any(says(change[0], one) for one in numbers_of(change[1]))
    ]
    assert len(changes) > 1500
    assert len(passed) < 0.02 * len(changes), f"{len(passed)} of {len(changes)}: {passed}"


PAGE = """# A page

- A finds 83.1 % ([table](results/some.md)) at 20 % wrong labels, in 5,000 rows, and B 7 less.

Beside its command (`python benchmarks/some.py`) 12.5 may stand, and `0.3` in code.

Alone 14.5 may not.

A table (`python benchmarks/some.py`):

| what | how many |
|---|---|
| C | 15.5 |

| what | how many |
|---|---|
| D | 16.5 |
"""


def test_what_needs_a_place_is_what_no_command_and_no_code_prints():
    needed = [one.number for one in stated("docs/page.md", PAGE)]
    assert needed == ["83.1", "7", "14.5", "16.5"]


@pytest.mark.parametrize(
    "changed", [("83.1", "83.2"), ("14.5", "14.5 and 9.9"), ("and B 7", "and B")]
)
def test_a_number_that_is_changed_added_or_left_out_is_noticed(changed):
    known = {
        "- A finds": [("83.1", "some.md | A"), ("7", "some.md | B")],
        "Alone": [("*", "setting: an example")],
        "| D": [("16.5", "some.md | D")],
    }
    assert faults("docs/page.md", PAGE, known) == []
    known["Alone"] = [("14.5", "some.md | C")]
    assert len(faults("docs/page.md", PAGE.replace(*changed), known)) == 1


@pytest.mark.parametrize(
    ("number", "exact", "is_it"),
    [
        ("83.1", 83.08, True),
        ("83.1", 83.02, False),
        ("31", 0.314, True),
        (".31", 0.314, True),
        ("3.6e-05", 3.6e-5, True),
        ("3.5e-05", 3.6e-5, False),
        ("6,680", 6680.0, True),
        ("0.8", -0.8, True),
    ],
)
def test_a_number_says_what_it_rounds(number, exact, is_it):
    assert says(number, exact) is is_it
