"""The audit's page, in a real browser: it opens, explains, chooses, and fits a phone."""

import csv
import html
import io
import re
import shlex
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from urllib.parse import parse_qs

import numpy as np
import pandas as pd
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

import granulearn
from granulearn import Review
from granulearn.review.audit_page import _heat_map, render_audit_page, write_audit_page
from granulearn.review.decisions import COLUMNS, read_decisions
from granulearn.review.journal import journal_text
from tests.audit.stubs import CANNOT, EVIL, SUMMARY, audited, full_summary, saying, summary_of
from tests.bench.browser import open_page
from tests.cli.commands import succeeds, write_people
from tests.review.figures import missing_figures
from tests.review.tables import animals_file

N_CARDS = 23  # 15 wrong and 8 other suspects


@pytest.fixture(scope="module")
def summary():
    return full_summary()


@pytest.fixture(scope="module")
def path(summary, tmp_path_factory):
    return write_audit_page(summary, tmp_path_factory.mktemp("page") / "audit.html")


@pytest.fixture
def page(browser, path):
    browser.set_window_size(1200, 900)
    open_page(browser, path)
    yield browser
    browser.execute_script("localStorage.clear()")
    for command in ("Emulation.clearDeviceMetricsOverride", "Emulation.setEmulatedMedia"):
        browser.execute_cdp_cmd(command, {})


def visible(page):
    """Return the row numbers of the cards that are shown, in their order."""
    script = """return Array.from(document.querySelectorAll("details.doubted"))
        .filter((card) => !card.hidden).map((card) => Number(card.dataset.row))"""
    return page.execute_script(script)


def rows_where(summary, fits):
    return [suspect["row"] for suspect in summary["cards"] if fits(suspect)]


def count_shown(page):
    return page.find_element(By.ID, "shown").text


def chip(page, verdict):
    return page.find_element(By.CSS_SELECTOR, f'.chip[data-verdict="{verdict}"] button')


def in_hash(page):
    return parse_qs(page.execute_script("return location.hash.slice(1)"))


# --- the summary


def test_the_counts_of_the_summary_add_up(summary):
    counts = {verdict["name"]: verdict["count"] for verdict in summary["verdicts"]}
    assert counts == {"wrong": 15, "suspect": 8, "outlier": 3, "fine": 122, "unknown": 2}
    assert sum(verdict["shown"] for verdict in summary["verdicts"]) == N_CARDS
    assert len(summary["cards"]) == summary["n_suspects"] == N_CARDS
    for verdict in ("wrong", "suspect"):
        assert sum(pair[verdict] for pair in summary["pairs"]) == counts[verdict]
    assert [sum(bars) for bars in zip(*summary["histogram"], strict=True)] == [148, N_CARDS]
    assert {kind: len(messages) for kind, messages in summary["issues"].items()} == {
        "repeated rows": 1, EVIL: 1,
    }  # fmt: skip


def test_the_heat_map_counts_the_labels_to_check_of_each_pair(summary):
    heat = summary["heat_map"]
    doubted = {
        (p["given_label"], p["second_class"]): p["wrong"] + p["suspect"] for p in summary["pairs"]
    }
    assert heat["rows"] == [
        [doubted.get((given, second), 0) for second in heat["classes"]] for given in heat["classes"]
    ]
    assert sum(map(sum, heat["rows"])) == N_CARDS


def test_of_many_classes_the_heat_map_has_those_confused_most():
    given, second = np.repeat(np.arange(40), 3), np.repeat((np.arange(40) + 1) % 40, 3)
    ratings = SimpleNamespace(classes=np.array([f"c{k:02}" for k in range(40)]))
    pairs = [
        {"key": f"{a}-{b}", "wrong": int(a), "suspect": 1}
        for a, b in zip(given.tolist(), second.tolist(), strict=True)
    ]
    heat = _heat_map(ratings, pairs)
    assert heat["classes"] == [f"c{k}" for k in range(28, 40)]
    assert heat["rows"][0][1] == 29


# --- what is said first


def test_it_begins_with_what_was_audited_when_and_by_which_version(page, summary):
    head = page.find_element(By.CSS_SELECTOR, "header .kind").text
    version = granulearn.__version__
    assert head == (
        f"Audit of the labels in column animal of animals{EVIL}.csv, {summary['when']}, "
        f"by granulearn {version}"
    )
    assert abs(datetime.now(UTC) - datetime.fromisoformat(summary["when"].replace(" UTC", "Z"))) < (
        timedelta(hours=1)
    )


