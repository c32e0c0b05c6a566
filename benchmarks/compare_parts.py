"""What every part of the robust classifier brings, on the larger development sets.

    GRANULEARN_DATA=DIRECTORY python benchmarks/compare_parts.py [PAGE] [--jobs 2]

Sets, sample, splits and kinds of noise are those of the study `rivals-large`. Each set,
split and noise is fitted once; without a part, shares and power are chosen again by what
the other parts predict for samples that they did not see. Test labels are clean. A
second table tells what it brings to say how many labels are wrong (`noise`).
"""

import argparse
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.metrics import log_loss
from threadpoolctl import threadpool_limits

from granulearn.balls import Samples, check_samples
from granulearn.balls.forest_tree import USUAL_ALPHA, ForestRule
from granulearn.bench import Study, expand, load_study
from granulearn.bench.data import prepare
from granulearn.bench.runs import Unit
from granulearn.bench.scores import calibration_error, higher_is_better
from granulearn.estimators import BallForestClassifier, RobustClassifier
from granulearn.estimators.ball_forest import telling
from granulearn.estimators.boosted_trees import mean_proba
from granulearn.estimators.known_noise import noise_matrix
from granulearn.estimators.shares import (
    DOUBT,
    PRIOR_SAMPLES,
    best_power,
    best_shares,
    floored,
    powered,
    without_small,
)
from granulearn.network import one_hot

STUDY = "rivals-large"
ALL, KNOWN_NOISE = "all of it", "noise is said"
SCORES = {
    "accuracy": "accuracy, percent",
    "log_loss": "log loss",
    "calibration_error": "calibration error, percent",
}
RULED_OUT = "ruled_out"
FOREST, COMMITTEE, BOOSTING = "forest", "committee", "boosting"


@dataclass(frozen=True, eq=False)
class Says:
    """What a member says of training samples that it did not see, and of test samples."""

    unseen: np.ndarray
    new: np.ndarray


Members = dict[str, list[Says]]
"""By name; a forest says something in each of its weighings."""


class UsualAlphaForest(BallForestClassifier):
    """A forest that chooses splits by the evidence of class weights of one half."""

    def _rule(self, n_rows: int, n_features: int, first_look: bool = False) -> ForestRule:
        rule = super()._rule(n_rows, n_features, first_look)
        return replace(rule, split_alpha=USUAL_ALPHA)


def members_of(model: RobustClassifier, samples: Samples, new: np.ndarray) -> Members:
    """Return what the members of a fitted classifier say, its forest in every weighing."""
    members = {
        FOREST: weighings_of(clone(model.forest_), samples, new),
        COMMITTEE: [Says(model.committee_.loo_scores_, model.committee_._scores(new))],
    }
    if model.boosters_:
        boosted = mean_proba(model.boosters_, new, len(model.classes_))
        members[BOOSTING] = [Says(model.out_of_sample_[BOOSTING], boosted)]
    return members


def weighings_of(forest: BallForestClassifier, samples: Samples, new: np.ndarray) -> list[Says]:
    """Grow a forest, the same one for the same seed; return what each of its weighings says."""
    grown = forest._grow(samples)
    unseen = grown.out_of_bag(samples.X)
    of_new = grown.forest.posterior(new).reshape(len(new), len(unseen), -1).transpose(1, 0, 2)
    return [Says(*each) for each in zip(unseen, of_new, strict=True)]


def mixed(
    members: Members,
    samples: Samples,
    *,
    chosen: bool = True,
    prior_samples: float = PRIOR_SAMPLES,
    with_power: bool = True,
) -> np.ndarray:
    """Return probabilities of test samples, as the robust classifier makes them.

    Parameters
    ----------
    members : dict
        Who shares in the mean.
    samples : Samples
        The training samples.
    chosen : bool, default=True
        Whether shares are chosen; if not, or if there is nothing to choose, they are
        those that choices lean to.
    prior_samples : float, default=300
        How strongly choices lean.
    with_power : bool, default=True
        Whether a power makes the mean more or less sure.
    """
    everyone = [each for some in members.values() for each in some]
    unseen = np.stack([each.unseen for each in everyone])
    codes, weights = samples.codes, telling(samples).astype(float)
    shares, Y = leaning(members), one_hot(codes, unseen.shape[2])
    if chosen and len(everyone) > 1:
        chosen_ones = best_shares(unseen, Y.astype(float), weights, shares, prior_samples)
        shares = without_small(chosen_ones)
    taken = shares > 0
    mean = np.tensordot(shares[taken], unseen[taken], 1)
    new = np.tensordot(shares[taken], np.stack([each.new for each in everyone])[taken], 1)
    floor = 1 / (len(codes) + Y.shape[1])
    known = ~np.isnan(mean).any(axis=1) & (weights > 0)
    power = 1.0
    if with_power:
        proba = floored(mean[known], floor)
        power = best_power(proba, codes[known], weights[known], doubt=DOUBT)
    return powered(floored(new, floor), power)


