"""Results without a computation: a store filled with scores that a test chose."""

from pathlib import Path

from granulearn.bench import Outcome, Store, Study, expand

MACHINE = {
    "python": "3",
    "system": "Linux x86_64",
    "processor": "a processor",
    "cores": 2,
    "packages": {"numpy": "2"},
}


def fill_store(path: Path, study: Study, accuracy, *, leave_out=lambda cell: False) -> Path:
    """Write one row per cell; ``accuracy`` is a function of the cell, or a reason to fail."""
    with Store(path) as store:
        # No disk is waited for after each of thousands of rows: nothing here ends half-way.
        store._database.execute("PRAGMA synchronous = OFF")
        store.save_study(study.name, study.model_dump_json())
        for cell in expand(study):
            if leave_out(cell):
                continue
            value = accuracy(cell)
            outcome = (
                Outcome(cell.key, cell.unit.seed, reason=value)
                if isinstance(value, str)
                else Outcome(
                    cell.key,
                    cell.unit.seed,
                    scores={
                        name: value if name != "log_loss" else 1 - value
                        for name in cell.scores
                        if not name.endswith("_seconds")
                    },
                    chosen={"C": 0.1},
                    fold_scores=[value, value],
                    fit_seconds=0.5,
                    predict_seconds=0.01,
                    n_balls=12 if "GB" in cell.method.name else None,
                    n_train=70,
                    n_test=30,
                    n_disturbed=0,
                    source="made up",
                    fingerprint="none",
                )
            )
            store.save(cell, outcome, MACHINE)
    return path
