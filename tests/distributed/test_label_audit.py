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


def test_data_in_memory_is_refused_with_the_plain_class_named():
    X, y = mixed_table(50)
    with pytest.raises(TypeError, match="for data in memory use LabelAudit"):
        DaskLabelAudit().fit(X, y)


def test_a_collection_is_refused_in_memory_with_the_class_for_it_named():
    X, y = mixed_table(50)
    for audit in (LabelAudit().fit, audit_labels):
        with pytest.raises(TypeError, match=r"granulearn\.distributed\.DaskLabelAudit"):
            audit(chunked(X), y)
