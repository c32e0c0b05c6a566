"""Choices about the robust classifier, judged on held-out parts of training parts.

    GRANULEARN_DATA=... python benchmarks/compare_choices.py [--draws 8] [--jobs 2]

Prints, for the classifier as it is, mean accuracies in percent, and for every
other way what it gains or loses. p-values are Wilcoxon's over sets; one of
twenty is below .05 by chance, so with that many ways a single one says little.
"""

import warnings

import numpy as np
import pandas as pd
from scipy.optimize import nnls
from threadpoolctl import threadpool_limits
from training_parts import TrainingPart, judge_all, training_part

from granulearn.bench import wilcoxon_p_value
from granulearn.estimators.committee import AUTO_ACTIVATIONS, AUTO_CS
from granulearn.estimators.committee_fit import draw_layers, layer_features
from granulearn.forest import BallForestClassifier
from granulearn.network import one_hot
from granulearn.network.spectral_ridge import SpectralRidge, factor_spectral_ridge
from granulearn.utils.stacking import stacking_weights

CONDITIONS = [
    ("uniform", 0.0),
    ("uniform", 0.2),
    ("uniform", 0.3),
    ("uniform", 0.4),
    ("boundary", 0.2),
]
N_LAYERS, N_HIDDEN = 10, 203
LINEAR = "linear"
AS_IT_IS = "as it is"
OTHER_FORESTS = {
    "forest: stop 0.6": {"stop": 0.6},
    "forest: stop 0.9": {"stop": 0.9},
    "forest: 3 tries": {"n_candidates": 3},
    "forest: 20 tries": {"n_candidates": 20},
    "forest: 40 % of the rows": {"max_samples": 0.4},
    "forest: 400 trees": {"n_estimators": 400},
}


