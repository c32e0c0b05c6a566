"""Small weighted regression problems, and a map that hands H over as it is."""

import numpy as np
from hypothesis import strategies as st

from granulearn.rvfl.features import FeatureMap


class Identity(FeatureMap):
    """The features are the inputs."""

    n_columns = bias_column = 0
    dtype = np.dtype(np.float64)

    def __init__(self, n_columns, dtype=dtype):
        self.n_columns, self.dtype = n_columns, dtype

    def __call__(self, X):
        return X.copy()


@st.composite
def ridge_problems(draw):
    """Draw (H, Y, w, C) with more, as many or fewer rows than columns."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows, columns = draw(st.integers(1, 25)), draw(st.integers(1, 25))
    H, Y = rng.normal(size=(rows, columns)), rng.normal(size=(rows, 3))
    return H, Y, rng.uniform(0, 2, rows), 10.0 ** draw(st.integers(-3, 3))
