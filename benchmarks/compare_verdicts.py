"""Verdicts, noise rate and ranking of the label audit, beside cleanlab's, on its development sets.

    GRANULEARN_DATA=DIRECTORY python benchmarks/compare_verdicts.py out/verdicts.csv
    python benchmarks/compare_verdicts.py out/verdicts.csv --report docs/results/verdicts.md

Wrong labels are planted in training parts of the paper's collection and in larger sets, cut
to 4,000 rows; the labels of real_noise are wrong as they come. Results are written at once
and kept, so the run can be stopped and continued.
"""

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from cleanlab.count import estimate_joint
from cleanlab.filter import find_label_issues
from kept_results import run_or_report
from lightgbm import LGBMClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits
from training_parts import small_sets, training_part

from granulearn.audit import LabelAudit
from granulearn.bench import load_study
from granulearn.datasets import flip_labels, load
from granulearn.preprocess import TablePreprocessor

OURS = "granulearn"
COMMANDS = """\
```
mkdir -p out
GRANULEARN_DATA=DIRECTORY python benchmarks/compare_verdicts.py out/verdicts.csv
python benchmarks/compare_verdicts.py out/verdicts.csv --report docs/results/verdicts.md
```
"""
LARGER = ["adult", "churn", "spambase", "phoneme"]
MANY_CLASSES = ["letter", "satimage", "diamonds", "covtype"]
MOST_ROWS = 4_000
CONDITIONS = [
    *(("uniform", rate) for rate in (0.0, 0.1, 0.2, 0.3, 0.4)),
    ("pair", 0.2),
    ("boundary", 0.2),
]
CONDITIONS_OF_LARGER = [("uniform", 0.0), ("uniform", 0.1), ("pair", 0.2), ("boundary", 0.2)]
FILTERS = (
    "prune_by_class", "prune_by_noise_rate", "both", "confident_learning", "predicted_neq_given",
    "low_normalized_margin", "low_self_confidence",
)  # fmt: skip
MODELS = {
    "random forest": RandomForestClassifier(100, n_jobs=1, random_state=0),
    "LightGBM": LGBMClassifier(n_jobs=1, verbose=-1, deterministic=True, random_state=0),
}
FIELDS = [
    "set", "group", "noise", "rate", "method", "precision", "recall", "f1", "flagged",
    "auroc", "average_precision", "truth", "estimate", "low", "high",
]  # fmt: skip
GROUPS = {
    "two classes, small": "two classes, up to 1,100 rows",
    "two classes, larger": "two classes, 4,000 rows",
    "many classes": "many classes, 4,000 rows",
    "real noise": "real noise",
}


def labels_of(name: str, group: str) -> Iterator[tuple[str, float, np.ndarray, np.ndarray, object]]:
    """Yield kind and rate of the noise, inputs, true labels and given labels of a set."""
    if group == "two classes, small":
        part = training_part(name, 1)
        X, truth = part.X, part.labels
    else:
        data = load(name, download=False)
        X = TablePreprocessor(max_one_hot=None).fit_transform(data.X)
        classes, truth = np.unique(data.y, return_inverse=True)
        if group == "real noise":
            yield "real", 0.0, X, np.searchsorted(classes, data.truth), truth
            return
        if len(truth) > MOST_ROWS:
            X, _, truth, _ = train_test_split(
                X, truth, train_size=MOST_ROWS, stratify=truth, random_state=0
            )
        X = StandardScaler().fit_transform(X)
    for kind, rate in CONDITIONS if group == "two classes, small" else CONDITIONS_OF_LARGER:
        features = {"X": X} if kind == "boundary" else {}
        given = truth if rate == 0 else flip_labels(truth, rate, kind, 1, **features).labels
        # Cross-validation needs some of each class.
        if np.bincount(given).min() >= 6:
            yield kind, rate, X, truth, given


