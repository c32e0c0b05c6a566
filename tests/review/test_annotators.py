"""Reviews of the consensus of several annotators: cards, decisions, and the page in a browser."""

import numpy as np
import pandas as pd
import pytest
from selenium.webdriver.common.by import By

from granulearn import Review
from granulearn.review import read_decisions, verified_by
from tests.review.pages import reviewing

READERS = {"reader ann": 0.95, "reader bob": 0.75, "reader cy": 0.6}


def a_crowd(n=150, seed=0):
    """Return a frame with inputs and the labels of three readers, and the true classes."""
    rng = np.random.default_rng(seed)
    z = rng.integers(2, size=n)
    frame = pd.DataFrame({"name": [f"patient {k}" for k in range(n)]})
    frame["dose"], frame["age"] = rng.normal(2 * z).round(3), rng.normal(z).round(3)
    for name, accuracy in READERS.items():
        given = np.where(rng.random(n) < accuracy, z, 1 - z)
        frame[name] = np.where(rng.random(n) < 0.7, np.where(given, "ill", "well"), None)
    return frame, np.where(z, "ill", "well")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "xrays.csv"
    a_crowd()[0].to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def review():
    with Review(a_crowd()[0], annotations=["reader *"], refit_every=1000) as opened:
        yield opened


# --- cards


def test_a_card_has_all_labels_of_its_row_and_what_the_inputs_say(review):
    frame, _ = a_crowd()
    audit = review._fit.audit
    for row in (1, 2, 3, int(review.rows()[0])):
        card = review.card(row)
        given = frame[list(READERS)].iloc[row - 1].dropna()
        assert {one["annotator"]: one["label"] for one in card.annotations} == given.to_dict()
        for one in card.annotations:
            assert one["accuracy"] == audit.annotators_.loc[one["annotator"], "accuracy"]
        prior = audit.consensus_record_.prior[row - 1]
        assert list(card.by_inputs) == audit.classes_[np.argsort(-prior)].tolist()
        assert sum(card.by_inputs.values()) == pytest.approx(1)
        assert card.given_label == audit.consensus_[row - 1]


def test_a_row_without_labels_has_a_card(review):
    row = int(np.flatnonzero(a_crowd()[0][list(READERS)].isna().all(axis=1))[0]) + 1
    assert review.card(row).annotations == []


def test_columns_of_annotators_are_no_inputs_even_if_they_are_asked_for():
    with Review(a_crowd()[0], annotations=["reader *"]) as review:
        before = review.ratings.error_proba
        review.use_columns(include=["reader ann"])
        assert set(review.columns) == {"name", "dose", "age"}
        used = {column.name for column in review.table.data.schema.used}
        assert used.isdisjoint(READERS)
        np.testing.assert_array_equal(review.ratings.error_proba, before)


def test_labels_beside_the_table_are_the_same(review):
    frame = a_crowd()[0]
    with Review(frame[["name", "dose", "age"]], annotations=frame[list(READERS)]) as other:
        assert other.rows().tolist() == review.rows().tolist()
        assert other.card(1).annotations == review.card(1).annotations


def test_an_anonymous_review_has_no_name_of_an_annotator(table):
    with Review(table, annotations=["reader *"], anonymous=True) as review:
        cards = [review.card(row) for row in (1, 2, 3)]
        shown = " ".join([*map(str, cards), *review.columns, *map(str, review.issues)])
        assert "annotator 1" in shown
        assert not any(name in shown for name in READERS)


@pytest.mark.parametrize("settings", [{}, {"target": "dose", "annotations": ["reader *"]}])
def test_either_a_target_or_annotations(settings):
    with pytest.raises(ValueError, match="not both"):
        Review(a_crowd()[0], **settings)


# --- decisions


