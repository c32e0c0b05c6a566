"""A damaged file is refused, or predicts valid numbers; it never crashes, hangs or raises."""

import pytest

from tests.persistence.damage import damaged, read_members
from tests.persistence.mutations import REFUSED, VALID, Worker
from tests.persistence.small_models import save_models

FILES_PER_KIND = 20


@pytest.fixture(name="folder", scope="module")
def folder_of_models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    save_models(folder)
    return folder


@pytest.mark.slow
def test_damaged_files_of_every_kind_are_refused_or_predict_valid_numbers(folder):
    names = sorted(path.stem for path in folder.glob("*.skops"))
    worker = Worker(folder)
    try:
        outcomes = {
            (name, seed): worker.try_one(name, seed)
            for name in names
            for seed in range(FILES_PER_KIND)
        }
    finally:
        worker.close()
    wrong = {what: said for what, said in outcomes.items() if said[0] not in (REFUSED, VALID)}
    assert wrong == {}
    # The damage is real, and not all of it.
    words = [word for word, _ in outcomes.values()]
    assert min(words.count(REFUSED), words.count(VALID)) > len(words) // 10


def test_the_damage_of_a_seed_is_always_the_same(folder):
    members = read_members(folder / "RobustClassifier.skops")
    assert damaged(members, 3) == damaged(members, 3)
    assert any(damaged(members, seed) != members for seed in range(4))
