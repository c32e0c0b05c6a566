"""TableClassifier keeps scikit-learn's contract, with no expected failure."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from granulearn import TableClassifier


@pytest.mark.slow
@parametrize_with_checks([TableClassifier(model="rvfl")])
def test_scikit_learn_check(estimator, check):
    check(estimator)
