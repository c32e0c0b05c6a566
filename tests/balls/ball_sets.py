"""Ball sets made by hand, for tests of what is done with balls."""

import numpy as np
from hypothesis import strategies as st

from granulearn.balls import BallSet


def ball_set(centers, labels, radii=None, assignment=None, classes=None):
    """Return balls with these centres; without an assignment, one sample each."""
    centers = np.array(centers, dtype=float)
    labels = np.array(labels)
    k = len(centers)
    assignment = np.arange(k) if assignment is None else np.array(assignment)
    counts = np.bincount(assignment[assignment >= 0], minlength=k)
    classes = np.arange(labels.max() + 1) if classes is None else np.array(classes)
    class_counts = np.zeros((k, len(classes)), dtype=int)
    class_counts[np.arange(k), labels] = counts
    return BallSet(
        centers=centers,
        radii=np.zeros(k) if radii is None else np.array(radii, dtype=float),
        labels=labels,
        purities=np.ones(k),
        counts=counts,
        class_counts=class_counts,
        assignment=assignment,
        classes=classes,
    )


@st.composite
def random_ball_sets(draw, grid=False):
    """Draw balls of 2 to 4 classes; on a grid, centres coincide and distances tie."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    k, d, n_classes = draw(st.integers(4, 40)), draw(st.integers(1, 5)), draw(st.integers(2, 4))
    centers = rng.integers(0, 3, (k, d)) if grid else rng.normal(size=(k, d))
    labels = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, k - n_classes)])
    return ball_set(centers, labels, radii=rng.exponential(size=k) * rng.integers(0, 2, k))
