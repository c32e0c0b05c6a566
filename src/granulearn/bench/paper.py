"""The paper, run again: its tables beside ours, and each of its claims with a verdict.

Each claim has one rule, which is applied to the paper's table and to ours. Three verdicts:

- ``reproduced``: our figures support the claim;
- ``not reproduced``: they contradict it;
- ``inconclusive``: they are incomplete, or the claim is a significant difference, and the
  difference here is not significant.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from granulearn.bench.methods import build_estimator
from granulearn.bench.statistics import compare, paper_accuracy_table, paper_noise_table
from granulearn.bench.store import Store
from granulearn.bench.study import StudyError
from granulearn.bench.study_files import PAPER, PAPER_STUDIES
from granulearn.bench.summary import mean_accuracy, summarize

REPRODUCED, NOT_REPRODUCED, INCONCLUSIVE = "reproduced", "not reproduced", "inconclusive"
F_MODEL, SDAP_MODEL = "F-GBRVFL", "SDAP-GBRVFL"
PROPOSED = (F_MODEL, SDAP_MODEL)
BASELINES = ("RVFL", "ELM", "GB-RVFL", "GE-GB-RVFL", "CRVFL", "ACRVFL")
CAVEAT = "(As we read it; the paper's own figures do not say so either.)"
# Models that Nemenyi's test does not separate from F-GBRVFL in the paper.
EXCEPTIONS = ("RVFL", "GB-RVFL")


@dataclass(frozen=True)
class Claim:
    """One claim of the paper, its figures and ours."""

    source: str
    """Where the paper says it."""
    pattern: str
    """The claim, with ``{}`` for a name that tells it from claims like it."""
    name: str
    """That name, or an empty text."""
    paper: str
    """The paper's own figures."""
    ours: str
    """The same figures of this run."""
    verdict: str
    """`REPRODUCED`, `NOT_REPRODUCED` or `INCONCLUSIVE`."""
    caveat: str = ""
    """Added where the claim does not follow from the paper's own figures."""

    @property
    def text(self) -> str:
        """The claim in one sentence."""
        return self.pattern.format(self.name)


# The result of a rule: figures in words, and whether they support the claim; None if undecided.
Reading = tuple[str, bool | None]
# Source, pattern, name, and a rule with what it takes beside a table and its comparison.
Row = tuple[Any, ...]


def claims_of_table1(paper: pd.DataFrame, ours: pd.DataFrame) -> list[Claim]:
    """Check the claims of section IV about table 1: means, ranks, Friedman's test, and pairs.

    Both tables hold accuracy in percent, one row per set; NaN where a run is missing.
    """
    best, second = SDAP_MODEL, F_MODEL
    rows: list[Row] = [
        ("section IV", f"{best} has the highest mean accuracy.", "", _mean, best, 1),
        ("section IV", f"{second} has the second highest mean accuracy.", "", _mean, second, 2),
        ("section IV", f"{best} has the best average rank.", "", _rank, best, 1),
        ("section IV", f"{second} has the second best average rank.", "", _rank, second, 2),
        ("section IV", "The eight methods differ (Friedman's test, F_F).", "", _they_differ),
    ]
    for model in (SDAP_MODEL, F_MODEL):
        for other in BASELINES:
            alike = model == F_MODEL and other in EXCEPTIONS
            words = "does not differ significantly from" if alike else "outperforms"
            pattern = f"{model} {words} {{}} (Nemenyi's test)."
            rows.append(("section IV", pattern, other, _separation, model, other, alike))
    ahead = "{} is more accurate than every baseline, in the mean."
    rows += [("abstract", ahead, model, is_ahead, model) for model in PROPOSED]
    return check_claims(rows, paper, ours)


