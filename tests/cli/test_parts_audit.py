"""`granulearn audit` and `predict` of a folder, on a cluster."""

import pandas as pd
import pytest

from granulearn.cli import exit_codes
from granulearn.distributed import open_client
from granulearn.review import Review
from tests.cli.commands import fails, people, succeeds


@pytest.fixture
def folder(tmp_path, dask_cluster, monkeypatch):
    """A folder of Parquet files, and a cluster to read it."""

    def connected(address, *_):
        assert address == "local"
        return open_client(dask_cluster.scheduler.address)

    monkeypatch.setattr("granulearn.distributed.open_client", connected)
    (tmp_path / "parts").mkdir()
    frame = people(150)
    for number in range(3):
        frame[50 * number : 50 * number + 50].to_parquet(tmp_path / "parts" / f"{number}.parquet")
    return tmp_path / "parts"


@pytest.mark.slow
def test_a_folder_is_audited_listed_and_predicted_in_parts(folder, tmp_path):
    suspects = tmp_path / "suspects.csv"
    done = succeeds("audit", folder, "-t", "label", "-o", suspects, "--worst", 7)
    assert "parts: 150 labels" in done.out
    listed = pd.read_csv(suspects)
    assert len(listed) == 7
    assert listed.columns[:4].tolist() == ["row", "hash", "given", "suggested"]
    assert {"decision", "new_label", "label"} <= set(listed)
    assert len(pd.read_parquet(tmp_path / "suspects.ratings")) == 150
    with Review(suspects, "label") as review:
        first = review.next()
        assert (first.given, first.rival) == tuple(listed.loc[0, ["given", "suggested"]])
    facts = succeeds("audit", folder, "-t", "label", "--json").json
    assert sum(facts["verdicts"].values()) == facts["samples"] == 150
    said = fails(exit_codes.USAGE, "audit", folder, "-t", "label", "-o", suspects)
    assert "suspects.ratings holds files already" in said

    model, out = tmp_path / "m.skops", tmp_path / "out"
    succeeds("fit", folder, "-t", "label", "-m", "rvfl", "-o", model)
    done = succeeds("predict", model, folder, "-o", out)
    assert "150 rows predicted" in done.out
    succeeds("predict", model, folder, "-o", tmp_path / "one.parquet")
    one = pd.read_parquet(tmp_path / "one.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(out), one)
    assert "is there already" in fails(exit_codes.USAGE, "predict", model, folder, "-o", out)


@pytest.mark.parametrize("option", [["--sample", 3], ["--group", "age"], ["--report", "r.html"]])
def test_what_needs_all_rows_at_once_is_refused(tmp_path, option):
    people().to_parquet(tmp_path / "t.parquet")
    said = fails(exit_codes.USAGE, "audit", tmp_path, "-t", "label", *option)
    assert f"{option[0]} needs the whole table in memory" in said
