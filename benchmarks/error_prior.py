"""The prior of the audit: how errors depend on log odds and direction, learnt over tables."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd
from scipy.special import expit

from benchmarks.audit_sets import CHECKED, REAL_NOISE, SMALL, names_of
from benchmarks.harness import Benchmark, Row, Task, markdown
from benchmarks.reviews import PLANTED, table_of
from granulearn.audit import LabelAudit
from granulearn.audit.error_probability import COVARIANCE, MEAN

ABOUT = """\
Of every development table with mistakes, `logit P(wrong) = a + b s + d w` is fitted to all labels,
whose truth is known. The mean and the spread of (a, b, d) over tables are the prior of the audit.
Each kind of mistakes counts the same, real ones three times. The constants in the code are these,
rounded."""
NAMES = ["a", "b", "d"]
# Labels of one table are no independent trials: a table counts as this number of labels.
MOST_LABELS = 400
WEAK = np.eye(3) / 9
REAL_COUNTS = 3.0
# The same rows under several names.
SAME = {"haber": "haberman", "haberman_survival": "haberman", "wpbc": "breast_cancer_wisc_prog"}


def fitted_line(name: str, group: str, noise: str, rate: float) -> Row:
    """Return the mode and the curvature of the log-likelihood of one table."""
    labels = table_of(name, group, noise, rate)
    audit = LabelAudit(random_state=0).fit(labels.X, labels.given)
    ratings, wrong = audit.ratings_, labels.wrong
    odds, direction, _ = audit.error_model_.features(ratings.proba, ratings.given)
    design = np.column_stack([np.ones(len(odds)), odds, direction])[ratings.known]
    wrong = wrong[ratings.known]
    weight = min(1.0, MOST_LABELS / len(wrong))
    theta = np.zeros(3)
    for _ in range(60):
        p = expit(design @ theta)
        hessian = weight * (design * (p * (1 - p))[:, None]).T @ design + WEAK
        step = np.linalg.solve(hessian, weight * design.T @ (wrong - p) - WEAK @ theta)
        theta = theta + np.clip(step, -1, 1)
    return {"theta": theta.tolist(), "hessian": (hessian - WEAK).tolist()}


def tasks(quick: bool) -> Iterator[Task]:
    """Yield all tables with mistakes."""
    for group in (SMALL, REAL_NOISE, CHECKED):
        for name in names_of(group)[: 2 if quick else None]:
            for noise, rate in PLANTED[1:] if group == SMALL else (("real", 0.0),):
                key = {"set": name, "group": group, "noise": noise, "rate": rate}
                yield key, partial(fitted_line, name, group, noise, rate)


def prior_of(found: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and covariance of the lines over tables, by expectation maximisation."""
    counts = found["noise"].map(found["noise"].value_counts())
    weights = np.where(found["noise"] == "real", REAL_COUNTS, 1.0) / counts
    weights = (weights / weights.sum()).to_numpy()
    theta, hessian = np.array(found["theta"].tolist()), np.array(found["hessian"].tolist())
    mean, covariance = theta.mean(axis=0), np.eye(3)
    for _ in range(200):
        precision = np.linalg.inv(covariance)
        spread = np.linalg.inv(hessian + precision)
        pull = np.einsum("tij,tj->ti", hessian, theta) + precision @ mean
        centre = np.einsum("tij,tj->ti", spread, pull)
        mean = weights @ centre
        away = centre - mean
        covariance = np.einsum("t,tij->ij", weights, spread + away[:, :, None] * away[:, None, :])
    return mean, covariance


def tables(found: pd.DataFrame) -> Iterator[str]:
    """Yield the prior, and how far it moves if one project is left out."""
    project = found["set"].replace(SAME).str.split("-").str[0].where(
        found["group"] == REAL_NOISE, found["set"].replace(SAME)
    )  # fmt: skip
    yield f"{len(found)} tables of {project.nunique()} projects."
    mean, covariance = prior_of(found)
    without = [prior_of(found[project != one])[0] for one in project.unique()]
    yield markdown(
        pd.DataFrame(
            {
                "mean": mean,
                "least and largest with a project left out": [
                    f"{low:.2f} to {high:.2f}"
                    for low, high in zip(np.min(without, 0), np.max(without, 0), strict=True)
                ],
                "standard deviation": np.sqrt(np.diag(covariance)),
                "mean in the code": MEAN,
                "standard deviation in the code": np.sqrt(np.diag(COVARIANCE)),
            },
            index=NAMES,
        ),
        2,
    )


BENCHMARKS = {"error-prior": Benchmark("The prior of the audit", ABOUT, tasks, tables)}
