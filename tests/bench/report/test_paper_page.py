"""The page of the whole paper: contents, verdicts, figures, and what is missing."""

import copy
import re

import pytest

from granulearn.bench.report.paper_page import paper_markdown, render_paper_page, write_paper_page
from tests.bench.report.browser import open_page
from tests.bench.report.summaries import paper_summary


@pytest.fixture(scope="module")
def page():
    return render_paper_page(paper_summary())


def test_every_entry_of_the_contents_leads_to_a_section(page):
    contents = re.search(r"<nav.*?</nav>", page, re.DOTALL)[0]
    targets = re.findall(r'href="#([\w-]+)"', contents)
    assert len(targets) >= 9
    for target in targets:
        assert page.count(f'<section id="{target}"') == 1


def test_every_claim_has_its_verdict_beside_both_figures(page):
    rows = re.findall(
        r'<tr><th scope="row">(?:(?!</tr>).)*class="verdict(?:(?!</tr>).)*</tr>', page
    )
    assert len(rows) == len(paper_summary()["claims"])


def test_a_run_that_was_interrupted_says_what_is_missing(page):
    assert "484 not run yet" in page
    assert '<tr><th scope="row">sensitivity-C-h</th><td>0</td><td>0</td><td>484</td>' in page
    assert re.search(r'id="surfaces">.*?Not run yet', page, re.DOTALL)


def test_the_reasons_of_failures_are_told(page):
    summary = copy.deepcopy(paper_summary())
    line = summary["progress"]["studies"][0]
    line["failed"], line["reasons"] = 2, [{"reason": "no <such> set", "cells": 2}]
    assert "no &lt;such&gt; set (2)" in render_paper_page(summary)
    assert "- table1: no <such> set (2)\n" in paper_markdown(summary)
    assert "Why cells failed" not in paper_markdown(paper_summary())


def test_the_number_of_splits_is_that_of_the_study(page):
    assert "this run, mean of one split;" in page
    summary = copy.deepcopy(paper_summary())
    summary["studies"]["noise"]["study"]["n_splits"] = 5
    assert "this run, mean of 5 splits;" in render_paper_page(summary)


def test_the_sets_that_are_not_there_are_counted(page):
    assert "2 of the paper's 37 sets have no public copy." in page


def test_what_is_found_again_and_why_come_before_the_tables():
    text = paper_markdown(paper_summary())
    places = [text.index(head) for head in ("**Found again**", "## Why we think so", "| method |")]
    assert places == sorted(places)


def test_ids_are_unique(page):
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_it_needs_no_other_file(page):
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', page)


@pytest.mark.slow
@pytest.mark.parametrize("width", [1200, 400])
def test_it_fits_a_screen_and_a_phone(browser, tmp_path, width):
    browser.set_window_size(width, 900)
    open_page(browser, write_paper_page(paper_summary(), tmp_path / "paper.html"))
    wide = browser.execute_script("return document.documentElement.scrollWidth")
    assert wide <= browser.execute_script("return document.documentElement.clientWidth")


@pytest.mark.slow
def test_what_is_found_and_why_are_one_screen(browser, tmp_path):
    """Every claim is listed, most as not found, with reasons as long as those of the whole run."""
    summary = copy.deepcopy(paper_summary())
    summary["progress"]["missing"] = 0
    summary["reasons"] = ["reason " * 40] * 3
    sentences = [sentence for each in summary["short"].values() for sentence in each]
    parts = (sentences[:2], sentences[2:-4], sentences[-4:])
    summary["short"] = dict(zip(summary["short"], parts, strict=True))
    browser.set_window_size(1200, 1000)
    open_page(browser, write_paper_page(summary, tmp_path / "paper.html"))
    bottom = "return document.querySelector('.columns').getBoundingClientRect().bottom"
    assert browser.execute_script(bottom) <= 1000


def test_the_papers_own_statistics_stand_beside_those_of_its_table(page):
    said = "chi² of 66.26 and an F_F of 12.38"
    assert said in page
    assert said in paper_markdown(paper_summary())
    assert "its table gives 66.21 and 12.36." in page
