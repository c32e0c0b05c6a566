"""Every command reads or refuses tables of every format whose bytes are damaged."""

import pytest

from tests.models.mutations import REFUSED, VALID, Worker
from tests.tables.damage import save_tables

N_FILES = 8


@pytest.mark.slow
def test_damaged_tables_are_read_or_refused(tmp_path):
    names = save_tables(tmp_path)
    worker = Worker(tmp_path, "tests.tables.damage")
    try:
        outcomes = {
            (name, seed): outcome
            for place, name in enumerate(names)
            for seed, outcome in worker.try_many(name, range(place, place + N_FILES)).items()
        }
    finally:
        worker.close()
    assert len(outcomes) == N_FILES * len(names)
    assert {each: said for each, said in outcomes.items() if said[0] not in (REFUSED, VALID)} == {}
