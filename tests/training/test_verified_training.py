"""Training with verified labels: learned as corrected, compared with the given ones."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold
from statsmodels.stats.contingency_tables import mcnemar

from granulearn.review import Decision, DecisionsError
from granulearn.tables import open_table, read_training_table
from granulearn.training import verified_training
from granulearn.training.model_kinds import make_model
from granulearn.training.training import make_pipeline, train
from granulearn.training.verified_training import (
    Comparison,
    compare_labels,
    review_labels,
    train_verified,
)

NAMES = np.array(["no", "yes"])


def noisy(folder, n_rows=160, share=0.25, seed=0):
    """Return a table of which some labels are wrong, read, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n_rows)
    X = rng.normal(size=(n_rows, 3)) + 1.5 * truth[:, None]
    wrong = rng.random(n_rows) < share
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame.assign(label=NAMES[truth ^ wrong]).to_csv(folder / "t.csv", index=False)
    return with_labels(folder, [], ""), NAMES[truth]


def with_labels(folder, rows, label):
    """Return the table, read, with another label in some rows."""
    frame = pd.read_csv(folder / "t.csv", dtype=str)
    frame.loc[rows, "label"] = label
    frame.to_csv(folder / "t.csv", index=False)
    with open_table(folder / "t.csv") as file:
        return read_training_table(file, "label", keep_cells=True)


def decided(table, truth, rows, drawn="worst"):
    """Return true decisions about some rows, from 0."""
    given = table.cells["label"].to_pylist()
    said = []
    for row in rows:
        what = ("keep", "") if given[row] == truth[row] else ("change", truth[row])
        known = {"given_label": given[row], "target": "label", "drawn": drawn}
        said.append(Decision(row + 1, *what, table.hashes[row], **known))
    return said


def trained(table, said, model="rvfl", **options):
    settings = {"tune": False, "test": 0.3, "seed": 0} | options
    return train_verified(review_labels(table, said, "d.csv"), model, **settings)


@pytest.fixture(name="reviewed")
def reviewed_table(tmp_path):
    """Return a table, its true labels, and decisions about the first hundred rows."""
    table, truth = noisy(tmp_path)
    return table, truth, decided(table, truth, range(100))


def test_changed_labels_are_learned_as_corrected_and_excluded_rows_left_out(reviewed):
    table, truth, said = reviewed
    said[10] = Decision(11, "exclude", target="label")
    said[11] = Decision(12, "unsure", target="label")
    labels = review_labels(table, said, "d.csv")
    corrected = labels.corrected_table()
    expected = np.where(np.arange(160) < 100, truth, table.y)
    expected[[10, 11]] = table.y[[10, 11]]
    keep = np.arange(160) != 10
    np.testing.assert_array_equal(corrected.y, expected[keep])
    np.testing.assert_array_equal(corrected.rows, np.flatnonzero(keep))
    pd.testing.assert_frame_equal(corrected.X, table.X[keep].reset_index(drop=True))
    assert labels.n_excluded == 1
    assert labels.n_changed == np.sum(expected != table.y)
    assert 10 not in labels.verified.rows
    assert 11 not in labels.verified.rows


def test_rows_changed_to_a_class_that_the_table_lacks_are_left_out(reviewed):
    table, _, said = reviewed
    new = Decision(11, "change", "perhaps", target="label", version="1")
    labels = review_labels(table, [*said[:10], new], "d.csv")
    assert (labels.n_excluded, labels.verified.rows.tolist()) == (1, list(range(10)))
    assert 10 not in labels.corrected_table().rows


def test_the_scores_and_the_model_are_those_of_the_corrected_table(reviewed):
    table, _, said = reviewed
    card = trained(table, said).card
    corrected = review_labels(table, said, "d.csv").corrected_table()
    plain = train(corrected, "rvfl", tune=False, test=0.3, seed=0).card
    for name in ("cross_validated", "held_out"):
        assert card.scores[name] == plain.scores[name]
    assert card.classes == plain.classes
    assert card.dropped_rows == 0


def test_rows_without_a_label_and_rows_left_out_are_counted_apart(tmp_path):
    table, truth = noisy(tmp_path)
    table = with_labels(tmp_path, [3, 4], "")
    said = [
        Decision(4, "change", "yes"),
        Decision(5, "keep"),
        Decision(7, "exclude"),
        *decided(table, truth, range(10, 40)),
    ]
    card = trained(table, said).card
    assert card.dropped_rows == 2
    assert card.scores["verified"]["excluded"] == 1
    assert card.scores["verified"]["rows"] == 30
    assert (
        "1 decision about rows without a label not used" in card.scores["verified"]["messages"][1]
    )


def test_the_comparison_is_that_of_models_which_did_not_see_the_row(reviewed):
    table, truth, said = reviewed
    said[10] = Decision(11, "exclude", target="label")
    labels = review_labels(table, said, "d.csv")
    whole, _ = compare_labels(labels, "rvfl", tune=False, seed=3)
    right = {}
    corrected = np.where(np.arange(160) < 100, truth, table.y)
    for name, y, used in (
        ("given", table.y, np.arange(160)),
        ("corrected", corrected, np.delete(np.arange(160), 10)),
    ):
        predicted = np.empty(160, dtype=object)
        for rest, held_out in StratifiedKFold(5, shuffle=True, random_state=3).split(
            table.X, table.y
        ):
            rows = np.intersect1d(rest, used)
            pipeline = make_pipeline(make_model("rvfl", random_state=3))
            predicted[held_out] = pipeline.fit(table.X.iloc[rows], y[rows]).predict(
                table.X.iloc[held_out]
            )
        right[name] = np.delete(predicted[:100] == truth[:100], 10)
    assert whole.rows == 99
    assert whole.given == right["given"].mean()
    assert whole.corrected == right["corrected"].mean()
    both = pd.crosstab(right["given"], right["corrected"]).reindex(
        index=[False, True], columns=[False, True], fill_value=0
    )
    assert whole.p_value == pytest.approx(mcnemar(both.to_numpy(), exact=True).pvalue)


