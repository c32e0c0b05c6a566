"""Draw the figures of the user guide again: ``make pictures``."""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib as mpl
import numpy as np
import pandas as pd
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_breast_cancer, make_moons
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

mpl.use("Agg")
import matplotlib.pyplot as plt

from granulearn import (
    DeepRVFLClassifier,
    EnsembleDeepRVFLClassifier,
    LabelAudit,
    PathSearchCV,
    RobustClassifier,
    RVFLClassifier,
    RVFLEnsembleRegressor,
    RVFLRegressor,
    TableClassifier,
    audit_labels,
    generate_balls,
)
from granulearn.balls import EvidenceMembership, FuzzyMembership, SDAPMembership
from granulearn.bench import compare, paper_accuracy_table, plot_balls, plot_critical_difference
from granulearn.dask.blocks import drawn_rows, sampling_rates
from granulearn.datasets import flip_labels, make_imbalanced
from granulearn.models import load_model, to_onnx
from granulearn.tables import table_of

IMAGES = Path(__file__).parent / "images" / "guide"
BLUE, ORANGE, GREY = "#1a62b8", "#d95f02", "#888888"


def axes_of(n: int, height: float = 3.4) -> tuple[plt.Figure, np.ndarray]:
    """Return a figure with n panels beside each other."""
    figure, axes = plt.subplots(1, n, figsize=(3.5 * n + 0.6, height), layout="constrained")
    return figure, np.atleast_1d(axes)


def save(figure: plt.Figure, name: str) -> None:
    """Write a figure, small enough for a page."""
    figure.savefig(IMAGES / f"{name}.png", dpi=100)
    plt.close(figure)


def noisy_moons() -> tuple[np.ndarray, np.ndarray]:
    """Return 300 samples of which a tenth has a wrong label."""
    X, y = make_moons(300, noise=0.15, random_state=0)
    return X, flip_labels(y, 0.1, random_state=0).labels


def ball_panels() -> tuple[plt.Figure, list[plt.Axes], plt.Axes]:
    """Return three panels that share their axes, and the axes of the legend."""
    figure, axes = plt.subplots(
        2, 2, figsize=(8.6, 5.4), layout="constrained", sharex=True, sharey=True
    )
    *panels, legend_axes = axes.ravel()
    return figure, panels, legend_axes


def explain_balls(
    panels: list[plt.Axes], legend_axes: plt.Axes, titles: list[str], label: str
) -> None:
    """Put one legend and one colour bar, of one range for all panels, beside them."""
    circles = [drawn for ax in panels for drawn in ax.collections if drawn.get_array() is not None]
    # Balls of one sample have their colours already: purity 1 is the end of any range.
    least = min(drawn.get_clim()[0] for drawn in circles)
    for drawn in circles:
        drawn.set_clim(least, 1)
    for ax, title in zip(panels, titles, strict=True):
        ax.set_title(title, fontsize=15)
        ax.tick_params(labelsize=12, labelbottom=True, labelleft=True)
        ax.set(xlabel="", ylabel="")
        ax.margins(0.05)
    legend_axes.set_axis_off()
    for code in (0, 1):
        legend_axes.scatter([], [], s=60, color=f"C{code}", label=f"class {code}")
    legend_axes.legend(frameon=False, loc=(0.1, 0.65), fontsize=14, ncols=2)
    inside = legend_axes.inset_axes((0.1, 0.4, 0.8, 0.12))
    bar = legend_axes.figure.colorbar(circles[0], cax=inside, orientation="horizontal")
    bar.set_label(f"{label} of a ball", fontsize=14)
    bar.ax.tick_params(labelsize=12)


def balls() -> None:
    """Draw the balls of three generators on the same samples."""
    X, y = noisy_moons()
    figure, panels, legend_axes = ball_panels()
    titles = []
    for ax, name in zip(panels, ("two-means", "gbg++", "rd-gbg"), strict=True):
        made = generate_balls(X, y, balls=name, random_state=0)
        plot_balls(made, X, y, guides=False, ax=ax)
        titles.append(f"{name}: {len(made)} balls")
    explain_balls(panels, legend_axes, titles, "purity")
    save(figure, "balls")


