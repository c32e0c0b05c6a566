"""The ball engine once more, slow and obvious: recursion, NumPy and whole numbers."""

import numpy as np

MASK = 2**64 - 1


def mixed(z: int) -> int:
    """Splitmix64, in Python's unbounded whole numbers."""
    z = (z + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def uniform(key: int, counter: int) -> float:
    """Draw number ``counter`` of the stream ``key``."""
    return (mixed(key ^ mixed(counter)) >> 11) / 2**53


def fitted_rows(rows: np.ndarray, key: int, max_fit: int) -> np.ndarray:
    """Return the rows on which the means are fitted: all, or one of each equal slice."""
    size, m = len(rows), min(len(rows), max_fit)
    if m == size:
        return rows
    return rows[[min(int((i + uniform(key, i + 2)) * (size / m)), size - 1) for i in range(m)]]


def seeds_plus_plus(points: np.ndarray, key: int) -> np.ndarray | None:
    """Return two seeds by k-means++."""
    first = points[int(uniform(key, 0) * len(points))]
    squares = ((points - first) ** 2).sum(axis=1)
    if not squares.any():
        return None
    beyond = np.flatnonzero(np.cumsum(squares) > uniform(key, 1) * squares.sum())
    return np.stack([first, points[beyond[0]]])


def class_means(points: np.ndarray, y: np.ndarray, majority: int) -> np.ndarray | None:
    """Return the mean of the majority class and the mean of the rest."""
    rest = y != majority
    if not rest.any() or rest.all():
        return None
    return np.stack([points[~rest].mean(axis=0), points[rest].mean(axis=0)])


def two_means(points: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Lloyd's algorithm from given means: the last means by which points were assigned."""
    side = np.zeros(len(points), dtype=bool)
    for _ in range(30):
        distances = ((points[:, None, :] - means[None]) ** 2).sum(axis=2)
        new = distances[:, 1] < distances[:, 0]
        n_changed = np.sum(new != side)
        side = new
        if n_changed <= len(points) // 128 or side.all() or not side.any():
            return means
        used = means
        means = np.stack([points[~side].mean(axis=0), points[side].mean(axis=0)])
    return used


def reference_balls(X, y, rows, key, purity, init, max_fit):
    """Return the balls below one ball as a list of row numbers each."""
    counts = np.bincount(y[rows])
    if len(rows) == 1 or counts.max() / len(rows) >= purity or len(np.unique(X[rows], axis=0)) == 1:
        return [rows]
    fitted = fitted_rows(rows, key, max_fit)
    means = None
    if init == "class-means":
        means = class_means(X[fitted], y[fitted], counts.argmax())
    if means is None:
        means = seeds_plus_plus(X[fitted], key)
    means = two_means(X[fitted], means)
    distances = ((X[rows][:, None, :] - means[None]) ** 2).sum(axis=2)
    right = distances[:, 1] < distances[:, 0]
    keys = mixed(key ^ 0xD1B54A32D192ED03), mixed(key ^ 0x8CB92BA72F3D8DD7)
    halves = rows[~right], rows[right]
    return [
        ball
        for half, child in zip(halves, keys, strict=True)
        for ball in reference_balls(X, y, half, child, purity, init, max_fit)
    ]
