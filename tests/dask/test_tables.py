"""A table in parts: read as in memory, fitted from a sample, scored, audited and predicted."""

from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import roc_auc_score

from granulearn.audit.ratings import VERDICTS
from granulearn.audit.table_audit import audit_table
from granulearn.dask import open_client, tables
from granulearn.dask.tables import audit_on_cluster, predict_on_cluster, train_on_cluster
from granulearn.models import load_model, save_model
from granulearn.tables import ColumnOptions, TableError, open_table, read_training_table
from granulearn.tables.io import text as text_io
from granulearn.tables.row_hashes import row_hashes
from granulearn.training.model_kinds import make_model, model_names
from granulearn.training.prediction import Predictor
from granulearn.training.training import input_cards, make_pipeline, train
from tests.cli.commands import people, write_people


def in_parts(path, model="rvfl", *, target="label", test=0.0, seed=0, **options):
    heard = []
    with open_table(path) as file:
        trained = train_on_cluster(
            file,
            model,
            target,
            ColumnOptions(**options),
            test=test,
            seed=seed,
            tell=heard.append,
        )
    return trained, heard


def in_memory(path, target="label", **options):
    with open_table(path) as file:
        return read_training_table(file, target, ColumnOptions(**options))


def fitted_in_memory(table, model="rvfl"):
    return make_pipeline(make_model(model, 0)).fit(table.X, table.y)


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


def assert_same_report(found, expected):
    for name in ("rows", "schema", "target", "labels", "findings", "remarks", "warnings"):
        assert getattr(found, name) == getattr(expected, name), name


def write_parts(folder, frame, cuts):
    """Write a table as files that begin and end at the cuts."""
    folder.mkdir()
    for number, (begin, end) in enumerate(pairwise([0, *cuts, len(frame)])):
        frame[begin:end].to_parquet(folder / f"{number}.parquet", index=False)
    return folder


# ---- training


def test_a_messy_table_in_parts_is_the_one_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(text_io, "CHUNK_BYTES", 1_000)
    path = write_messy(tmp_path / "t.csv")
    with open_table(path) as file:
        assert len(file.parts()) > 4
    trained, _ = in_parts(path)
    table = in_memory(path)
    assert_same_report(trained.report, table.report)
    assert {column.name: column.kind for column in table.schema.used} == {
        "Alter": "number",
        "Tag": "date",
        "Vermögen": "number",
        "Mitglied": "yes/no",
        "Straße": "category",
        "Stadt": "category",
    }
    assert trained.report.schema["nr"].dropped == "row number"
    assert trained.report.findings.leaks == ("Leck",)
    assert set(trained.card.classes) == {"gut", "schlecht"}
    assert sum(trained.card.classes.values()) == trained.card.rows == len(table.y)
    assert trained.card.dropped_rows == table.dropped_rows > 0
    assert trained.card.columns == input_cards(table.X, table.schema)
    assert trained.card.schema == table.schema
    expected = fitted_in_memory(table)
    step, its = trained.pipeline[0], expected[0]
    assert_array_equal(step.get_feature_names_out(), its.get_feature_names_out())
    assert_allclose(step.transform(table.X), its.transform(table.X))
    assert_allclose(
        trained.pipeline.predict_proba(table.X), expected.predict_proba(table.X), atol=1e-6
    )


@pytest.mark.parametrize("model", model_names())
def test_a_table_that_fits_the_sample_gives_the_model_of_training_in_memory(tmp_path, model):
    frame = people()
    trained, _ = in_parts(write_parts(tmp_path / "parts", frame, [50, 70]), model)
    table = in_memory(tmp_path / "parts")
    expected = fitted_in_memory(table, model)
    assert_allclose(
        trained.pipeline.predict_proba(table.X), expected.predict_proba(table.X), atol=1e-6
    )
    assert type(trained.pipeline[-1]) is type(expected[-1])


