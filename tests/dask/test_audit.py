"""The audit on blocks: the plain audit of a sample, and ratings of all other rows like it."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.metrics import roc_auc_score

from granulearn.audit import LabelAudit, audit_labels
from granulearn.audit.ratings import VERDICTS
from granulearn.dask import DaskLabelAudit
from tests.dask.chunked import chunked, framed

COLUMNS = {
    "given_label": "given_label_",
    "predicted_label": "predicted_label_",
    "verdict": "verdict_",
    "error_probability": "error_proba_",
    "label_quality": "label_quality_",
    "is_label_issue": "is_label_issue_",
}


def noisy_table(n=3000, seed=0):
    """Return inputs, labels of three classes, and which of them are wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    kinds = rng.integers(3, size=n)
    X[:, 3:] = kinds[:, None] == np.arange(3)
    truth = np.digitize(np.sin(3 * X[:, 0]) + X[:, 1] + (kinds == 1), [-0.5, 1.0])
    y = truth.copy()
    wrong = rng.random(n) < 0.05
    y[wrong] = (truth[wrong] + 1) % 3
    return X, y, wrong


def test_a_table_that_fits_the_sample_has_the_ratings_of_the_plain_audit():
    X, y, _ = noisy_table()
    alone = LabelAudit(random_state=0).fit(X, y)
    ours = DaskLabelAudit(random_state=0).fit(chunked(X, 700), chunked(y, 700))
    assert ours.summary() == alone.summary()
    found = ours.ratings_.compute()
    for column, attribute in COLUMNS.items():
        assert_array_equal(found[column].to_numpy(), getattr(alone, attribute))
    assert_array_equal(found.index, np.arange(len(X)))
    assert_array_equal(ours.worst(40).index, alone.ratings_.worst_first[:40])


def test_rows_outside_of_the_sample_are_rated_nearly_as_well():
    X, y, wrong = noisy_table(4000)
    X[:, 2] += 90 * (np.arange(len(X)) % 500 == 17)  # outlier
    alone = LabelAudit(random_state=0).fit(X, y)
    ours = DaskLabelAudit(random_state=0, sample_size=1500).fit(chunked(X, 700), chunked(y, 700))
    found = ours.ratings_.compute()
    assert roc_auc_score(wrong, 1 - found["label_quality"]) > (
        roc_auc_score(wrong, 1 - alone.label_quality_) - 0.02
    )
    assert abs(ours.summary().rate - alone.summary().rate) < 0.05
    assert found["is_label_issue"].sum() == pytest.approx(ours.summary().n_errors, rel=0.2)
    assert (found["verdict"] == alone.verdict_).mean() > 0.85
    assert (found["verdict"] == "outlier").sum() > 1


def test_ratings_are_written_block_by_block(tmp_path):
    X, y, _ = noisy_table()
    names = np.array(["a", "b", "c"])[y]
    audit = DaskLabelAudit(random_state=0, sample_size=1000)
    audit.fit(*framed(X, names, [1000, 1000, 2500]))
    audit.ratings_.to_parquet(tmp_path / "ratings")
    written = pd.read_parquet(tmp_path / "ratings")
    assert len([*(tmp_path / "ratings").glob("*.parquet")]) == 4
    assert set(written["verdict"]) <= set(VERDICTS)
    assert_array_equal(written.index, np.arange(len(X)))
    worst = written["error_probability"].nlargest(25)
    assert_array_equal(audit.worst(25)["error_probability"], worst)
    assert audit.worst(1)["is_label_issue"].item()


def test_blocks_that_lack_a_class_are_no_harm():
    X, y, _ = noisy_table()
    order = np.argsort(y == 2, kind="stable")
    X, names = X[order], np.array(["ox", "zebra", "rhinoceros"])[y[order]]
    audit = DaskLabelAudit(random_state=0, sample_size=1000)
    found = audit.fit(*framed(X, names, [0, 400, 400, 2000, len(X)])).ratings_.compute()
    assert_array_equal(found["given_label"], names)
    assert_array_equal(found.index, np.arange(len(X)))


def test_data_in_memory_is_refused_with_the_plain_class_named():
    X, y, _ = noisy_table(50)
    with pytest.raises(TypeError, match="for data in memory use LabelAudit"):
        DaskLabelAudit().fit(X, y)


@pytest.mark.parametrize("cut", ["arrays", "frames"])
def test_audit_labels_takes_collections(cut):
    X, y, _ = noisy_table(800)
    blocks = (chunked(X, 300), chunked(y, 300)) if cut == "arrays" else framed(X, y, [250, 250])
    table = audit_labels(*blocks, random_state=0)
    expected = DaskLabelAudit(random_state=0).fit(*blocks).ratings_
    assert table.npartitions == expected.npartitions
    pd.testing.assert_frame_equal(table.compute(), expected.compute())
    in_memory = audit_labels(X, y, random_state=0).attrs
    assert table.attrs == table.compute().attrs == {name: in_memory[name] for name in table.attrs}


def test_what_needs_all_rows_is_refused_for_collections():
    X, y, _ = noisy_table(200)
    blocks = chunked(X, 50), chunked(y, 50)
    with pytest.raises(ValueError, match="groups: needs all rows in memory"):
        audit_labels(*blocks, groups=y)
    with pytest.raises(TypeError, match="y is a builtins str"):
        audit_labels(framed(X, y, [])[0], "y")
    with pytest.raises(TypeError, match="y is a numpy ndarray"):
        audit_labels(blocks[0], y)
    for ask in (LabelAudit().fit, LabelAudit().fit_resample):
        with pytest.raises(TypeError, match="in blocks; use"):
            ask(*blocks)
