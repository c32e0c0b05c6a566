"""Make balls of a real data set, say what they look like, and draw them.

569 tumours, 30 measurements each, benign or malignant; scikit-learn brings the
data. One label in ten is flipped, as if whoever filled in the table slipped.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from granulearn import generate_balls

mpl.use("Agg")
from granulearn.plots import plot_balls


def main() -> None:
    """Print a summary and write out/balls.png."""
    X, y = load_breast_cancer(return_X_y=True)
    names = np.array(["malignant", "benign"])
    X = StandardScaler().fit_transform(X)
    flipped = np.random.RandomState(0).choice(len(y), len(y) // 10, replace=False)
    noisy = y.copy()
    noisy[flipped] = 1 - noisy[flipped]

    print(f"{len(X)} samples, {X.shape[1]} features, {len(flipped)} labels flipped\n")
    print("labels   purity  balls  of one sample  largest  samples per ball")
    for title, labels in (("clean", y), ("noisy", noisy)):
        for purity in (0.8, 0.9, 0.985):
            balls = generate_balls(X, names[labels], purity=purity, random_state=0)
            print(
                f"{title:8} {purity:6.3f} {len(balls):6} {np.sum(balls.counts == 1):14} "
                f"{balls.counts.max():8} {balls.counts.mean():17.1f}"
            )

    balls = generate_balls(X, names[y], random_state=0)
    print("\nThe five largest balls of the clean labels at purity 0.985:")
    largest = balls.to_frame().nlargest(5, "count")
    print(largest[["label", "count", "purity", "radius"]].round(3).to_string())

    picture = Path("out") / "balls.png"
    picture.parent.mkdir(exist_ok=True)
    plot_balls(balls, X, names[y]).figure.savefig(picture, dpi=150)
    print(f"\nThe balls, drawn: {picture}")


if __name__ == "__main__":
    main()