def judged(flagged: np.ndarray, wrong: np.ndarray, trust: np.ndarray) -> dict:
    """Return how well flags and a ranking find wrong labels."""
    hits = int((flagged & wrong).sum())
    found = {
        "precision": hits / flagged.sum() if flagged.any() else np.nan,
        "recall": hits / wrong.sum() if wrong.any() else np.nan,
        "f1": 2 * hits / (flagged.sum() + wrong.sum()) if wrong.any() else np.nan,
        "flagged": flagged.mean(),
        "truth": wrong.mean(),
    }
    if wrong.any() and not wrong.all():
        trust = np.nan_to_num(trust, nan=1.0)
        found["auroc"] = roc_auc_score(wrong, -trust)
        found["average_precision"] = average_precision_score(wrong, -trust)
    return found


def results(X, truth, given) -> Iterator[tuple[str, dict]]:
    """Yield what each method finds."""
    wrong = given != truth
    audit = LabelAudit(random_state=1).fit(X, given)
    noise = audit.noise_
    row = judged(audit.is_label_issue_, wrong, audit.label_quality_)
    yield OURS, {**row, "estimate": noise.rate, "low": noise.low, "high": noise.high}
    rows = np.arange(len(given))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for name, model in MODELS.items():
        proba = cross_val_predict(model, X, given, cv=folds, method="predict_proba")
        joint = float(1 - np.trace(estimate_joint(given, proba)))
        for rule in FILTERS:
            flagged = find_label_issues(given, proba, filter_by=rule, n_jobs=1)
            row = judged(flagged, wrong, proba[rows, given])
            yield f"cleanlab, {name}: {rule}", {**row, "estimate": joint}


def run(path: Path) -> None:
    """Compute what the file does not have yet."""
    done: set[tuple] = set()
    if path.exists():
        done = set(pd.read_csv(path)[FIELDS[:4]].itertuples(index=False, name=None))
    sets = {
        **dict.fromkeys(load_study("real-noise").datasets, "real noise"),
        **dict.fromkeys(small_sets(), "two classes, small"),
        **dict.fromkeys(LARGER, "two classes, larger"),
        **dict.fromkeys(MANY_CLASSES, "many classes"),
    }
    with path.open("a", newline="", encoding="utf-8") as file, threadpool_limits(1):
        writer = csv.DictWriter(file, FIELDS)
        if not done:
            writer.writeheader()
        for name, group in sets.items():
            for kind, rate, X, truth, given in labels_of(name, group):
                key = (name, group, kind, rate)
                if key in done:
                    continue
                for method, row in results(X, truth, given):
                    writer.writerow({**dict(zip(FIELDS[:5], (*key, method), strict=True)), **row})
                file.flush()


def report(path: Path) -> str:
    """Return the tables of a file of results as Markdown."""
    table = pd.read_csv(path)
    lines = [
        COMMANDS,
        f"{table['set'].nunique()} sets; means over sets of means over conditions. A table that "
        "the audit cannot judge counts with nothing flagged.",
        "",
        *verdict_tables(table),
        *clean_table(table),
        *rate_tables(table),
        *ranking_tables(table),
    ]
    return "\n".join(lines) + "\n"


def _means(table: pd.DataFrame, score: str) -> pd.Series:
    return table.groupby(["method", "set"])[score].mean().groupby(level="method").mean()


def verdict_tables(table: pd.DataFrame) -> list[str]:
    """Return precision, recall and F1 of flags; of cleanlab those of its best filters."""
    lines = ["## Labels called wrong", ""]
    noisy = table[(table["rate"] > 0) | (table["noise"] == "real")]
    for group, title in GROUPS.items():
        part = noisy[noisy["group"] == group].fillna({"precision": 0.0})
        scores = {score: _means(part, score) for score in ("precision", "recall", "f1")}
        lines += [f"### {title}", "", "| method | precision | recall | F1 |", "|---|---|---|---|"]
        shown = [OURS]
        for model in MODELS:
            own = [name for name in scores["f1"].index if f", {model}:" in name]
            shown += [scores["f1"][own].idxmax(), scores["precision"][own].idxmax()]
        for name in dict.fromkeys(shown):
            cells = " | ".join(f"{scores[score][name]:.3f}" for score in scores)
            lines.append(f"| {name} | {cells} |")
        lines.append("")
    return lines


