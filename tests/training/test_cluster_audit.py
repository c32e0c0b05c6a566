"""The audit of a table in parts: the ratings that it has in memory, and rows that can be found."""

from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from granulearn.audit.ratings import VERDICTS
from granulearn.audit.table_audit import audit_table
from granulearn.tables import ColumnOptions, TableError, open_table, read_training_table
from granulearn.tables.io import text as text_io
from granulearn.tables.row_hashes import row_hashes
from granulearn.training import cluster_audit, part_statistics
from granulearn.training.cluster_audit import audit_on_cluster, rated_part
from tests.distributed.large_tables import call_large


def people_in_parts(folder, n_rows=1500, seed=0):
    """Write a folder of four files, one empty, one with a category of its own; return the rows."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n_rows),
            "row": rng.normal(0, 1, n_rows),  # a name that the list has, too
            "city": rng.choice(["Graz", "Linz", "Wien"], n_rows),
        }
    )
    frame.loc[n_rows - 50 :, "city"] = "Ulm"
    likes = (frame["age"] > 40) ^ (frame["city"] == "Graz")
    frame["label"] = np.where(likes ^ (rng.random(n_rows) < 0.05), "yes", "no")
    frame.loc[[3, 900], "label"] = None
    frame.loc[rng.random(n_rows) < 0.1, "age"] = np.nan
    write_parts(frame, folder, [700, 700, 1400])
    return frame


def write_parts(frame, folder, cuts):
    """Write a table as files that begin and end at the cuts."""
    folder.mkdir()
    for number, (begin, end) in enumerate(pairwise([0, *cuts, len(frame)])):
        frame[begin:end].to_parquet(folder / f"{number}.parquet", index=False)


def audited(path, ratings, n_worst=20):
    with open_table(path) as file:
        return audit_on_cluster(
            file, "label", ColumnOptions(), ratings, n_worst=n_worst, seed=0, tell=lambda _: None
        )


@pytest.mark.parametrize("is_large", [False, True])
def test_ratings_of_parts_are_those_of_the_table_in_memory(is_large, tmp_path, monkeypatch):
    if is_large:
        call_large(monkeypatch)
    monkeypatch.setattr(part_statistics, "REMEMBERED", 200)
    frame = people_in_parts(tmp_path / "parts")
    done = audited(tmp_path / "parts", tmp_path / "ratings")
    with open_table(tmp_path / "parts") as file:
        table = read_training_table(file, "label", ColumnOptions(), keep_cells=True)
    alone = audit_table(table, random_state=0).audit
    written = pd.read_parquet(tmp_path / "ratings")
    assert_array_equal(written["row"], table.rows + 1)
    assert_array_equal(written["given"], alone.given_)
    # Means and deviations of columns are sums over parts, and may differ in their last bits:
    # of a large table, inputs are rounded, so that the same rows are drawn.
    assert (written["verdict"].to_numpy() == alone.verdict_).mean() > 0.999
    assert done.noise.rate == pytest.approx(alone.noise_.rate, abs=0.001)
    assert done.n_labels == len(frame) - 2 == sum(done.counts.values())
    assert set(done.counts) == set(VERDICTS)
    worst = done.worst.reset_index()
    assert len(worst) == 20
    at = worst["row"].to_numpy() - 1
    assert_array_equal(worst["given"], frame["label"].to_numpy()[at])
    assert_array_equal(worst["city"], frame["city"].to_numpy()[at])
    assert_array_equal(worst["row (column)"].astype(float), frame["row"].to_numpy()[at])
    assert_array_equal(worst["hash"], np.array(row_hashes(table.cells, "label"))[at])
    assert (worst["verdict"] == "wrong").all()


@pytest.mark.parametrize("is_large", [False, True])
def test_however_the_table_is_cut_ratings_and_worst_rows_are_the_same(
    is_large, tmp_path, monkeypatch
):
    if is_large:
        call_large(monkeypatch)
    monkeypatch.setattr(part_statistics, "REMEMBERED", 200)
    frame = people_in_parts(tmp_path / "first")
    write_parts(frame, tmp_path / "second", [1, 200, 450, 451, 452, 1100])
    write_parts(frame, tmp_path / "whole", [])
    found = []
    for name in ("first", "second", "whole"):
        done = audited(tmp_path / name, tmp_path / f"{name}.ratings", n_worst=40)
        found.append((done, pd.read_parquet(tmp_path / f"{name}.ratings")))
    (expected, ratings), *others = found
    for done, its_ratings in others:
        pd.testing.assert_frame_equal(its_ratings, ratings, check_exact=True)
        pd.testing.assert_frame_equal(done.worst, expected.worst, check_exact=True)
        assert (done.noise, done.counts) == (expected.noise, expected.counts)


def test_a_text_file_in_parts_has_the_ratings_of_the_folder(tmp_path, monkeypatch):
    call_large(monkeypatch)
    monkeypatch.setattr(text_io, "CHUNK_BYTES", 1_000)
    frame = people_in_parts(tmp_path / "parts")
    frame.to_csv(tmp_path / "t.csv", index=False)
    with open_table(tmp_path / "t.csv") as file:
        assert len(file.parts()) > 2
    found = []
    for name in ("parts", "t.csv"):
        done = audited(tmp_path / name, tmp_path / f"{name}.ratings")
        found.append((pd.read_parquet(tmp_path / f"{name}.ratings"), done))
    (ratings, folder), (its_ratings, text) = found
    pd.testing.assert_frame_equal(ratings, its_ratings, check_exact=True)
    assert (folder.noise, folder.counts) == (text.noise, text.counts)
    assert_array_equal(folder.worst.index, text.worst.index)


def test_a_file_that_is_no_parquet_is_named(tmp_path):
    people_in_parts(tmp_path / "parts")
    content = (tmp_path / "parts" / "2.parquet").read_bytes()
    (tmp_path / "parts" / "2.parquet").write_bytes(content[: len(content) // 2])
    with pytest.raises((TableError, OSError, ValueError), match=r"2\.parquet"):
        audited(tmp_path / "parts", tmp_path / "ratings")
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]


def test_ratings_that_cannot_all_be_written_are_not_there(tmp_path, monkeypatch):
    people_in_parts(tmp_path / "parts")
    full = OSError("no space left")
    monkeypatch.setattr(cluster_audit, "rated_part", partial(_failing, full))
    with pytest.raises(OSError, match="no space left"):
        audited(tmp_path / "parts", tmp_path / "ratings")
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]


def _failing(error, frame, part, number, *given):
    if number == 2:
        raise error
    return rated_part(frame, part, number, *given)
