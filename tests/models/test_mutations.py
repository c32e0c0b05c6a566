"""A damaged or edited file is refused, or predicts valid numbers: no crash, no hang.

Every file is loaded as users load it, in a process with limits of time and memory.
"""

import pytest

from tests.models.mutations import REFUSED, VALID, Worker
from tests.models.small_models import save_models

N_FILES = 1_000


@pytest.mark.slow
def test_damaged_and_edited_files_are_refused_or_predict_valid_numbers(tmp_path):
    names = save_models(tmp_path)
    worker = Worker(tmp_path)
    try:
        outcomes = {
            (name, seed): outcome
            for place, name in enumerate(names)
            for number in range(place, N_FILES, len(names))
            for seed, outcome in worker.try_many(name, [2 * number, 2 * number + 1]).items()
        }
    finally:
        worker.close()
    assert len(outcomes) == 2 * N_FILES
    wrong = {each: said for each, said in outcomes.items() if said[0] not in (REFUSED, VALID)}
    assert wrong == {}
    # The edits are real, and not all of them.
    words = [word for (_, seed), (word, _) in outcomes.items() if seed % 2 == 0]
    assert min(words.count(REFUSED), words.count(VALID)) > len(words) // 10
