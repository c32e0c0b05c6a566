"""Several annotators: laws of the consensus, bad input, and what is told of annotators."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression

from granulearn.audit import LabelAudit, audit_labels
from granulearn.audit.annotations import read_annotations
from granulearn.audit.annotators import _Model

CLASSES = np.array(["ant", "bee", "cow"])
ACCURACIES = (0.9, 0.8, 0.7, 0.6, 0.55)


def a_crowd(n=210, asked=0.6, accuracies=ACCURACIES, n_classes=3, seed=0):
    """Return inputs, true classes, and a frame of labels, some of them missing."""
    rng = np.random.default_rng(seed)
    z = rng.integers(n_classes, size=n)
    X = rng.normal(size=(n, 4)) + 1.5 * np.eye(n_classes, 4)[z]
    labels = {}
    for number, accuracy in enumerate(accuracies):
        wrong = (z + rng.integers(1, n_classes, n)) % n_classes
        given = CLASSES[np.where(rng.random(n) < accuracy, z, wrong)]
        labels[f"reader {number}"] = np.where(rng.random(n) < asked, given, None)
    return X, CLASSES[z], pd.DataFrame(labels)


def fitted(X, W, **settings):
    return LabelAudit(n_estimators=20, random_state=0).fit(X, annotations=W, **settings)


@pytest.fixture(scope="module")
def crowd():
    """Return inputs, true classes, labels and the audit."""
    X, z, W = a_crowd()
    return X, z, W, fitted(X, W)


# --- laws


def test_inputs_make_the_consensus_better_than_votes_and_than_labels_alone(crowd):
    _, z, W, audit = crowd
    votes = W.apply(lambda row: row.value_counts().idxmax() if row.notna().any() else None, axis=1)
    alone = fitted(None, W)
    assert (audit.consensus_ == z).mean() > (alone.consensus_ == z).mean() + 0.05
    assert (alone.consensus_ == z).mean() > (votes == z).mean()
    assert audit.input_weight_ > 0
    assert alone.input_weight_ == 0


def test_order_of_rows_annotators_and_names_of_classes_change_nothing_beyond_rounding(crowd):
    X, _, W, audit = crowd
    rng = np.random.default_rng(1)
    rows = rng.permutation(len(X))
    renamed = {"ant": "z", "bee": "y", "cow": "x"}
    other = fitted(X[rows], W.iloc[rows, ::-1].replace(renamed).reset_index(drop=True))
    back = np.argsort(rows)
    assert_allclose(other.consensus_proba_[back][:, ::-1], audit.consensus_proba_, atol=1e-5)
    assert_array_equal(other.consensus_[back], pd.Series(audit.consensus_).map(renamed))
    pd.testing.assert_frame_equal(other.annotators_[::-1], audit.annotators_, atol=1e-4)


def test_long_and_wide_annotations_are_the_same(crowd):
    X, _, W, audit = crowd
    long = W.melt(ignore_index=False, var_name="annotator", value_name="label")
    long = long.reset_index(names="row").sample(frac=1, random_state=0)
    other = fitted(X, long)
    assert_allclose(other.consensus_proba_, audit.consensus_proba_, atol=1e-5)
    assert len(other.annotations_) == W.notna().to_numpy().sum()


def test_verified_rows_stay_and_teach(crowd):
    X, z, W, audit = crowd
    wrong = np.flatnonzero(audit.consensus_ != z)
    checked = fitted(X, W, verified={int(row): z[row] for row in wrong})
    assert_array_equal(checked.consensus_[wrong], z[wrong])
    table = checked.to_frame().sort_index()
    assert_array_equal(table["error_probability"].to_numpy()[wrong], 0)
    assert (table["source"] == "verified").sum() == len(wrong)
    # What annotators and inputs say without the verification is rated: most of it is still wrong.
    found = (checked.given_label_ != checked.consensus_)[wrong]
    assert_array_equal(checked.error_proba_[wrong], found)
    assert checked.summary().n_found == found.sum() > len(wrong) / 2
    assert set(checked.next_to_label(10).index).isdisjoint(wrong)


@pytest.mark.parametrize("kind", ["constant", "random"])
def test_a_spammer_tells_nothing_and_leaves_the_consensus_as_it_was(crowd, kind):
    X, _, W, audit = crowd
    rng = np.random.default_rng(2)
    labels = "ant" if kind == "constant" else rng.choice(CLASSES, len(X))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        spammed = fitted(X, W.assign(spammer=labels))
    said = ["1 annotator(s) gave one label only ('spammer')" in str(w.message) for w in caught]
    assert said == [True] * (kind == "constant")
    assert spammed.annotators_.loc["spammer", "information"] < 0.02
    assert (spammed.consensus_ == audit.consensus_).mean() > 0.93


def test_a_doubled_annotator_is_found_and_counts_once_when_named(crowd):
    X, _, W, audit = crowd
    doubled = W.assign(copy=W["reader 3"])
    with pytest.warns(UserWarning, match="'copy' and 'reader 3'|'reader 3' and 'copy'"):
        found = fitted(X, doubled)
    assert (found.consensus_ == audit.consensus_).mean() > 0.97
    assert set(found.copies_.iloc[0][["annotator", "other"]]) == {"copy", "reader 3"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        named = fitted(X, doubled, groups_of_annotators={"copy": 1, "reader 3": 1})
    assert (named.consensus_ == audit.consensus_).mean() > 0.97
    assert len(audit.copies_) == 0


@pytest.mark.parametrize("seed", range(3))
def test_inputs_of_noise_are_no_inputs(seed):
    _, _, W = a_crowd(seed=seed)
    noise = np.random.default_rng(seed).normal(size=(len(W), 4))
    audit = fitted(noise, W)
    assert audit.input_weight_ == 0
    assert_allclose(audit.consensus_proba_, fitted(None, W).consensus_proba_)


def test_rows_without_labels_get_a_prediction_that_is_marked(crowd):
    X, z, W, _ = crowd
    W = W.copy()
    W.iloc[:60] = None
    table = audit_labels(X, annotations=W, n_estimators=20, random_state=0).sort_index()
    assert_array_equal(table["source"][:60], "inputs")
    assert_array_equal(table["n_annotations"][:60], 0)
    assert (table["consensus_label"][:60] == z[:60]).mean() > 0.6


def test_the_likelihood_of_a_label_does_not_know_its_row():
    given, _ = read_annotations(a_crowd(60)[2])
    model = _Model(given, np.full(60, -1))
    q = model.start()
    found = model.run(q, None, 1)
    totals = found.counts.sum(axis=2, keepdims=True)
    c = found.concentration
    expected = (found.confusion * (totals + c) - found.counts) / c
    for at, (row, who, label) in enumerate(
        zip(given.rows, given.annotators, given.labels, strict=True)
    ):
        others = (given.rows != row) & (given.annotators == who)
        counts = np.zeros((3, 3))
        for i, given_label in zip(given.rows[others], given.labels[others], strict=True):
            counts[:, given_label] += q[i]
        share = (counts + c * expected[who]) / (counts.sum(axis=1, keepdims=True) + c)
        assert_allclose(found.likelihood[at], np.log(share[:, label]))


def test_consensus_is_bayes_rule_on_prior_and_likelihoods(crowd):
    record = crowd[3].consensus_record_
    given = record.annotations
    log_proba = np.log(record.prior)
    for row, likelihood in zip(given.rows, record.likelihood, strict=True):
        log_proba[row] = log_proba[row] + likelihood
    log_proba /= record.temperature
    expected = np.exp(log_proba - logsumexp(log_proba, axis=1, keepdims=True))
    assert_allclose(record.proba, expected, atol=1e-9)


def test_one_label_per_row_is_enough_with_inputs():
    X, z, W = a_crowd(400)
    rng = np.random.default_rng(3)
    only = rng.integers(W.shape[1], size=len(W))[:, None] == np.arange(W.shape[1])
    labels = a_crowd(400, asked=1.1)[2].where(only)
    with pytest.warns(UserWarning, match="no row has two labels"):
        audit = fitted(X, labels)
    given = labels.bfill(axis=1).iloc[:, 0]
    assert (audit.consensus_ == z).mean() > (given == z).mean() + 0.05


def test_probabilities_of_another_model_take_the_place_of_ours(crowd):
    _, z, W, _ = crowd
    sure = pd.DataFrame(0.9 * (z[:, None] == CLASSES) + 0.1 / 3, columns=CLASSES)
    audit = fitted(None, W, proba=sure / sure.to_numpy().sum(axis=1, keepdims=True))
    assert (audit.consensus_ == z).mean() > 0.97


def test_groups_of_rows_are_rated_by_others(crowd):
    X, z, W, _ = crowd
    audit = fitted(X, W, groups=np.arange(len(X)) // 2)
    assert audit.consensus_record_.ridge_share == 0
    assert (audit.consensus_ == z).mean() > 0.75
    assert_array_equal(audit.training_rows().group, audit.training_rows().row // 2)


# --- what is told


def test_good_annotators_have_the_higher_figures_and_intervals_that_hold(crowd):
    table = crowd[3].annotators_
    assert table["accuracy"].is_monotonic_decreasing
    assert table["information"].is_monotonic_decreasing
    assert table["cost_of_leaving_out"].idxmax() in ("reader 0", "reader 1")
    covered = (table["accuracy_low"] < ACCURACIES) & (table["accuracy_high"] > ACCURACIES)
    assert covered.sum() >= 4


def test_agreement_with_others_is_the_share_of_pairs_that_agree(crowd):
    W, table = crowd[2], crowd[3].annotators_
    own = W["reader 0"]
    shares = []
    for row in np.flatnonzero(own.notna()):
        others = W.iloc[row].drop("reader 0").dropna()
        shares += [(others == own[row]).mean()] if len(others) else []
    assert_allclose(table.loc["reader 0", "agreement"], np.mean(shares))


def test_wrong_labels_are_ranked_and_their_probabilities_add_up(crowd):
    _, z, _, audit = crowd
    labels = audit.annotations_
    wrong = labels["label"].to_numpy() != z[labels["row"]]
    assert labels["error_probability"][wrong].mean() > 0.6
    assert labels["error_probability"][~wrong].mean() < 0.25
    assert labels["error_probability"].sum() == pytest.approx(wrong.sum(), rel=0.15)


def test_next_rows_by_annotator_and_by_expert(crowd):
    audit = crowd[3]
    expert = audit.next_to_label(20, by="expert")
    assert_allclose(expert["gain"], expert["error_probability"])
    one_more = audit.next_to_label(20)
    assert (one_more["gain"].to_numpy() <= expert["gain"].to_numpy()).all()
    assert one_more["gain"].is_monotonic_decreasing


def test_training_rows_are_soft_labels_for_any_classifier(crowd):
    X, z, _, audit = crowd
    rows = audit.training_rows()
    assert_allclose(rows.weight.groupby(rows.row).sum(), 1)
    assert set(rows.row) == set(np.flatnonzero(crowd[2].notna().any(axis=1)))
    model = LogisticRegression().fit(X[rows.row], rows.label, sample_weight=rows.weight)
    assert model.score(X, z) > 0.75


def test_an_audit_of_labels_forgets_the_consensus_before(crowd):
    X, z, W, _ = crowd
    audit = fitted(X, W)
    audit.fit(X, z)
    assert "given_label" in audit.to_frame()
    with pytest.raises(AttributeError, match="fit it with annotations"):
        audit.next_to_label(3)


# --- bad input


def long_frame(**columns):
    table = {"row": [0, 0, 1, 2], "annotator": list("abab"), "label": ["x", "y", "x", "y"]}
    return pd.DataFrame(table | columns)


@pytest.mark.parametrize(
    ("annotations", "message"),
    [
        (long_frame(row=[0, 0, 1, 9]), "1 annotations name rows that X does not have: 9"),
        (long_frame(annotator=list("aaab")), "1 labels are a second one .* by 'a' on row '0'"),
        (long_frame(label="x"), "hold 1 classes .'x'"),
        (long_frame(label=None), "hold 0 classes"),
        (long_frame(label=[1.5, 2.0, 1.5, 2.0]), "1.5: numbers that are no classes"),
        (long_frame(label=["x", 1, "x", 1]), "texts and others"),
        (long_frame(annotator=[None, *"bab"]), "have no annotator"),
        (np.zeros(4), "have 4 rows"),
        (np.zeros((4, 2)), "have 4 rows and .* of the 3 of X"),
        (pd.DataFrame(np.eye(3), columns=list("aab")), "2 names for 3 columns"),
    ],
)
def test_bad_annotations_are_errors_that_say_what_to_do(annotations, message):
    with pytest.raises(ValueError, match=message):
        LabelAudit().fit(np.eye(3), annotations=annotations)


def test_settings_that_do_not_go_with_annotations_are_errors(crowd):
    X, z, W, audit = crowd
    with pytest.raises(ValueError, match="either y or annotations"):
        audit_labels(X, z, annotations=W)
    with pytest.raises(ValueError, match="groups_of_annotators names 'nobody'"):
        fitted(X, W, groups_of_annotators={"nobody": 1})
    with pytest.raises(ValueError, match="3 entries and there are 5 annotators"):
        fitted(X, W, groups_of_annotators=[1, 1, 2])
    with pytest.raises(ValueError, match="no class"):
        fitted(X, W, verified={0: "yak"})
    with pytest.raises(ValueError, match="by='me' 'annotator'"):
        audit.next_to_label(3, by="me")


def test_annotators_of_few_labels_and_labels_at_random_are_warned_of():
    X, _, W = a_crowd(80)
    W["new"] = [*W["reader 0"][:3], *[None] * 77]
    with pytest.warns(UserWarning, match="fewer than 5 labels .'new'"):
        fitted(X, W)
    rng = np.random.default_rng(0)
    random = pd.DataFrame(rng.choice(CLASSES, (300, 4)))
    with pytest.warns(UserWarning, match="little more than chance"):
        fitted(rng.normal(size=(300, 3)), random)


def test_inputs_may_be_a_table_with_text():
    X, z, W = a_crowd(150)
    frame = pd.DataFrame(X).add_prefix("x").assign(hall=np.where(X[:, 0] > 0, "east", "west"))
    audit = fitted(frame, W)
    assert audit.input_weight_ > 0
    assert (audit.consensus_ == z).mean() > (fitted(None, W).consensus_ == z).mean()


def test_an_annotator_without_labels_changes_nothing(crowd):
    X, _, W, audit = crowd
    with pytest.warns(UserWarning, match="1 annotator.s. gave fewer than 5 labels .'absent'"):
        other = fitted(X, W.assign(absent=None))
    assert_array_equal(other.consensus_, audit.consensus_)
    assert other.annotators_.loc["absent", "n_labels"] == 0
