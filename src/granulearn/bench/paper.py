"""The paper, run again: its tables beside ours, and each of its claims with a verdict.

A claim is a row: where the paper says it, in which words, and one rule that reads a table. The
rule is applied to the paper's own figures and to ours. Three verdicts:

- ``found again``: our figures say what the paper says;
- ``not found``: they say otherwise;
- ``cannot be told``: they are not complete; or it is about a significant difference, and the
  difference here, whichever way it points, is too small to be told from chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from granulearn.bench.methods import build_estimator
from granulearn.bench.statistics import Comparison, compare, paper_accuracy_table, paper_noise_table
from granulearn.bench.store import Store
from granulearn.bench.study import Method, StudyError
from granulearn.bench.study_files import PAPER, PAPER_STUDIES
from granulearn.bench.summary import common_reasons, mean_accuracy, number, summarize

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
    """``table 1``, ``noise``, ``sensitivity``, or what a benchmark is about."""
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


# What a rule reads of a table: figures in words, and whether they agree; None if it cannot be told.
Reading = tuple[str, bool | None]
Rule = Callable[[pd.DataFrame, Any], Reading]
Row = tuple[str, str, Rule]


def claims_of_table1(paper: pd.DataFrame, ours: pd.DataFrame) -> list[Claim]:
    """Check what section IV says of table 1: means, ranks, Friedman's test, and pairs.

    Both tables hold accuracy in percent, one row per set; NaN where a run is missing.
    """
    rows: list[Row] = [
        ("section IV", f"{SDAP_MODEL} has the highest mean accuracy.", _mean(SDAP_MODEL, 1)),
        ("section IV", f"{F_MODEL} has the second highest mean accuracy.", _mean(F_MODEL, 2)),
        ("section IV", f"{SDAP_MODEL} has the best average rank.", _rank(SDAP_MODEL, 1)),
        ("section IV", f"{F_MODEL} has the second best average rank.", _rank(F_MODEL, 2)),
        ("section IV", "The eight methods differ (Friedman's test, F_F).", _they_differ),
    ]
    for model in (SDAP_MODEL, F_MODEL):
        for other in BASELINES:
            alike = model == F_MODEL and other in EXCEPTIONS
            words = f"is not told apart from {other}" if alike else f"outperforms {other}"
            rule = _separation(model, other, wanted=not alike)
            rows.append(("section IV", f"{model} {words} (Nemenyi's test).", rule))
    rows += [
        ("abstract", f"{model} is more accurate than every baseline, in the mean.", is_ahead(model))
        for model in PROPOSED
    ]
    return check_claims("table 1", rows, paper, ours)


def claims_of_noise(paper: pd.DataFrame, ours: pd.DataFrame) -> list[Claim]:
    """Check what the paper says of label noise; tables are by data set and noise in percent."""
    under, most = "Under label noise", "highest mean accuracy."
    rows: list[Row] = [
        ("table S.I", f"{under} {SDAP_MODEL} has the {most}", _mean(SDAP_MODEL, 1)),
        ("table S.I", f"{under} {F_MODEL} has the second {most}", _mean(F_MODEL, 2)),
        *(("abstract", f"{under} {model} is more accurate than every baseline, in the mean.",
           is_ahead(model)) for model in PROPOSED),
        *(("abstract", f"{model} is more stable: from 5 to 40 % noise it loses less accuracy than "
           "every baseline.", loses_least(model)) for model in PROPOSED),
    ]  # fmt: skip
    return check_claims("noise", rows, paper, ours)


@dataclass(frozen=True, eq=False)
class BySetting:
    """The accuracy of the proposed models on one data set, by setting."""

    means: pd.DataFrame
    """One row per setting, one column per model; NaN where a run is missing."""
    error: float
    """Standard error of a mean over splits, on average."""


def claims_of_sensitivity(
    activations: dict[str, BySetting], surfaces: dict[str, BySetting]
) -> list[Claim]:
    """Check that one proposed model depends less on its settings (figures S.1 and S.2).

    The paper prints no numbers. It can be told where the ranges of accuracy differ by more than
    an error, the same way on every set.
    """
    found = []
    for what, source, measured in [
        ("the activation", "figure S.1", activations),
        ("C and the number of nodes", "figure S.2", surfaces),
    ]:
        words, gains = [], []
        for name, item in measured.items():
            ranges = item.means.max() - item.means.min()
            own, other = ranges[SDAP_MODEL], ranges[F_MODEL]
            words.append(f"{name}: {own:.2f} against {other:.2f} points, error {item.error:.2f}")
            gains.append((other - own) / item.error if item.error else np.nan)
        complete = bool(measured) and not any(
            i.means.isna().to_numpy().any() for i in measured.values()
        )
        agrees = None
        if complete and (min(gains) > 1 or max(gains) < -1):
            agrees = gains[0] > 1
        ours = "; ".join(words) if complete else "not run to its end"
        text = f"{SDAP_MODEL} depends less on {what} than {F_MODEL} (range of mean accuracy)."
        verdict = _VERDICT[agrees]
        found.append(Claim("sensitivity", source, text, "a drawing only", ours, verdict, None))
    return found


def claims_in_short(claims: list[Claim]) -> dict[str, list[str]]:
    """Return verdict to sentences; claims that differ in one name only are one sentence."""
    short: dict[str, dict[tuple[str, str], list[str]]] = {FOUND: {}, NOT_FOUND: {}, OPEN: {}}
    for claim in claims:
        text, joint, found = f"{claim.text} {claim.caveat}".rstrip(), "", ""
        for name in BASELINES:
            if f" {name} (Nemenyi" in text:
                text, joint, found = text.replace(f" {name} (", " {} ("), ", ", name
        for name in PROPOSED:
            if f"{name} is more " in text:
                text, joint, found = text.replace(f"{name} is", "{} is"), " as well as ", name
        short[claim.verdict].setdefault((text, joint), []).append(found)
    return {
        verdict: [text.replace("{}", joint.join(names)) for (text, joint), names in found.items()]
        for verdict, found in short.items()
    }


_VERDICT = {True: FOUND, False: NOT_FOUND, None: OPEN}


def check_claims(
    about: str, rows: list[Row], paper: pd.DataFrame | None, ours: pd.DataFrame
) -> list[Claim]:
    """Apply rules to the paper's table, if there is one, and to ours."""
    lacking = int(ours.isna().to_numpy().sum())
    # Rules about ranks read one comparison of the table.
    of_sets = ours.index.nlevels == 1
    of_paper = compare(paper) if paper is not None and of_sets else None
    of_ours = compare(ours) if of_sets and not lacking else None
    found = []
    for source, text, rule in rows:
        theirs, holds = ("no figures", None) if paper is None else rule(paper, of_paper)
        if lacking:
            own, agrees = f"{lacking} of {ours.size} figures are missing", None
        else:
            own, agrees = rule(ours, of_ours)
        in_paper = None if paper is None else bool(holds)
        caveat = CAVEAT if in_paper is False else ""
        found.append(Claim(about, source, text, theirs, own, _VERDICT[agrees], in_paper, caveat))
    return found


