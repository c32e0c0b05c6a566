"""`granulearn balls`."""

import matplotlib.image
import pandas as pd
import pytest

from granulearn.cli import exit_codes
from tests.cli.commands import fails, succeeds, write_people


def test_shows_sizes_and_the_most_and_least_trusted(tmp_path):
    table = write_people(tmp_path)
    shown = succeeds("balls", table, "-t", "label", "-o", tmp_path / "balls.csv").out
    listing = pd.read_csv(tmp_path / "balls.csv")
    assert f"{len(listing)} balls of 120 samples" in shown
    assert "the 5 most trusted balls" in shown
    assert "the 5 least trusted balls" in shown
    for membership in (listing["membership"].iloc[0], listing["membership"].iloc[-1]):
        assert f"{membership:.3f}" in shown


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_the_picture_is_drawn(tmp_path, suffix):
    table, picture = write_people(tmp_path), tmp_path / f"balls.{suffix}"
    succeeds("balls", table, "-t", "label", "--plot", picture)
    assert picture.stat().st_size > 5000
    if suffix == "png":
        image = matplotlib.image.imread(picture)
        assert image.std() > 0.05  # not an empty page


def test_a_list_of_balls_is_no_table_to_learn_from(tmp_path):
    table, listing = write_people(tmp_path), tmp_path / "balls.csv"
    succeeds("balls", table, "-t", "label", "-o", listing)
    line = fails(exit_codes.BAD_DATA, "balls", listing, "-t", "label")
    assert "looks like output of `granulearn balls`" in line


def test_json(tmp_path):
    table = write_people(tmp_path)
    facts = succeeds("balls", table, "-t", "label", "--json").json
    assert facts["samples"] == 120
    assert facts["dropped_rows"] == 0
    assert facts["table"] == succeeds("check", table, "-t", "label", "--json").json


def test_the_maker_is_used_and_an_unknown_one_lists_the_others(tmp_path):
    table = write_people(tmp_path)
    usual = succeeds("balls", table, "-t", "label", "--json").json
    evidence = succeeds("balls", table, "-t", "label", "--maker", "evidence", "--json").json
    assert evidence["balls"] < usual["balls"]
    message = fails(2, "balls", table, "-t", "label", "--maker", "three-means")
    assert "is not one of evidence, gbg++, k-division, rd-gbg, two-means" in message


def test_purity_and_membership_are_used(tmp_path):
    table = write_people(tmp_path)
    coarse = succeeds("balls", table, "-t", "label", "--purity", "0.6", "--json").json
    fine = succeeds("balls", table, "-t", "label", "--purity", "1.0", "--json").json
    assert coarse["balls"] < fine["balls"]
    even = succeeds("balls", table, "-t", "label", "--membership", "uniform", "--json").json
    assert even["mean_membership"] == 1
    believed = succeeds("balls", table, "-t", "label", "--membership", "evidence", "--json").json
    assert 0 < believed["mean_membership"] < 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--plot", "balls.jpeg2000"], "use .png or .pdf or .svg"),
        (["-o", "balls.parquet"], "ends in '.parquet'; use .csv or .txt"),
        (["--membership", "guess"], "'guess' is not one of evidence, fuzzy, sdap"),
    ],
)
def test_wrong_options_are_named(tmp_path, options, said):
    table = write_people(tmp_path)
    assert said in fails(exit_codes.USAGE, "balls", table, "-t", "label", *options)


def test_what_cannot_be_written_is_said_before_the_table_is_read(tmp_path):
    same = tmp_path / "same.csv"
    said = fails(exit_codes.USAGE, "balls", "no.csv", "-t", "label", "-o", same, "--plot", same)
    assert "same.csv is named for two outputs" in said
    for option in (["-o", tmp_path / "none" / "b.csv"], ["--plot", tmp_path / "none" / "b.png"]):
        said = fails(exit_codes.NOT_WRITTEN, "balls", "no.csv", "-t", "label", *option)
        assert "none does not exist; make it first" in said
