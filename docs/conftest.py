"""The examples of the documentation, as tests: each page runs in an empty folder of its own."""

import pytest

from granulearn.balls import BallGenerator, Membership

# Settings, extensions and scripts have their own tests, or are run by hand; and what a build
# copies is no source.
collect_ignore_glob = ["*.py", "api/*", "gallery/*"]


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    """Let a page write files without leaving any."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def own_schemes(monkeypatch):
    """Forget the schemes that a page defines: their names would be known to later tests."""
    for family in (BallGenerator, Membership):
        monkeypatch.setattr(family, "_known", dict(family._known))