def leaning(members: Members) -> np.ndarray:
    """Return equal shares of the first weighing of the forest and of the committee."""
    places, begin = [], 0
    for name, some in members.items():
        if name != BOOSTING or len(members) == 1:
            places.append(begin)
        begin += len(some)
    shares = np.zeros(begin)
    shares[places] = 1 / len(places)
    return shares


def all_ways(model: RobustClassifier, samples: Samples, new: np.ndarray) -> dict[str, np.ndarray]:
    """Return the probabilities of test samples by the classifier, and by it without its parts."""
    members = members_of(model, samples, new)
    first_weighing = {**members, FOREST: members[FOREST][:1]}
    no_boosting = {name: some for name, some in first_weighing.items() if name != BOOSTING}
    class_means = clone(model.forest_).set_params(splits="class means")
    usual_alpha = UsualAlphaForest(**model.forest_.get_params())

    def without(name: str) -> Members:
        return {other: some for other, some in members.items() if other != name}

    def with_forest(forest: BallForestClassifier) -> Members:
        return {**members, FOREST: weighings_of(forest, samples, new)}

    ways = {
        ALL: mixed(members, samples),
        "without boosting": mixed(without(BOOSTING), samples),
        "without the committee": mixed(without(COMMITTEE), samples),
        "without the forest": mixed(without(FOREST), samples),
        "one weighing (1/2, 0.8) only": mixed(first_weighing, samples),
        "forest of class means": mixed(with_forest(class_means), samples),
        "splits chosen with 1/2, not 0.1": mixed(with_forest(usual_alpha), samples),
        "equal shares of forest (1/2, 0.8) and committee": mixed(
            no_boosting, samples, chosen=False
        ),
        "shares without prior": mixed(members, samples, prior_samples=0),
        "without the power": mixed(members, samples, with_power=False),
    }
    for name, some in members.items():
        ways[f"{name} alone"] = mixed({name: some}, samples)
    # The classifier mixes the leaves of its forest, which rounds them.
    np.testing.assert_allclose(ways[ALL], model.predict_proba(new), atol=1e-5)
    return ways


def judge(unit: Unit) -> list[dict]:
    """Fit one set and noise; return the scores of all ways."""
    with threadpool_limits(1):
        data = prepare(unit, None)
        model = RobustClassifier(random_state=unit.seed).fit(data.X_train, data.y_train)
        samples = check_samples(data.X_train, data.y_train)
        ways = all_ways(model, samples, data.X_test)
    if unit.condition.kind == "uniform":
        noise = noise_matrix(unit.condition.rate, len(model.classes_))
        knowing = RobustClassifier(random_state=unit.seed, noise=noise)
        with threadpool_limits(1):
            knowing.fit(data.X_train, data.y_train)
            ways[KNOWN_NOISE] = knowing.predict_proba(data.X_test)
    codes = np.searchsorted(model.classes_, data.y_test)
    return [
        {"set": unit.dataset, "condition": str(unit.condition), "way": way, **scores(proba, codes)}
        for way, proba in ways.items()
    ]


def scores(proba: np.ndarray, codes: np.ndarray) -> dict[str, float]:
    """Return the scores of probabilities; shares in percent."""
    right = proba.argmax(axis=1) == codes
    return {
        "accuracy": 100 * right.mean(),
        "log_loss": log_loss(codes, proba, labels=np.arange(proba.shape[1])),
        "calibration_error": 100 * calibration_error(right, proba.max(axis=1)),
        RULED_OUT: 100 * np.mean(proba[np.arange(len(codes)), codes] == 0),
    }


