"""Synthetic data sets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.utils import check_random_state

Sample = tuple[np.ndarray, np.ndarray]


def checkerboard(
    n_samples: int = 400, *, cells: int = 4, noise: float = 0.0, random_state=0
) -> Sample:
    """Draw points of a square whose fields alternate between two classes.

    Parameters
    ----------
    n_samples : int, default=400
        Number of points, uniform on the square [0, cells]^2.
    cells : int, default=4
        Fields along each side.
    noise : float, default=0.0
        Standard deviation of a shift after labelling, in fields.
    random_state : int, RandomState or None, default=0
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points.
    y : ndarray of shape (n_samples,)
        0 where column plus row of the field is even, else 1.
    """
    random = check_random_state(random_state)
    X = random.uniform(0, cells, size=(n_samples, 2))
    y = np.floor(X).astype(int).sum(axis=1) % 2
    return X + noise * random.standard_normal(X.shape), y


def crossplane(n_samples: int = 300, *, noise: float = 0.05, random_state=0) -> Sample:
    """Draw points along two crossing lines, one class on each.

    Parameters
    ----------
    n_samples : int, default=300
        Number of points, half on each line (one more on the first if odd).
    noise : float, default=0.05
        Standard deviation across and along the line; the lines run from -1 to 1.
    random_state : int, RandomState or None, default=0
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points.
    y : ndarray of shape (n_samples,)
        0 on the rising line, 1 on the falling one.
    """
    random = check_random_state(random_state)
    y = np.sort(np.arange(n_samples) % 2)
    along = random.uniform(-1, 1, size=n_samples)
    X = np.column_stack([along, np.where(y == 0, along, -along)])
    return X + noise * random.standard_normal(X.shape), y


def spirals(
    n_samples: int = 400,
    *,
    arms: int = 2,
    turns: float = 1.5,
    noise: float = 0.05,
    random_state=0,
) -> Sample:
    """Draw points along spiral arms around one centre, one class per arm.

    Parameters
    ----------
    n_samples : int, default=400
        Number of points, spread over the arms as evenly as can be.
    arms : int, default=2
        Number of arms, and so of classes.
    turns : float, default=1.5
        How often an arm winds around the centre.
    noise : float, default=0.05
        Standard deviation of a shift; the arms end at distance 1.
    random_state : int, RandomState or None, default=0
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points.
    y : ndarray of shape (n_samples,)
        Number of the arm, from 0.
    """
    random = check_random_state(random_state)
    y = np.sort(np.arange(n_samples) % arms)
    # The root spreads the points evenly over the disc instead of crowding the centre.
    distance = np.sqrt(random.uniform(0, 1, size=n_samples))
    angle = 2 * np.pi * (turns * distance + y / arms)
    X = np.column_stack([distance * np.cos(angle), distance * np.sin(angle)])
    return X + noise * random.standard_normal(X.shape), y


def two_moons(n_samples: int = 400, *, noise: float = 0.2, random_state=0) -> Sample:
    """Draw two half circles that reach into each other (scikit-learn's `make_moons`).

    Parameters
    ----------
    n_samples : int, default=400
        Number of points.
    noise : float, default=0.2
        Standard deviation of a shift; the half circles have radius 1.
    random_state : int, RandomState or None, default=0
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points.
    y : ndarray of shape (n_samples,)
        0 or 1.
    """
    from sklearn.datasets import make_moons  # slow to import, rarely needed

    return make_moons(n_samples, noise=noise, random_state=check_random_state(random_state))


def circles(
    n_samples: int = 400, *, factor: float = 0.5, noise: float = 0.1, random_state=0
) -> Sample:
    """Draw one ring around another (scikit-learn's `make_circles`).

    Parameters
    ----------
    n_samples : int, default=400
        Number of points.
    factor : float, default=0.5
        Radius of the inner ring; that of the outer one is 1.
    noise : float, default=0.1
        Standard deviation of a shift.
    random_state : int, RandomState or None, default=0
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points.
    y : ndarray of shape (n_samples,)
        0 outside, 1 inside.
    """
    from sklearn.datasets import make_circles

    random = check_random_state(random_state)
    return make_circles(n_samples, factor=factor, noise=noise, random_state=random)


GENERATORS: dict[str, Callable[..., Sample]] = {
    generator.__name__: generator
    for generator in (checkerboard, circles, crossplane, spirals, two_moons)
}