def test_verified_rows_stay_and_teach(table):
    _, truth = a_crowd()
    with Review(table, annotations=["reader *"], who="eve") as review:
        before, proba = review._fit.audit.consensus_, review._fit.audit.consensus_proba_
        wrong = np.flatnonzero(before != truth)
        rows = (wrong + 1).tolist()
        review.decide_many(rows, "change", truth[wrong].tolist())
        kept = [int(row) for row in review.rows() if before[row - 1] == truth[row - 1]][:40]
        review.decide_many(kept, "keep")
        review.refit()
        corrected = review.corrected()["consensus"].to_numpy()
        np.testing.assert_array_equal(corrected[wrong], truth[wrong])
        assert review.summary().audit.n_verified == len(rows) + len(kept)
        after = review._fit.audit
        others = np.setdiff1d(np.arange(len(truth)), after.verified_.nonzero())
        assert (after.consensus_[others] == truth[others]).mean() > 0.95
        assert np.abs(after.consensus_proba_ - proba)[others].max() > 0.01
        order = review.rows("decided")
        assert sorted(order.tolist()) == sorted([*rows, *kept])
    with Review(table, annotations=["reader *"], who="eve") as again:
        assert again.summary().n_decided == len(rows) + len(kept)
        assert again.stale == []
        np.testing.assert_array_equal(again.corrected()["consensus"], corrected)


def test_a_decision_holds_although_the_consensus_is_another_one_since(table):
    with Review(table, annotations=["reader *"]) as review:
        row = int(review.rows()[0])
        review.decide(review.card(row), "keep")
        kept = review.card(row).given_label
        data, path = review.table.data, review.journal.path
    # Annotators label the row again, all of them otherwise.
    frame = pd.read_csv(table)
    other = {"ill": "well", "well": "ill"}[kept]
    frame.loc[row - 1, list(READERS)] = other
    frame.to_csv(table, index=False)
    with Review(table, annotations=["reader *"]) as again:
        assert again.card(row).given_label == other
        assert again.stale == []
        assert again.corrected()["consensus"].iloc[row - 1] == kept
        found = verified_by(read_decisions(path), again.table.data, "decisions")
    assert data.classes[found.truth].tolist() == [kept]


def test_a_class_that_wins_no_row_can_be_decided_for():
    frame, _ = a_crowd()
    frame.loc[5, "reader cy"] = "unclear"
    with Review(frame, annotations=["reader *"]) as review:
        assert "unclear" in review.classes
        assert "unclear" not in set(review._fit.audit.consensus_)
        review.decide(review.card(9), "change", "unclear")
        review.refit()
        assert review.new_classes == []
        assert review.corrected()["consensus"].iloc[8] == "unclear"


# --- the page


@pytest.fixture
def page(browser, table):
    with reviewing(browser, table, target=None, annotations=["reader *"]) as opened:
        yield opened
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_page_shows_annotators_inputs_and_the_consensus(page):
    card = page.review.card(page.row)
    rows = page.browser.find_elements(By.CSS_SELECTOR, "#card .annotations tbody tr")
    shown = [[cell.text for cell in row.find_elements(By.CSS_SELECTOR, "th, td")] for row in rows]
    assert [line[:3] for line in shown] == [
        [one["annotator"], one["label"], f"{one['accuracy']:.2f}"] for one in card.annotations
    ]
    text = page.at("card").text
    assert f"The inputs alone: {next(iter(card.by_inputs))}" in text
    assert f"consensus: {card.given_label}" in text
    heads = [h.text for h in page.browser.find_elements(By.CSS_SELECTOR, "#card .compare tbody th")]
    assert not set(heads) & set(READERS)
    assert page.browser.get_log("browser") == []
    page.emulate_phone()
    assert page.is_as_wide_as_the_window()
    for tab in page.tabs():
        assert page.is_as_wide_as_the_window()
        assert "reader ann" not in page.at("panel-table").text or tab != "table"


def test_decisions_on_the_page_are_about_the_consensus(page):
    row = page.decided("w")
    (decision,) = page.active().values()
    assert (decision.row, decision.target, decision.decision) == (row, "consensus", "change")
    assert decision.cell == ""
    page.find(f"#{row}")
    page.until(lambda: page.row == row)
    assert "Decided already" in page.at("card").text