def test_it_loads_nothing_and_shows_the_record_of_the_audit(page, summary):
    assert page.get_log("browser") == []
    assert page.execute_script("return performance.getEntriesByType('resource').length") == 0
    shown = page.find_element(By.TAG_NAME, "body").text
    assert missing_figures(SUMMARY, shown) == []
    assert summary["summary"] == SUMMARY
    assert "verified\n4, 3 wrong; 1 at random" in shown


def test_where_nothing_can_be_said_there_is_no_number():
    X, audit = audited()
    page = render_audit_page(summary_of(X, saying(audit, summary=CANNOT)))
    head = page[page.index("<h1") : page.index("</header>")]
    assert CANNOT.message in head
    assert "%" not in head
    assert "nan" not in page.lower()


def test_the_commands_of_the_page_correct_the_table(reviewed, monkeypatch):
    table, path = reviewed
    monkeypatch.chdir(table.parent)
    page = path.read_text(encoding="utf-8")
    review, correct = map(html.unescape, re.findall("<code>(.*?)</code>", page))
    assert shlex.split(review) == ["granulearn", "review", table.name, "--target", "kind"]
    with Review(table, "kind") as opened:
        opened.decide(opened.next(), "change")
    succeeds(*shlex.split(correct)[1:])
    assert (table.parent / "animals.clean.csv").exists()


def test_the_commands_of_the_page_read_the_table_as_the_audit_did(reviewed, tmp_path):
    table, page = reviewed
    journal = tmp_path / "who said.csv"
    with Review(table, "kind", decisions=journal) as opened:
        opened.decide(opened.next(), "change")
    asked = ["--target", "kind", "--seed", "3", "--ignore", "width", "--exact-labels"]
    succeeds("audit", table, *asked, "--decisions", journal, "--report", page)
    commands = re.findall("<code>(.*?)</code>", page.read_text(encoding="utf-8"))
    review, correct = (shlex.split(html.unescape(command)) for command in commands)
    assert review == ["granulearn", "review", table.name, *asked, "--decisions", journal.name]
    without_seed = [*asked[:2], *asked[4:]]
    told = ["--decisions", journal.name, "-o", "animals.clean.csv"]
    assert correct == ["granulearn", "correct", table.name, *without_seed, *told]


def test_what_the_reader_of_the_table_warns_of_is_on_the_page(reviewed):
    table, path = reviewed
    frame = pd.read_csv(table).assign(nothing=1)
    frame["copy"] = frame["kind"].str.strip()
    frame.loc[7, "kind"] = None
    frame.to_csv(table, index=False)
    done = succeeds("audit", table, "--target", "kind", "--report", path)
    page = html.unescape(path.read_text(encoding="utf-8"))
    found = re.findall("<li>(.*?)</li>", page[page.index('id="table"') : page.index('id="numbers')])
    warned = [line.removeprefix("granulearn: warning: ") for line in done.err.splitlines()]
    assert found[: len(warned)] == warned
    for said in ("1 row has no label", "were joined", "leak the target", "nothing (constant)"):
        assert any(said in line for line in found), said


def test_clean_labels_make_a_page_that_says_so():
    X, audit = audited(rate=0.0)
    fine = replace(audit.ratings_, verdicts=np.full(len(X), "fine"))
    page = render_audit_page(summary_of(X, saying(audit, fine)))
    assert "No label is doubted." in page
    assert "No pair of classes is confused." in page


def test_labels_that_occur_once_are_listed(summary):
    assert 'id="once"' not in render_audit_page(summary)
    once = summary | {"n_single": 7, "single": [{"row": 5, "label": "<Cat>"}]}
    page = render_audit_page(once)
    assert "row 5: <strong>&lt;Cat&gt;</strong>" in page
    assert "The first 1 of 7." in page


def test_other_findings_are_folded_by_kind_with_five_sentences_each(summary):
    many = summary | {"issues": {"outlier": [f"Row {n} is far." for n in range(7)], "drift": ["x"]}}
    page = render_audit_page(many)
    found = page[page.index('id="issues"') : page.index('id="rows"')]
    assert re.findall("<details>\\s*<summary><strong>(.*?)</strong>", found) == ["outlier", "drift"]
    assert re.findall("<li>(.*?)</li>", found) == [*(f"Row {n} is far." for n in range(5)), "x"]
    assert "and 2 more" in found


