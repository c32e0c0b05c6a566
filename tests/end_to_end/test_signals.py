"""A verb that is stopped at any moment, or finds its disk full, leaves nothing behind.

`python benchmarks/run.py campaigns` does the same at a hundred moments of all verbs.
"""

import random
import signal
import sys

import pytest

from granulearn.cli import exit_codes
from granulearn.utils.files import _HOST
from tests.end_to_end.signals import again, fill_up, prepare, stop

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc"),
]
# However busy the machine is.
PATIENCE = 60
LATEST = 3.0


@pytest.fixture(name="inputs", scope="module")
def what_the_verbs_read(tmp_path_factory):
    folder = tmp_path_factory.mktemp("signals") / "inputs"
    prepare(folder)
    return folder


@pytest.mark.parametrize(
    ("verb", "number"),
    [
        ("audit", signal.SIGTERM),
        ("audit --verify", signal.SIGINT),
        ("bench", signal.SIGINT),
        ("correct", signal.SIGTERM),
        ("fit", signal.SIGHUP),
        ("review", signal.SIGHUP),
    ],
)
def test_a_verb_that_is_stopped_leaves_no_part_no_process_and_no_traceback(
    inputs, tmp_path, verb, number
):
    after = random.Random(f"{verb} {number}").uniform(0, LATEST)
    assert stop(verb, inputs, tmp_path / "place", number, after, PATIENCE).faults == []


def test_what_is_killed_is_tidied_up_by_the_next_run(inputs, tmp_path):
    place = tmp_path / "place"
    place.mkdir()
    left = place / f".c.granulearn-{_HOST}-4194305-0123abcd.part.csv"
    left.write_text("a part")
    assert stop("correct", inputs, place, signal.SIGKILL, 0.5, PATIENCE).faults == []
    assert again("correct", inputs, place) == []
    assert (place / "c.csv").exists()
    assert not left.exists()


@pytest.mark.parametrize("verb", ["bench", "predict", "report"])
def test_a_disk_that_fills_up_is_called_full_and_nothing_is_left(inputs, tmp_path, verb):
    found = fill_up(verb, inputs, tmp_path / "place", 2000)
    assert (found.code, found.faults) == (exit_codes.NOT_WRITTEN, [])
    said = (tmp_path / "place" / "tmp.err").read_text()
    assert "file too large; make room, or write elsewhere" in said or "the disk is full" in said