class LinearFeatures:
    """The direct link and the bias, without hidden nodes."""

    dtype = np.dtype(np.float64)

    def __init__(self, n_features: int):
        self.bias_column, self.n_columns = n_features, n_features + 1

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return the inputs and a column of ones."""
        return np.column_stack([X, np.ones(len(X))])


class Members:
    """Networks of one activation at every penalty; all arrays begin with the penalties."""

    def __init__(self, maps: list, X: np.ndarray, Y: np.ndarray, new: np.ndarray):
        weights = np.ones(len(X))
        ridges = [factor_spectral_ridge(each, X, Y, weights) for each in maps]
        self.left_out = np.mean(
            [
                np.concatenate([part for _, part in r.leave_out(X, Y, weights, AUTO_CS)], axis=1)
                for r in ridges
            ],
            axis=0,
        )
        self.scores = np.mean(
            [[f(new) @ r.coef(C) for C in AUTO_CS] for f, r in zip(maps, ridges, strict=True)],
            axis=0,
        )
        self.log_evidence = np.mean([log_evidence(r, Y) for r in ridges], axis=0)
        self.squares = np.square(self.left_out - Y).sum(axis=2)
        self.errors = self.squares.mean(axis=1)
        self.best = int(self.errors.argmin())


def log_evidence(ridge: SpectralRidge, Y: np.ndarray) -> np.ndarray:
    """Return the log marginal likelihood of each penalty, the noise variance maximised out."""
    shrink = 1 / (ridge.values[:, None] + 1 / np.array(AUTO_CS))
    explained = np.square(ridge.moment).sum(axis=1) @ shrink
    unexplained = np.square(Y - ridge.target_mean).sum() - explained
    log_volume = np.log1p(np.outer(ridge.values, AUTO_CS)).sum(axis=0)
    n_free_outputs = Y.shape[1] - 1
    return -0.5 * n_free_outputs * ((len(Y) - 1) * np.log(unexplained) + log_volume)


def committee_scores(members: dict[str, Members], Y: np.ndarray) -> dict[str, np.ndarray]:
    """Return the scores of new rows by each way to choose or to weigh networks."""
    everyone = list(members.values())
    best = _best_network(members)
    or_linear = min(everyone, key=lambda each: each.errors.min())
    shares = _stacking_shares([each.left_out[each.best] for each in everyone], Y)
    return {
        AS_IT_IS: best.scores[best.best],
        "committee: or linear": or_linear.scores[or_linear.best],
        "committee: mean of activations": np.mean(
            [members[name].scores[members[name].best] for name in AUTO_ACTIVATIONS], axis=0
        ),
        "committee: stacked by leave-one-out": sum(
            share * each.scores[each.best] for share, each in zip(shares, everyone, strict=True)
        ),
        "committee: weighed by evidence": _mean_by_evidence(everyone),
        "committee: mean of all within one standard error": _mean_of_near_best(everyone, best),
        "committee: linear only": members[LINEAR].scores[members[LINEAR].best],
    }


def _stacking_shares(predictions: list[np.ndarray], Y: np.ndarray) -> np.ndarray:
    """Return shares, not negative and of sum one, of least squared leave-one-out error."""
    columns = np.stack([each.ravel() for each in predictions], axis=1)
    sum_to_one = 1e3 * np.ones((1, len(predictions)))
    shares, _ = nnls(np.vstack([columns, sum_to_one]), np.append(Y.ravel(), 1e3))
    return shares / shares.sum()


def _mean_by_evidence(everyone: list[Members]) -> np.ndarray:
    logs = np.stack([each.log_evidence for each in everyone])
    weights = np.exp(logs - logs.max())
    scores = np.stack([each.scores for each in everyone])
    return np.tensordot(weights / weights.sum(), scores, axes=2)


def _mean_of_near_best(everyone: list[Members], best: Members) -> np.ndarray:
    """Return the mean of all networks that leave-one-out cannot tell from the best one."""
    near = []
    for each in everyone:
        worse_by = each.squares - best.squares[best.best]
        standard_error = worse_by.std(axis=1) / np.sqrt(worse_by.shape[1])
        near += list(each.scores[worse_by.mean(axis=1) <= standard_error])
    return np.mean(near, axis=0)


def beside_linear(members: dict[str, Members], Y: np.ndarray) -> np.ndarray:
    """Return the scores of the committee and of a linear model whose shrinking is undone.

    A penalty that noise calls for shrinks a linear model until its intercept
    decides alone. So penalties are compared after the predictions were scaled
    about the class frequencies by least squares, and so are the scores.
    """
    network, linear = _best_network(members), members[LINEAR]
    base = Y.mean(axis=0)
    base_left_out = (len(Y) * base - Y) / (len(Y) - 1)
    steps, wanted = linear.left_out - base_left_out, Y - base_left_out
    squares, products = np.square(steps).sum(axis=(1, 2)), (steps * wanted).sum(axis=(1, 2))
    factors = np.maximum(products / squares, 0)
    at = (factors * (factors * squares - 2 * products)).argmin()
    left_out = base_left_out + factors[at] * steps[at]
    scaled = base + factors[at] * (linear.scores[at] - base)
    committee = network.left_out[network.best]
    share = (0.5 + _share_of_second(committee, left_out, Y)) / 2
    return (1 - share) * network.scores[network.best] + share * scaled


def _share_of_second(first: np.ndarray, second: np.ndarray, Y: np.ndarray) -> float:
    """Return the share of the second predictions in the mean of least squared error."""
    halves = np.full(2, 0.5)
    return float(stacking_weights(np.stack([first, second]), Y, np.ones(len(Y)), halves, 0)[1])


def mixed_scores(
    network: Members, out_of_bag: np.ndarray, balls: np.ndarray, Y: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the scores of new rows by each way to mix network and forest."""
    committee, left_out = network.scores[network.best], network.left_out[network.best]
    share = _share_of_second(left_out, out_of_bag, Y)
    known = ~np.isnan(out_of_bag).any(axis=1)
    unseen, seen = (left_out + out_of_bag)[known] / 2, (committee + balls) / 2
    return {
        "committee alone": committee,
        "forest alone": balls,
        "share of the forest chosen": (1 - share) * committee + share * balls,
        "share chosen, half way": (1.5 - share) * committee + (0.5 + share) * balls,
        "pulled to base rates, to 0 at most": _pulled_to_base_rates(seen, unseen, Y[known], 0),
        "pulled to base rates, to 0.7 at most": _pulled_to_base_rates(seen, unseen, Y[known], 0.7),
        "always the commonest label": np.tile(Y.mean(axis=0), (len(balls), 1)),
    }


