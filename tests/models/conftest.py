"""A messy table and a model of it, for tests of what reads, checks and predicts rows."""

import pytest

from tests.models.loaded_models import fitted, write_messy_people


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_messy_people(tmp_path_factory.mktemp("people"))


@pytest.fixture(scope="module")
def loaded(table):
    return fitted(table)
