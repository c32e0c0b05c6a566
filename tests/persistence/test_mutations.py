"""A damaged file is refused, or predicts valid numbers; it never crashes, hangs or raises.

Every file is a whole one, with a digest that fits, and is loaded as users load it. Most of the
files are of models alone: a pipeline is nine tenths preparation, and takes as much of the time.
"""

import pytest

from granulearn.estimators import RVFLClassifier
from granulearn.persistence import save_model
from tests.persistence.damage import damaged, read_members
from tests.persistence.ending_worker import ABORTS, LOOPS
from tests.persistence.mutations import CRASH, HANG, REFUSED, VALID, Worker
from tests.persistence.small_models import (
    numbers,
    save_models,
    save_models_alone,
    save_preparations,
    small,
)

SAVE_AND_COUNT = {
    "models alone": (save_models_alone, 1000),
    "preparations": (save_preparations, 1000),
    "models in pipelines": (save_models, 20),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", SAVE_AND_COUNT)
def test_damaged_files_of_every_kind_are_refused_or_predict_valid_numbers(what, tmp_path):
    save, n_files = SAVE_AND_COUNT[what]
    save(tmp_path)
    names = sorted(path.stem for path in tmp_path.glob("*.skops"))
    worker = Worker(tmp_path, inspects=what == "models in pipelines")
    try:
        outcomes = {
            (name, seed): outcome
            for name in names
            for seed, outcome in worker.try_many(name, range(n_files)).items()
        }
    finally:
        worker.close()
    assert len(outcomes) == len(names) * n_files
    wrong = {each: said for each, said in outcomes.items() if said[0] not in (REFUSED, VALID)}
    assert wrong == {}
    # The damage is real, and not all of it.
    words = [word for word, _ in outcomes.values()]
    assert min(words.count(REFUSED), words.count(VALID)) > len(words) // 10


def test_the_damage_of_a_seed_is_always_the_same(tmp_path):
    save_preparations(tmp_path)
    members = read_members(tmp_path / "RVFLClassifier.skops")
    assert damaged(members, 3) == damaged(members, 3)
    assert any(damaged(members, seed) != members for seed in range(4))


def test_a_file_that_ends_the_worker_is_named_and_the_others_are_tried(tmp_path):
    X, y = numbers(20)
    save_model(small(RVFLClassifier).fit(X, y), tmp_path / "m.skops")
    worker = Worker(tmp_path, module="tests.persistence.ending_worker")
    try:
        outcomes = worker.try_many("m", range(6))
    finally:
        worker.close()
    assert outcomes.keys() == {*range(6)}
    assert (outcomes.pop(ABORTS)[0], outcomes.pop(LOOPS)[0]) == (CRASH, HANG)
    assert {word for word, _ in outcomes.values()} <= {REFUSED, VALID}
