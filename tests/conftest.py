"""Settings of the whole test run, and what is started once for all tests of a process."""

import gc
import os
import signal

import pytest
from hypothesis import settings

# Set before anything reads them, and inherited by every process that a test starts.
ENVIRONMENT = {
    # Every process of a parallel run has one core: threads of linear algebra would only
    # wait for each other. Tests about threads ask for theirs.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    # A cluster that waits for the next test watches itself a hundred times per second.
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__WORKER__MEMORY__MONITOR_INTERVAL": "1s",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "10s",
}
for name, value in ENVIRONMENT.items():
    os.environ.setdefault(name, value)

# A busy machine is no reason to fail: nothing here is a promise about time.
settings.register_profile("granulearn", deadline=None)
settings.register_profile("quick", deadline=None, max_examples=10)
settings.load_profile("granulearn")

# What runs in the background may have been started with Ctrl-C or the end of its terminal
# ignored, and every child inherits that. The tests that interrupt real processes need both heard.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Fixtures that start processes which cost seconds: their tests are slow.
STARTED_ONCE = ("dask_cluster", "mortal_cluster", "browser")


def pytest_collection_modifyitems(items):
    """Mark what starts a cluster or a browser, and order the files.

    A parallel run hands out whole files. Those whose tests are all slow come first, so that no
    process is left alone with one. Those that share what is started once come last, so that it
    does not wait for them, which costs processor time too.
    """
    fast, sharing = set(), set()
    for item in items:
        started = set(STARTED_ONCE) & set(getattr(item, "fixturenames", ()))
        if started:
            item.add_marker("slow")
        if started - {"mortal_cluster"}:
            sharing.add(item.path)
        if item.get_closest_marker("slow") is None:
            fast.add(item.path)
    items.sort(key=lambda item: 2 if item.path in sharing else item.path in fast)


def pytest_collection_finish():
    """Spare the garbage collector all that was imported: it would look at it again and again."""
    gc.freeze()


@pytest.fixture(scope="session")
def dask_cluster():
    """Return the client of a cluster that all tests share which leave its workers alive."""
    from tests.dask.processes import cluster_apart

    with cluster_apart() as client:
        yield client


@pytest.fixture(scope="module")
def mortal_cluster():
    """Return the client of a cluster for a file's tests that kill its workers."""
    from tests.dask.processes import cluster_apart

    with cluster_apart() as client:
        yield client


@pytest.fixture
def warm_clusters():
    """Let clusters that a test starts itself have workers that begin with the library imported."""
    from tests.dask.processes import warm_workers

    with warm_workers():
        yield


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """Return a browser that all tests of pages share."""
    from tests.bench.browser import chromium

    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        yield opened