def parts_table(table: pd.DataFrame, score: str) -> list[str]:
    """Return the score of all of it, and what is gained or lost without its parts."""
    values = table.pivot_table(index=["condition", "set"], columns="way", values=score, sort=False)
    conditions = list(table["condition"].unique())
    ways = [way for way in table["way"].unique() if way not in (ALL, KNOWN_NOISE)]
    rows = [[ALL, *(_shown(score, values[ALL][each].mean()) for each in conditions)]]
    for way in ways:
        gains = values[way] - values[ALL]
        better = gains > 0 if higher_is_better(score) else gains < 0
        cells = [
            f"{_shown(score, gains[each].mean(), '+')} ({better[each].sum()})"
            for each in conditions
        ]
        rows.append([way, *cells])
    return _table([SCORES[score], *conditions], rows)


def noise_table(table: pd.DataFrame) -> list[str]:
    """Return the scores of all of it without and with a word on how many labels are wrong."""
    conditions = list(table.loc[table["way"] == KNOWN_NOISE, "condition"].unique())
    shown = {**SCORES, RULED_OUT: "true class has probability zero, percent"}
    means = table.groupby(["condition", "way"])[list(shown)].mean()
    rows = [
        [condition, name, *(_shown(score, means.loc[(condition, way), score]) for score in shown)]
        for condition in conditions
        for name, way in (("noise=None", ALL), ("noise=rate", KNOWN_NOISE))
    ]
    return _table(["labels", "classifier", *shown.values()], rows)


def page(study: Study, table: pd.DataFrame) -> str:
    """Return all tables as Markdown."""
    n_sets = table["set"].nunique()
    lines = [
        "# What the parts of the robust classifier bring",
        "",
        f"Made by `python benchmarks/compare_parts.py`: {n_sets} sets of the study {STUDY}, at "
        f"most {study.rows:,} rows each, {study.split.repeats} splits. Means over sets on clean "
        "test labels. First the classifier as it is; then what changes without a part, and in "
        "brackets the number of sets that are better without it. Log loss and calibration error "
        "are better when lower.",
        "",
    ]
    for score in SCORES:
        lines += [*parts_table(table, score), ""]
    if (table["way"] == KNOWN_NOISE).any():
        lines += [
            "What it brings to say how many labels are wrong; test labels are clean:",
            "",
            *noise_table(table),
        ]
    return "\n".join(lines).rstrip() + "\n"


def units_of(study: Study, sets: list[str] | None) -> list[Unit]:
    """Return the splits of every set, or of some, and every kind of noise."""
    units = dict.fromkeys(cell.unit for cell in expand(study))
    return [unit for unit in units if sets is None or unit.dataset.rpartition("/")[2] in sets]


def _shown(score: str, value: float, sign: str = "") -> str:
    return f"{value:{sign}.4f}" if score == "log_loss" else f"{value:{sign}.2f}"


def _table(heads: list[str], rows: list[list[str]]) -> list[str]:
    rule = ["---"] * len(heads)
    return [f"| {' | '.join(row)} |" for row in [heads, rule, *rows]]


def main() -> None:
    """Fit all, print the tables, and write them where the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", nargs="?", type=Path, help="Markdown file to write")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rows", type=int, help="of each set at most, if not those of the study")
    parser.add_argument("--sets", nargs="+", help="last parts of the names of some sets")
    parser.add_argument("--each", type=Path, help="CSV file for the scores of every set")
    arguments = parser.parse_args()
    study = load_study(STUDY)
    if arguments.rows is not None:
        study = msgspec.structs.replace(study, rows=arguments.rows)
    tasks = [delayed(judge)(unit) for unit in units_of(study, arguments.sets)]
    found = Parallel(n_jobs=arguments.jobs, verbose=1)(tasks)
    table = pd.DataFrame([row for rows in found for row in rows])
    if arguments.each is not None:
        table.to_csv(arguments.each, index=False)
    text = page(study, table)
    print(text, end="")
    if arguments.output is not None:
        arguments.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