def test_long_names_of_classes_are_whole_on_the_heat_map(summary, browser, tmp_path):
    names = [f"County of Somewhere {number:03} -> district" for number in range(3)]
    heat = {"classes": names, "rows": [[0, 1, 2], [1, 0, 0], [0, 4, 0]]}
    open_page(browser, write_audit_page(summary | {"heat_map": heat}, tmp_path / "long.html"))
    heads = browser.find_elements(By.CSS_SELECTOR, ".heat tbody th")
    assert [head.text for head in heads] == [f"{n} {name}" for n, name in enumerate(names, start=1)]
    cells = browser.find_elements(By.CSS_SELECTOR, ".heat tbody td")
    assert [cell.text for cell in cells] == ["", "1", "2", "1", "", "", "", "4", ""]
    colours = [cell.value_of_css_property("background-color") for cell in cells]
    assert len({colours[0], colours[1], colours[2], colours[7]}) == 4
    assert colours[1] == colours[3]


def test_of_two_classes_there_is_no_heat_map(page, tmp_path):
    assert page.find_elements(By.CLASS_NAME, "heat")
    table = tmp_path / "t.csv"
    write_people(tmp_path).rename(table)
    succeeds("audit", table, "--target", "label", "--report", tmp_path / "a.html")
    assert 'class="heat"' not in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_a_policy_runs_the_script_of_the_page_and_no_other(page, path, tmp_path):
    content = path.read_text(encoding="utf-8")
    evil = tmp_path / "evil.html"
    code = "document.title = 'attacked'"
    attack = f'<script>{code}</script><img src=x onerror="{code}">'
    evil.write_text(content.replace("</header>", f"{attack}</header>"), encoding="utf-8")
    open_page(page, evil)
    assert "attacked" not in page.title
    assert len(visible(page)) == N_CARDS  # our own runs
    refused = [entry["message"] for entry in page.get_log("browser")]
    assert sum("Content Security Policy" in message for message in refused) == 3
    page.execute_script(
        "document.documentElement.insertAdjacentHTML('beforeend', '<style>body{width:1px}</style>')"
    )
    assert page.find_element(By.TAG_NAME, "body").size["width"] > 100


# --- cards


def test_a_suspect_opens_and_shows_both_classes_side_by_side(page, summary):
    first = summary["cards"][0]
    suspect = page.find_element(By.CSS_SELECTOR, "details.doubted")
    assert f"row {first['row']}" in suspect.text
    assert first["reason"] in suspect.text
    assert suspect.find_elements(By.CSS_SELECTOR, "table.compare") == []
    suspect.find_element(By.TAG_NAME, "summary").click()
    table = suspect.find_element(By.CSS_SELECTOR, "table.compare")
    assert table.is_displayed()
    groups = [head.text for head in table.find_elements(By.CSS_SELECTOR, "th[colspan]")]
    assert groups == [f"trusted: {first['given_label']}", f"trusted: {first['second_class']}"]
    rows = table.find_elements(By.CSS_SELECTOR, "tbody tr")
    assert len(rows) == 4
    shown = [cell.text for cell in rows[0].find_elements(By.CSS_SELECTOR, "th, td")]
    line = first["lines"][0]
    assert shown == [line["column"], line["own"], *line["others"]]
    assert "decides" in rows[0].get_attribute("class")


def test_cells_equal_to_those_of_the_row_are_marked(summary):
    line = {"column": "c", "decides": False, "own": "A14", "others": ["A14", "A15"]}
    card = summary["cards"][0] | {"lines": [line]}
    page = render_audit_page(summary | {"cards": [card]})
    assert '<td class="own">A14</td><td class="same">A14</td><td>A15</td>' in page


def test_texts_from_the_table_are_text_not_markup(page, path, summary):
    text = path.read_text(encoding="utf-8")
    assert text.count("<script>") == 1  # our own
    assert EVIL not in text
    assert page.find_elements(By.CSS_SELECTOR, "[onclick]") == []
    assert page.title == f"Label audit of animals{EVIL}.csv"
    assert EVIL in page.find_element(By.ID, "pairs").text
    assert EVIL in page.find_element(By.ID, "issues").text
    page.find_element(By.ID, "open-all").click()
    names = [head.text for head in page.find_elements(By.CSS_SELECTOR, "details tbody th")]
    assert {EVIL, "x' onclick='alert(2)"} <= set(names)
    assert any(f"{EVIL}emu" in pair["second_class"] for pair in summary["pairs"])