def _mean(model: str, place: int) -> Rule:
    return lambda table, _: _placed(model, place, -mean_accuracy(table))


def _rank(model: str, place: int) -> Rule:
    return lambda _, result: _placed(model, place, result.ranks)


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


def _separation(model: str, baseline: str, *, wanted: bool) -> Rule:
    def rule(_: pd.DataFrame, result: Any) -> Reading:
        gap = result.ranks[baseline] - result.ranks[model]
        apart = abs(gap) >= result.critical_difference
        words = f"ranks differ by {gap:.2f}, CD {result.critical_difference:.2f}"
        if not wanted:
            return words, not apart
        return words, bool(gap > 0) if apart else None

    return rule


def is_ahead(model: str) -> Rule:
    """Return the rule that a model has a higher mean than every baseline."""

    def rule(table: pd.DataFrame, _: Any) -> Reading:
        means = mean_accuracy(table)
        best = str(means[list(BASELINES)].idxmax())
        words = f"{means[model]:.2f}; best baseline {best} {means[best]:.2f}"
        return words, bool(means[model] > means[best])

    return rule


def loses_least(model: str) -> Rule:
    """Return the rule that a model loses least from the first level of a table to the last."""

    def rule(table: pd.DataFrame, _: Any) -> Reading:
        by_rate = table.groupby(level=1).mean().sort_index()
        losses = by_rate.iloc[0] - by_rate.iloc[-1]
        least = str(losses[list(BASELINES)].idxmin())
        words = f"loses {losses[model]:.2f}; least of the baselines {least} {losses[least]:.2f}"
        return words, bool(losses[model] < losses[least])

    return rule


