"""The views of a review, as HTML: no inline code or style, every text escaped."""

import re
from dataclasses import replace

import pytest

from granulearn import Review
from granulearn.audit.table_audit import audit_table
from granulearn.review import verified_by
from granulearn.review.audit_page import render_audit_page, summarize_audit
from granulearn.review.decisions import active_decisions
from granulearn.review.views import card_html, numbers_html, review_page, rounded, table_html
from tests.review.figures import missing_figures
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


def test_no_view_has_inline_code_or_markup_of_the_table(review):
    views = [
        review_page(review),
        card_html(review.next()),
        numbers_html(review),
        table_html(review),
    ]
    for html in views:
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=[\"'](?!x)", html)
        assert not re.search(r"<script(?![^>]*src=)(?! type=\"application/json\")", html)
        assert "<b onclick" not in html
        assert "&lt;b onclick" in html


def test_a_card_of_an_unknown_label_says_so(review):
    card = review.next()
    bare = replace(
        card, second_class=None, error_probability=None, probabilities=(), verdict="unknown"
    )
    bare = replace(bare, of_given=(), of_second=(), kept=(), lines=card.lines[:1], n_columns=7)
    html = card_html(replace(bare, untrusted=("No other row is cat.",)))
    for text in ("cannot be rated", "1 of 7 columns", "No other row is cat."):
        assert text in html


def test_long_texts_open_in_place_and_links_in_a_new_tab(review):
    card = review.next()
    text = f"see https://example.com/a?b=1&c=2.\nEnd {EVIL} " + "long " * 100
    shown = replace(card.lines[0], own=text, others=("x", text, "http://example.org"))
    html = card_html(replace(card, kept=(shown,), lines=(shown,)))
    assert html.count("<details") == 4
    assert html.count('<details open class="kept">') == 2
    link = '<a href="{0}" rel="noopener noreferrer" target="_blank">{0}</a>'
    assert html.count(link.format("https://example.com/a?b=1&amp;c=2")) == 4
    assert link.format("http://example.org") in html
    assert "\nEnd &lt;b onclick" in html
    assert "<b onclick" not in html


def test_before_the_first_decision_the_numbers_say_so():
    html = numbers_html(Review(animals()[0], "kind"))
    assert html.count("No decision yet.") == 2
    assert "polyline" not in html


def test_review_report_and_audit_show_one_record():
    table, truth = animals()
    with Review(table, "kind", refit_every=1000) as review:
        for order in ["worst", "random"] * 8:
            card = review.next(order)
            review.decide(card, "change", truth[card.row - 1])
        assert missing_figures(review.summary().audit, numbers_html(review)) == []
        review.refit()
        record = review.summary().audit
        assert missing_figures(record, numbers_html(review)) == []
        verified = verified_by(active_decisions(review.journal.lines), review.table.data, "")
        done = audit_table(review.table.data, verified=verified, random_state=0)
    assert done.audit.summary() == record
    content = summarize_audit(done, "animals.csv")
    assert missing_figures(record, render_audit_page(content)) == []
    assert len(content["cards"]) == round(record.errors_left)


def test_columns_have_boxes_that_remember_the_options():
    review = Review(animals()[0], "kind")
    review.use_columns(ignore=["width"], include=["name"])
    html = table_html(review)
    boxes = dict(re.findall(r'name="(\w+)" data-asked="(\w*)"', html))
    assert boxes == {"name": "include", "length": "", "width": "ignore"}
    ticked = re.findall(r'name="(\w+)" data-asked="\w*" checked', html)
    assert ticked == ["name", "length"]


def test_no_rounded_number_is_a_false_certainty():
    chances = {0: "< 1 %", 0.004: "< 1 %", 0.125: "12 %", 0.994: "99 %", 1: "> 99 %"}
    assert {chance: rounded(chance).replace("\u00a0", " ") for chance in chances} == chances
