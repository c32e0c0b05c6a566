"""Compiled loops of random features: the sine of a layer, products of rows of mostly zeros."""

import numpy as np

from granulearn.balls._compiled import compiled

# Pi in three parts: multiples of the first two by some thousands are exact.
PI_1, PI_2, PI_3 = 3.14159250259399414062, 1.50995788317231927e-7, 1.07806057163162381e-14


@compiled
def overwrite_by_sine(
    z,  # IN and OUT (n, m): not too large
):
    """Overwrite numbers by their sine: the power series after whole multiples of pi are gone.

    The loop has no branch, so it works on several numbers at once.
    """
    for i in range(len(z)):
        row = z[i]
        for j in range(len(row)):
            turns = np.rint(row[j] * (1 / np.pi))
            r = ((row[j] - turns * PI_1) - turns * PI_2) - turns * PI_3
            s = r * r
            series = s * (1 / 355687428096000.0 - s / 121645100408832000.0)
            series = s * (-1 / 1307674368000.0 + series)
            series = s * (1 / 6227020800.0 + series)
            series = s * (-1 / 39916800.0 + series)
            series = s * (1 / 362880.0 + series)
            series = s * (-1 / 5040.0 + series)
            series = s * (1 / 120.0 + series)
            series = s * (-1 / 6.0 + series)
            sign = 1.0 - 2.0 * (turns - 2.0 * np.floor(0.5 * turns))
            row[j] = (r + r * series) * sign


@compiled
def add_products_of_few(
    X,
    weights,  # (d, m)
    products,  # IN and OUT (n, m)
):
    """Add the product of rows and weights; entries of rows that are zero cost nothing."""
    for i in range(len(X)):
        own = products[i]
        for j in range(X.shape[1]):
            value = X[i, j]
            if value != 0.0:
                row = weights[j]
                for k in range(len(row)):
                    own[k] += value * row[k]
