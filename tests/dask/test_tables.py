"""A table in parts: read as in memory, fitted from a sample, scored, audited and predicted."""

from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import roc_auc_score

from granulearn.audit.ratings import VERDICTS
from granulearn.audit.table_audit import audit_table
from granulearn.dask import tables
from granulearn.dask.tables import audit_on_cluster, predict_on_cluster, train_on_cluster
from granulearn.models import load_model, save_model
from granulearn.models.prediction import Predictor
from granulearn.tables import ColumnOptions, TableError, open_table, read_training_table
from granulearn.tables.io import text as text_io
from granulearn.tables.parse.cells import row_hashes
from granulearn.training.training import train
from tests.cli.commands import people, write_people
from tests.dask.chunked import write_parts


def in_parts(path, model="rvfl", *, target="label", test=0.0, seed=0, class_cost=None, **options):
    heard = []
    with open_table(path) as file:
        trained = train_on_cluster(
            file,
            model,
            target,
            ColumnOptions(**options),
            test=test,
            seed=seed,
            progress=heard.append,
            class_cost=class_cost,
        )
    return trained, heard


def in_memory(path, target="label", **options):
    with open_table(path) as file:
        return read_training_table(file, target, ColumnOptions(**options))


def write_messy(path, n_rows=600, seed=0):
    """Write a table with every kind of column, missing marks, a leak and variants of labels."""
    rng = np.random.default_rng(seed)
    age, member = rng.integers(18, 90, n_rows), rng.random(n_rows) < 0.5
    street = rng.integers(0, 70, n_rows)
    day = pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 900, n_rows), "D")
    wealth = rng.lognormal(8, 1, n_rows)
    score = age / 20 + 2 * member + (street % 7 == 0) * 1.5 + rng.normal(0, 0.4, n_rows)
    yes = score > np.median(score)
    frame = pd.DataFrame(
        {
            "nr": np.arange(1, n_rows + 1),
            "Alter": age.astype(str),
            "Tag": day.strftime("%d.%m.%Y"),
            "Vermögen": [f"{x:,.2f} €".translate(str.maketrans(",.", ".,")) for x in wealth],
            "Mitglied": np.where(member, "ja", "nein"),
            "Straße": [f"Weg {k}" for k in street],
            "Stadt": rng.choice(["Graz", "Linz; alt", 'die "Burg"', "zwei\nZeilen"], n_rows),
            "Leck": np.where(yes, "a", "b"),
            "label": np.where(yes, rng.choice(["gut", "Gut", " gut"], n_rows, p=[0.8, 0.1, 0.1]),
                              "schlecht"),
        }
    )  # fmt: skip
    for name, mark in [("Tag", "?"), ("Vermögen", "n/a"), ("Straße", ""), ("Stadt", "-")]:
        frame.loc[rng.random(n_rows) < 0.04, name] = mark
    frame.loc[rng.random(n_rows) < 0.02, "label"] = "NA"
    frame.to_csv(path, index=False, sep=";", encoding="cp1252")
    return path


# ---- training


def test_a_messy_table_in_parts_is_the_one_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(text_io, "CHUNK_BYTES", 1_000)
    path = write_messy(tmp_path / "t.csv")
    with open_table(path) as file:
        assert len(file.parts()) > 4
    trained, heard = in_parts(path, test=0.3)
    assert [text.split()[0] for text in heard[:2]] == ["profiling", "checking"]
    table = in_memory(path)
    alone = train(table, "rvfl", tune=False, test=0.3, seed=0)
    for name in ("rows", "schema", "target", "labels", "findings", "notes", "warnings"):
        assert getattr(trained.report, name) == getattr(table.report, name), name
    assert {column.name: column.type for column in table.schema.used} == {
        "Alter": "number",
        "Tag": "date",
        "Vermögen": "number",
        "Mitglied": "yes/no",
        "Straße": "category",
        "Stadt": "category",
    }
    assert trained.report.schema["nr"].dropped == "row number"
    assert trained.report.findings.leaks == ("Leck",)
    assert trained.card == alone.card
    assert_allclose(
        trained.pipeline.predict_proba(table.X), alone.pipeline.predict_proba(table.X), atol=1e-6
    )


