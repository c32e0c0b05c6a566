"""Loops are compiled once and kept; their random numbers against a slow twin."""

import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from numba import njit
from scipy.stats import kstest

from granulearn.balls import _compiled
from tests.balls import reference


def test_uniform_equals_splitmix_in_whole_numbers():
    for key in (0, 1, 2**63, 2**64 - 1):
        for counter in (0, 1, 77, 2**40):
            assert _compiled.uniform(np.uint64(key), counter) == reference.uniform(key, counter)


def test_uniform_draws_look_uniform_and_streams_differ():
    draws = np.array([[_compiled.uniform(np.uint64(k), c) for c in range(500)] for k in range(20)])
    assert kstest(draws.ravel(), "uniform").pvalue > 1e-4
    assert abs(np.corrcoef(draws[:, 0:499:2].ravel(), draws[:, 1:500:2].ravel())[0, 1]) < 0.05
    assert len(np.unique(draws)) == draws.size


def run_with(environment):
    """Compile one loop in a process of its own, and return what the library said."""
    code = (
        "import logging, sys\n"
        "logging.basicConfig(level=logging.INFO, format='%(message)s', stream=sys.stdout)\n"
        "import numpy as np\n"
        "from granulearn.balls._compiled import uniform\n"
        "print(uniform(np.uint64(3), 5))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


@pytest.mark.slow
def test_loops_are_compiled_once_and_it_is_said_where_they_are_kept(tmp_path):
    place = {"NUMBA_CACHE_DIR": str(tmp_path)}
    said, drawn = run_with(place)
    assert said.startswith("compiling loops of granulearn")
    assert f"kept in {tmp_path}" in said
    assert run_with(place) == [drawn]


def test_loops_work_where_nothing_can_be_kept(monkeypatch):
    def refuse(*arguments, **options):
        if options.pop("cache", False):
            raise RuntimeError("cannot cache function: no locator available")
        return njit(*arguments, **options)

    monkeypatch.setattr(_compiled, "njit", refuse)
    twice = _compiled.compiled(lambda x: 2 * x)
    assert twice(3) == 6
    assert twice.stats.cache_path is None


def test_only_loops_of_the_library_are_told_and_once(caplog, monkeypatch):
    # A verb that ran in this process keeps notes to terminals.
    monkeypatch.setattr(_compiled.LOGGER, "filters", [])
    listener = _compiled._FirstRun()
    caplog.set_level("INFO", "granulearn.loops")
    foreign = njit(lambda x: x)
    listener.on_start(SimpleNamespace(data={"dispatcher": foreign}))
    assert caplog.messages == []
    for _ in range(2):
        listener.on_start(SimpleNamespace(data={"dispatcher": _compiled.uniform}))
    listener.on_end(None)
    (said,) = caplog.messages
    assert "compiling loops of granulearn" in said


def test_python_says_it_where_nobody_has_set_up_logging(tmp_path):
    script = "from granulearn.balls._compiled import GOLDEN, uniform; uniform(GOLDEN, 1)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    (line,) = done.stderr.splitlines()
    assert line.startswith("compiling loops of granulearn")
    assert str(tmp_path) in line
