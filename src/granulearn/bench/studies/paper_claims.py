"""What the paper claims, each claim checked by the same code on its own figures and on ours.

Three verdicts:

- ``found again``: our figures say what the paper says;
- ``not found``: they say otherwise;
- ``cannot be told``: they are not complete; or it is about a significant difference, and the
  difference here, whichever way it points, is too small to be told from chance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import pandas as pd
from scipy import stats

from granulearn.bench.statistics import Comparison, compare

FOUND, NOT_FOUND, OPEN = "found again", "not found", "cannot be told"
F_MODEL, SDAP_MODEL = "F-GBRVFL", "SDAP-GBRVFL"
PROPOSED = (F_MODEL, SDAP_MODEL)
BASELINES = ("RVFL", "ELM", "GB-RVFL", "GE-GB-RVFL", "CRVFL", "ACRVFL")
CAVEAT = "(As we read it; the paper's own figures do not say so either.)"
# What Nemenyi's test does not separate from F-GBRVFL in the paper.
EXCEPTIONS = ("RVFL", "GB-RVFL")


@dataclass(frozen=True)
class Claim:
    """One claim of the paper beside what this run says."""

    about: str
    """``table 1``, ``noise``, ``sensitivity``, or a kind of stress."""
    source: str
    """Where the paper says it."""
    text: str
    paper: str
    """The paper's own figures."""
    ours: str
    """The same figures of this run."""
    verdict: str
    """`FOUND`, `NOT_FOUND` or `OPEN`."""
    in_paper: bool | None
    """Whether it follows from the paper's own figures; None where it prints none."""
    caveat: str = ""
    """What to say with it, if it does not."""


def claims_in_short(claims: list[Claim]) -> dict[str, list[str]]:
    """List the claims of each verdict; those that differ in one name only are one line.

    Parameters
    ----------
    claims : list of Claim
        What was checked.

    Returns
    -------
    dict
        Verdict to sentences, in the order of the claims.
    """
    short: dict[str, dict[tuple[str, str], list[str]]] = {FOUND: {}, NOT_FOUND: {}, OPEN: {}}
    for claim in claims:
        frame, joint, name = _frame(f"{claim.text} {claim.caveat}".rstrip())
        short[claim.verdict].setdefault((frame, joint), []).append(name)
    return {
        verdict: [frame.replace("{}", joint.join(names)) for (frame, joint), names in found.items()]
        for verdict, found in short.items()
    }


def _frame(text: str) -> tuple[str, str, str]:
    """Return a claim with a place for one name, how several are joined there, and the name."""
    for name in BASELINES:
        if f" {name} (Nemenyi" in text:
            return text.replace(f" {name} (", " {} ("), ", ", name
    for name in PROPOSED:
        if f"{name} is more " in text:
            return text.replace(f"{name} is", "{} is"), " as well as ", name
    return text, "", ""


@dataclass(frozen=True)
class _Reading:
    """What a table says of a claim: figures in words, and whether they agree with it."""

    figures: str
    agrees: bool | None
    """None if the figures do not suffice to say."""


@dataclass(frozen=True, eq=False)
class _Figures:
    """A table, and what follows from it; made once, read by every rule."""

    table: pd.DataFrame

    @cached_property
    def means(self) -> pd.Series:
        return mean_accuracy(self.table)

    @cached_property
    def comparison(self) -> Comparison:
        return compare(self.table)


_Check = Callable[[_Figures], _Reading]


def claims_of_table1(paper: pd.DataFrame, ours: pd.DataFrame) -> list[Claim]:
    """Check what section IV says of table 1.

    Parameters
    ----------
    paper, ours : DataFrame of shape (n_sets, n_methods)
        Accuracy in percent; NaN where a cell is missing.

    Returns
    -------
    list of Claim
        Means, ranks, the test of Friedman, and all pairs of a proposed model and a baseline.
    """
    checks: list[tuple[str, str, _Check]] = [
        (
            "section IV",
            f"{SDAP_MODEL} has the highest mean accuracy.",
            _place_of_mean(SDAP_MODEL, 1),
        ),
        (
            "section IV",
            f"{F_MODEL} has the second highest mean accuracy.",
            _place_of_mean(F_MODEL, 2),
        ),
        ("section IV", f"{SDAP_MODEL} has the best average rank.", _place_of_rank(SDAP_MODEL, 1)),
        ("section IV", f"{F_MODEL} has the second best average rank.", _place_of_rank(F_MODEL, 2)),
        ("section IV", "The eight methods differ (Friedman's test, F_F).", _they_differ),
    ]
    for model in (SDAP_MODEL, F_MODEL):
        for baseline in BASELINES:
            if model == F_MODEL and baseline in EXCEPTIONS:
                text = f"{model} is not told apart from {baseline} (Nemenyi's test)."
                checks.append(("section IV", text, _not_separated(model, baseline)))
            else:
                text = f"{model} outperforms {baseline} (Nemenyi's test)."
                checks.append(("section IV", text, _separated(model, baseline)))
    checks += [
        (
            "abstract",
            f"{model} is more accurate than every baseline, in the mean.",
            _beats_all(model),
        )
        for model in PROPOSED
    ]
    return _claims("table 1", checks, paper, ours)


