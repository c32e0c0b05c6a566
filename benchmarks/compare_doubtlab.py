"""The audit beside the reasons of doubtlab: which finds wrong labels that were planted.

The sets, the noise and the scores of `compare_audit.py`; doubtlab rates a label by how many
reasons there are to doubt it. Needs `pip install doubtlab`.

    GRANULEARN_DATA=DIRECTORY python benchmarks/compare_doubtlab.py out/doubtlab.csv
    python benchmarks/compare_doubtlab.py out/doubtlab.csv --report docs/results/doubtlab.md
"""

from functools import partial

import numpy as np
from compare_audit import OURS, Methods, of_balls, report, run
from doubtlab.ensemble import DoubtEnsemble
from doubtlab.reason import (
    DisagreeReason,
    LongConfidenceReason,
    ProbaReason,
    ShortConfidenceReason,
    WrongPredictionReason,
)
from kept_results import run_or_report
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

CONDITIONS = [("uniform", 0.2), ("pair", 0.2), ("boundary", 0.2)]
LOGISTIC = LogisticRegression(max_iter=2000)
COMMANDS = """\
```
pip install doubtlab
mkdir -p out
GRANULEARN_DATA=DIRECTORY python benchmarks/compare_doubtlab.py out/doubtlab.csv
python benchmarks/compare_doubtlab.py out/doubtlab.csv --report docs/results/doubtlab.md
```
"""


def of_fitted_models(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Return minus the number of reasons, as its guide has it: models look at rows they know."""
    model, other = LOGISTIC.fit(X, y), KNeighborsClassifier().fit(X, y)
    doubt = DoubtEnsemble(
        proba=ProbaReason(model),
        wrong=WrongPredictionReason(model),
        short=ShortConfidenceReason(model),
        long=LongConfidenceReason(model),
        disagree=DisagreeReason(model, other),
    )
    return -doubt.get_predicates(X, y).sum(axis=1).sort_index().to_numpy()


def unseen(model, X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Return five-fold probabilities of a model."""
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    return cross_val_predict(model, X, y, cv=folds, method="predict_proba")


def of_unseen_rows(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Return minus the number of the same reasons, from five-fold probabilities."""
    proba = unseen(LOGISTIC, X, y, seed)
    forest = RandomForestClassifier(100, n_jobs=1, random_state=seed)
    said, said_too = proba.argmax(axis=1), unseen(forest, X, y, seed).argmax(axis=1)
    doubtful = ProbaReason.from_proba(proba) + DisagreeReason.from_pred(said, said_too)
    return of_label_reasons(X, y, seed) - doubtful


def of_label_reasons(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Return minus the number of the three reasons that look at the label, in the same way."""
    proba, classes = unseen(LOGISTIC, X, y, seed), np.unique(y)
    reasons = [
        WrongPredictionReason.from_predict(classes[proba.argmax(axis=1)], y),
        ShortConfidenceReason.from_proba(proba, y, classes),
        LongConfidenceReason.from_proba(proba, y, classes, threshold=0.2),
    ]
    return -np.sum(reasons, axis=0)


METHODS: Methods = {
    OURS: of_balls,
    "doubtlab, models fitted to the rows": of_fitted_models,
    "doubtlab, five folds": of_unseen_rows,
    "doubtlab, reasons about the label, five folds": of_label_reasons,
}


def main() -> None:
    """Run the comparison, or write its report."""
    what = {"methods": METHODS, "conditions": CONDITIONS}
    title = "The audit beside doubtlab's reasons"
    write = partial(report, **what, commands=COMMANDS)
    run_or_report(__doc__, __file__, title, partial(run, **what), write, repeats=1)


if __name__ == "__main__":
    main()