def memberships() -> None:
    """Draw three memberships on the same balls."""
    X, y = noisy_moons()
    made = generate_balls(X, y, random_state=0)
    figure, panels, legend_axes = ball_panels()
    ratings = (FuzzyMembership(), SDAPMembership(), EvidenceMembership())
    for ax, rating in zip(panels, ratings, strict=True):
        plot_balls(made, X, y, color=rating(made, X, y), guides=False, ax=ax)
    explain_balls(panels, legend_axes, [rating.name for rating in ratings], "membership")
    save(figure, "memberships")


def networks() -> None:
    """Draw networks of three widths fitted to the same points."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-3, 3, 60))
    y = np.sin(2 * x) + 0.15 * rng.standard_normal(60)
    grid = np.linspace(-3, 3, 400)
    figure, axes = axes_of(3, 2.8)
    for ax, width in zip(axes, (3, 23, 203), strict=True):
        model = RVFLRegressor(n_hidden=width, activation="sine", C=1e3, random_state=0)
        ax.plot(x, y, ".", color=GREY)
        ax.plot(grid, model.fit(x[:, None], y).predict(grid[:, None]), color=BLUE)
        ax.set_title(f"{width} hidden nodes")
    save(figure, "networks")


def scaled_split(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return breast cancer data, split and scaled."""
    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=seed)
    scaler = StandardScaler().fit(X_train)
    return scaler.transform(X_train), scaler.transform(X_test), y_train, y_test


def robust() -> None:
    """Draw accuracy as more training labels are wrong."""
    rates = np.array([0, 10, 20, 30, 40])
    methods = {
        "robust classifier": (RobustClassifier(random_state=0), BLUE),
        "boosted trees": (HistGradientBoostingClassifier(random_state=0), ORANGE),
    }
    figure, (ax,) = axes_of(1, 3.2)
    for name, (model, colour) in methods.items():
        means = []
        for rate in rates:
            scores = []
            for seed in range(5):
                X_train, X_test, y_train, y_test = scaled_split(seed)
                noisy = flip_labels(y_train, rate / 100, random_state=seed).labels
                scores.append(model.fit(X_train, noisy).score(X_test, y_test))
            means.append(100 * np.mean(scores))
        ax.plot(rates, means, "o-", color=colour, label=name)
    ax.set(xlabel="wrong training labels, %", ylabel="accuracy, %")
    ax.legend(frameon=False)
    save(figure, "robust")


def audit() -> None:
    """Draw the label quality of right and of wrong labels."""
    X, y = load_breast_cancer(return_X_y=True)
    given, wrong = flip_labels(y, 0.1, random_state=0)
    rated = LabelAudit(random_state=0).fit(StandardScaler().fit_transform(X), given)
    figure, (ax,) = axes_of(1, 3.2)
    bins = np.linspace(0, 1, 21)
    parts = [rated.label_quality_[~wrong], rated.label_quality_[wrong]]
    ax.hist(parts, bins, stacked=True, color=[BLUE, ORANGE], label=["right", "wrong"])
    ax.set(xlabel="label quality", ylabel="rows")
    ax.legend(frameon=False)
    save(figure, "audit")


def tuning() -> None:
    """Draw accuracy by C and width."""
    X, y = load_breast_cancer(return_X_y=True)
    penalties, widths = [10.0**k for k in range(-5, 6)], list(range(3, 204, 20))
    model = RVFLClassifier(activation="sigmoid", random_state=0)
    search = PathSearchCV(model, {"C": penalties, "n_hidden": widths})
    search.fit(StandardScaler().fit_transform(X), y)
    scores = 100 * search.cv_results_["mean_test_score"].reshape(len(penalties), len(widths))
    figure, (ax,) = axes_of(1, 3.4)
    image = ax.imshow(scores.T, origin="lower", cmap="viridis", aspect="auto")
    ax.set_xticks(range(0, 11, 2), [f"$10^{{{k}}}$" for k in range(-5, 6, 2)])
    ax.set_yticks(range(0, 11, 2), widths[::2])
    ax.set(xlabel="C", ylabel="hidden nodes")
    figure.colorbar(image, label="accuracy, %")
    save(figure, "tuning")


