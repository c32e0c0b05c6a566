"""The page and the figure of the comparison of review loops, from its file of results."""

from pathlib import Path

import matplotlib as mpl
import pandas as pd
from review_orders import (
    ALL_RIGHT,
    CHANCE,
    DECISIONS,
    DEPTHS,
    FOREST_ONCE,
    HALF,
    HALF_ERRS,
    LOGISTIC_ONCE,
    NOBODY,
    ORDERS,
    OURS,
    STATIC,
)

from granulearn.bench import holm_adjust, wilcoxon_p_value
from granulearn.bench.figures import INK, SERIES, report_style

mpl.use("Agg")
import matplotlib.pyplot as plt

SHOWN_SCORES = [
    ("planted", "accuracy"), ("real", "average precision"), ("real", "balanced accuracy"),
]  # fmt: skip
REVIEWS = [order for order in ORDERS if order not in (NOBODY, ALL_RIGHT)]
# Name, place in the palette (None is ink) and line of the orders that the figure shows.
DRAWN: dict[str, tuple[str, int | None, str]] = {
    ALL_RIGHT: ("a perfect order", None, ":"),
    OURS: ("granulearn, worst first, refitted", 0, "o-"),
    STATIC: ("granulearn, worst first, not refitted", 5, "s--"),
    LOGISTIC_ONCE: ("cleanlab, logistic regression", 4, "v-"),
    FOREST_ONCE: ("cleanlab, random forest", 1, "^-"),
    HALF: ("granulearn, half at random (interval)", 3, "D-"),
    CHANCE: ("at random", 7, "P-"),
}
FIGURE_STYLE = {
    "font.size": 10, "axes.titlesize": 12, "axes.labelsize": 11, "legend.fontsize": 9,
    "xtick.labelsize": 10, "ytick.labelsize": 10,
}  # fmt: skip
INTRODUCTION = """\
```sh
GRANULEARN_DATA=DIRECTORY python benchmarks/compare_review_loop.py out/loop.csv
python benchmarks/compare_review_loop.py out/loop.csv --report docs/results/review_loop.md
python benchmarks/compare_review_loop.py out/loop.csv --figure docs/images/review_loop.png
```

![Wrong labels found against rows looked at](../images/review_loop.png)

A simulated reviewer takes 100 decisions in four sittings of 25. Planted noise: {planted} sets of
the collection with 200 training rows or more, five conditions; means over sets of means over
conditions. Real noise: {real} releases of four projects. One split each: 70 % of the rows, at most
2,000, are for training and for the review, the others only test, once, by their true labels.
Models are trained on the labels as given and as corrected. Nothing was chosen here; settings of
the audit and of the robust classifier were chosen earlier, on parts of the same sets. p-values
are Wilcoxon's over sets, corrected by Holm within a column. Releases of a project repeat many
files, so p-values of real noise are smaller than they should be.

- *Worst first* is `next_to_review(25)` of an audit that is fitted again with `verified=` after each
  sitting; *no refits* keeps the first order; *half at random* is `random_fraction=0.5`, *at random*
  `random_fraction=1`.
- cleanlab's order is by its self-confidence (its normalised margin has the same order with two
  classes), on five-fold probabilities, once: it has no loop. A random forest and logistic
  regression are its two strongest models in [audit.md](audit.md). *Refitted by hand* trains the
  forest again on the corrected labels after each sitting.
- A reviewer who *errs* says the other class in 5 % of the decisions, wherever they fall.
- A perfect order shows wrong labels only, as long as there are any. In small sets with 10 % noise
  there are fewer than 100.

## What pays, and what does not

- **Looking where the audit points pays.** It finds three times as many wrong labels as looking at
  random on planted noise, four times as many on real noise. cleanlab's orders are not far
  behind: with logistic regression one label fewer in 100 rows of planted noise, beyond chance; on
  real noise two to three fewer, which may be chance. No model is better beyond chance after the
  audit's order than after one of cleanlab's.
- **Correcting labels pays most for models that are not robust.** LightGBM gains three times as
  much as the robust classifier, which has less to gain: without any review it is level with
  LightGBM and logistic regression after 100 decisions.
- **For the robust classifier it hardly matters which labels are corrected.** Rows at random hold a
  third of the wrong labels that worst first finds, and bring it more than two thirds of the gain;
  the difference may be chance. Our reading: a label that stands out is one that it gives little
  weight to anyway.
- **Refits hardly pay in labels found.** Half a label in 100 rows of planted noise, which may be
  chance, two on real noise and with 30 % wrong labels; no model is better for it beyond chance.
  Our reading: 25 verified rows are few among hundreds, and the worst rows of the first order stay
  the worst. A forest under cleanlab gains more from refits, and then comes close to the audit.
  What needs the refit is the count with its interval, and the forecast.
- **Half at random costs a quarter of what is found**, and buys an interval. It held in nearly all
  reviews, more often than the 95 % it promises, so it is wider than it need be.
- **Real noise: worst first, only LightGBM gains in average precision beyond chance, and no model
  in balanced accuracy.** The audit mostly shows files called buggy, as cleanlab does, and clears
  most false alarms; of the missed bugs, of which there are more, it finds one in fourteen. For
  finding many wrong labels that is right: of the files called buggy that it shows, more are wrong
  than of the others. But, in our reading, the model is left with fewer bugs to learn from. The
  robust classifier gains less from rows at random in the mean, but beyond chance.
- **A reviewer who errs in 5 %** finds three wrong labels fewer, makes two to three new ones, and
  costs the robust classifier a fifth of its gain on planted noise. The interval counts such
  mistakes as wrong labels: it lies too high and no longer holds in 95 %."""