# --- choosing


def test_chips_choose_verdicts_and_say_so(page, summary):
    assert count_shown(page) == f"{N_CARDS} of {N_CARDS} shown"
    assert sorted(visible(page)) == sorted(rows_where(summary, lambda _: True))
    chip(page, "suspect").click()
    assert sorted(visible(page)) == sorted(rows_where(summary, lambda s: s["verdict"] == "suspect"))
    assert count_shown(page) == f"8 of {N_CARDS} shown"
    assert chip(page, "suspect").get_attribute("aria-pressed") == "true"
    chip(page, "wrong").click()
    assert len(visible(page)) == N_CARDS
    chip(page, "suspect").click()
    chip(page, "wrong").click()
    assert len(visible(page)) == N_CARDS
    # Only suspects are listed, so there is nothing else to choose.
    for verdict in ("outlier", "fine", "unknown"):
        assert page.find_elements(By.CSS_SELECTOR, f'.chip[data-verdict="{verdict}"] button') == []


def test_a_pair_of_classes_can_be_chosen_in_two_places(page, summary):
    pair = summary["pairs"][0]
    expected = sorted(rows_where(summary, lambda s: s["pair"] == pair["key"]))
    button = page.find_element(By.CSS_SELECTOR, f'#pairs tr[data-pair="{pair["key"]}"] button')
    button.click()
    assert sorted(visible(page)) == expected
    assert Select(page.find_element(By.ID, "pair")).first_selected_option.text == (
        f"{pair['given_label']} → {pair['second_class']}"
    )
    button.click()
    assert len(visible(page)) == N_CARDS
    Select(page.find_element(By.ID, "pair")).select_by_value(pair["key"])
    assert sorted(visible(page)) == expected
    assert button.get_attribute("aria-pressed") == "true"


def test_rows_are_found_by_number_label_and_cell(page, summary):
    field, first = page.find_element(By.ID, "find"), summary["cards"][0]
    field.send_keys(f"#{first['row']}")
    assert visible(page) == [first["row"]]
    field.clear()
    own = first["lines"][0]["own"]
    field.send_keys(own)
    assert first["row"] in visible(page)
    assert all(own in s["search"] for s in summary["cards"] if s["row"] in visible(page))
    field.clear()
    field.send_keys("DOG")
    dogs = rows_where(summary, lambda s: "dog" in (s["given_label"], s["second_class"]))
    assert sorted(visible(page)) == sorted(dogs)
    field.clear()
    field.send_keys("no such thing")
    assert visible(page) == []
    assert page.find_element(By.ID, "none").is_displayed()
    page.find_element(By.ID, "clear").click()
    assert len(visible(page)) == N_CARDS
    assert not page.find_element(By.ID, "clear").is_displayed()


def test_rows_come_by_doubt_by_number_or_by_pair(page, summary):
    first, order = visible(page), Select(page.find_element(By.ID, "sort"))
    doubt = {suspect["row"]: suspect["error_probability"] for suspect in summary["cards"]}
    assert [doubt[row] for row in first] == sorted(doubt.values(), reverse=True)
    order.select_by_value("row")
    assert visible(page) == sorted(visible(page))
    order.select_by_value("doubt")
    assert visible(page) == first
    order.select_by_value("pair")
    script = "return Array.from(document.querySelectorAll('.change'), (pair) => pair.textContent)"
    pairs = page.execute_script(script)
    first_seen = list(dict.fromkeys(pairs))
    assert [pair for name in first_seen for pair in pairs if pair == name] == pairs


def test_the_address_keeps_the_choice(page, summary):
    chip(page, "wrong").click()
    page.find_element(By.ID, "find").send_keys("dog")
    Select(page.find_element(By.ID, "sort")).select_by_value("row")
    assert in_hash(page) == {"verdict": ["wrong"], "find": ["dog"], "sort": ["row"]}
    chosen = visible(page)
    page.refresh()
    WebDriverWait(page, 30).until(lambda opened: visible(opened) == chosen)
    assert chip(page, "wrong").get_attribute("aria-pressed") == "true"
    page.execute_script(f"location.hash = 'pair={summary['pairs'][0]['key']}&verdict=odd&sort=odd'")
    expected = rows_where(summary, lambda s: s["pair"] == summary["pairs"][0]["key"])
    WebDriverWait(page, 30).until(lambda opened: sorted(visible(opened)) == sorted(expected))