def imbalance() -> None:
    """Draw the line between a frequent and a rare class, without and with weights."""
    X, y, _ = make_imbalanced(*make_moons(1000, noise=0.3, random_state=0), 0.06, random_state=0)
    across, up = np.meshgrid(np.linspace(-2, 3, 200), np.linspace(-1.5, 2, 150))
    figure, axes = axes_of(2, 3.2)
    for ax, weight in zip(axes, (None, "balanced"), strict=True):
        model = RVFLClassifier(class_weight=weight, activation="tanh", C=10, random_state=0)
        regions = model.fit(X, y).predict(np.c_[across.ravel(), up.ravel()]).reshape(up.shape)
        ax.contourf(across, up, regions, levels=[-0.5, 0.5, 1.5], colors=[BLUE, ORANGE], alpha=0.2)
        for value, colour in enumerate((BLUE, ORANGE)):
            ax.plot(*X[y == value].T, ".", color=colour, ms=4)
        ax.set_title(f"class_weight={weight!r}")
    save(figure, "imbalance")


def probabilities() -> None:
    """Draw calibration against true labels: noise ignored, estimated and known."""
    X, y = make_moons(1500, noise=0.3, random_state=0)
    X_new, y_new = make_moons(8000, noise=0.3, random_state=1)
    noisy = flip_labels(y, 0.2, random_state=0).labels
    figure, (ax,) = axes_of(1, 3.4)
    ax.plot([0, 1], [0, 1], ":", color=GREY)
    for noise, colour in ((None, ORANGE), ("auto", GREY), (0.2, BLUE)):
        model = RobustClassifier(noise_matrix=noise, random_state=0).fit(X, noisy)
        fraction, predicted = calibration_curve(y_new, model.predict_proba(X_new)[:, 1], n_bins=10)
        ax.plot(predicted, fraction, "o-", color=colour, label=f"noise_matrix={noise!r}")
    ax.set(xlabel="predicted probability", ylabel="fraction of positives")
    ax.legend(frameon=False)
    save(figure, "probabilities")


def deep() -> None:
    """Draw accuracy by number of layers."""
    X, y = make_moons(400, noise=0.2, random_state=0)
    X_new, y_new = make_moons(2000, noise=0.2, random_state=1)
    noisy = flip_labels(y, 0.2, random_state=0).labels
    figure, (ax,) = axes_of(1, 3.2)
    kinds = {"mean of layers": EnsembleDeepRVFLClassifier, "one ridge": DeepRVFLClassifier}
    for (name, kind), colour in zip(kinds.items(), (BLUE, ORANGE), strict=True):
        model = kind(n_layers=8, C=10.0, random_state=0).fit(X, noisy)
        scores = [100 * (labels == y_new).mean() for labels in model.staged_predict(X_new)]
        ax.plot(range(1, 9), scores, "o-", color=colour, label=name)
    ax.set(xlabel="layers", ylabel="accuracy, %")
    ax.legend(frameon=False)
    save(figure, "deep")


def regression() -> None:
    """Draw a curve, and the values that an audit flags."""
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(-3, 3, 200))[:, None]
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(200)
    fitted = RVFLEnsembleRegressor(random_state=0).fit(X, y).predict(X)
    swapped = rng.choice(200, 10, replace=False)
    y[swapped] = rng.permutation(y)[:10]
    rated = audit_labels(X, y, task="regression", random_state=0)
    flagged = rated.index[rated["is_label_issue"]]
    figure, (ax,) = axes_of(1, 3.2)
    ax.plot(X[:, 0], y, ".", color=GREY)
    ax.plot(X[:, 0], fitted, color=BLUE)
    ax.plot(X[swapped, 0], y[swapped], "o", mfc="none", color=ORANGE, label="value of another row")
    ax.plot(X[flagged, 0], y[flagged], "x", color="black", label="flagged")
    ax.legend(frameon=False)
    save(figure, "regression")