@pytest.mark.parametrize(
    ("corrected", "p_value", "said"),
    [
        (0.9, 0.04, "corrected ones; the difference is beyond chance"),
        (0.9, 0.05, "the difference may be chance; the review has corrected {}"),
        (0.8, 1.0, "0.800 with the corrected ones; the review has corrected {}"),
        (0.7, 0.5, "the difference may be chance; the review has corrected {}"),
        (0.7, 0.04, "the difference is beyond chance; the review has not paid so far"),
    ],
)
def test_what_the_review_gained_is_said(reviewed, monkeypatch, corrected, p_value, said):
    table, truth, decisions = reviewed
    decisions[10] = Decision(11, "exclude", target="label")
    changed = np.sum(np.delete(truth[:100] != table.y[:100], 10))
    said = said.format(f"{changed} of 50 verified labels and left out 1 row")
    compared = Comparison(50, 0.8, corrected, p_value), None
    monkeypatch.setattr(verified_training, "compare_labels", lambda *_, **__: compared)
    words = trained(table, decisions).card.scores["verified"]["messages"]
    assert words[1].endswith(said)


def test_rows_chosen_worst_first_are_no_score_of_the_whole_table(reviewed):
    table, truth, said = reviewed
    words = " ".join(trained(table, said).card.scores["verified"]["messages"])
    assert "on 100 verified rows" in words
    assert "this is no score of the whole table" in words
    drawn = decided(table, truth, range(100, 120), "random")
    scores = trained(table, said + drawn).card.scores["verified"]
    assert scores["at_random"]["rows"] == 20
    assert "on the 20 of them drawn at random, which stand for all rows" in scores["messages"][-1]
    assert trained(table, said + drawn[:-1]).card.scores["verified"]["at_random"] is None


def test_few_verified_rows_give_no_score_and_words_say_so(reviewed):
    table, truth, _ = reviewed
    scores = trained(table, decided(table, truth, range(9))).card.scores["verified"]
    assert scores["messages"][-1] == "no score on 9 verified rows: 10 are needed"
    assert "given" not in scores
    nothing = trained(table, []).card
    assert (
        nothing.scores["verified"]["messages"][-1] == "no score on 0 verified rows: 10 are needed"
    )
    plain = train(table, "rvfl", tune=False, test=0.3, seed=0).card
    assert nothing.scores["held_out"] == plain.scores["held_out"]


def test_decisions_that_change_nothing_are_scored_once(reviewed):
    table, _, _ = reviewed
    told = []
    said = [Decision(row + 1, "keep") for row in range(30)]
    scores = trained(table, said, progress=told.append).card.scores["verified"]
    assert scores["given"] == scores["corrected"]
    assert scores["messages"][1].endswith("on 30 verified rows; the labels are the given ones")
    assert not [stage for stage in told if "corrected labels" in stage]


def test_a_class_too_small_to_search_gives_no_score_and_words_say_so(tmp_path, monkeypatch):
    table, truth = noisy(tmp_path)
    table = with_labels(tmp_path, [5], "yess")
    monkeypatch.setattr(
        "granulearn.training.training.search_grid", lambda name: {"model__C": [0.1, 1.0]}
    )
    said = decided(table, truth, range(30))
    words = trained(table, said, tune=True).card.scores["verified"]["messages"]
    assert "a class is too small to search settings in every fold" in words[-1]
    said = [*said, Decision(6, "exclude", target="label")]
    assert "given" in trained(table, said).card.scores["verified"]


def test_decisions_about_another_column_or_table_are_refused(reviewed):
    table, _, _ = reviewed
    with pytest.raises(DecisionsError, match="is about the column 'y', not 'label'"):
        review_labels(table, [Decision(1, "keep", target="y")], "d.csv")
    with pytest.raises(DecisionsError, match="made for other cells"):
        review_labels(table, [Decision(1, "keep", hash="other")], "d.csv")
    with pytest.raises(DecisionsError, match="'maybe' is no class of the table"):
        review_labels(table, [Decision(1, "change", "maybe")], "d.csv")


def test_decisions_that_leave_one_class_or_none_are_refused(reviewed):
    table, _, _ = reviewed
    labels = table.y
    one = [Decision(row + 1, "exclude") for row in range(160) if labels[row] == "no"]
    with pytest.raises(DecisionsError, match="leaves one class, yes to learn from"):
        review_labels(table, one, "d.csv")
    with pytest.raises(DecisionsError, match="leaves no row to learn from"):
        review_labels(table, [Decision(row + 1, "exclude") for row in range(160)], "d.csv")


def test_a_verified_label_is_not_called_doubted(reviewed):
    table, _, said = reviewed
    everything = trained(table, said, "ball-forest", test=0.0)
    rest = trained(table, said[:20], "ball-forest", test=0.0)
    plain = train(table, "ball-forest", tune=False, test=0.0, seed=0)
    assert everything.card.doubted_labels < rest.card.doubted_labels < plain.card.doubted_labels
