"""Studies small enough for a test: generated sets, few and fast cells."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from granulearn.bench import Study, load_study
from granulearn.bench.studies import workers
from tests.warm_processes import copies

SMALL = """
question = "Does a test of the studies work?"
seed = 3
datasets = ["two_moons", "circles", "crossplane"]
scores = ["accuracy", "log_loss", "fit_seconds"]
split = { kind = "holdout", repeats = 2 }
noise = [{ kind = "uniform", rates = [0.0, 0.2] }]
tuning = { folds = 3 }
draw = ["two_moons"]

[[method]]
name = "RVFL"
estimator = "RVFLClassifier"
fixed = { n_hidden = 12 }
grid = { C = [0.01, 1.0] }

[[method]]
name = "GB-RVFL"
estimator = "GBRVFLClassifier"
fixed = { n_hidden = 12 }
grid = { C = [0.01, 1.0] }

[[method]]
name = "tree"
estimator = "sklearn.tree.DecisionTreeClassifier"
fixed = { max_depth = 4 }
"""
N_CELLS = 3 * 2 * 2 * 3


def use_warm_workers(patch: pytest.MonkeyPatch) -> None:
    """Let workers begin with the library imported; those of runs that are stopped are new ones."""
    warm = copies()  # workers are started while signals wait, which those after them would inherit
    patch.setattr(workers, "multiprocessing", SimpleNamespace(get_context=lambda _: warm))


def write_study(directory: Path, text: str = SMALL, name: str = "small") -> Path:
    path = directory / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return path


def small_study(directory: Path, *changes: tuple[str, str]) -> Study:
    text = SMALL
    for old, new in changes:
        assert old in text, f"the small study has no {old!r}"
        text = text.replace(old, new)
    return load_study(write_study(directory, text))