def holds_the_paper(store: Store) -> bool:
    """Return whether a store was filled by ``granulearn bench paper``, in full or in part.

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
    """Summarise all that the paper reports, each figure beside the paper's own.

    Parameters
    ----------
    store : Store
        Open, may be read-only; filled by ``granulearn bench paper``.

    Returns
    -------
    dict
        Plain values: ``studies`` (name to summary), ``progress``, ``table1``, ``noise``,
        ``statistics``, ``printed`` (two of the paper's own), ``claims``, ``verdicts`` (how
        many of each) and ``reasons``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from granulearn.bench import PAPER_STUDIES, Store, load_study, summarize_paper
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "results.db")) as store:
    ...     for name in PAPER_STUDIES:
    ...         store.save_study(name, load_study(name).to_json())
    ...     summary = summarize_paper(store)
    >>> summary["verdicts"]
    {'found again': 0, 'not found': 0, 'cannot be told': 27}
    """
    if not holds_the_paper(store):
        raise StudyError(f"{store.path} does not hold the paper; run: granulearn bench {PAPER}")
    studies = {name: summarize(store, name) for name in PAPER_STUDIES}
    theirs, theirs_noise = paper_accuracy_table(), paper_noise_table()
    methods = list(theirs.columns)
    whole = {
        (name, line["dataset"], line["condition"]): whole_figures(line)
        for name in ("table1", "noise")
        for line in studies[name]["per_set"]
    }
    empty = [None] * len(methods)
    table1 = pd.DataFrame(
        [whole.get(("table1", name, "clean"), empty) for name in studies["table1"]["datasets"]],
        pd.Index(studies["table1"]["datasets"], name="dataset"), methods, dtype=float,
    )  # fmt: skip
    noise = pd.DataFrame(
        [whole.get(("noise", name, f"uniform {at:g} %"), empty) for name, at in theirs_noise.index],
        theirs_noise.index, methods, dtype=float,
    )  # fmt: skip
    claims = [
        *claims_of_table1(theirs, table1),
        *claims_of_noise(theirs_noise, noise),
        *claims_of_sensitivity(
            _by_setting(studies["sensitivity-activation"], "activations", 9),
            _by_setting(studies["sensitivity-C-h"], "surfaces", 121),
        ),
    ]
    counts = Counter(claim.verdict for claim in claims)
    complete = table1.dropna()
    tables = [("paper", theirs)]
    if len(complete) > 1:
        tables += [("paper, same sets", theirs.loc[complete.index]), ("this run", complete)]
    return {
        "methods": methods,
        "proposed": list(PROPOSED),
        "studies": studies,
        "progress": _progress(studies),
        "table1": _beside(theirs.loc[table1.index], table1),
        "noise": _beside(theirs_noise, noise),
        "statistics": [{"source": name, **_tests(compare(table))} for name, table in tables],
        "printed": _from_rounded_ranks(theirs),
        "noise_means": _noise_means(theirs_noise, noise),
        "claims": [asdict(claim) for claim in claims],
        "verdicts": {verdict: counts[verdict] for verdict in (FOUND, NOT_FOUND, OPEN)},
        "short": claims_in_short(claims),
        "reasons": _reasons(theirs, table1, studies["table1"]),
    }


def whole_figures(line: dict[str, Any]) -> list[float | None]:
    """Return the figures of a line of ``per_set``; none where a split is missing."""
    pairs = zip(line["values"], line["complete"], strict=True)
    return [value if complete else None for value, complete in pairs]


def _by_setting(summary: dict[str, Any], key: str, n_settings: int) -> dict[str, BySetting]:
    """Return the mean accuracy of the proposed models by setting, for each data set."""
    found = {}
    for dataset in summary["datasets"]:
        own = [item for item in summary[key] if item["dataset"] == dataset]
        columns = {
            item["method"]: {
                str(point["at"]): point["mean"] for point in item["points"] if point["complete"]
            }
            for item in own
        }
        errors = [point["error"] or 0.0 for item in own for point in item["points"]]
        table = pd.DataFrame(columns, dtype=float).reindex(columns=list(PROPOSED))
        blank = [f"not run {number}" for number in range(n_settings - len(table))]
        means = table.reindex([*table.index, *blank])
        found[dataset] = BySetting(means, float(np.mean(errors)) if errors else 0.0)
    return found


def _progress(studies: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Count what is done, failed and missing in all studies, and list what is missing where."""
    each = [
        {
            "name": name,
            **{key: summary["progress"][key] for key in ("runs", "done", "missing")},
            "failed": len(summary["progress"]["failed"]),
            "reasons": common_reasons(line["reason"] for line in summary["progress"]["failed"]),
        }
        for name, summary in studies.items()
    ]
    counts = {key: sum(item[key] for item in each) for key in ("runs", "done", "failed", "missing")}
    return {**counts, "studies": each}


