"""Choices about the label audit, judged by wrong labels planted in training parts.

    GRANULEARN_DATA=... python benchmarks/compare_flags.py [--draws 3] [--jobs 2]

Prints the F1 of several rules for which labels to flag, the AUROC of several
reliabilities, and the estimated beside the planted share of wrong labels.
"""

import argparse
import warnings

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from prior_strength import best_strength, predictions_by_strength
from sklearn.metrics import f1_score, roc_auc_score
from threadpoolctl import threadpool_limits
from training_parts import training_part, training_parts

from granulearn.audit import LabelAudit
from granulearn.estimators import RVFLCommitteeClassifier

CONDITIONS = [
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


def judge(name: str, draw: int) -> list[dict]:
    """Return one row per condition and way, for one draw of a set."""
    warnings.simplefilter("ignore")  # of labels that no tree left out
    part = training_part(name, draw)
    rows = []
    with threadpool_limits(1):
        for kind, rate in CONDITIONS:
            codes = part.disturbed(kind, rate)
            wrong = codes != part.labels
            audit = LabelAudit(random_state=draw).fit(part.X, codes)
            flagged = flagging_rules(audit, codes)
            found = {("F1", rule): f1_score(wrong, each) for rule, each in flagged.items()}
            committee = RVFLCommitteeClassifier(random_state=draw).fit(part.X, codes)
            by_prior = {
                strength: out_of_bag
                for strength, (out_of_bag, _) in predictions_by_strength(
                    part.X, codes, part.n_classes, part.X[:1], draw
                ).items()
            }
            reliabilities = {
                "forest": audit.proba_,
                "forest and committee": audit.proba_ + committee.loo_proba_,
                "forest, prior chosen": by_prior[best_strength(by_prior, codes)],
            }
            for way, proba in reliabilities.items():
                trust = np.nan_to_num(proba[np.arange(len(codes)), codes])
                found["AUROC", way] = roc_auc_score(wrong, -trust)
            found["share of wrong labels", "estimated"] = audit.noise_rate_
            title = f"{kind} {100 * rate:.0f} %"
            rows += [
                {"set": name, "noise": title, "score": score, "way": way, "value": value}
                for (score, way), value in found.items()
            ]
    return rows


def main() -> None:
    """Judge on all small sets of the collection and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    tasks = [delayed(judge)(*each) for each in training_parts(arguments.draws)]
    rows = Parallel(n_jobs=arguments.jobs, verbose=1)(tasks)
    print(f"{len(tasks) // arguments.draws} sets, {arguments.draws} draws")
    table = pd.DataFrame([row for some in rows for row in some])
    per_set = table.groupby(["score", "noise", "way", "set"], sort=False)["value"].mean()
    for score, values in per_set.groupby(level="score", sort=False):
        means = values.groupby(level=["noise", "way"], sort=False).mean().unstack(sort=False)
        print(f"\n{score}\n\n| noise | " + " | ".join(means.columns) + " |")
        print("|---|" + "---|" * means.shape[1])
        for noise, row in means.iterrows():
            print(f"| {noise} | " + " | ".join(f"{value:.3f}" for value in row) + " |")


if __name__ == "__main__":
    main()