def test_a_sample_is_fitted_and_scored_as_a_table_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "SAMPLE_SIZE", 200)
    frame = people(900)
    frame.loc[600:, ["città", "label"]] = ["Ulm", "rare"]
    frame.loc[606:, ["città", "label"]] = ["Graz", "yes"]
    frame.loc[[3, 700], "label"] = None
    parts = write_parts(tmp_path / "parts", frame, [400, 410, 700])
    trained, _ = in_parts(parts, test=0.3, seed=7)
    card, scores = trained.card, trained.card.scores["held_out"]
    assert trained.report.rows == 900
    assert card.dropped_rows == 2
    assert card.rows == sum(card.classes.values()) == pytest.approx(200, abs=40)
    assert scores["rows"] == pytest.approx(86, abs=20)
    assert card.classes["rare"] == 4  # all six rows are sampled
    alone = train(in_memory(parts), "rvfl", tune=False, test=0.3, seed=7).card.scores["held_out"]
    assert scores["accuracy"] > alone["accuracy"] - 0.1


def test_costs_of_errors_reach_the_model_of_a_table_in_parts(tmp_path):
    parts = write_parts(tmp_path / "parts", people(300), [150])
    trained, _ = in_parts(parts, "ball-forest", class_cost="balanced")
    assert trained.card.parameters["class_cost"] == "balanced"
    assert trained.pipeline[-1].class_cost_.shape == (2,)


def test_a_file_without_rows_in_a_folder_is_no_harm(tmp_path):
    (tmp_path / "parts").mkdir()
    table = pa.Table.from_pandas(people(), preserve_index=False)
    for number, rows in enumerate([table[:0], table[:70], table[:0], table[70:], table[:0]]):
        with parquet.ParquetWriter(tmp_path / "parts" / f"{number}.parquet", table.schema) as file:
            file.write_table(rows, row_group_size=40)
    trained, _ = in_parts(tmp_path / "parts")
    assert trained.card.rows == 120


def test_all_that_is_wrong_is_said_at_once_as_in_memory(tmp_path):
    path = tmp_path / "t.csv"
    pd.DataFrame({"x": np.arange(30.0), "y": 1, "label": "a"}).to_csv(path, index=False)
    options = {"ignore": ("z",), "categorical": ("w",)}
    with pytest.raises(TableError) as parts:
        in_parts(path, **options)
    with pytest.raises(TableError) as memory:
        in_memory(path, **options)
    assert parts.value.problems == memory.value.problems
    assert len(parts.value.problems) >= 3
    assert all(problem.startswith(f"{path}: ") for problem in parts.value.problems)


# ---- audit


def audited_people(folder, n_rows=1500, seed=0):
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
    write_parts(folder, frame, [700, 700, 1400])
    return frame


def audited(path, ratings, n_worst=20):
    with open_table(path) as file:
        return audit_on_cluster(
            file,
            "label",
            ColumnOptions(),
            ratings,
            n_worst=n_worst,
            seed=0,
            progress=lambda _: None,
        )


@pytest.mark.parametrize("sample_size", [600, 50_000])
def test_ratings_of_parts_are_as_good_as_in_memory(sample_size, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "SAMPLE_SIZE", sample_size)
    frame = audited_people(tmp_path / "parts")
    done = audited(tmp_path / "parts", tmp_path / "ratings")
    with open_table(tmp_path / "parts") as file:
        table = read_training_table(file, "label", ColumnOptions(), keep_cells=True)
    alone = audit_table(table, random_state=0).audit
    written = pd.read_parquet(tmp_path / "ratings")
    assert_array_equal(written["row"], table.rows + 1)
    assert_array_equal(written["given_label"], alone.given_label_)
    if sample_size > len(frame):
        assert_array_equal(written["verdict"], alone.verdict_)
        assert done.summary == alone.summary()
    else:
        known = ~np.isnan(written["label_quality"].to_numpy())
        flagged = alone.is_label_issue_[known]
        assert roc_auc_score(flagged, 1 - written["label_quality"][known]) > 0.97
        assert done.summary.rate == pytest.approx(alone.summary().rate, abs=0.05)
    assert done.summary.n_labels == len(frame) - 2 == sum(done.counts.values())
    assert set(done.counts) == set(VERDICTS)
    worst = done.worst.reset_index()
    assert len(worst) == 20
    at = worst["row"].to_numpy() - 1
    assert_array_equal(worst["given_label"], frame["label"].to_numpy()[at])
    assert_array_equal(worst["city"], frame["city"].to_numpy()[at])
    assert_array_equal(worst["row (column)"].astype(float), frame["row"].to_numpy()[at])
    assert_array_equal(worst["hash"], np.array(row_hashes(table.cells, "label"))[at])
    assert worst["is_label_issue"].all()