def claims_of_noise(paper: pd.DataFrame, ours: pd.DataFrame) -> list[Claim]:
    """Check what the paper says of label noise.

    Parameters
    ----------
    paper, ours : DataFrame
        Accuracy in percent, indexed by data set and noise in percent; without clean labels.

    Returns
    -------
    list of Claim
        Means over all sets and rates, and the loss from the lowest rate to the highest.
    """
    checks: list[tuple[str, str, _Check]] = [
        ("table S.I", f"Under label noise {SDAP_MODEL} has the highest mean accuracy.",
         _place_of_mean(SDAP_MODEL, 1)),
        ("table S.I", f"Under label noise {F_MODEL} has the second highest mean accuracy.",
         _place_of_mean(F_MODEL, 2)),
        *(("abstract", f"Under label noise {model} is more accurate than every baseline, "
           "in the mean.", _beats_all(model)) for model in PROPOSED),
        *(("abstract", f"{model} is more stable: from 5 to 40 % noise it loses less accuracy than "
           "every baseline.", _loses_least(model)) for model in PROPOSED),
    ]  # fmt: skip
    return _claims("noise", checks, paper, ours)


STRESS_KINDS = {
    "outliers": "outliers",
    "rare": "a rare class",
    "joined": "wrong labels beside outliers or a rare class",
}


def claims_of_stress(ours: dict[str, pd.DataFrame], worst: dict[str, str]) -> list[Claim]:
    """Check the promise of the abstract, which prints no figures on it: robust to what disturbs.

    Parameters
    ----------
    ours : dict
        For each of `STRESS_KINDS`, balanced accuracy in percent, indexed by data set and how
        hard the condition is: 0 for clean rows, the largest number for the hardest one.
    worst : dict
        For each of these, the hardest condition in words.

    Returns
    -------
    list of Claim
        For each kind and each proposed model, that it is ahead of every baseline in the mean
        over all disturbed conditions, and that it loses least from clean rows to the hardest.
    """
    found = []
    for kind, words in STRESS_KINDS.items():
        disturbed = ours[kind][ours[kind].index.get_level_values(1) > 0]
        ahead: list[tuple[str, str, _Check]] = [
            ("abstract", f"With {words} {model} is more accurate (balanced accuracy) than every "
             "baseline, in the mean.", _beats_all(model)) for model in PROPOSED
        ]  # fmt: skip
        stable: list[tuple[str, str, _Check]] = [
            ("abstract", f"{model} is more stable: from clean rows to {worst[kind]} it loses less "
             "balanced accuracy than every baseline.", _loses_least(model)) for model in PROPOSED
        ]  # fmt: skip
        found += _claims(kind, ahead, None, disturbed)
        found += _claims(kind, stable, None, ours[kind])
    return found


@dataclass(frozen=True, eq=False)
class BySetting:
    """The accuracy of the proposed models on one data set, by setting."""

    means: pd.DataFrame
    """One row per setting, one column per model; NaN where a cell is missing."""
    error: float
    """Standard error of a mean over splits, on average."""

    @property
    def ranges(self) -> pd.Series:
        """Highest minus lowest mean of each model."""
        return self.means.max() - self.means.min()


def claims_of_sensitivity(
    activations: dict[str, BySetting], surfaces: dict[str, BySetting]
) -> list[Claim]:
    """Check what the supplement says of figures S.1 and S.2, which print no numbers.

    Parameters
    ----------
    activations, surfaces : dict
        Data set to what was measured on it.

    Returns
    -------
    list of Claim
        That one of the two proposed models depends less on its settings than the other. It
        can be told where the ranges differ by more than an error, the same way on every set.
    """
    said = f"{SDAP_MODEL} depends less on {{}} than {F_MODEL} (range of mean accuracy)."
    found = []
    for what, source, measured in [
        ("the activation", "figure S.1", activations),
        ("C and the number of nodes", "figure S.2", surfaces),
    ]:
        words, gains = [], []
        for name, item in measured.items():
            own, other = item.ranges[SDAP_MODEL], item.ranges[F_MODEL]
            words.append(f"{name}: {own:.2f} against {other:.2f} points, error {item.error:.2f}")
            gains.append((other - own) / item.error if item.error else float("nan"))
        complete = bool(measured) and all(
            item.means.notna().all(axis=None) for item in measured.values()
        )
        if complete and all(gain > 1 for gain in gains):
            verdict = FOUND
        else:
            verdict = NOT_FOUND if complete and all(gain < -1 for gain in gains) else OPEN
        ours = "; ".join(words) if complete else "not run to its end"
        text = said.format(what)
        found.append(Claim("sensitivity", source, text, "a drawing only", ours, verdict, None))
    return found


