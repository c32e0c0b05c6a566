"""The sine as a formula of products and sums: of one number in a compiled loop, or of an array."""

from __future__ import annotations

import numpy as np

# Pi in three parts: multiples of the first two by some thousands are exact.
PI_1, PI_2, PI_3 = 3.14159250259399414062, 1.50995788317231927e-7, 1.07806057163162381e-14


def sine(z):
    """Return the sine: the power series after whole multiples of pi are gone.

    It has no branch, so a loop works on several numbers at once.

    Parameters
    ----------
    z : float or ndarray
        Not too large.
    """
    turns = np.rint(z * (1 / np.pi))
    r = ((z - turns * PI_1) - turns * PI_2) - turns * PI_3
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
    return (r + r * series) * sign
