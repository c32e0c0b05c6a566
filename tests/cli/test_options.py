"""Options that verbs share."""

import logging
import os
from contextlib import nullcontext
from pathlib import Path

import pytest
import typer

from granulearn.cli import options
from granulearn.cli.exit_codes import BAD_DATA, UsageError
from tests.cli.commands import fails, write_people


def test_what_is_read_is_never_written_over(tmp_path):
    table = tmp_path / "t.csv"
    options.check_not_an_input(tmp_path / "other.csv", table)
    options.check_not_an_input(None, table)
    with pytest.raises(UsageError, match="is also an input"):
        options.check_not_an_input(tmp_path / "x" / ".." / "t.csv", table)


@pytest.mark.parametrize(
    "verb",
    [
        ["fit", "-o", "m.skops"],
        ["fit", "-m", "rvfl", "-o", "m.skops", "--dask", "local"],
        ["audit"],
        ["balls"],
    ],
)
def test_the_target_cannot_be_ignored(tmp_path, verb, monkeypatch, warm_clusters):
    monkeypatch.chdir(tmp_path)
    table = write_people(tmp_path)
    line = fails(
        BAD_DATA, *verb, table, "--target", "label", "--ignore", "age", "--ignore", "label"
    )
    assert "'label' is both the target and to be ignored" in line


def test_a_file_that_cannot_be_written_is_refused_before_the_work(tmp_path, monkeypatch):
    options.check_can_be_written(None, ".csv")
    options.check_can_be_written(tmp_path / "new.CSV", ".csv", ".parquet")
    with pytest.raises(UsageError, match=r"'.parquet'; use .csv or .tsv"):
        options.check_can_be_written(tmp_path / "x.parquet", ".csv", ".tsv")
    with pytest.raises(IsADirectoryError, match="name a file in it"):
        options.check_can_be_written(tmp_path)
    with pytest.raises(FileNotFoundError, match="does not exist; make it first"):
        options.check_can_be_written(tmp_path / "none" / "x.csv")
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "none" / "x.csv")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        options.check_can_be_written(link)
    options.check_can_be_written(Path(os.devnull))
    # Rights of folders mean nothing to the superuser, who may run the tests.
    monkeypatch.setattr(options.os, "access", lambda path, mode: False)
    with pytest.raises(PermissionError, match="cannot be written to"):
        options.check_can_be_written(tmp_path / "x.csv")


def test_two_outputs_are_two_files(tmp_path):
    options.check_outputs_differ(None, None, tmp_path / "a", tmp_path / "b")
    with pytest.raises(UsageError, match="a is named for two outputs"):
        options.check_outputs_differ(tmp_path / "a", None, tmp_path / "x" / ".." / "a")


def test_an_unknown_model_is_named_with_the_known_ones():
    with pytest.raises(typer.BadParameter, match="'tree' is not one of robust"):
        options._check_model("tree")


def test_a_cluster_says_nothing_of_its_own(monkeypatch):
    monkeypatch.setattr("granulearn.distributed.open_client", lambda *_: nullcontext())
    named = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    levels = [logger.level for logger in named]
    try:
        for logger in named:
            logger.setLevel(logging.INFO)
        with options.cluster("tcp://10.0.0.1:8786"):
            for logger in (*named, logging.getLogger("distributed.core")):
                assert not logger.isEnabledFor(logging.ERROR)
    finally:
        for logger, level in zip(named, levels, strict=True):
            logger.setLevel(level)