def _claims(
    about: str,
    checks: list[tuple[str, str, _Check]],
    paper: pd.DataFrame | None,
    ours: pd.DataFrame,
) -> list[Claim]:
    lacking = int(ours.isna().to_numpy().sum())
    of_paper, of_ours = None if paper is None else _Figures(paper), _Figures(ours)
    found = []
    for source, text, check in checks:
        theirs = _Reading("no figures", None) if of_paper is None else check(of_paper)
        if lacking:
            own = f"{lacking} of {ours.size} figures are missing"
            verdict = OPEN
        else:
            reading = check(of_ours)
            own, verdict = reading.figures, _VERDICT[reading.agrees]
        holds = None if of_paper is None else bool(theirs.agrees)
        caveat = CAVEAT if holds is False else ""
        found.append(Claim(about, source, text, theirs.figures, own, verdict, holds, caveat))
    return found


_VERDICT = {True: FOUND, False: NOT_FOUND, None: OPEN}


def mean_accuracy(table: pd.DataFrame) -> pd.Series:
    """Return the mean of each method, the way the paper has it.

    Parameters
    ----------
    table : DataFrame
        One row per data set, or per data set and noise. In the latter case each set is
        averaged and rounded first.
    """
    if table.index.nlevels == 1:
        return table.mean()
    return table.groupby(level=0, sort=False).mean().round(2).mean()


def _place_of_mean(model: str, place: int) -> _Check:
    def check(figures: _Figures) -> _Reading:
        means = figures.means
        order = list(means.sort_values(ascending=False, kind="stable").index)
        return _Reading(_placed(model, means, order), order[place - 1] == model)

    return check


def _place_of_rank(model: str, place: int) -> _Check:
    def check(figures: _Figures) -> _Reading:
        ranks = figures.comparison.ranks
        order = list(ranks.sort_values(kind="stable").index)
        return _Reading(_placed(model, ranks, order), order[place - 1] == model)

    return check


def _placed(model: str, values: pd.Series, order: list[str]) -> str:
    first = "" if order[0] == model else f"; {order[0]} {values[order[0]]:.2f}"
    return f"{values[model]:.2f}, place {order.index(model) + 1}{first}"


def _they_differ(figures: _Figures) -> _Reading:
    test = figures.comparison.iman_davenport
    critical = float(stats.f.isf(0.05, *test.degrees_of_freedom))
    sign = ">" if test.statistic > critical else "<"
    words = f"F_F {test.statistic:.2f} {sign} {critical:.2f}"
    return _Reading(words, test.statistic > critical)


def _separated(model: str, baseline: str) -> _Check:
    def check(figures: _Figures) -> _Reading:
        result = figures.comparison
        gap = result.ranks[baseline] - result.ranks[model]
        apart = abs(gap) >= result.critical_difference
        return _Reading(_gap_in_words(gap, result), bool(gap > 0) if apart else None)

    return check


def _not_separated(model: str, baseline: str) -> _Check:
    def check(figures: _Figures) -> _Reading:
        result = figures.comparison
        gap = result.ranks[baseline] - result.ranks[model]
        return _Reading(_gap_in_words(gap, result), bool(abs(gap) < result.critical_difference))

    return check


def _gap_in_words(gap: float, result: Comparison) -> str:
    return f"ranks differ by {gap:.2f}, CD {result.critical_difference:.2f}"


def _beats_all(model: str) -> _Check:
    def check(figures: _Figures) -> _Reading:
        means = figures.means
        ahead = [name for name in BASELINES if means[name] >= means[model]]
        best = str(means[list(BASELINES)].idxmax())
        words = f"{means[model]:.2f}; best baseline {best} {means[best]:.2f}"
        return _Reading(words, not ahead)

    return check


def _loses_least(model: str) -> _Check:
    def check(figures: _Figures) -> _Reading:
        by_rate = figures.table.groupby(level=1).mean()
        rates = by_rate.index
        losses = by_rate.loc[rates.min()] - by_rate.loc[rates.max()]
        least = str(losses[list(BASELINES)].idxmin())
        words = f"loses {losses[model]:.2f}; least of the baselines {least} {losses[least]:.2f}"
        return _Reading(words, bool(losses[model] < losses[least]))

    return check
