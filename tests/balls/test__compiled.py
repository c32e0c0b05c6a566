"""Random numbers of the compiled loops against their slow twin."""

import numpy as np
from scipy.stats import kstest

from granulearn.balls import _compiled
from tests.balls import reference


def test_uniform_equals_splitmix_in_whole_numbers():
    for key in (0, 1, 2**63, 2**64 - 1):
        for counter in (0, 1, 77, 2**40):
            assert _compiled.uniform(np.uint64(key), counter) == reference.uniform(key, counter)


def test_uniform_draws_look_uniform_and_streams_differ():
    draws = np.array([[_compiled.uniform(np.uint64(k), c) for c in range(500)] for k in range(20)])
    assert kstest(draws.ravel(), "uniform").pvalue > 1e-4
    assert abs(np.corrcoef(draws[:, 0:499:2].ravel(), draws[:, 1:500:2].ravel())[0, 1]) < 0.05
    assert len(np.unique(draws)) == draws.size
