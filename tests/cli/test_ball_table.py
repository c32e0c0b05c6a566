"""Balls in the units of the table."""

import numpy as np
import pandas as pd
import pytest

from granulearn.balls import generate_balls
from granulearn.cli.ball_table import make_rated_balls
from granulearn.preprocess import TablePreprocessor
from granulearn.tables import open_table, read_training_table
from tests.cli.commands import write_people


def read(path):
    """Return a table to learn from."""
    with open_table(path) as file:
        return read_training_table(file, "label")


@pytest.fixture(name="rated")
def rated_people(tmp_path):
    table = read(write_people(tmp_path))
    return make_rated_balls(table, maker="two-means", purity=0.95, membership="sdap", seed=0)


def test_balls_are_those_of_the_engine_on_the_prepared_table(rated):
    table = rated.table
    prepared = TablePreprocessor().fit_transform(table.X)
    balls = generate_balls(prepared, table.y, purity=0.95, random_state=0)
    np.testing.assert_array_equal(rated.balls.centers, balls.centers)


def test_the_listing_has_each_ball_once_most_trusted_first(rated):
    listing = rated.listing()
    assert sorted(listing["ball"]) == list(range(len(rated.balls)))
    assert listing["membership"].is_monotonic_decreasing
    assert listing["samples"].sum() == len(rated.table.y)


def test_typical_values_are_means_and_most_frequent_categories(rated):
    listing = rated.listing().set_index("ball")
    for ball in range(len(rated.balls)):
        rows = rated.table.X[rated.balls.assignment == ball]
        assert listing.loc[ball, "typical_age"] == pytest.approx(rows["age"].mean())
        counts = rows["città"].value_counts()
        if counts.max() > 0:
            assert counts[listing.loc[ball, "typical_città"]] == counts.max()


def test_first_rows_belong_to_their_ball(rated):
    listing = rated.listing()
    found = rated.balls.assignment[listing["first_row"].to_numpy() - 1]
    np.testing.assert_array_equal(found, listing["ball"])


def test_the_summary_counts(rated):
    facts = rated.summary()
    assert facts["samples"] == 120
    assert sum(facts["balls_by_class"].values()) == facts["balls"] == len(rated.balls)
    assert facts["mean_membership"] == pytest.approx(rated.membership.mean())


def test_a_category_that_is_missing_in_a_whole_ball_is_empty(tmp_path):
    (tmp_path / "t.csv").write_text("a,c,label\n1,,x\n1.1,,x\n9,u,y\n9.1,v,y\n")
    table = read(tmp_path / "t.csv")
    listing = make_rated_balls(
        table, maker="two-means", purity=1.0, membership="uniform", seed=0
    ).listing()
    empty = listing.loc[listing["label"] == "x", "typical_c"]
    assert pd.isna(empty).all()


def test_a_column_of_many_categories_is_encoded_by_other_rows(tmp_path):
    rng = np.random.default_rng(0)
    cells = [f"street {k % 100}" for k in rng.permutation(200)]
    frame = pd.DataFrame({"street": cells, "label": rng.choice(["no", "yes"], 200)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = read(tmp_path / "t.csv")
    rated = make_rated_balls(table, maker="two-means", purity=0.95, membership="sdap", seed=0)
    told = np.corrcoef(rated.prepared[:, 0], table.y == "yes")[0, 1]
    assert abs(told) < 0.3
