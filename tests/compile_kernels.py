"""Compile the loops that are compiled when they are first called, once for all processes.

    python tests/compile_kernels.py

A parallel run of the tests on a fresh checkout would compile them in every process at once.
What was compiled is kept beside the sources, and the next run finds it there.
"""

import numpy as np

from granulearn import BallForestClassifier, generate_balls
from granulearn.balls.generators import generator_names


def compile_kernels() -> None:
    """Make balls and a forest, small ones, of every type of number."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(2, size=60)
    for rows in (X, X.astype(np.float32)):
        for init in ("k-means++", "class-means"):
            generate_balls(rows, y, init=init, random_state=0)
        for name in generator_names():
            generate_balls(rows, y, balls=name, random_state=0)
    BallForestClassifier(n_estimators=20, random_state=0).fit(X, y).explain(X, training=(X, y))


if __name__ == "__main__":
    compile_kernels()
