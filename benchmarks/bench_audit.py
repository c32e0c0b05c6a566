"""How long an audit takes: by its parts, and beside cleanlab with LightGBM.

    python benchmarks/bench_audit.py [docs/results/audit_speed.md]

Times are of the processor, one thread, the least of a few rounds in which all take turns.
What an audit must do in any case is to grow its forest and to walk the rows through it.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from cleanlab.filter import find_label_issues
from lightgbm import LGBMClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from threadpoolctl import threadpool_limits

from granulearn.audit import LabelAudit
from granulearn.audit.embedding import embed_rows
from granulearn.audit.error_probability import fit_error_model
from granulearn.audit.label_audit import find_issues
from granulearn.audit.outliers import outlier_scores
from granulearn.forest.forest import grow_forest

SIZES = ((300, 10, 2), (1_000, 10, 2), (4_000, 16, 10), (100_000, 20, 2))
WITH_CLEANLAB = ((100_000, 20, 2),)
ROUNDS = 5
MOST, TIMES_CLEANLAB = 1.5, 5
FOREST, WHOLE, RIVAL = "forest and walk", "whole audit", "cleanlab with LightGBM"


def made_table(n_rows: int, n_features: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a table of which one label in ten is wrong."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    score = X[:, 0] + X[:, 1] ** 2 + X[:, 2] * X[:, 3] + 0.3 * rng.normal(size=n_rows)
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    wrong = rng.random(n_rows) < 0.1
    y[wrong] = rng.integers(n_classes, size=wrong.sum())
    return X, y


def of_cleanlab(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return cleanlab's flags by five folds of LightGBM."""
    model = LGBMClassifier(n_jobs=1, verbose=-1, deterministic=True)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    proba = cross_val_predict(model, X, y, cv=folds, method="predict_proba")
    return find_label_issues(y, proba, n_jobs=1)


def seconds(n_rows: int, n_features: int, n_classes: int) -> dict[str, float]:
    """Return the time of each part, for one size."""
    X, y = made_table(n_rows, n_features, n_classes)
    audit = LabelAudit(random_state=0).fit(X, y)
    rule = audit._settings(*X.shape)
    proba, known = audit.out_of_sample_proba_, audit.ratings_.known
    model, rows = fit_error_model(proba, y, known), embed_rows(X)

    def forest() -> None:
        grown = grow_forest(X, y, n_classes, rule)
        grown.forest.posterior(X, in_bag=grown.in_bag)

    tasks = {
        FOREST: forest,
        "calibration and noise rate": lambda: fit_error_model(proba, y, known),
        "rows as points": lambda: embed_rows(X),
        "outliers": lambda: outlier_scores(rows),
        "verdicts": lambda: model.rate(audit.classes_, proba, y, known),
        "checks beside labels": lambda: find_issues(X, audit.ratings_, embedded=rows),
        WHOLE: lambda: LabelAudit(random_state=0).fit(X, y),
    }
    if (n_rows, n_features, n_classes) in WITH_CLEANLAB:
        tasks[RIVAL] = lambda: of_cleanlab(X, y)
    times = dict.fromkeys(tasks, np.inf)
    for _ in range(ROUNDS):
        for name, task in tasks.items():
            begin = time.process_time()
            task()
            times[name] = min(times[name], time.process_time() - begin)
    return times


def main() -> None:
    """Print the table, and write it if a file is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, nargs="?", help="Markdown file to write")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        seconds(200, 5, 2)  # compiles
        columns = {f"{n:,} x {d}, {k} classes": seconds(n, d, k) for n, d, k in SIZES}
    lines = [
        "# Speed of the label audit",
        "",
        f"Made by `python benchmarks/{Path(__file__).name}`. Processor time over that of growing "
        "the forest and walking the rows through it, one thread, in one run. Limits: the whole "
        f"audit {MOST}; cleanlab takes at least {TIMES_CLEANLAB} times as long as the whole audit "
        "of 100,000 x 20.",
        "",
        "| part | " + " | ".join(columns) + " |",
        "|---|" + "---|" * len(columns),
    ]
    for name in dict.fromkeys(name for column in columns.values() for name in column):
        cells = [
            f"{column[name] / column[FOREST]:.3f}" if name in column else ""
            for column in columns.values()
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    ratios = [column[RIVAL] / column[WHOLE] for column in columns.values() if RIVAL in column]
    lines += ["", f"cleanlab over the whole audit: {', '.join(f'{r:.1f}' for r in ratios)}."]
    print("\n".join(lines))
    if arguments.file is not None:
        arguments.file.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
