"""The audit on blocks: the ratings of the plain audit."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from granulearn.audit import LabelAudit, audit_labels
from granulearn.audit.ratings import VERDICTS
from granulearn.distributed import DaskLabelAudit
from tests.distributed.chunked import chunked, framed
from tests.distributed.large_tables import call_large, mixed_table

COLUMNS = {
    "given": "given_",
    "suggested": "suggested_",
    "verdict": "verdict_",
    "wrong_probability": "wrong_proba_",
    "reliability": "reliability_",
    "flagged": "flagged_",
}


@pytest.mark.parametrize("is_large", [True, False])
def test_blocks_of_any_size_have_the_ratings_of_the_plain_audit(is_large, monkeypatch):
    if is_large:
        call_large(monkeypatch)
    X, y = mixed_table()
    X[:, 2] += 90 * (np.arange(len(X)) % 500 == 17)  # strange
    alone = LabelAudit(random_state=0).fit(X, y)
    for rows in (200, 1700, -1) if is_large else (1700,):
        ours = DaskLabelAudit(random_state=0).fit(chunked(X, rows), chunked(y, rows))
        assert ours.noise_ == alone.noise_
        found = ours.ratings_.compute()
        for column, attribute in COLUMNS.items():
            assert_array_equal(found[column].to_numpy(), getattr(alone, attribute))
        assert_array_equal(found.index, np.arange(len(X)))
        assert_array_equal(ours.worst(40).index, alone.ratings_.worst_first[:40])
    assert (found["verdict"] == "strange").sum() > 1


def test_ratings_are_written_block_by_block_with_sums_on_the_way(monkeypatch, tmp_path):
    call_large(monkeypatch)
    X, y = mixed_table()
    names = np.array(["a", "b", "c"])[y]
    audit = DaskLabelAudit(random_state=0).fit(*framed(X, names, [1000, 1000, 2500]))
    done = audit.write(tmp_path / "ratings", n_worst=25)
    assert sorted(path.name for path in (tmp_path / "ratings").iterdir()) == [
        f"part-{number:05d}.parquet" for number in range(4)
    ]
    written = pd.read_parquet(tmp_path / "ratings")
    counts = written["verdict"].value_counts()
    assert done.counts == {name: counts.get(name, 0) for name in VERDICTS}
    assert sum(done.counts.values()) == len(X)
    worst = written.sort_values("reliability", kind="stable").head(25)
    assert_array_equal(done.worst["given"], worst["given"])
    assert done.worst["verdict"].iloc[0] == "wrong"


def test_empty_partitions_and_blocks_that_lack_a_class_change_no_rating(monkeypatch):
    call_large(monkeypatch)
    X, y = mixed_table()
    order = np.argsort(y == 2, kind="stable")
    X, names = X[order], np.array(["ox", "zebra", "rhinoceros"])[y[order]]
    alone = LabelAudit(random_state=0).fit(X, names)
    ours = DaskLabelAudit(random_state=0).fit(*framed(X, names, [0, 400, 400, 2000, len(X)]))
    assert ours.noise_ == alone.noise_
    found = ours.ratings_.compute()
    for column, attribute in COLUMNS.items():
        assert_array_equal(found[column].to_numpy(), getattr(alone, attribute))


def test_data_in_memory_is_refused_with_the_plain_class_named():
    X, y = mixed_table(50)
    with pytest.raises(TypeError, match="for data in memory use LabelAudit"):
        DaskLabelAudit().fit(X, y)


@pytest.mark.parametrize("cut", ["arrays", "frames"])
def test_the_plain_names_take_collections(cut, monkeypatch):
    call_large(monkeypatch)
    X, y = mixed_table()
    blocks = (chunked(X, 700), chunked(y, 700)) if cut == "arrays" else framed(X, y, [900, 900])
    ours = DaskLabelAudit(random_state=0).fit(*blocks)
    audit = LabelAudit(random_state=0).fit(*blocks)
    table = audit_labels(*blocks, random_state=0)
    alone = LabelAudit(random_state=0).fit(X, y)
    expected = ours.ratings_.compute()
    pd.testing.assert_frame_equal(table.compute(), expected)
    pd.testing.assert_frame_equal(audit.to_frame().compute(), expected)
    for attribute in COLUMNS.values():
        assert_array_equal(getattr(audit, attribute).compute(), getattr(alone, attribute))
    assert table.npartitions == audit.ratings_.npartitions == ours.ratings_.npartitions
    assert audit.noise_ == alone.noise_
    assert audit.n_features_in_ == X.shape[1]
    in_memory = alone.to_frame().attrs
    assert table.attrs == table.compute().attrs == {name: in_memory[name] for name in table.attrs}
    pd.testing.assert_frame_equal(
        audit.next_to_review(30), alone.next_to_review(30), check_names=False, check_dtype=False
    )


def test_an_audit_can_be_fitted_in_blocks_and_in_memory_by_turns():
    X, y = mixed_table(200)
    audit = LabelAudit(random_state=0).fit(X, y).fit(chunked(X, 50), chunked(y, 50))
    assert not hasattr(audit, "proba_")
    verdicts = audit.verdict_.compute()
    assert_array_equal(audit.fit(X, y).verdict_, verdicts)
    assert len(audit.to_frame()) == 200
    assert isinstance(audit.issues, pd.DataFrame)


def test_what_needs_all_rows_is_refused_for_collections():
    X, y = mixed_table(200)
    blocks = chunked(X, 50), chunked(y, 50)
    audit = LabelAudit(random_state=0).fit(*blocks)
    with pytest.raises(ValueError, match="groups: needs all rows in memory"):
        audit_labels(*blocks, groups=y)
    with pytest.raises(ValueError, match="verified, rows: needs all rows in memory"):
        LabelAudit().fit(*blocks, verified={0: 1}, rows=y)
    with pytest.raises(TypeError, match="is the name of a column"):
        audit_labels(framed(X, y, [])[0], "y")
    with pytest.raises(TypeError, match="fit_resample takes data in memory"):
        audit.fit_resample(*blocks)
    for ask in (
        lambda: audit.issues,
        audit.expected_yield,
        lambda: audit.next_to_review(5, random_share=0.5),
    ):
        with pytest.raises(TypeError, match="these are in blocks"):
            ask()
    with pytest.raises(TypeError, match="y is a numpy ndarray"):
        audit_labels(blocks[0], y)