def test_a_file_that_is_no_parquet_is_named(tmp_path):
    audited_people(tmp_path / "parts")
    content = (tmp_path / "parts" / "2.parquet").read_bytes()
    (tmp_path / "parts" / "2.parquet").write_bytes(content[: len(content) // 2])
    with pytest.raises((TableError, OSError, ValueError), match=r"2\.parquet"):
        audited(tmp_path / "parts", tmp_path / "ratings")
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]


def test_ratings_that_cannot_all_be_written_are_not_there(tmp_path, monkeypatch):
    audited_people(tmp_path / "parts")
    full = OSError("no space left")
    monkeypatch.setattr(tables, "rate_part", partial(_failing, full, tables.rate_part))
    with pytest.raises(OSError, match="no space left"):
        audited(tmp_path / "parts", tmp_path / "ratings")
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]


def _failing(error, rate_part, part, number, *given):
    if number == 2:
        raise error
    return rate_part(part, number, *given)


# ---- predictions


@pytest.fixture(scope="module", name="loaded")
def people_model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    with open_table(write_people(folder)) as file:
        table = read_training_table(file, "label", ColumnOptions())
    trained = train(table, "rvfl", tune=False, test=0.0, seed=0)
    save_model(trained.pipeline, folder / "m.granulearn", trained.card)
    return load_model(folder / "m.granulearn")


def predicted(loaded, path, output, **settings):
    predictor = Predictor(loaded, **settings)
    with open_table(path) as file:
        predict_on_cluster(predictor, file, output, lambda _: None)
    return predictor


def test_parts_have_the_predictions_of_the_whole_in_their_order(loaded, tmp_path):
    frame = people()
    parts = write_parts(tmp_path / "parts", frame, [50, 50])
    predictor = predicted(loaded, parts, tmp_path / "out", proba=True, keep=("age",))
    assert predictor.reader.n_rows == 120
    found = pd.read_parquet(tmp_path / "out")
    expected = loaded.pipeline.predict_proba(frame.drop(columns="label"))
    assert np.array_equal(found["age"].astype(float), frame["age"].astype(float), equal_nan=True)
    assert_allclose(found.filter(like="probability_"), expected, atol=1e-9)
    assert sum(predictor.counts.values()) == 120
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "part-00000.parquet",
        "part-00002.parquet",
    ]


def test_unknown_categories_are_told_once_with_their_rows(loaded, tmp_path):
    frame = people()
    frame.loc[[10, 110], "città"] = "Atlantis"
    parts = write_parts(tmp_path / "parts", frame, [50, 50])
    predictor = predicted(loaded, parts, tmp_path / "out")
    assert predictor.reader.unknown == {"città": {"Atlantis": 2}}
    (line,) = predictor.reader.warnings(lambda row: f"row {row + 1}")
    assert "first 'Atlantis' at row 11" in line


def test_a_part_that_cannot_be_read_leaves_no_folder(loaded, tmp_path):
    parts = write_parts(tmp_path / "parts", people(), [50, 50])
    people().assign(città="Atlantis").to_parquet(parts / "9.parquet", index=False)
    with pytest.raises(TableError, match="Atlantis"):
        predicted(loaded, parts, tmp_path / "out", strict=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts"]
