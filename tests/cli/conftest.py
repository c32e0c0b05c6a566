"""A model that is fitted once for all tests of the command line."""

import pytest

from tests.cli.commands import succeeds, write_people


@pytest.fixture(scope="session")
def fitted(tmp_path_factory):
    """Return the paths of a table and of the model that was fitted to it."""
    folder = tmp_path_factory.mktemp("fitted")
    table, model = write_people(folder), folder / "people.granulearn"
    succeeds("fit", table, "--target", "label", "-o", model)
    return table, model
