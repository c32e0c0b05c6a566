"""Generated score tables: with ties, two models, two sets."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays


def score_tables(max_sets=12, max_models=6, min_models=2):
    """Tables of whole percents from a narrow range, so that ties are common."""
    shapes = st.tuples(st.integers(2, max_sets), st.integers(min_models, max_models))
    return shapes.flatmap(
        lambda shape: arrays(np.float64, shape, elements=st.integers(70, 76).map(float))
    )