def test_it_can_be_used_with_the_keyboard_alone(page):
    body = page.find_element(By.TAG_NAME, "body")
    body.send_keys("/")
    field = page.switch_to.active_element
    assert field.get_attribute("id") == "find"
    field.send_keys("dog/")  # a slash is a character where text is typed
    assert field.get_attribute("value") == "dog/"
    chip(page, "wrong").send_keys(Keys.SPACE)
    assert chip(page, "wrong").get_attribute("aria-pressed") == "true"


def test_all_shown_rows_open_and_close_at_once(page):
    chip(page, "suspect").click()
    page.find_element(By.ID, "open-all").click()
    assert len(page.find_elements(By.CSS_SELECTOR, "details[open]")) == 8
    page.find_element(By.ID, "open-all").click()
    assert page.find_elements(By.CSS_SELECTOR, "details[open]") == []


# --- deciding


def current(page):
    """Return the row that keys are about, or None."""
    found = page.find_elements(By.CSS_SELECTOR, "details.current")
    return int(found[0].get_attribute("data-row")) if found else None


def press(page, *keys):
    for key in keys:
        page.find_element(By.TAG_NAME, "body").send_keys(key)


def lines(page):
    """Return the decisions that the page would write down."""
    return list(csv.DictReader(io.StringIO(page.execute_script("return decisions.csv()"))))


def suspect(summary, row):
    return next(s for s in summary["cards"] if s["row"] == row)


def test_nothing_is_decided_on_a_row_that_is_not_open(page):
    press(page, "w", "q", "x", "u", "1", "c", Keys.ARROW_LEFT, "z")
    assert lines(page) == []
    assert not page.find_element(By.ID, "deck").is_displayed()


def test_a_key_decides_on_the_open_row_and_opens_the_next(page, summary):
    keys = {"q": "keep", Keys.ARROW_LEFT: "keep", "w": "change", Keys.ARROW_RIGHT: "change"}
    keys |= {"x": "exclude", "u": "unsure"}
    rows = visible(page)
    press(page, "j")
    for number, (key, decision) in enumerate(keys.items()):
        row, about = rows[number], suspect(summary, rows[number])
        assert current(page) == row
        press(page, key)
        assert current(page) == rows[number + 1]
        said = lines(page)[-1]
        assert (said["row"], said["decision"]) == (str(row), decision)
        assert said["new_label"] == (about["second_class"] if decision == "change" else "")
        for name in ("given_label", "verdict", "probability", "hash"):
            assert said[name] == about[name]
        assert "decided" in page.find_element(By.ID, f"row-{row}").get_attribute("class")
        assert len(page.find_elements(By.CSS_SELECTOR, "details[open]")) == 1


def test_numbers_and_typing_take_any_class(page, summary):
    first, second = visible(page)[:2]
    press(page, "j")
    share = page.find_elements(By.CSS_SELECTOR, f"#row-{first} .share")[-1]
    last = share.get_attribute("data-label")
    press(page, share.find_element(By.TAG_NAME, "kbd").text)
    press(page, "c")
    page.switch_to.active_element.send_keys("dog", Keys.ENTER)
    labels = [said["new_label"] or said["given_label"] for said in lines(page)]
    assert labels == [last, "dog"]
    assert [said["row"] for said in lines(page)] == [str(first), str(second)]


def test_undo_takes_the_line_away_and_opens_the_row(page):
    first = visible(page)[0]
    press(page, "j", "q", "x")
    assert len(lines(page)) == 2
    press(page, "z", "z")
    assert lines(page) == []
    assert current(page) == first
    assert page.find_elements(By.CSS_SELECTOR, "details.decided") == []


def test_decisions_stay_in_the_browser_with_notes_and_names_and_other_tables_have_none(
    page, path, summary, tmp_path
):
    press(page, "j")
    page.find_element(By.ID, "who").send_keys("Eve")
    press(page, "n")
    page.switch_to.active_element.send_keys('says "no", twice', Keys.ENTER)
    press(page, "q", "x")
    before = lines(page)
    assert [(said["who"], said["note"]) for said in before] == [
        ("Eve", 'says "no", twice'), ("Eve", ""),
    ]  # fmt: skip
    open_page(page, path)
    assert lines(page) == before
    assert "2 decided, kept in this browser" in page.find_element(By.ID, "decided").text
    other = write_audit_page(
        summary | {"facts": summary["facts"] | {"key": "animals.csv 0123"}}, tmp_path / "other.html"
    )
    open_page(page, other)
    assert lines(page) == []