RARE = "Labels given as the rarer class, and all others; sums over all tables."


def report(path: Path) -> str:
    """Return the tables of a file of results as Markdown."""
    parts = complete_parts(path)
    counts = {part: table["set"].nunique() for part, table in parts.items()}
    sections = [INTRODUCTION.format(**counts)]
    for part, table in parts.items():
        sections += [f"## Wrong labels found, {part} noise", found_table(table)]
    sections += ["After all 100 decisions, by noise:", condition_table(pd.concat(parts.values()))]
    for part, score in SHOWN_SCORES:
        sections += [f"## Models trained on the labels, {part} noise: {score}"]
        sections += [model_table(parts[part], score)]
    sections += [f"Points of accuracy by noise: {OURS}, and, in brackets, all labels right."]
    sections += [gain_table(parts["planted"])]
    sections += ["What worst first brings beyond other orders: points, and p."]
    sections += [contrast_table(parts), level_with_review(parts["planted"])]
    sections += ["## The 95 % interval of the share of wrong labels", interval_table(parts)]
    sections += ["## Which wrong labels are found", RARE, rare_table(parts)]
    return "\n\n".join(sections) + "\n"


def complete_parts(path: Path) -> dict[str, pd.DataFrame]:
    """Return the results of planted and of real noise, of tables that have all orders."""
    table = pd.read_csv(path)
    table = table[
        table.groupby(["set", "noise", "rate"])["order"].transform("nunique") == len(ORDERS)
    ]
    is_real = table["noise"] == "real"
    return {"planted": table[~is_real], "real": table[is_real]}


def per_set(table: pd.DataFrame, value: str) -> pd.DataFrame:
    """Return the mean over conditions: sets by orders."""
    return table.pivot_table(value, "set", "order")[list(ORDERS)]


def p_values(values: pd.DataFrame, reference: str) -> dict[str, str]:
    """Return Wilcoxon's p of each order against a reference, over sets, corrected by Holm."""
    others = [order for order in ORDERS if order not in (reference, NOBODY)]
    raw = [wilcoxon_p_value(values[reference], values[other]) for other in others]
    return {order: f"{p:.2g}" for order, p in zip(others, holm_adjust(raw), strict=True)}


def models_of(table: pd.DataFrame) -> list[str]:
    """Return the models whose scores the results have."""
    ending = ", accuracy"
    return [name.removesuffix(ending) for name in table.columns if name.endswith(ending)]


def found_table(table: pd.DataFrame) -> str:
    """Return how many wrong labels each order finds, sitting by sitting."""
    found = [per_set(table, f"found_{depth}") for depth in DEPTHS]
    share = per_set(table.assign(share=table[f"found_{DECISIONS}"] / table["n_wrong"]), "share")
    left, p = per_set(table, "left"), p_values(found[-1], OURS)
    titles = [f"after {depth}" for depth in DEPTHS]
    rows = [["order", *titles, "of all wrong ones", "wrong ones left", "p, against the first"]]
    for order in REVIEWS:
        means = [f"{at_depth[order].mean():.1f}" for at_depth in found]
        cells = [*means, f"{share[order].mean():.0%}", f"{left[order].mean():.1f}"]
        rows.append([order, *cells, p.get(order, "")])
    perfect = [f"{at_depth[ALL_RIGHT].mean():.1f}" for at_depth in found]
    rows.append(["a perfect order", *perfect, f"{share[ALL_RIGHT].mean():.0%}", "", ""])
    return markdown(rows)


def condition_table(table: pd.DataFrame) -> str:
    """Return how many wrong labels each order finds under each noise."""
    means = table.pivot_table(f"found_{DECISIONS}", "order", ["noise", "rate"])
    noises = list(dict.fromkeys(zip(table["noise"], table["rate"], strict=True)))
    rows = [["order", *(f"{kind} {rate:.0%}" if rate else kind for kind, rate in noises)]]
    for order in (*REVIEWS, ALL_RIGHT):
        name = "a perfect order" if order == ALL_RIGHT else order
        rows.append([name, *(f"{means.loc[order, noise]:.1f}" for noise in noises)])
    return markdown(rows)


def model_table(table: pd.DataFrame, score: str) -> str:
    """Return how models do that were trained on the labels after each order."""
    columns = [["labels", *ORDERS]]
    for model in models_of(table):
        values = 100 * per_set(table, f"{model}, {score}")
        p, means = p_values(values, NOBODY), values.mean()
        gains = {order: f" ({means[order] - means[NOBODY]:+.2f}, p {p[order]})" for order in p}
        columns.append([model, *(f"{means[order]:.2f}{gains.get(order, '')}" for order in ORDERS)])
    return markdown(list(zip(*columns, strict=True)))


