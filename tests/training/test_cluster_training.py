"""Training in parts: the cells, the pipeline, the model and the scores of training in memory."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granulearn.datasets import make_pipeline_for
from granulearn.distributed import open_client
from granulearn.models import load_model, save_model
from granulearn.tables import ColumnOptions, TableError, open_table, read_training_table
from granulearn.tables.io import text as text_io
from granulearn.training import part_statistics
from granulearn.training.cluster_training import train_on_cluster
from granulearn.training.model_kinds import make_model, names_in_parts
from granulearn.training.part_rows import Request
from granulearn.training.training import input_cards, train
from tests.cli.commands import people, write_people
from tests.distributed.large_tables import call_large
from tests.training.even_folds import take_even_folds


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


def held_out(n_rows, test, seed):
    return Request("label", test, seed).held_out(np.arange(n_rows))


def fitted_in_memory(table, model="rvfl"):
    return make_pipeline_for(table.X, make_model(model, 0)).fit(table.X, table.y)


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


def test_a_messy_table_in_parts_is_the_one_in_memory(tmp_path, monkeypatch):
    take_even_folds(monkeypatch)
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
    plain = tuple(replace(column, meaning="") for column in trained.card.columns)
    assert plain == input_cards(table.X)
    assert all(column.meaning for column in trained.card.columns)
    assert trained.card.schema == table.schema
    expected = fitted_in_memory(table)
    step, its = trained.pipeline[0], expected[0]
    assert_array_equal(step.get_feature_names_out(), its.get_feature_names_out())
    assert_allclose(step.transform(table.X), its.transform(table.X), rtol=1e-9, atol=1e-9)
    assert_allclose(
        trained.pipeline.predict_proba(table.X), expected.predict_proba(table.X), atol=1e-6
    )


@pytest.mark.parametrize("model", ["robust", "rvfl"])
def test_however_a_table_is_cut_the_model_and_its_scores_are_the_same(model, tmp_path, monkeypatch):
    call_large(monkeypatch, 300)
    monkeypatch.setattr(part_statistics, "REMEMBERED", 100)
    path = write_messy(tmp_path / "t.csv")
    X = in_memory(path).X
    with open_table(path) as file:
        whole = pa.Table.from_batches(list(file.batches()))
    found = []
    for number, edges in enumerate([[0, 600], [0, 50, 51, 400, 600]]):
        folder = tmp_path / str(number)
        folder.mkdir()
        for at, (begin, end) in enumerate(pairwise(edges)):
            parquet.write_table(whole[begin:end], folder / f"{at}.parquet")
        found.append(in_parts(folder, model, test=0.3)[0])
    one, many = found
    assert one.card.scores == many.card.scores
    assert one.card.classes == many.card.classes
    assert_array_equal(*(trained.pipeline[0].transform(X) for trained in found))
    ours, theirs = (trained.pipeline.predict_proba(X) for trained in found)
    if model == "robust":
        assert_array_equal(ours, theirs)
    else:  # the networks of all rows are sums over parts, and rounded
        assert_allclose(ours, theirs, atol=1e-9)


def test_processes_of_a_cluster_give_the_same_model_to_the_last_bit(
    tmp_path, monkeypatch, dask_cluster
):
    monkeypatch.setattr(text_io, "CHUNK_BYTES", 3_000)
    path = write_messy(tmp_path / "t.csv")
    here, _ = in_parts(path, test=0.2)
    with open_client(dask_cluster.scheduler.address):
        there, _ = in_parts(path, test=0.2)
    assert_same_report(there.report, here.report)
    assert there.card == here.card
    table = in_memory(path)
    assert_array_equal(there.pipeline.predict_proba(table.X), here.pipeline.predict_proba(table.X))


def test_without_missing_numbers_many_parts_give_the_model_of_training_in_memory(
    tmp_path, monkeypatch
):
    take_even_folds(monkeypatch)
    monkeypatch.setattr(text_io, "CHUNK_BYTES", 300)
    rng = np.random.default_rng(1)
    frame = people(400).drop(columns="income")
    frame["street"] = [f"street {k}" for k in rng.integers(0, 60, len(frame))]
    frame["label"] = np.where(rng.random(len(frame)) < 0.2, "perhaps", frame["label"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    with open_table(tmp_path / "t.csv") as file:
        assert len(file.parts()) > 3
    trained, _ = in_parts(tmp_path / "t.csv")
    table = in_memory(tmp_path / "t.csv")
    expected = fitted_in_memory(table)
    assert trained.pipeline[0].named_transformers_["many categories"][-2].categories_
    assert_allclose(
        trained.pipeline.predict_proba(table.X), expected.predict_proba(table.X), atol=1e-6
    )


@pytest.mark.parametrize("model", names_in_parts())
def test_one_part_gives_the_model_of_training_in_memory(tmp_path, model):
    path = write_people(tmp_path)
    table = in_memory(path)
    trained, _ = in_parts(path, model)
    expected = fitted_in_memory(table, model)
    assert_allclose(
        trained.pipeline.predict_proba(table.X), expected.predict_proba(table.X), atol=1e-6
    )
    assert type(trained.pipeline[-1]) is type(expected[-1])


def test_a_constant_and_an_empty_column_that_are_wished_for_are_no_harm(tmp_path):
    people().assign(constant=0.1, empty=np.nan).to_csv(tmp_path / "t.csv", index=False)
    trained, _ = in_parts(tmp_path / "t.csv", include=("constant",))
    features = trained.pipeline[0].transform(in_memory(tmp_path / "t.csv", include=("constant",)).X)
    assert np.isfinite(features).all()
    place = trained.pipeline[0].get_feature_names_out().tolist().index("constant")
    assert_allclose(features[:, place], 0, atol=1e-9)


@pytest.mark.skip(reason="until the cluster prepares tables by TablePreprocessor")
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
    assert card.balls == len(trained.pipeline[-1].balls_)
    assert card.scores["held_out"]["accuracy"] > 0.7
    assert "cross_validated" not in card.scores
    table = in_memory(path)
    assert_array_equal(loaded.pipeline.predict(table.X), trained.pipeline.predict(table.X))
    assert [text.split()[0] for text in heard] == ["looking", "examining", "fitting", "scoring"]


def test_scores_are_of_the_rows_held_out_and_all_else_is_of_the_others(tmp_path, monkeypatch):
    take_even_folds(monkeypatch)
    monkeypatch.setattr(text_io, "CHUNK_BYTES", 300)
    frame = people(400).drop(columns="income")
    frame["street"] = [f"street {k % 60}" for k in range(len(frame))]
    frame.to_csv(tmp_path / "t.csv", index=False)
    apart = held_out(len(frame), 0.3, 7)
    trained, _ = in_parts(tmp_path / "t.csv", test=0.3, seed=7)
    table, scores = in_memory(tmp_path / "t.csv"), trained.card.scores["held_out"]
    X, y = table.X[apart], table.y[apart]
    assert scores["rows"] == len(y)
    assert scores["accuracy"] == pytest.approx(trained.pipeline.score(X, y))
    X, y = table.X[~apart], table.y[~apart]
    assert trained.card.classes == dict(zip(*np.unique(y, return_counts=True), strict=True))
    (age,) = (column for column in trained.card.columns if column.name == "age")
    assert (age.lowest, age.highest) == (X["age"].min(), X["age"].max())
    expected = make_pipeline_for(X, make_model("rvfl", 7)).fit(X, y)
    assert_allclose(
        trained.pipeline.predict_proba(table.X), expected.predict_proba(table.X), atol=1e-6
    )


def test_labels_that_are_whole_numbers_stay_numbers_in_their_order(tmp_path, monkeypatch):
    take_even_folds(monkeypatch)
    frame = people()
    frame["label"] = np.where(frame["label"] == "yes", 10, 9)
    frame["street"] = [f"street {k % 60}" for k in range(len(frame))]
    (tmp_path / "parts").mkdir()
    frame.to_parquet(tmp_path / "parts" / "t.parquet", row_group_size=40)
    trained, _ = in_parts(tmp_path / "parts")
    assert_array_equal(trained.pipeline.classes_, [9, 10])
    assert set(trained.card.classes) == {"9", "10"}
    table = in_memory(tmp_path / "parts")
    expected = fitted_in_memory(table).predict_proba(table.X)
    assert_allclose(trained.pipeline.predict_proba(table.X), expected, atol=0.05)


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


def test_parts_can_be_read_from_any_folder(tmp_path, monkeypatch):
    path = write_people(tmp_path)
    monkeypatch.chdir(tmp_path)
    with open_table(path.name) as file:
        (part,) = file.parts()
        monkeypatch.chdir("/")
        assert sum(batch.num_rows for batch in part.batches()) == 120


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


def test_a_target_that_is_not_there_is_said_with_the_other_problems(tmp_path):
    path = write_people(tmp_path)
    with pytest.raises(TableError, match=r"no column 'lable' .* no column 'agee'"):
        in_parts(path, target="lable", ignore=("agee",))


def test_too_few_rows_to_hold_out_are_the_error_of_training_in_memory(tmp_path):
    path = tmp_path / "t.csv"
    people()[:20].to_csv(path, index=False)
    with pytest.raises(TableError, match="rows cannot be split into") as memory:
        train(in_memory(path), "rvfl", tune=False, test=0.01, seed=0)
    with pytest.raises(TableError) as parts:
        in_parts(path, test=0.01)
    assert parts.value.problems == memory.value.problems


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
