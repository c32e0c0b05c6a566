"""`granulearn balls`."""

import matplotlib.image
import numpy as np
import pandas as pd
import pytest

from granulearn.cli import exit_codes
from granulearn.tables import open_table, read_training_table
from tests.cli.commands import fails, people, succeeds, write_people


def test_the_listing_has_each_ball_once_most_trusted_first_in_units_of_the_table(tmp_path):
    table, output, picture = write_people(tmp_path), tmp_path / "balls.csv", tmp_path / "balls.png"
    shown = succeeds("balls", table, "-t", "label", "-o", output, "--plot", picture).out
    listing = pd.read_csv(output)
    assert f"{len(listing)} balls of 120 samples" in shown
    assert "the 5 least trusted balls" in shown
    for membership in (listing["membership"].iloc[0], listing["membership"].iloc[-1]):
        assert f"{membership:.3f}" in shown
    assert sorted(listing["ball"]) == list(range(len(listing)))
    assert listing["membership"].is_monotonic_decreasing
    assert listing["samples"].sum() == 120
    alone = listing[listing["samples"] == 1].set_index("first_row")
    rows = people().iloc[alone.index - 1]
    np.testing.assert_allclose(alone["typical_age"], rows["age"])
    known = rows["città"].notna().to_numpy()
    assert alone["typical_città"][known].tolist() == rows["città"][known].tolist()
    assert alone["label"].tolist() == rows["label"].tolist()
    assert matplotlib.image.imread(picture).std() > 0.05  # not an empty page
    line = fails(exit_codes.BAD_DATA, "balls", output, "-t", "label")
    assert "looks like output of `granulearn balls`" in line


def test_json_counts_and_maker_purity_and_membership_are_used(tmp_path):
    table = write_people(tmp_path)

    def facts(*options):
        return succeeds("balls", table, "-t", "label", "--json", *options).json

    usual = facts()
    assert (usual["samples"], usual["dropped_rows"]) == (120, 0)
    assert sum(usual["balls_by_class"].values()) == usual["balls"]
    assert usual["table"] == succeeds("check", table, "-t", "label", "--json").json
    assert facts("--generator", "gbg++")["balls"] < usual["balls"]
    assert facts("--purity", "0.6")["balls"] < usual["balls"]
    assert facts("--membership", "uniform")["mean_membership"] == 1


def test_a_category_that_is_missing_in_a_whole_ball_is_empty(tmp_path):
    table, output = tmp_path / "t.csv", tmp_path / "b.csv"
    table.write_text("a,c,label\n1,,x\n1.1,,x\n9,u,y\n9.1,v,y\n")
    with open_table(table) as file:
        assert len(read_training_table(file, "label").y) == 4
    succeeds("balls", table, "-t", "label", "-o", output)
    listing = pd.read_csv(output)
    assert listing.loc[listing["label"] == "x", "typical_c"].isna().all()


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--plot", "balls.jpeg2000"], exit_codes.USAGE, "use .png or .pdf or .svg"),
        (["-o", "balls.parquet"], exit_codes.USAGE, "ends in '.parquet'; use .csv or .txt"),
        (["--membership", "guess"], exit_codes.USAGE, "is not one of evidence, fuzzy, sdap"),
        (["--generator", "guess"], exit_codes.USAGE, "is not one of gbg++"),
    ],
)
def test_wrong_options_are_named_before_the_table_is_read(options, code, said):
    assert said in fails(code, "balls", "no.csv", "-t", "label", *options)