def _pulled_to_base_rates(scores, unseen, Y, least: float) -> np.ndarray:
    """Return scores as far from the class frequencies as least squares on unseen ones says."""
    base = Y.mean(axis=0)
    step = unseen - base
    slope = (step * (Y - base)).sum() / np.square(step).sum()
    return base + np.clip(slope, least, 1) * (scores - base)


def forest_scores(
    committee: np.ndarray, part: TrainingPart, noisy: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the scores of new rows by other ball forests."""
    scores = {}
    for way, settings in OTHER_FORESTS.items():
        other = BallForestClassifier(random_state=part.draw, **settings).fit(part.X, noisy)
        scores[way] = committee + other.predict_proba(part.new)
    return scores


def judge(name: str, draw: int) -> list[dict]:
    """Return the accuracies on one draw of a set, in every condition."""
    warnings.simplefilter("ignore")  # of labels that no tree left out
    part = training_part(name, draw)
    with threadpool_limits(1):
        return [_judge_condition(part, kind, rate) for kind, rate in CONDITIONS]


def _judge_condition(part: TrainingPart, kind: str, rate: float) -> dict:
    noisy = part.disturbed(kind, rate)
    Y = one_hot(noisy, part.n_classes).astype(float)
    members = _members(part, Y)
    network = _best_network(members)
    forest = BallForestClassifier(random_state=part.draw).fit(part.X, noisy)
    balls = forest.predict_proba(part.new)
    scores = {
        **{way: each + balls for way, each in committee_scores(members, Y).items()},
        "committee: beside a linear model": beside_linear(members, Y) + balls,
        **mixed_scores(network, forest.oob_proba_, balls, Y),
        **forest_scores(network.scores[network.best], part, noisy),
    }
    right = {way: _share_right(each, part) for way, each in scores.items()}
    right["the best network and penalty, if they were known"] = max(
        _share_right(each + balls, part)
        for name in AUTO_ACTIVATIONS
        for each in members[name].scores
    )
    return {"set": part.name, "condition": _title(kind, rate), **right}


def _members(part: TrainingPart, Y: np.ndarray) -> dict[str, Members]:
    n_features = part.X.shape[1]
    layers = draw_layers(n_features, N_HIDDEN, N_LAYERS, part.draw)
    maps = {name: [layer_features(one, name) for one in layers] for name in AUTO_ACTIVATIONS}
    maps[LINEAR] = [LinearFeatures(n_features)]
    return {name: Members(each, part.X, Y, part.new) for name, each in maps.items()}


def _best_network(members: dict[str, Members]) -> Members:
    """Return the networks of the activation that the committee chooses."""
    return min((members[name] for name in AUTO_ACTIVATIONS), key=lambda each: each.errors.min())


def _share_right(scores: np.ndarray, part: TrainingPart) -> float:
    return float((scores.argmax(axis=1) == part.truth).mean())


def _title(kind: str, rate: float) -> str:
    return f"{kind} {100 * rate:.0f} %" if rate else "clean"


def as_table(rows: pd.DataFrame) -> list[str]:
    """Return the lines of a table: one row for each way."""
    per_set = 100 * rows.groupby(["condition", "set"]).mean()
    titles = [_title(*condition) for condition in CONDITIONS]
    lines = ["| | " + " | ".join(titles) + " |", "|---|" + "---|" * len(titles)]
    for way in per_set.columns:
        cells = []
        for title in titles:
            scores = per_set.loc[title]
            if way == AS_IT_IS:
                cells.append(f"{scores[way].mean():.2f}")
                continue
            gain = (scores[way] - scores[AS_IT_IS]).mean()
            p_value = wilcoxon_p_value(scores[way], scores[AS_IT_IS])
            cells.append(f"{gain:+.2f} (p {p_value:.2g})")
        lines.append(f"| {way} | " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    """Judge on all small sets of the collection and print the table."""
    print("\n".join(as_table(judge_all(judge, __doc__, draws=8))))


if __name__ == "__main__":
    main()