def claims_of_noise(paper: pd.DataFrame, ours: pd.DataFrame) -> list[Claim]:
    """Check the claims about label noise; tables are by data set and noise in percent."""
    under, most = "Under label noise", "highest mean accuracy."
    ahead = f"{under} {{}} is more accurate than every baseline, in the mean."
    stable = "{} is more stable: from 5 to 40 % noise it loses less accuracy than every baseline."
    rows: list[Row] = [
        ("table S.I", f"{under} {SDAP_MODEL} has the {most}", "", _mean, SDAP_MODEL, 1),
        ("table S.I", f"{under} {F_MODEL} has the second {most}", "", _mean, F_MODEL, 2),
        *(("abstract", ahead, model, is_ahead, model) for model in PROPOSED),
        *(("abstract", stable, model, loses_least, model) for model in PROPOSED),
    ]
    return check_claims(rows, paper, ours)


def claim_of_sensitivity(
    what: str, source: str, points: pd.DataFrame, n_settings: int, n_sets: int
) -> Claim:
    """Check that one proposed model depends less on its settings (figures S.1 and S.2).

    The paper prints no numbers. It can be told where the ranges of accuracy differ by more than
    an error, the same way on every set. The points are those of `granulearn.bench.summarize`.
    """
    words, gains = [], []
    for name, own in points.groupby("dataset", sort=False):
        means = own.groupby("method")["mean"]
        ranges = means.max() - means.min()
        error = own["error"].fillna(0).mean()
        sdap, fuzzy = (ranges.get(model, np.nan) for model in (SDAP_MODEL, F_MODEL))
        words.append(f"{name}: {sdap:.2f} against {fuzzy:.2f} points, error {error:.2f}")
        gains.append((fuzzy - sdap) / error if error else np.nan)
    complete = len(points) == n_settings * n_sets * len(PROPOSED) and points["complete"].all()
    agrees = None
    if complete and (min(gains) > 1 or max(gains) < -1):
        agrees = gains[0] > 1
    ours = "; ".join(words) if complete else "not run to its end"
    text = f"{SDAP_MODEL} depends less on {what} than {F_MODEL} (range of mean accuracy)."
    return Claim(source, text, "", "a drawing only", ours, _VERDICT[agrees])


def claims_in_short(claims: list[Claim]) -> dict[str, list[str]]:
    """Return verdict to sentences; claims that differ in one name only are one sentence."""
    names: dict[tuple[str, str], list[str]] = {}
    for claim in claims:
        pattern = f"{claim.pattern} {claim.caveat}".rstrip()
        names.setdefault((claim.verdict, pattern), []).append(claim.name)
    return {
        verdict: [
            pattern.format((", " if "Nemenyi" in pattern else " as well as ").join(found))
            for (own, pattern), found in names.items()
            if own == verdict
        ]
        for verdict in (REPRODUCED, NOT_REPRODUCED, INCONCLUSIVE)
    }


_VERDICT = {True: REPRODUCED, False: NOT_REPRODUCED, None: INCONCLUSIVE}


def check_claims(rows: list[Row], paper: pd.DataFrame | None, ours: pd.DataFrame) -> list[Claim]:
    """Apply rules to the paper's table, if there is one, and to ours."""
    lacking = int(ours.isna().to_numpy().sum())
    # Rules about ranks read one comparison of the table.
    of_sets = ours.index.nlevels == 1
    of_paper = compare(paper) if paper is not None and of_sets else None
    of_ours = compare(ours) if of_sets and not lacking else None
    found = []
    for source, pattern, name, rule, *given in rows:
        theirs, holds = ("no figures", True) if paper is None else rule(paper, of_paper, *given)
        if lacking:
            own, agrees = f"{lacking} of {ours.size} figures are missing", None
        else:
            own, agrees = rule(ours, of_ours, *given)
        caveat = "" if holds else CAVEAT
        found.append(Claim(source, pattern, name, theirs, own, _VERDICT[agrees], caveat))
    return found


def _mean(table: pd.DataFrame, _: Any, model: str, place: int) -> Reading:
    return _placed(model, place, -mean_accuracy(table))


def _rank(_: pd.DataFrame, result: Any, model: str, place: int) -> Reading:
    return _placed(model, place, result.ranks)


def _placed(model: str, place: int, values: pd.Series) -> Reading:
    """Return the place of a model; the least value comes first."""
    order = list(values.sort_values(kind="stable").index)
    first = "" if order[0] == model else f"; {order[0]} {abs(values[order[0]]):.2f}"
    words = f"{abs(values[model]):.2f}, place {order.index(model) + 1}{first}"
    return words, order[place - 1] == model


