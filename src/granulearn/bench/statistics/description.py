"""A comparison in words: columns for a terminal, sentences for a page."""

from html import escape

from granulearn.bench.statistics.comparison import Comparison


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

    Examples
    --------
    >>> from granulearn.bench.statistics import compare, describe, paper_accuracy_table
    >>> print(describe(compare(paper_accuracy_table())).splitlines()[0])
    model        mean score  average rank
    """
    clauses, total = _better_than(comparison), len(comparison.pairwise)
    separated = [f"Nemenyi separates none of the {total} pairs."]
    if clauses:
        n_pairs = len(comparison.separated_pairs)
        separated = [f"Nemenyi separates {n_pairs} of the {total} pairs:"]
        separated += [f"  {clause}" for clause in clauses]
    if comparison.dropped:
        separated += ["", f"Left out, because a score is missing: {_dropped(comparison)}"]
    return "\n".join([*_models(comparison), "", *_tests(comparison), "", *separated])


def describe_in_words(comparison: Comparison, unit: str = "data sets") -> list[str]:
    """Return what the tests say, as sentences.

    Parameters
    ----------
    comparison : Comparison
        What `compare` returned.
    unit : str, default="data sets"
        What the rows of the comparison are, in the plural.

    Returns
    -------
    list of str
        What was asked, what was found, what cannot be told.

    Examples
    --------
    >>> from granulearn.bench.statistics import compare, describe_in_words, paper_accuracy_table
    >>> words = describe_in_words(compare(paper_accuracy_table()))
    >>> print(words[0].split(". ")[0])
    On each of the 37 data sets the 8 methods are ranked, 1 being best
    """
    ranks, order = comparison.ranks, _best_first(comparison)
    test = comparison.iman_davenport_tie_corrected
    differ = test.p_value < comparison.alpha
    words = [
        f"On each of the {len(comparison.sets)} {unit} the {len(order)} methods are ranked, "
        f"1 being best. {order[0]} has the best average rank ({ranks[order[0]]:.2f}), "
        f"{order[-1]} the worst ({ranks[order[-1]]:.2f}).",
        f"Could all methods be equally good, and these ranks be chance? "
        f"{'Hardly' if differ else 'Yes, they could'}: "
        f"Iman and Davenport's test gives {_p(test.p_value)}.",
        f"Two methods can be told apart (Nemenyi's test, level {comparison.alpha:g}) if their "
        f"average ranks differ by at least {comparison.critical_difference:.2f}. "
        f"{_separated_in_words(comparison)}",
        _pairs_in_words(comparison),
    ]
    if unit != "data sets":
        words.append(
            "The conditions of one data set are no independent trials, so these p-values are "
            "smaller than they should be."
        )
    if comparison.dropped:
        words.append(f"Left out, since a score is missing: {_dropped(comparison)}.")
    return words


def describe_as_html(comparison: Comparison) -> str:
    """Return the comparison as HTML: a table of models, and what the tests say.

    Parameters
    ----------
    comparison : Comparison
        What `compare` returned.

    Returns
    -------
    str
        What a notebook shows.
    """
    rows = "".join(
        f"<tr><th>{escape(str(model))}</th><td>{comparison.means[model]:.2f}</td>"
        f"<td>{comparison.ranks[model]:.2f}</td></tr>"
        for model in _best_first(comparison)
    )
    words = "".join(f"<p>{escape(sentence)}</p>" for sentence in describe_in_words(comparison))
    return (
        "<table><thead><tr><th>model</th><th>mean score</th><th>average rank</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>{words}"
    )


def _models(comparison: Comparison) -> list[str]:
    width = max(len("model"), *(len(str(model)) for model in comparison.means.index))
    lines = [f"{'model':<{width}}  {'mean score':>10}  {'average rank':>12}"]
    for model in _best_first(comparison):
        mean, rank = comparison.means[model], comparison.ranks[model]
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


def _separated_in_words(comparison: Comparison) -> str:
    clauses = "; ".join(_better_than(comparison))
    if not clauses:
        return "That is true of no pair here."
    n_pairs, total = len(comparison.separated_pairs), len(comparison.pairwise)
    return f"That is true of {n_pairs} of {total} pairs: {clauses}."


def _pairs_in_words(comparison: Comparison) -> str:
    clear = comparison.pairwise[comparison.pairwise["holm_p"] < comparison.alpha]
    how = (
        "Comparing two at a time (Wilcoxon's signed ranks, Holm's correction for "
        f"{len(comparison.pairwise)} comparisons)"
    )
    if clear.empty:
        return f"{how}, no difference is clear."
    clauses = [
        f"{a} over {b} ({_p(p)})" if gap < 0 else f"{b} over {a} ({_p(p)})"
        for a, b, gap, p in clear[["first", "second", "rank_difference", "holm_p"]].to_numpy()
    ]
    return f"{how}, {len(clear)} differences are clear: {', '.join(clauses)}."


def _better_than(comparison: Comparison) -> list[str]:
    """Return a clause for each model that Nemenyi's test puts before others, best first."""
    order, pairs = _best_first(comparison), comparison.separated_pairs
    return [
        f"{better} is better than {', '.join(worse)}"
        for better in order
        if (worse := [str(model) for model in order if (better, model) in pairs])
    ]


def _best_first(comparison: Comparison) -> list:
    return list(comparison.ranks.sort_values(kind="stable").index)


def _dropped(comparison: Comparison) -> str:
    return ", ".join(map(str, comparison.dropped))


def _p(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"