@pytest.mark.parametrize("model", ["robust", "rvfl", "sdap-gbrvfl"])
def test_columns_are_learnt_from_a_sample_and_scores_are_of_all_rows_held_out(
    model, tmp_path, monkeypatch
):
    monkeypatch.setattr(tables, "SAMPLE_SIZE", 200)
    frame = people(900)
    frame["street"] = [f"street {k % 60}" for k in range(len(frame))]
    parts = write_parts(tmp_path / "parts", frame, [400, 410, 700])
    trained, heard = in_parts(parts, model, test=0.3, seed=7)
    card = trained.card
    scores = card.scores["held_out"]
    assert scores["rows"] == pytest.approx(270, abs=50)
    in_sample = model == "robust"
    n_fitted = 200 if in_sample else 900 - scores["rows"]
    assert card.rows == sum(card.classes.values()) == pytest.approx(n_fitted, abs=40)
    assert any("a sample of" in text for text in heard) == in_sample
    alone = train(in_memory(parts), model, tune=False, test=0.3, seed=7).card.scores["held_out"]
    assert scores["accuracy"] > alone["accuracy"] - 0.08
    (income,) = (column for column in card.columns if column.name == "income")
    missing = frame["income"].isna().mean()
    assert income.missing / card.rows == pytest.approx(missing, abs=0.1)
    (city,) = (column for column in card.columns if column.name == "città")
    assert set(city.categories) == set(frame["città"].dropna())