def _they_differ(_: pd.DataFrame, result: Any) -> Reading:
    test = result.iman_davenport
    critical = float(stats.f.isf(0.05, *test.degrees_of_freedom))
    sign = ">" if test.statistic > critical else "<"
    return f"F_F {test.statistic:.2f} {sign} {critical:.2f}", test.statistic > critical


def _separation(_: pd.DataFrame, result: Any, model: str, baseline: str, alike: bool) -> Reading:
    gap = result.ranks[baseline] - result.ranks[model]
    apart = abs(gap) >= result.critical_difference
    words = f"ranks differ by {gap:.2f}, CD {result.critical_difference:.2f}"
    if alike:
        return words, not apart
    return words, bool(gap > 0) if apart else None


def is_ahead(table: pd.DataFrame, _: Any, model: str) -> Reading:
    """Return whether a model has a higher mean than every baseline."""
    means = mean_accuracy(table)
    best = str(means[list(BASELINES)].idxmax())
    words = f"{means[model]:.2f}; best baseline {best} {means[best]:.2f}"
    return words, bool(means[model] > means[best])


def loses_least(table: pd.DataFrame, _: Any, model: str) -> Reading:
    """Return whether a model loses least from the first level of a table to the last."""
    by_rate = table.groupby(level=1).mean().sort_index()
    losses = by_rate.iloc[0] - by_rate.iloc[-1]
    least = str(losses[list(BASELINES)].idxmin())
    words = f"loses {losses[model]:.2f}; least of the baselines {least} {losses[least]:.2f}"
    return words, bool(losses[model] < losses[least])


def holds_the_paper(store: Store) -> bool:
    """Return whether ``granulearn bench paper`` filled a store, in full or in part.

    Parameters
    ----------
    store : Store
        Open.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from granulearn.bench import Store, holds_the_paper
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.db")) as store:
    ...     holds_the_paper(store)
    False
    """
    return set(PAPER_STUDIES) <= set(store.studies())


def summarize_paper(store: Store) -> dict[str, Any]:
    """Summarise a run of the whole paper, each figure beside the paper's.

    Parameters
    ----------
    store : Store
        Open, may be read-only; filled by ``granulearn bench paper``.

    Returns
    -------
    dict
        ``studies`` (name to summary), ``progress``, ``table1`` and ``noise`` (each the paper's
        table and ours), ``statistics`` (source to `Comparison`), ``claims``, ``verdicts`` (number
        of each) and ``reasons``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from granulearn.bench import Store, load_study, summarize_paper
    >>> from granulearn.bench.study_files import PAPER_STUDIES
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.db")) as store:
    ...     for name in PAPER_STUDIES:
    ...         store.save_study(name, load_study(name).to_json())
    ...     summary = summarize_paper(store)
    >>> summary["verdicts"]
    {'reproduced': 0, 'not reproduced': 0, 'inconclusive': 27}
    """
    if not holds_the_paper(store):
        raise StudyError(f"{store.path} does not hold the paper; run: granulearn bench {PAPER}")
    studies = {name: summarize(store, name) for name in PAPER_STUDIES}
    theirs, theirs_noise = paper_accuracy_table(), paper_noise_table()
    # A mean over some of the splits is no figure.
    whole = {
        name: studies[name]["means"].where(studies[name]["complete"]) for name in PAPER_STUDIES
    }
    places = [(name, "clean") for name in studies["table1"]["datasets"]]
    table1 = whole["table1"].reindex(pd.MultiIndex.from_tuples(places)).droplevel(1)
    places = [(name, f"uniform {rate:g} %") for name, rate in theirs_noise.index]
    noise = whole["noise"].reindex(pd.MultiIndex.from_tuples(places)).set_axis(theirs_noise.index)
    table1, noise = (table.reindex(columns=theirs.columns) for table in (table1, noise))
    claims = [*claims_of_table1(theirs, table1), *claims_of_noise(theirs_noise, noise)]
    for what, source, name, key in [
        ("the activation", "figure S.1", "sensitivity-activation", "activations"),
        ("C and the number of nodes", "figure S.2", "sensitivity-C-h", "surfaces"),
    ]:
        study = studies[name]
        n_settings = len(study["methods"]) // len(PROPOSED)
        points, n_sets = study[key], len(study["datasets"])
        claims.append(claim_of_sensitivity(what, source, points, n_settings, n_sets))
    counts = Counter(claim.verdict for claim in claims)
    complete = table1.dropna()
    tables = {"paper": theirs}
    if len(complete) > 1:
        tables |= {"paper, same sets": theirs.loc[complete.index], "this run": complete}
    return {
        "methods": list(theirs.columns),
        "proposed": list(PROPOSED),
        "studies": studies,
        "progress": _progress(studies),
        "table1": (theirs.loc[table1.index], table1),
        "noise": (theirs_noise, noise),
        "noise_means": (_noise_means(theirs_noise), _noise_means(noise)),
        "statistics": {source: compare(table) for source, table in tables.items()},
        "claims": claims,
        "verdicts": {
            verdict: counts[verdict] for verdict in (REPRODUCED, NOT_REPRODUCED, INCONCLUSIVE)
        },
        "short": claims_in_short(claims),
        "reasons": _reasons(theirs, table1, studies["table1"]),
    }


