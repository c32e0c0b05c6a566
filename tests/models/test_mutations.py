"""A damaged file is refused, or predicts valid numbers; it never crashes, hangs or raises.

Every file is a whole one, with a digest that fits, and is loaded as users load it. Most of the
files are of models alone: a pipeline is nine tenths preparation, and takes as much of the time.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from granulearn.models import save_model
from granulearn.rvfl import RVFLClassifier
from tests.models.damage import damaged, read_members
from tests.models.ending_worker import ABORTS, LOOPS
from tests.models.mutations import (
    CRASH,
    HANG,
    REFUSED,
    VALID,
    WORDS_OF_LEGAL_MODELS,
    Worker,
    outcome_of,
)
from tests.models.small_models import (
    KNOWS_NONE,
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
    worker = Worker(tmp_path, module="tests.models.ending_worker")
    try:
        outcomes = worker.try_many("m", range(6))
    finally:
        worker.close()
    assert outcomes.keys() == {*range(6)}
    assert (outcomes.pop(ABORTS)[0], outcomes.pop(LOOPS)[0]) == (CRASH, HANG)
    assert {word for word, _ in outcomes.values()} <= {REFUSED, VALID}


FRAME = pd.DataFrame({"a": ["x", "y"] * 10})


@pytest.mark.parametrize(
    ("steps", "given", "rows", "word"),
    [
        ((), (FRAME == "x").astype(float), pd.DataFrame({"a": [1.0]}), VALID),
        ((), np.ones((20, 1)), np.full((3, 1), np.nan), "the rows have gaps"),
        (
            (),
            (FRAME == "x").astype(float),
            pd.DataFrame({"b": [1.0]}),
            "the rows have other columns",
        ),
        (
            (OrdinalEncoder(**KNOWS_NONE),),
            FRAME,
            pd.DataFrame({"a": [True, False]}),
            "the rows have cells of another type",
        ),
    ],
)
def test_words_of_legal_models_are_those_of_models_as_fit_leaves_them(
    steps, given, rows, word, tmp_path
):
    model = make_pipeline(*steps, small(RVFLClassifier)).fit(given, np.arange(20) % 2)
    save_model(model, tmp_path / "m.skops")
    outcome = outcome_of(tmp_path / "m.skops", rows)
    assert outcome == ((VALID, "") if word == VALID else (REFUSED, word))
    assert word in {VALID, *WORDS_OF_LEGAL_MODELS.values()}
