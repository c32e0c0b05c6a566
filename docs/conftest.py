"""The examples of the pages are tests: each page runs in an empty folder, as for a new user."""

import pytest

from granulearn.balls import BallGenerator, Membership

# Scripts are run by hand; a build copies pages into api and gallery.
collect_ignore_glob = ["*.py", "api/*", "gallery/*"]


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    """Let a page write files without leaving any, and see no folder of data sets."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRANULEARN_DATA", raising=False)


@pytest.fixture(autouse=True)
def own_names(monkeypatch):
    """Forget the generators and memberships that a page defines."""
    for family in (BallGenerator, Membership):
        monkeypatch.setattr(family, "_known", dict(family._known))