def _beside(theirs: pd.DataFrame, ours: pd.DataFrame) -> list[dict[str, Any]]:
    """Return one line per row of the tables: the paper's figures and ours, best marked."""
    return [
        {
            "dataset": place[0] if isinstance(place, tuple) else place,
            "noise": float(place[1]) if isinstance(place, tuple) else None,
            **_pair(paper, own),
        }
        for place, paper, own in zip(ours.index, theirs.to_numpy(), ours.to_numpy(), strict=True)
    ]


def _pair(paper: np.ndarray, own: np.ndarray) -> dict[str, list]:
    """Return two lines of figures, and which of ours are the highest; none where one is missing."""
    best = [bool(value == own.max()) for value in own]
    return {"paper": list(map(number, paper)), "ours": list(map(number, own)), "best": best}


def _noise_means(theirs: pd.DataFrame, ours: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the mean over the sets at each rate, and over all rates: the paper's and ours."""
    lines = []
    for rate in [*sorted(set(ours.index.get_level_values(1))), None]:
        means = []
        for table in (theirs, ours):
            part = table if rate is None else table[table.index.get_level_values(1) == rate]
            means.append(mean_accuracy(part).where(part.notna().all()).to_numpy())
        lines.append({"noise": None if rate is None else float(rate), **_pair(*means)})
    return lines


def _from_rounded_ranks(theirs: pd.DataFrame) -> dict[str, float]:
    """Return Friedman's chi² and F_F as the paper prints them: from ranks of two decimals."""
    ranks = compare(theirs).ranks.round(2)
    n_sets, n_methods = theirs.shape
    spread = float((ranks**2).sum()) - n_methods * (n_methods + 1) ** 2 / 4
    chi2 = 12 * n_sets / (n_methods * (n_methods + 1)) * spread
    f_f = (n_sets - 1) * chi2 / (n_sets * (n_methods - 1) - chi2)
    return {"friedman": chi2, "iman_davenport": f_f}


def _tests(result: Comparison) -> dict[str, Any]:
    return {
        "sets": len(result.sets),
        "means": result.means.to_dict(),
        "ranks": result.ranks.to_dict(),
        "friedman": result.friedman.statistic,
        "iman_davenport": result.iman_davenport.statistic,
        "iman_davenport_p": result.iman_davenport.p_value,
        "critical_difference": result.critical_difference,
        "separated": [list(pair) for pair in result.separated_pairs],
    }


def _reasons(theirs: pd.DataFrame, ours: pd.DataFrame, summary: dict[str, Any]) -> list[str]:
    """Say why claims are, or are not, found again, as far as the figures tell."""
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
    n_balls = {line["method"]: line["n_balls"] for line in summary["ranking"]}[F_MODEL]
    rows = [
        line["n_train"]
        for group in summary["runs"]
        if group["method"] == F_MODEL
        for line in group["splits"]
        if line["n_train"]
    ]
    if n_balls and rows:
        (stated,) = [item for item in summary["study"]["methods"] if item["name"] == F_MODEL]
        method = Method(**{key: stated[key] for key in ("name", "estimator", "fixed")})
        purity, mean = build_estimator(method).get_params()["purity"], float(np.mean(rows))
        reasons.append(
            f"At a purity of {purity:g} {F_MODEL} makes {n_balls:.0f} balls of "
            f"{mean:.0f} training rows in the mean: a ball stands for {mean / n_balls:.1f} rows, "
            "which is little to average noise away, or to tell a trusted ball from another."
        )
    return reasons