def _progress(studies: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Count the runs that are done, failed and missing, in each study and in all."""
    each = [
        {
            "name": name,
            **{key: summary["progress"][key] for key in ("runs", "done", "missing")},
            "failed": len(summary["progress"]["failed"]),
            "reasons": summary["progress"]["failed"]["reason"],
        }
        for name, summary in studies.items()
    ]
    counts = {key: sum(item[key] for item in each) for key in ("runs", "done", "failed", "missing")}
    return {**counts, "studies": each}


def _noise_means(table: pd.DataFrame) -> pd.DataFrame:
    """Return the mean over the sets at each rate, and over all rates; NaN if one is missing."""
    parts = {f"{rate:g} %": part for rate, part in table.groupby(level=1)} | {"all rates": table}
    means = {rate: mean_accuracy(part).where(part.notna().all()) for rate, part in parts.items()}
    return pd.DataFrame(means).T


def _reasons(theirs: pd.DataFrame, ours: pd.DataFrame, summary: dict[str, Any]) -> list[str]:
    """Explain why claims are reproduced or not, as far as the figures tell."""
    complete = ours.dropna()
    if len(complete) < 2 or summary["progress"]["missing"]:
        return []  # of a part of the sets, a reason could turn round
    gains = (complete - theirs.loc[complete.index]).mean()
    proposed, baselines = (
        ", ".join(f"{gains[name]:+.2f} ({name})" for name in names)
        for names in (PROPOSED, BASELINES)
    )
    reasons = [
        f"On the {len(complete)} sets that both have, the proposed models differ from the paper by "
        f"{proposed} points, the baselines by {baselines}. CRVFL and ACRVFL have "
        "no public code: ours are other models of the same name."
    ]
    if gains[list(BASELINES)].mean() > gains[list(PROPOSED)].mean():
        reasons.append(
            "So it is mostly the baselines that score higher than reported. Here every method is "
            "searched over its whole grid by cross-validation on training data only, and the test "
            "part is used once; we think that the paper's baselines were tuned with less care than "
            "its own models, which its text neither confirms nor rules out."
        )
    runs = summary["table"][summary["table"]["method"] == F_MODEL]
    n_balls, rows = runs["n_balls"].mean(), runs["n_train"].mean()
    if n_balls > 0:
        (method,) = [method for method in summary["study"].method if method.name == F_MODEL]
        purity = build_estimator(method).get_params()["purity"]
        reasons.append(
            f"At a purity of {purity:g} {F_MODEL} makes {n_balls:.0f} balls of "
            f"{rows:.0f} training rows in the mean: a ball stands for {rows / n_balls:.1f} rows, "
            "which is little to average noise away, or to tell a trusted ball from another."
        )
    return reasons
