"""Choices about the label audit, judged by wrong labels planted in training parts.

    GRANULEARN_DATA=... python benchmarks/compare_flags.py [--draws 3] [--jobs 2]

Prints the F1 of several rules for which labels to flag, the AUROC of several
reliabilities, and the estimated beside the planted share of wrong labels.
"""

import warnings

import numpy as np
from sklearn.metrics import f1_score, roc_auc_score
from threadpoolctl import threadpool_limits
from training_parts import TrainingPart, judge_all, training_part

from granulearn.audit import LabelAudit
from granulearn.estimators import RVFLCommitteeClassifier

CONDITIONS = [
    ("uniform", 0.0),
    ("uniform", 0.1),
    ("uniform", 0.2),
    ("uniform", 0.3),
    ("boundary", 0.1),
    ("boundary", 0.2),
    ("pair", 0.2),
]


def flagging_rules(audit: LabelAudit, codes: np.ndarray) -> dict[str, np.ndarray]:
    """Return which labels each rule flags."""
    proba = np.nan_to_num(audit.proba_)
    own = proba[np.arange(len(codes)), codes]
    typical = np.array([own[codes == k].mean() for k in range(proba.shape[1])])
    confident = np.where(proba >= typical, proba, -1)
    off_diagonal = (confident.max(axis=1) >= 0) & (confident.argmax(axis=1) != codes)
    worst = np.argsort(np.argsort(own, kind="stable")) < round(audit.noise_rate_ * len(codes))
    return {
        "suggested differs": audit.flagged_,
        "confident joint": off_diagonal,
        "both": audit.flagged_ & off_diagonal,
        "as many as the joint says, worst first": worst,
    }


def reliabilities(part: TrainingPart, audit: LabelAudit, codes: np.ndarray) -> dict:
    """Return the class probabilities that each way to rate labels looks at."""
    committee = RVFLCommitteeClassifier(random_state=part.draw).fit(part.X, codes)
    return {
        "forest": audit.proba_,
        "forest and committee": audit.proba_ + committee.loo_proba_,
    }


def judge(name: str, draw: int) -> list[dict]:
    """Return one row per condition and way, for one draw of a set."""
    warnings.simplefilter("ignore")  # of labels that no tree left out
    part = training_part(name, draw)
    rows = []
    with threadpool_limits(1):
        for kind, rate in CONDITIONS:
            noise = f"{kind} {100 * rate:.0f} %" if rate else "clean"
            found = _judge_condition(part, part.disturbed(kind, rate))
            rows += [
                {"set": name, "noise": noise, "score": score, "way": way, "value": value}
                for (score, way), value in found.items()
            ]
    return rows


def _judge_condition(part: TrainingPart, codes: np.ndarray) -> dict[tuple[str, str], float]:
    wrong = codes != part.labels
    audit = LabelAudit(random_state=part.draw).fit(part.X, codes)
    found = {("share of wrong labels", "estimated"): audit.noise_rate_}
    if not wrong.any():
        return found
    for rule, flagged in flagging_rules(audit, codes).items():
        found["F1", rule] = f1_score(wrong, flagged)
    for way, proba in reliabilities(part, audit, codes).items():
        own = np.nan_to_num(proba[np.arange(len(codes)), codes])
        found["AUROC", way] = roc_auc_score(wrong, -own)
    return found


def main() -> None:
    """Judge on all small sets of the collection and print the tables."""
    table = judge_all(judge, __doc__, draws=3)
    per_set = table.groupby(["score", "noise", "way", "set"], sort=False)["value"].mean()
    for score, values in per_set.groupby(level="score", sort=False):
        means = values.groupby(level=["noise", "way"], sort=False).mean().unstack(sort=False)
        print(f"\n{score}\n\n| noise | " + " | ".join(means.columns) + " |")
        print("|---|" + "---|" * means.shape[1])
        for noise, row in means.iterrows():
            print(f"| {noise} | " + " | ".join(f"{value:.3f}" for value in row) + " |")


if __name__ == "__main__":
    main()