def test_moving_help_and_buttons_work(page):
    rows = visible(page)
    press(page, "j", "j", "k")
    assert current(page) == rows[0]
    press(page, "?")
    assert page.find_element(By.ID, "help-dialog").is_displayed()
    page.switch_to.active_element.send_keys(Keys.ESCAPE)
    for button in ("keep", "exclude", "undo"):
        page.find_element(By.CSS_SELECTOR, f"[data-action={button}]").click()
    assert [said["decision"] for said in lines(page)] == ["keep"]
    assert current(page) == rows[1]


@pytest.fixture
def reviewed(tmp_path):
    """Return a table with a label that is spelt in two ways, and its page."""
    table, _ = animals_file(tmp_path)
    frame = pd.read_csv(table)
    frame["kind"] = frame["kind"].where(frame.index % 5 > 0, " " + frame["kind"])
    frame.to_csv(table, index=False)
    page = tmp_path / "audit.html"
    succeeds("audit", table, "--target", "kind", "--report", page)
    return table, page


def downloaded(browser, folder):
    """Press the button, and return the file that the browser writes."""
    settings = {"behavior": "allow", "downloadPath": str(folder)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", settings)
    browser.find_element(By.ID, "download").click()
    return WebDriverWait(browser, 30).until(lambda _: next(folder.glob("*.csv"), None))


def test_the_download_is_a_journal_that_a_review_resumes(browser, reviewed, tmp_path):
    table, path = reviewed
    folder = tmp_path / "downloads"
    folder.mkdir()
    open_page(browser, path)
    try:
        press(browser, "j", "w", "n")
        browser.switch_to.active_element.send_keys('a "note", with a comma', Keys.ENTER)
        press(browser, "q", "x", "u", *"wwwwwwww")
        file = downloaded(browser, folder)
        text = browser.execute_script("return decisions.csv()")
    finally:
        browser.execute_script("localStorage.clear()")
    assert file.name == "animals.decisions.csv"
    content = file.read_bytes().decode()
    assert content == text
    said = read_decisions(file)
    assert content.startswith(",".join(COLUMNS) + "\n")
    taken = list(csv.DictReader(io.StringIO(content)))
    order = [int(cells["row"]) for cells in taken]
    assert content == journal_text(sorted(said, key=lambda d: order.index(d.row)))
    with Review(table, "kind", decisions=file) as review:
        assert review.summary().n_decided == len(said) == 12
        for decision in said:
            said = (decision.new_label, decision.decision, decision.note, decision.drawn)
            twin = review._decided(decision.row, *said)  # by the review
            ignored = {"who": "", "when": "", "line": 0, "verdict": "", "probability": ""}
            assert replace(twin, **ignored) == replace(decision, **ignored)
    succeeds("audit", table, "--target", "kind", "--decisions", file)


# --- looks


def test_nothing_is_wider_than_the_window(page):
    page.find_element(By.ID, "open-all").click()
    for width in (400, 800, 1200, 2000):
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        assert is_as_wide_as_the_window(page)


def is_as_wide_as_the_window(page):
    inner, wide = page.execute_script(
        "return [window.innerWidth, document.documentElement.scrollWidth]"
    )
    return wide <= inner


def lightness(page):
    script = "return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
    return sum(page.execute_script(script)) / 3


def test_without_scripts_everything_is_there_to_read(page, path, summary):
    page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        open_page(page, path)
        assert not page.find_element(By.ID, "controls").is_displayed()
        assert page.find_elements(By.CSS_SELECTOR, ".chip button") == []
        suspects = page.find_elements(By.CSS_SELECTOR, "details.doubted")
        assert len(suspects) == N_CARDS
        suspects[0].find_element(By.TAG_NAME, "summary").click()
        assert suspects[0].find_element(By.TAG_NAME, "table").is_displayed()
    finally:
        page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_paper_is_light_and_shows_rows_without_controls(page):
    page.find_element(By.CSS_SELECTOR, "details.doubted summary").click()
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": features})
    assert lightness(page) > 200
    assert not page.find_element(By.ID, "controls").is_displayed()
    assert page.find_element(By.CSS_SELECTOR, "details.doubted .reason").is_displayed()
    assert is_as_wide_as_the_window(page)