def gain_table(table: pd.DataFrame) -> str:
    """Return what a review and all right labels bring to accuracy, by noise."""
    models = models_of(table)
    rows = [["noise", *models]]
    for (kind, rate), part in table.groupby(["noise", "rate"]):
        means = [100 * per_set(part, f"{model}, accuracy").mean() for model in models]
        gains = [mean - mean[NOBODY] for mean in means]
        cells = [f"{gain[OURS]:+.2f} ({gain[ALL_RIGHT]:+.2f})" for gain in gains]
        rows.append([f"{kind} {rate:.0%}", *cells])
    return markdown(rows)


def contrast_table(parts: dict[str, pd.DataFrame]) -> str:
    """Return how models after a review worst first compare with models after others."""
    columns = [["beyond", *(order for order in REVIEWS if order != OURS)]]
    for part, score in SHOWN_SCORES[:2]:
        for model in models_of(parts[part]):
            values = 100 * per_set(parts[part], f"{model}, {score}")
            p, means = p_values(values, OURS), values.mean()
            cells = [f"{means[OURS] - means[order]:+.2f}, {p[order]}" for order in columns[0][1:]]
            columns.append([f"{part}, {score}: {model}", *cells])
    return markdown(list(zip(*columns, strict=True)))


def level_with_review(table: pd.DataFrame) -> str:
    """Say how the robust classifier without a review compares with others after one."""
    robust = 100 * per_set(table, "robust, accuracy")[NOBODY]
    said = []
    for model in models_of(table)[1:]:
        other = 100 * per_set(table, f"{model}, accuracy")[OURS]
        said.append(f"{model} {other.mean():.2f} (p {wilcoxon_p_value(robust, other):.2g})")
    return (
        f"Planted noise, accuracy of the robust classifier without a review: {robust.mean():.2f}. "
        f"Of others after one, worst first: {', '.join(said)}."
    )


def interval_table(parts: dict[str, pd.DataFrame]) -> str:
    """Return how often intervals hold the true share, and how wide they are."""
    rows = [["order", "noise", "reviews", "holds the truth", "mean width", "middle minus truth"]]
    for order in (HALF, CHANCE, HALF_ERRS):
        for part, table in parts.items():
            of_order = table[table["order"] == order]
            low, high = of_order["low"], of_order["high"]
            truth = of_order["n_wrong"] / of_order["n_rows"]
            holds = f"{((low <= truth) & (truth <= high)).mean():.0%}"
            off = f"{((low + high) / 2 - truth).mean():+.3f}"
            rows.append([order, part, len(truth), holds, f"{(high - low).mean():.3f}", off])
    return markdown(rows)


def rare_table(parts: dict[str, pd.DataFrame]) -> str:
    """Return how labels of the rarer class and of the other one are looked at."""
    rows = [["order", "noise", "rarer class among rows looked at", "found of its wrong labels",
             "found of the other class's"]]  # fmt: skip
    for order in (OURS, FOREST_ONCE, LOGISTIC_ONCE, HALF, CHANCE):
        for part, table in parts.items():
            sums = table[table["order"] == order].sum(numeric_only=True)
            others = sums[f"found_{DECISIONS}"] - sums["found_rare"]
            shares = (
                sums["looked_rare"] / (DECISIONS * (table["order"] == order).sum()),
                sums["found_rare"] / sums["wrong_rare"],
                others / (sums["n_wrong"] - sums["wrong_rare"]),
            )
            rows.append([order, part, *(f"{share:.0%}" for share in shares)])
    return markdown(rows)


def markdown(rows: list) -> str:
    """Return a table whose first row is its head."""
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def draw(path: Path, figure_path: Path) -> None:
    """Draw wrong labels found against rows looked at."""
    at = (0, *DEPTHS)
    white = {"figure.facecolor": "white", "axes.facecolor": "white", "savefig.facecolor": "white"}
    with report_style(), plt.rc_context(white | FIGURE_STYLE):
        figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.3), sharey=True, layout="constrained")
        for ax, (part, table) in zip(axes, complete_parts(path).items(), strict=True):
            for order, (name, series, line) in DRAWN.items():
                means = [0, *(per_set(table, f"found_{depth}")[order].mean() for depth in DEPTHS)]
                colour = INK if series is None else SERIES[series]
                ax.plot(at, means, line, color=colour, label=name, markersize=5)
            ax.set_title(f"{part} noise, {table['set'].nunique()} sets")
            ax.set_xlabel("rows looked at")
            ax.set_xticks(at)
            ax.grid(axis="y", linewidth=0.7)
            ax.set_axisbelow(True)
        axes[0].set_ylabel("wrong labels found")
        axes[0].set_ylim(0, DECISIONS)
        axes[0].legend(loc="upper left", frameon=True, framealpha=1, edgecolor="none")
        figure.savefig(figure_path, dpi=130)
    plt.close(figure)