def test_a_column_of_many_categories_that_say_nothing_does_no_harm(tmp_path, monkeypatch):
    """A row of the sample must not be encoded by its own label."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    frame = pd.DataFrame(
        {
            "x": x,
            "code": [f"code {k % 900}" for k in rng.permutation(2000)],
            "label": np.where(x + rng.normal(0, 0.5, 2000) > 0, "a", "b"),
        }
    )
    monkeypatch.setattr(tables, "SAMPLE_SIZE", 1200)
    parts = write_parts(tmp_path / "parts", frame, [1000])
    trained, _ = in_parts(parts, "rvfl", test=0.2)
    assert trained.card.scores["held_out"]["accuracy"] > 0.8


def test_processes_of_a_cluster_give_the_same_model(tmp_path, monkeypatch, dask_cluster):
    monkeypatch.setattr(text_io, "CHUNK_BYTES", 3_000)
    path = write_messy(tmp_path / "t.csv")
    here, _ = in_parts(path, test=0.2)
    with open_client(dask_cluster.scheduler.address):
        there, _ = in_parts(path, test=0.2)
    assert_same_report(there.report, here.report)
    assert there.card == here.card
    table = in_memory(path)
    ours, theirs = (made.pipeline.predict_proba(table.X) for made in (here, there))
    assert_allclose(ours, theirs, atol=1e-9)


def test_the_model_is_an_ordinary_file_with_an_honest_card(tmp_path, monkeypatch):
    monkeypatch.setattr(text_io, "CHUNK_BYTES", 100)
    path = write_people(tmp_path)
    with open_table(path) as file:
        assert len(file.parts()) > 3
    trained, heard = in_parts(path, "gb-rvfl", test=0.3, seed=2)
    save_model(trained.pipeline, tmp_path / "m.granulearn", trained.card)
    loaded = load_model(tmp_path / "m.granulearn")
    card = loaded.card
    assert card.model == "gb-rvfl"
    assert card.rows + card.scores["held_out"]["rows"] == 120
    assert sum(card.classes.values()) == card.rows
    assert card.scores["held_out"]["accuracy"] > 0.7
    assert "cross_validated" not in card.scores
    table = in_memory(path)
    assert_array_equal(loaded.pipeline.predict(table.X), trained.pipeline.predict(table.X))
    assert [text.split()[0] for text in heard] == ["looking", "examining", "fitting", "scoring"]


def test_a_category_and_a_class_that_only_one_part_has_are_known_to_the_model(tmp_path):
    frame = people(150).rename(columns={"città": "city"})
    frame.loc[120:, ["city", "label"]] = ["Ulm", "rare"]
    (tmp_path / "parts").mkdir()
    for number, rows in enumerate((frame[:60], frame[60:120], frame[120:])):
        rows.to_parquet(tmp_path / "parts" / f"{number}.parquet", index=False)
    trained, _ = in_parts(tmp_path / "parts", "robust")
    table = in_memory(tmp_path / "parts")
    expected = fitted_in_memory(table, "robust")
    assert_array_equal(*(made[0].get_feature_names_out() for made in (trained.pipeline, expected)))
    assert any("Ulm" in name for name in expected[0].get_feature_names_out())
    assert trained.card.classes["rare"] == 30
    ours, theirs = (made.predict_proba(table.X) for made in (trained.pipeline, expected))
    assert_allclose(ours, theirs, atol=1e-6)


def test_a_file_without_rows_in_a_folder_is_no_harm(tmp_path):
    (tmp_path / "parts").mkdir()
    table = pa.Table.from_pandas(people(), preserve_index=False)
    for number, rows in enumerate([table[:0], table[:70], table[:0], table[70:], table[:0]]):
        with parquet.ParquetWriter(tmp_path / "parts" / f"{number}.parquet", table.schema) as file:
            file.write_table(rows, row_group_size=40)
    table.to_pandas().to_csv(tmp_path / "t.csv", index=False)
    trained, _ = in_parts(tmp_path / "parts", test=0.2)
    assert trained.card.rows + trained.card.scores["held_out"]["rows"] == 120


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


def test_too_few_rows_to_hold_out_are_the_error_of_training_in_memory(tmp_path):
    path = tmp_path / "t.csv"
    people()[:20].to_csv(path, index=False)
    with pytest.raises(TableError, match="rows cannot be split into") as memory:
        train(in_memory(path), "rvfl", tune=False, test=0.01, seed=0)
    with pytest.raises(TableError) as parts:
        in_parts(path, test=0.01)
    assert parts.value.problems == memory.value.problems


def held_out(n_rows, test, seed):
    """Return which rows of a table of one part are held out."""
    return np.random.default_rng([seed, 0]).random((2, n_rows))[0] < test


def test_no_row_held_out_by_chance_is_an_error_and_no_score(tmp_path):
    path = tmp_path / "t.csv"
    people()[:20].to_csv(path, index=False)
    seed = next(seed for seed in range(200) if not held_out(20, 0.1, seed).any())
    with pytest.raises(TableError, match="20 rows cannot be split into"):
        in_parts(path, test=0.1, seed=seed)


def test_a_class_without_a_row_to_learn_from_is_named(tmp_path):
    frame = people(50)
    frame.loc[0, "label"] = "rare"
    frame.to_csv(tmp_path / "t.csv", index=False)
    seed = next(seed for seed in range(50) if held_out(50, 0.5, seed)[0])
    with pytest.raises(TableError, match="class rare of column 'label', the target, has no row"):
        in_parts(tmp_path / "t.csv", test=0.5, seed=seed)


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
            file, "label", ColumnOptions(), ratings, n_worst=n_worst, seed=0, tell=lambda _: None
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
        assert done.noise == alone.noise_
    else:
        known = ~np.isnan(written["label_quality"].to_numpy())
        flagged = alone.is_label_issue_[known]
        assert roc_auc_score(flagged, 1 - written["label_quality"][known]) > 0.97
        assert done.noise.rate == pytest.approx(alone.noise_.rate, abs=0.03)
    assert done.n_labels == len(frame) - 2 == sum(done.counts.values())
    assert set(done.counts) == set(VERDICTS)
    worst = done.worst.reset_index()
    assert len(worst) == 20
    at = worst["row"].to_numpy() - 1
    assert_array_equal(worst["given_label"], frame["label"].to_numpy()[at])
    assert_array_equal(worst["city"], frame["city"].to_numpy()[at])
    assert_array_equal(worst["row (column)"].astype(float), frame["row"].to_numpy()[at])
    assert_array_equal(worst["hash"], np.array(row_hashes(table.cells, "label"))[at])
    assert (worst["verdict"] == "wrong").all()


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
    monkeypatch.setattr(tables, "rated_part", partial(_failing, full, tables.rated_part))
    with pytest.raises(OSError, match="no space left"):
        audited(tmp_path / "parts", tmp_path / "ratings")
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]


def _failing(error, rated_part, part, number, *given):
    if number == 2:
        raise error
    return rated_part(part, number, *given)


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
        n_rows = predict_on_cluster(predictor, file, output, lambda _: None)
    return predictor, n_rows


def test_parts_have_the_predictions_of_the_whole_in_their_order(loaded, tmp_path):
    frame = people()
    parts = write_parts(tmp_path / "parts", frame, [50, 50])
    predictor, n_rows = predicted(loaded, parts, tmp_path / "out", proba=True, keep=("age",))
    assert n_rows == 120
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
    predictor, _ = predicted(loaded, parts, tmp_path / "out")
    assert predictor.reading.unknown == {"città": {"Atlantis": 2}}
    (line,) = predictor.reading.warnings(lambda row: f"row {row + 1}")
    assert "first 'Atlantis' at row 11" in line


def test_a_part_that_cannot_be_read_leaves_no_folder(loaded, tmp_path):
    parts = write_parts(tmp_path / "parts", people(), [50, 50])
    people().assign(città="Atlantis").to_parquet(parts / "9.parquet", index=False)
    with pytest.raises(TableError, match="Atlantis"):
        predicted(loaded, parts, tmp_path / "out", strict=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts"]
