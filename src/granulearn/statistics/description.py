"""A comparison in words and columns, for a terminal."""

from granulearn.statistics.comparison import Comparison


def describe(comparison: Comparison) -> str:
    """Return the comparison as plain text: models, tests, separated pairs.

    Parameters
    ----------
    comparison : Comparison
        What `compare` returned.

    Returns
    -------
    str
        Several lines, models from best to worst average rank.
    """
    return "\n".join(
        [
            *_models(comparison),
            "",
            *_tests(comparison),
            "",
            *_separated(comparison),
            *_dropped(comparison),
        ]
    )


def _models(comparison: Comparison) -> list[str]:
    width = max(len("model"), *(len(str(model)) for model in comparison.means.index))
    lines = [f"{'model':<{width}}  {'mean score':>10}  {'average rank':>12}"]
    order = comparison.ranks.to_numpy().argsort(kind="stable")
    for model, mean, rank in zip(
        comparison.ranks.index[order],
        comparison.means.iloc[order],
        comparison.ranks.iloc[order],
        strict=True,
    ):
        lines.append(f"{model!s:<{width}}  {mean:>10.2f}  {rank:>12.2f}")
    return lines


def _tests(comparison: Comparison) -> list[str]:
    rows = (
        ("Friedman chi2", comparison.friedman),
        ("Iman-Davenport F", comparison.iman_davenport),
        ("Friedman chi2, tie-corrected", comparison.friedman_tie_corrected),
        ("Iman-Davenport F, tie-corrected", comparison.iman_davenport_tie_corrected),
    )
    lines = [f"{name:<32} {test.statistic:>8.2f}   p = {test.p_value:.2g}" for name, test in rows]
    name = f"Nemenyi critical difference ({comparison.alpha:g})"
    return [*lines, f"{name:<32} {comparison.critical_difference:>7.3f}"]


def _separated(comparison: Comparison) -> list[str]:
    pairs = comparison.separated_pairs
    total = len(comparison.pairwise)
    if not pairs:
        return [f"Nemenyi separates none of the {total} pairs."]
    lines = [f"Nemenyi separates {len(pairs)} of the {total} pairs:"]
    order = list(comparison.ranks.sort_values(kind="stable").index)
    for better in order:
        worse = [loser for loser in order if (better, loser) in pairs]
        if worse:
            lines.append(f"  {better} is better than {', '.join(map(str, worse))}")
    return lines


def _dropped(comparison: Comparison) -> list[str]:
    if not comparison.dropped:
        return []
    names = ", ".join(map(str, comparison.dropped))
    return ["", f"Left out, because a score is missing: {names}"]