def tables() -> None:
    """Draw a table as it comes, and what its cells become."""
    orders = pd.DataFrame(
        {
            "price": ["1.169,00 €", "250,00 €", "n/a", "99,90 €"],
            "ordered": ["10.12.2020", "03.01.2021", "24.12.2020", "?"],
            "city": ["Graz", "graz ", "Linz", "-"],
            "late": ["yes", "no", "Yes ", "no"],
        }
    )
    model = TableClassifier("rvfl", random_state=0).fit(pd.concat([orders] * 10), "late")
    (batch,) = table_of(orders).batches()
    read = model.card_.schema.read(batch).to_frame()
    read = read.map(lambda cell: f"{cell:g}" if isinstance(cell, float) else str(cell))
    read = read.replace("nan", "missing").rename(columns=lambda name: name.replace(": ", ":\n"))
    figure, axes = plt.subplots(2, 1, figsize=(7.2, 3.8), layout="constrained")
    for ax, frame, title in zip(
        axes, (orders, read), ("as it comes", "as it is read"), strict=True
    ):
        ax.set_axis_off()
        ax.set_title(title, loc="left")
        drawn = ax.table(frame.to_numpy(str), colLabels=frame.columns.tolist(), bbox=[0, 0, 1, 1])
        drawn.auto_set_font_size(False)
        drawn.set_fontsize(8)
    save(figure, "tables")


def model_files() -> None:
    """Draw what model files and ONNX files of three models weigh, by rows of training."""
    sizes, kinds = (250, 1000, 4000), ("rvfl", "gb-rvfl", "robust")
    figure, axes = axes_of(2, 3.2)
    for kind, colour in zip(kinds, (BLUE, GREY, ORANGE), strict=True):
        found = np.array([_file_sizes(kind, n_rows) for n_rows in sizes]) / 1e3
        for ax, kilobytes in zip(axes, found.T, strict=True):
            ax.loglog(sizes, kilobytes, "o-", color=colour, label=kind)
    for ax, title in zip(axes, ("model file", "ONNX"), strict=True):
        ax.set(title=title, xlabel="training rows", ylabel="kilobytes", ylim=(3, 2000))
        ax.set_xticks(sizes, sizes)
        ax.minorticks_off()
    axes[0].legend(frameon=False)
    save(figure, "model_files")


def _file_sizes(kind: str, n_rows: int) -> tuple[int, int]:
    X, y = make_moons(n_rows, noise=0.3, random_state=0)
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(label=np.where(y, "yes", "no"))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.granulearn"
        TableClassifier(kind, random_state=0).fit(frame, "label").save(path)
        graph = to_onnx(load_model(path).pipeline, frame[["a", "b"]])
        return path.stat().st_size, len(graph.SerializeToString())


def dask() -> None:
    """Draw which rows of three blocks are sampled: a rare class is there as a whole."""
    rng = np.random.default_rng(0)
    codes = (rng.random(240) < 0.06).astype(int)
    rates = sampling_rates(np.bincount(codes), 60)
    drawn = np.concatenate(
        [drawn_rows(0, number, own, rates) for number, own in enumerate(np.split(codes, 3))]
    )
    figure, (ax,) = axes_of(1, 2.4)
    figure.set_figwidth(7.2)
    rows, heights = np.arange(240), codes + rng.uniform(-0.25, 0.25, 240)
    ax.plot(rows[~drawn], heights[~drawn], ".", color=GREY, label="predicted and rated only")
    ax.plot(rows[drawn], heights[drawn], "o", color=ORANGE, ms=4, label="sampled")
    for edge in (79.5, 159.5):
        ax.axvline(edge, color=GREY, lw=1, ls=":")
    ax.set(xlabel="row, in three blocks", yticks=[0, 1], yticklabels=["frequent", "rare"])
    figure.legend(loc="outside upper right", ncols=2, frameon=False)
    save(figure, "dask")


def studies() -> None:
    """Draw the critical difference of the paper's own table."""
    figure, (ax,) = axes_of(1, 2.6)
    figure.set_figwidth(7.2)
    plot_critical_difference(compare(paper_accuracy_table()), ax=ax)
    save(figure, "studies")


def critical_difference() -> None:
    """Draw the critical difference of the paper's own accuracies for the page of the paper."""
    ax = plot_critical_difference(compare(paper_accuracy_table()))
    ax.figure.savefig(IMAGES.parent / "critical_difference.png", dpi=110)


if __name__ == "__main__":
    IMAGES.mkdir(parents=True, exist_ok=True)
    for draw in (
        balls, memberships, networks, robust, audit, tuning, imbalance, probabilities, deep,
        regression, tables, model_files, dask, studies, critical_difference,
    ):  # fmt: skip
        draw()
