"""The parts of a review's page, as HTML: no inline code or style, every text escaped."""

import re
from dataclasses import replace

import pytest

from granulearn import Review
from granulearn.review.fragments import (
    SCRIPTS,
    STATIC,
    STYLES,
    card_html,
    found_curve,
    numbers_html,
    review_page,
    table_html,
)
from granulearn.review.progress import ReviewSummary
from tests.review.tables import animals

EVIL = "<b onclick='x'>&\"</b>"


@pytest.fixture(scope="module")
def review():
    table, _ = animals()
    table["name"] = EVIL + table["name"]
    table["kind"] = table["kind"].replace({"emu": f"emu {EVIL}"})
    table = table.rename(columns={"length": f"length {EVIL}"})
    review = Review(table, "kind", keep=["name"], who=EVIL)
    for decision in ("change", "keep", "exclude"):
        review.decide(review.next(), decision)
    return review


def parts(review):
    return {
        "page": review_page(review),
        "card": card_html(review.next()),
        "numbers": numbers_html(review),
        "table": table_html(review),
    }


def test_no_part_has_inline_code_or_style_so_that_the_policy_can_forbid_it(review):
    for name, html in parts(review).items():
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=[\"'](?!x)", html), name
        code = re.findall(r"<script(?![^>]*src=)(?! type=\"application/json\")", html)
        assert code == [], name


def test_texts_of_the_table_are_text_not_markup(review):
    for name, html in parts(review).items():
        assert EVIL not in html, name
        assert "<b onclick" not in html, name
    assert "&lt;b onclick" in card_html(review.next())


def test_the_page_asks_for_our_own_files_alone_and_all_of_them_are_there(review):
    html = review_page(review)
    assert re.findall(r'src="static/([^"]+)"', html) == list(SCRIPTS)
    assert re.findall(r'href="static/([^"]+)"', html) == list(STYLES)
    assert set(STATIC) == {*SCRIPTS, *STYLES}
    assert "http" not in html


def test_a_card_says_why_and_offers_every_class_with_its_key(review):
    card = review.next()
    html = card_html(card)
    assert f"row {card.row}" in html
    assert html.count("data-label=") == len(card.probabilities) == 3
    assert re.findall(r"<kbd>(\d)</kbd>", html) == [part.key for part in card.probabilities]
    assert '<tbody class="kept">' in html
    bare = replace(card, rival=None, against=None, probabilities=(), of_given=(), of_rival=())
    bare = replace(bare, kept=(), lines=card.lines[:1], n_columns=7, verdict="unknown")
    html = card_html(bare)
    assert "cannot be rated" in html
    assert "1 of 7 columns" in html
    assert "No trusted row to compare with is" in html


def test_numbers_say_the_share_the_counts_and_who(review):
    html = numbers_html(review)
    numbers = review.summary()
    assert re.findall(r"<strong>(\d+)</strong>", html) == ["3", "1", "1", "1", "0", "0"]
    assert "polyline" in html
    assert "1 wrong labels found among 2 rows looked at" in html
    assert numbers.noise.message.split(";")[0][:20] in html


def test_before_the_first_decision_the_numbers_say_so():
    table, _ = animals()
    html = numbers_html(Review(table, "kind"))
    assert "Nothing was decided yet." in html
    assert "Nobody has decided yet." in html


def summary_with(found):
    empty = dict.fromkeys(ReviewSummary.__dataclass_fields__, None)
    return ReviewSummary(**empty | {"found": found})


@pytest.mark.parametrize("n", [0, 1, 299, 300, 301, 12_345])
def test_a_curve_has_few_points_and_ends_where_the_review_is(n):
    found = tuple(k // 3 for k in range(1, n + 1))
    curve = found_curve(summary_with(found))
    assert curve[0] == (0, 0)
    assert curve[-1] == (n, found[-1] if found else 0)
    assert len(curve) <= 302
    assert [looked for looked, _ in curve] == sorted({looked for looked, _ in curve})


def test_columns_have_boxes_that_remember_what_was_asked_for():
    table, _ = animals()
    review = Review(table, "kind")
    review.use_columns(ignore=["width"], include=["name"])
    html = table_html(review)
    boxes = dict(re.findall(r'name="(\w+)" data-asked="(\w*)"', html))
    assert boxes == {"name": "include", "length": "", "width": "ignore"}
    ticked = re.findall(r'name="(\w+)" data-asked="\w*" checked', html)
    assert ticked == ["name", "length"]
