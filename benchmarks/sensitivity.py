"""Figures S.1 and S.2 of the paper, from the two studies of sensitivity."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from benchmarks.harness import PAGES, StudyBenchmark, markdown
from granulearn.bench import Study, holm_adjust, wilcoxon_p_value
from granulearn.bench.figures import plot_bars, plot_surface, report_style

IMAGES = PAGES.parent / "images"
SCORE = "accuracy"
ABOUT = """\
A rerun of figures S.1 and S.2 of the paper: both proposed models on both sets of the figures, mean
test accuracy in percent over stratified 70:30 splits (the paper has one)."""
TUNED = """\
For each activation, C and the number of nodes are chosen by five-fold cross-validation on the
training part. Mean and standard error over splits:"""
NOT_TUNED = """\
Nothing is tuned: every pair is fitted with the sigmoid activation and scored on the test part, to
show the surface, not to choose a point of it. The best of 121 means is optimistic."""


def varied(table: pd.DataFrame) -> pd.DataFrame:
    """Return the runs with the name of the model, and the varied settings as columns."""
    methods = table["method"].str.partition(" [")
    texts = methods[2].str.removesuffix("]").str.split(", ")
    settings = pd.DataFrame([dict(pair.split("=") for pair in text) for text in texts])
    return pd.concat([table.assign(model=methods[0]), settings], axis=1)


def by_model_and_set(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the runs of each model on each set."""
    groups = table.groupby(["dataset", "model"], sort=False)
    return {f"{model} on {dataset}": part for (dataset, model), part in groups}


def about_activations(name: str, part: pd.DataFrame) -> str:
    """Return the best and the worst activation, and which differ significantly."""
    scores = part.pivot_table(SCORE, "split", "activation")
    means = scores.mean().sort_values()
    best, others = means.index[-1], means.index[:-1]
    p_values = holm_adjust([wilcoxon_p_value(scores[best], scores[one]) for one in others])
    told = [one for one, p_value in zip(others, p_values, strict=True) if p_value < 0.05]
    return (
        f"- {name}: from {means.iloc[0]:.2f} ({means.index[0]}) to {means.iloc[-1]:.2f} ({best}). "
        f"Over {len(scores)} splits {len(told) or 'none'} of the other {len(others)} differ "
        f"significantly from the best (Wilcoxon, Holm, 5 %){': ' * bool(told)}"
        f"{', '.join(sorted(told))}."
    )


def surface_of(part: pd.DataFrame) -> pd.DataFrame:
    """Return the mean accuracy by width (rows) and penalty (columns)."""
    numbers = part.assign(C=part["C"].astype(float), n_hidden=part["n_hidden"].astype(int))
    return numbers.pivot_table(SCORE, "n_hidden", "C")


def about_surface(name: str, part: pd.DataFrame) -> str:
    """Return how much penalty and width change the accuracy."""
    surface = surface_of(part)
    top = surface.stack()
    by_penalty, by_width = surface.mean(axis=0), surface.mean(axis=1)
    moved = [np.ptp(by_penalty), np.ptp(by_width)]
    n_hidden, penalty = top.idxmax()
    return (
        f"- {name}: from {top.min():.2f} to {top.max():.2f} (C = {penalty:g}, {n_hidden} nodes); "
        f"{(top >= top.max() - 1).mean():.0%} of the {len(top)} pairs are within a point of it. "
        f"Averaged over widths, C changes the accuracy by {moved[0]:.2f} points (best "
        f"{by_penalty.idxmax():g}); averaged over C, the width changes it by {moved[1]:.2f} (best "
        f"{by_width.idxmax()})."
    )


def draw_activations(table: pd.DataFrame) -> None:
    """Draw one group of bars per activation, for each set."""
    path = IMAGES / "sensitivity_activation.svg"
    names, sets = table["activation"].unique(), table["dataset"].unique()
    with report_style(path.name):
        figure = Figure(figsize=(7.2, 5.6), layout="constrained", facecolor="white")
        panels = figure.subplots(len(sets), squeeze=False)[:, 0]
        for dataset, axes in zip(sets, panels, strict=True):
            own = table[table["dataset"] == dataset]
            found = own.groupby(["model", "activation"], sort=False)[SCORE].agg(["mean", "sem"])
            models = own["model"].unique()
            heights, errors = (found[key].unstack(0).loc[names, models] for key in ("mean", "sem"))
            plot_bars(axes, heights, errors)
            axes.set_ylabel("accuracy, %")
            axes.set_title(dataset, loc="left")
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2)
        figure.savefig(path, metadata={"Date": None, "Creator": None})


def draw_surfaces(parts: dict[str, pd.DataFrame]) -> None:
    """Draw accuracy by penalty and width, one map for each model and set."""
    figure = Figure(figsize=(10.4, 7.6), layout="constrained")
    for (name, part), axes in zip(parts.items(), figure.subplots(2, 2).flat, strict=False):
        surface = surface_of(part)
        surface.columns = [f"{c:.0e}".replace("e+0", "e").replace("e-0", "e-") for c in surface]
        plot_surface(axes, surface, "accuracy, %")
        axes.set(xlabel="C", ylabel="hidden nodes")
        axes.tick_params(axis="x", labelrotation=40)
        axes.set_title(name, loc="left", fontsize=10)
    figure.savefig(IMAGES / "sensitivity_surfaces.png", dpi=72, metadata={"Software": None})


def sensitivity_tables(found: list[tuple[Study, pd.DataFrame]]) -> Iterator[str]:
    """Yield both parts of the page; complete studies are drawn."""
    (_, activations), (_, surfaces) = [(study, varied(table)) for study, table in found]
    whole = activations["split"].nunique() > 1
    parts = by_model_and_set(surfaces)
    if whole:
        draw_activations(activations)
        draw_surfaces(parts)
    means = {
        name: part.groupby("activation", sort=False)[SCORE].agg(["mean", "sem"])
        for name, part in by_model_and_set(activations).items()
    }
    yield "## S.1: activation"
    yield TUNED
    texts = {name: [f"{m:.2f} ± {e:.2f}" for m, e in f.to_numpy()] for name, f in means.items()}
    columns = activations["activation"].unique()
    yield markdown(pd.DataFrame.from_dict(texts, orient="index", columns=columns))
    if whole:
        own = by_model_and_set(activations).items()
        yield "\n".join(about_activations(name, part) for name, part in own)
        yield "![Accuracy by activation](../images/sensitivity_activation.svg)"
    yield "## S.2: C and the number of hidden nodes"
    yield NOT_TUNED
    yield "\n".join(about_surface(name, part) for name, part in parts.items())
    if whole:
        yield "![Accuracy by C and nodes](../images/sensitivity_surfaces.png)"


BENCHMARKS = {
    "sensitivity": StudyBenchmark(
        "Sensitivity: activation, C and hidden nodes",
        ABOUT,
        ["sensitivity-activation", "sensitivity-C-h"],
        sensitivity_tables,
    )
}