def clean_table(table: pd.DataFrame) -> list[str]:
    """Return how many labels of clean sets are called wrong."""
    clean = table[(table["rate"] == 0) & (table["noise"] == "uniform")]
    ours = clean[clean["method"] == OURS].set_index("set")
    # Whatever is wrong by the forests' own predictions on clean labels is overlap.
    overlap = clean[clean["method"] == "cleanlab, random forest: predicted_neq_given"]
    separable = overlap.set_index("set")["flagged"] < 0.02
    names = separable[separable].index
    return [
        "## Clean labels",
        "",
        f"Called wrong on average: {ours['flagged'].mean():.1%}. On the {len(names)} sets with "
        "separable classes (a random forest errs on less than 2 %): "
        f"{ours.loc[names, 'flagged'].mean():.2%}, at most {ours.loc[names, 'flagged'].max():.2%}.",
        "",
    ]


def rate_tables(table: pd.DataFrame) -> list[str]:
    """Return the error of the estimated share of wrong labels, and how often its range holds."""
    joint = f"cleanlab, random forest: {FILTERS[0]}"
    lines = [
        "## How many labels are wrong, nothing verified",
        "",
        "Mean absolute error of the estimate, how often the range holds the truth, and how wide it "
        "is; only tables that the audit can judge. Confident joint: cleanlab's, with a random "
        "forest.",
        "",
        "| sets | noise | judged | error | confident joint | range holds | width |",
        "|---|---|---|---|---|---|---|",
    ]
    ours = table[table["method"] == OURS].set_index(["set", "group", "noise", "rate"])
    theirs = table[table["method"] == joint].set_index(["set", "group", "noise", "rate"])
    both = ours.assign(joint=theirs["estimate"])
    for group in GROUPS:
        part = both[both.index.get_level_values("group") == group]
        for (noise, rate), own in part.groupby(level=["noise", "rate"]):
            lines.append(_rate_line(group, f"{noise} {rate:.0%}" if rate else noise, own))
    planted = both[both.index.get_level_values("noise") == "uniform"]
    small = planted[planted.index.get_level_values("group") == "two classes, small"]
    lines += [_rate_line("two classes, small", "uniform, all", small), ""]
    return lines


def _rate_line(group: str, noise: str, part: pd.DataFrame) -> str:
    known = part[part["estimate"].notna()]
    error = (known["estimate"] - known["truth"]).abs().mean()
    joint = (known["joint"] - known["truth"]).abs().mean()
    # Half a percent is what a reader sees as the same.
    holds = (known["low"] - 0.005 <= known["truth"]) & (known["truth"] <= known["high"] + 0.005)
    width = (known["high"] - known["low"]).mean()
    return (
        f"| {group} | {noise} | {len(known)} of {len(part)} | {error:.3f} | {joint:.3f} | "
        f"{holds.mean():.0%} | {width:.3f} |"
    )


def ranking_tables(table: pd.DataFrame) -> list[str]:
    """Return how well wrong labels are ranked first."""
    lines = ["## Ranking", ""]
    methods = [OURS, *(f"cleanlab, {model}: {FILTERS[0]}" for model in MODELS)]
    titles = [method.split(":")[0] for method in methods]
    for score, title in (("auroc", "AUROC"), ("average_precision", "average precision")):
        lines += [
            f"| {title} | " + " | ".join(titles) + " |",
            "|" + "---|" * (len(titles) + 1),
        ]
        for group in GROUPS:
            part = table[(table["group"] == group) & table[score].notna()]
            for (noise, rate), own in part.groupby(["noise", "rate"]):
                means = _means(own, score)
                name = f"{noise} {rate:.0%}" if rate else noise
                cells = " | ".join(f"{means[method]:.3f}" for method in methods)
                lines.append(f"| {group}, {name} | {cells} |")
        lines.append("")
    return lines


def main() -> None:
    """Run, or write the report."""
    run_or_report(__doc__, __file__, "Verdicts of the label audit", run, report)


if __name__ == "__main__":
    main()
