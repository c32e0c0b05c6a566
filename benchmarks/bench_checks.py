"""How long the checks beside labels take, as shares of the time of the audit itself.

    python benchmarks/bench_checks.py

Times are of the processor, one thread, the least of a few rounds in which audit and checks
take turns.
"""

import time

import numpy as np
from threadpoolctl import threadpool_limits

from granulearn.audit import LabelAudit
from granulearn.audit.checks import find_issues
from granulearn.audit.class_overlap import find_overlaps
from granulearn.audit.file_order import find_blocks
from granulearn.audit.giveaways import find_giveaways
from granulearn.audit.near_duplicates import close_rows
from granulearn.audit.places import place
from granulearn.audit.ratings import FINE, WRONG, Ratings
from granulearn.audit.strangeness import strangeness, strangeness_of_places

SIZES = ((1_000, 10), (100_000, 20), (20_000, 200))
ROUNDS = 5
LIMIT, LIMIT_OF_STRANGENESS = 0.3, 0.2


def ratings_of(audit: LabelAudit) -> Ratings:
    """Return what a fitted audit says, its doubts taken as they are."""
    codes = np.searchsorted(audit.classes_, audit.given_)
    suggested = np.searchsorted(audit.classes_, audit.suggested_)
    return Ratings(
        classes=audit.classes_,
        codes=codes,
        proba=audit.proba_,
        reliability=audit.reliability_,
        wrong_proba=1 - audit.reliability_,
        suggested=suggested,
        verdicts=np.where(suggested != codes, WRONG, FINE),
        verified=np.zeros(len(codes), dtype=bool),
    )


def made_table(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a table of three classes with one label in twenty wrong."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    score = X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=n_rows)
    y = np.digitize(score, np.quantile(score, [0.4, 0.8]))
    wrong = rng.random(n_rows) < 0.05
    y[wrong] = rng.integers(3, size=wrong.sum())
    return X, y


def shares(n_rows: int, n_features: int) -> dict[str, float]:
    """Return the time of each check by that of the audit, for one size."""
    X, y = made_table(n_rows, n_features)
    ratings = ratings_of(LabelAudit(random_state=0).fit(X, y))
    places = place(X)
    names = [f"x{j}" for j in range(n_features)]
    groups = np.arange(n_rows) % 5
    tasks = {
        "audit": lambda: LabelAudit(random_state=0).fit(X, y),
        "all checks": lambda: find_issues(X, ratings, groups=groups),
        "strangeness alone": lambda: strangeness(X),
        "places of rows": lambda: place(X),
        "strange rows": lambda: strangeness_of_places(places),
        "near-duplicates": lambda: close_rows(places),
        "overlapping classes": lambda: find_overlaps(ratings),
        "doubtful blocks": lambda: find_blocks(ratings),
        "giveaway columns": lambda: find_giveaways(
            X, ratings.given, ratings.classes, names, places.order
        ),
    }
    times = dict.fromkeys(tasks, np.inf)
    for _ in range(ROUNDS):
        for name, task in tasks.items():
            begin = time.process_time()
            task()
            times[name] = min(times[name], time.process_time() - begin)
    return {name: spent / times["audit"] for name, spent in times.items() if name != "audit"}


def main() -> None:
    """Print a table of ratios."""
    with threadpool_limits(1):
        shares(300, 5)  # compiles
        columns = {f"{n:,} x {d}": shares(n, d) for n, d in SIZES}
    print("| time by that of the audit | " + " | ".join(columns) + " | limit |")
    print("|---|" + "---|" * (len(columns) + 1))
    limits = {"all checks": LIMIT, "strangeness alone": LIMIT_OF_STRANGENESS}
    for name in next(iter(columns.values())):
        cells = " | ".join(f"{column[name]:.3f}" for column in columns.values())
        print(f"| {name} | {cells} | {limits.get(name, '')} |")


if __name__ == "__main__":
    main()
